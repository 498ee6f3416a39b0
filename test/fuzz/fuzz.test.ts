import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { temporaryFolder } from "../sources/files.js";
import { faultOf } from "./check.js";
import { FUZZ_KINDS, filesOf } from "./kinds.js";
import { mutant } from "./mutate.js";

const { folder } = temporaryFolder();
const SEED = 15;
const MUTANTS = 60;
/** Of kinds that a process of its own reads, which takes a moment to start. */
const MUTANTS_APART = 6;

describe.each(FUZZ_KINDS)("damaged files: $name", (kind) => {
  const path = join(folder, `mutant${kind.ending}`);

  test("the whole ones are tables", async () => {
    for (const contents of await filesOf(kind)) {
      expect(await faultOf(path, contents, true)).toBe(undefined);
    }
  });

  test("each ends in a table or in one sentence without its contents", async () => {
    const files = await filesOf(kind);
    for (let index = 0; index < (kind.isApart ? MUTANTS_APART : MUTANTS); index++) {
      const fault = await faultOf(path, mutant(files, SEED, index));
      expect(fault, `mutant ${index} of seed ${SEED}`).toBe(undefined);
    }
  });

  test("the same seed gives the same damage", async () => {
    const [one, other] = [await filesOf(kind), await filesOf(kind)];
    if (one.every((file, at) => Buffer.compare(file, other[at]) === 0)) {
      expect(mutant(one, SEED, 3)).toEqual(mutant(other, SEED, 3));
    }
  });
});
