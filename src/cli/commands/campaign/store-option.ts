/** `--store`: where campaigns are kept, the same option on every command that needs one. */
import { existsSync, statSync } from "node:fs";
import type { CampaignStore } from "../../../campaign/store.js";
import { InputError } from "../../../core/errors.js";
import { writeText } from "../../atomic-write.js";
import { text } from "../../options.js";

const DEFAULT_STORE = "sqlite:fairbed.db";

export const storeOption = text(
  "--store <address>",
  `sqlite:PATH or postgres://…; FAIRBED_STORE unless given, which does not show a password to others, else ${DEFAULT_STORE}`,
);

export const storeOptionTexts = {
  missing: (path: string) =>
    `there is no store ${path}: begin a campaign with fairbed campaign create, or name another store with --store`,
  memory:
    "a store in memory is gone with the command: name a file with --store sqlite:fairbed.db, or a database",
};

export interface StoreUse {
  /** A file that is not there yet is made; else that is a mistake. */
  readonly makes?: boolean | undefined;
  /** Files that are to be written, of which the store's own is none. */
  readonly outputs?: readonly (string | undefined)[] | undefined;
}

/** With the store that is named, which is closed again whatever happens. */
export const withStore = async <Result>(
  given: string | undefined,
  use: (store: CampaignStore) => Promise<Result>,
  { makes = false, outputs = [] }: StoreUse = {},
): Promise<Result> => {
  const { openStore, sqlitePath } = await import("../../../stores/open-store.js");
  const address = given ?? (process.env.FAIRBED_STORE || DEFAULT_STORE);
  if (address === "memory:") throw new InputError("store", storeOptionTexts.memory);
  const path = sqlitePath(address);
  if (!makes && path !== undefined && !existsSync(path)) {
    throw new InputError("no-store", storeOptionTexts.missing(path));
  }
  for (const out of outputs) {
    if (path !== undefined && out !== undefined && isSameFile(path, out)) {
      throw new InputError("out-is-input", writeText.isInput(out));
    }
  }
  const store = await openStore(address);
  try {
    return await use(store);
  } finally {
    await store.close();
  }
};

/** By whatever name. */
const isSameFile = (one: string, other: string): boolean => {
  const [a, b] = [one, other].map((path) => statSync(path, { throwIfNoEntry: false }));
  return a !== undefined && b !== undefined && a.dev === b.dev && a.ino === b.ino;
};
