/** The tables of the documentation's examples are what their script writes. */
import { spawnSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { needsDist, ROOT } from "../setup/dist.js";

needsDist();

test("made anew, they are the same", () => {
  const folder = join(ROOT, "docs", "public", "data");
  const contents = () => readdirSync(folder).map((name) => [name, readFileSync(join(folder, name), "utf8")]);
  const before = contents();
  const script = join(ROOT, "scripts", "docs", "made-up-people.mjs");
  expect(spawnSync(process.execPath, [script], { encoding: "utf8" })).toMatchObject({
    status: 0,
    stderr: "",
  });
  expect(contents()).toEqual(before);
  expect(before).toHaveLength(4);
});
