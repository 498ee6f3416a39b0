/** What the page keeps in this browser, so that a reload or a closed tab loses nothing: documents by name. */

const DATABASE = "fairbed-studio";
const DOCUMENTS = "documents";

export const keptTexts = {
  cannot:
    "This browser does not let the page keep anything (a private window, or no room is left): what you do here is lost when the tab is closed. Save what you need to a file.",
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
  inStore("readwrite", (store) => store.put(value, name));

export const kept = <Value>(name: string): Promise<Value | undefined> =>
  inStore("readonly", (store) => store.get(name) as IDBRequest<Value | undefined>);

export const forget = (name: string): Promise<unknown> => inStore("readwrite", (store) => store.delete(name));

/** Everything that was kept but what is named; what campaigns have is theirs. */
export const forgetAll = async (but: readonly string[] = []): Promise<void> => {
  const names = await inStore("readonly", (store) => store.getAllKeys());
  await Promise.all(names.filter((name) => !but.includes(String(name))).map((name) => forget(String(name))));
};
