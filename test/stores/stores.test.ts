/** One contract for all stores of campaigns. */
import "fake-indexeddb/auto";
import { randomUUID } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, test } from "vitest";
import { indexedDbStore } from "../../src/campaign/indexeddb-store.js";
import { memoryStore } from "../../src/campaign/memory-store.js";
import type { CampaignStore } from "../../src/campaign/store.js";
import { openStore } from "../../src/stores/open-store.js";
import { describeWithPostgres, emptyDatabase } from "../setup/postgres.js";
import { contract } from "./store-contract.js";

/** `fresh` gives what opens handles of a store that nobody has used before. */
const meetsTheContract = (
  fresh: () => Promise<() => Promise<CampaignStore>>,
  { lasting = true }: { readonly lasting?: boolean } = {},
) => {
  for (const { name, run, lasting: onlyLasting } of contract) {
    if (onlyLasting && !lasting) continue;
    test(name, async () => {
      const handles: CampaignStore[] = [];
      const open = await fresh();
      try {
        await run(async () => {
          const store = await open();
          handles.push(store);
          return store;
        });
      } finally {
        for (const store of handles) await store.close();
      }
    });
  }
};

const folder = mkdtempSync(join(tmpdir(), "fairbed-stores-"));
afterAll(() => rmSync(folder, { recursive: true }));

describe("memory", () => {
  meetsTheContract(
    async () => {
      const store = memoryStore();
      return async () => store;
    },
    { lasting: false },
  );
});

describe("SQLite", () => {
  meetsTheContract(async () => {
    const path = join(folder, `${randomUUID()}.db`);
    return () => openStore(`sqlite:${path}`);
  });
});

describe("IndexedDB, as npm has it", () => {
  meetsTheContract(async () => {
    const name = randomUUID();
    return async () => indexedDbStore(name);
  });
});

describeWithPostgres("PostgreSQL", (server) => {
  meetsTheContract(async () => {
    const address = await emptyDatabase(server());
    return () => openStore(address);
  });
});
