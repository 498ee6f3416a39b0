/** What the page keeps in this browser, so that a reload or a closed tab loses nothing: documents by name. */

const DATABASE = "fairbed-studio";
const DOCUMENTS = "documents";

export const keptTexts = {
  cannot:
    "This browser does not let the page keep anything (a private window, or no room is left): what you do here is lost when the tab is closed. Save what you need to a file.",
  elsewhere:
    "Another tab of this browser opened a table since, and the last one is kept: what you do in this tab is lost when it is closed. Save what you need to a file.",
};

const opened = (): Promise<IDBDatabase> =>
  new Promise((resolve, reject) => {
    const request = indexedDB.open(DATABASE, 1);
    request.onupgradeneeded = () => request.result.createObjectStore(DOCUMENTS);
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
  });

let database: Promise<IDBDatabase> | undefined;

const inStore = async <Result>(
  mode: IDBTransactionMode,
  act: (store: IDBObjectStore) => IDBRequest<Result>,
): Promise<Result> => {
  database ??= opened();
  const transaction = (await database).transaction(DOCUMENTS, mode, { durability: "strict" });
  const request = act(transaction.objectStore(DOCUMENTS));
  return new Promise((resolve, reject) => {
    transaction.oncomplete = () => resolve(request.result);
    transaction.onabort = () => reject(transaction.error);
  });
};

export const keep = (name: string, value: unknown): Promise<unknown> =>
  inStore("readwrite", (store) => {
    const put = store.put(value, name);
    // Nothing follows in this transaction: a page that is being left has no time to find that out.
    store.transaction.commit();
    return put;
  });

/** These, and of what was kept before only what is named; all at once, or none. */
export const keepInstead = (
  documents: Readonly<Record<string, unknown>>,
  but: readonly string[] = [],
): Promise<unknown> =>
  inStore("readwrite", (store) => {
    const names = store.getAllKeys();
    names.onsuccess = () => {
      for (const name of names.result) if (!but.includes(String(name))) store.delete(name);
      for (const [name, value] of Object.entries(documents)) store.put(value, name);
    };
    return names;
  });

/** Only while another document is still what it was, so that no tab writes beside the table of another one; whether it is. */
export const keepBeside = async (
  guard: { readonly name: string; readonly value: string },
  name: string,
  value: unknown,
): Promise<boolean> => {
  let isBeside = false;
  await inStore("readwrite", (store) => {
    const found = store.get(guard.name);
    found.onsuccess = () => {
      isBeside = found.result === guard.value;
      if (isBeside) store.put(value, name);
    };
    return found;
  });
  return isBeside;
};

export const kept = <Value>(name: string): Promise<Value | undefined> =>
  inStore("readonly", (store) => store.get(name) as IDBRequest<Value | undefined>);

export const forget = (name: string): Promise<unknown> => inStore("readwrite", (store) => store.delete(name));

/** Everything that was kept; what campaigns have is theirs. */
export const forgetAll = (): Promise<unknown> => keepInstead({});
