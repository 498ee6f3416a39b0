/** Tests on real data: where the data is, or a suite that is skipped by name. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { describe } from "vitest";
import { ROOT } from "./dist.js";

/** FAIRBED_DATA, or `shared/data` beside the checkout. */
export const findData = (): string | undefined =>
  [process.env.FAIRBED_DATA, join(ROOT, "..", "shared", "data")].find(
    (folder) => folder !== undefined && existsSync(folder),
  );

/** A suite that reads these files of the data folder, skipped by name when one of them is not there. */
export const describeWithData = (
  name: string,
  files: readonly string[],
  suite: (data: string) => void,
): void => {
  const data = findData();
  const missing = data === undefined ? files : files.filter((file) => !existsSync(join(data, file)));
  if (data === undefined || missing.length > 0) {
    describe.skip(`${name} (skipped: no data: ${missing.join(", ")})`, () => suite(""));
    return;
  }
  describe(name, () => suite(data));
};
