/** No command writes over a table that it reads. */
import { linkSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { writeText } from "../../src/cli/atomic-write.js";
import { needsDist } from "../setup/dist.js";
import { invoke } from "./invoke.js";

needsDist();

const rows = Array.from(
  { length: 80 },
  (_, i) => `${i % 2 ? "f" : "m"},${(i * 7) % 11},${(i * 7) % 11 > 5 ? "yes" : "no"}`,
);
const TABLE = `sex,skill,hired\n${rows.join("\n")}\n`;
const ROLES = ["--target", "hired=yes", "--sensitive", "sex"];

describe("an --out that is an input", () => {
  let folder = "";
  const at = (name: string) => join(folder, name);
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), "fairbed-out-"));
    for (const name of ["people.csv", "other.csv"]) writeFileSync(at(name), TABLE);
    symlinkSync(at("people.csv"), at("link.csv"));
    linkSync(at("people.csv"), at("same.csv"));
  });
  afterAll(() => rmSync(folder, { recursive: true }));

  test.each<[string, (people: string, other: string) => string[]]>([
    ["fit", (people) => ["fit", people, ...ROLES]],
    ["acquire", (people) => ["acquire", people, ...ROLES]],
    ["audit, the second table", (people, other) => ["audit", other, people, ...ROLES]],
    ["rank, the pool", (people, other) => ["rank", people, "--labelled", other, ...ROLES]],
    ["rank, what is labelled", (people, other) => ["rank", other, "--labelled", people, ...ROLES]],
    ["predict", (people, other) => ["predict", other, people]],
    ["mitigate lfr", (people) => ["mitigate", "lfr", people, ...ROLES]],
    [
      "mitigate roc, its test rows",
      (people, other) => ["mitigate", "roc", other, "--test", people, ...ROLES],
    ],
    ["mitigate rule", (people) => ["mitigate", "rule", people, ...ROLES]],
    ["mitigate reweigh", (people) => ["mitigate", "reweigh", people, ...ROLES]],
  ])("is refused by %s, by any of its names, and the table stays", async (_, line) => {
    for (const out of ["people.csv", "link.csv", "same.csv"].map(at)) {
      const { code, stderr } = await invoke([...line(at("people.csv"), at("other.csv")), "--out", out]);
      expect({ code, stderr }).toEqual({ code: 2, stderr: `fairbed: ${writeText.isInput(out)}\n` });
    }
    expect(readFileSync(at("people.csv"), "utf8")).toBe(TABLE);
  });
});
