/** What a page needs to try the store of the browser: bundled and served by indexeddb-store.browser.test.ts. */
import { indexedDbStore } from "../../src/campaign/indexeddb-store.js";
import type { CampaignStore } from "../../src/campaign/store.js";
import { logOf, skipped } from "./sample-log.js";
import { contract } from "./store-contract.js";

/** What went wrong with the case of this name; empty where nothing did. */
export const runCase = async (name: string): Promise<string> => {
  const database = `case ${name}`;
  const handles: CampaignStore[] = [];
  try {
    const found = contract.find((each) => each.name === name);
    if (found === undefined) return "no such case";
    await found.run(async () => {
      const store = indexedDbStore(database);
      handles.push(store);
      return store;
    });
    return "";
  } catch (error) {
    return error instanceof Error ? `${error.message}\n${error.stack}` : String(error);
  } finally {
    for (const store of handles) await store.close();
  }
};

export const create = async (database: string): Promise<void> => {
  await indexedDbStore(database).create("c", [], logOf(["first"]));
};

/** Appends so many events, one transaction each, all asked for at once. */
export const appendAll = async (database: string, tab: string, count: number): Promise<void> => {
  const store = indexedDbStore(database);
  await Promise.all(
    Array.from({ length: count }, (_, index) =>
      store.transact("c", 0, ({ head }) => ({ append: [skipped(head, `${tab}-${index}`)] })),
    ),
  );
};

export const idsOf = async (database: string): Promise<(string | null)[]> =>
  (await indexedDbStore(database).read("c", 0)).map(({ id }) => id);
