import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, describe, expect, test } from "vitest";
import { ROOT } from "../setup/dist.js";

const folders: string[] = [];
afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true });
});

const check = (root: string) => {
  const script = join(ROOT, "scripts", "check-imports.mjs");
  const { status, stdout, stderr } = spawnSync(process.execPath, [script, root], { encoding: "utf8" });
  expect(stderr).toBe("");
  return { status, offences: stdout.split("\n").slice(0, -2) };
};

const tree = (files: Readonly<Record<string, string>>) => {
  const root = mkdtempSync(join(tmpdir(), "fairbed-imports-"));
  folders.push(root);
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(root, "src", path)), { recursive: true });
    writeFileSync(join(root, "src", path), text);
  }
  return root;
};

describe("check-imports", () => {
  test("this repository is clean", () => {
    expect(check(ROOT)).toEqual({ status: 0, offences: [] });
  });

  test("down is allowed, also from the top", () => {
    const root = tree({
      "core/a.ts": "export const a = 1;\n",
      "core/b.ts": 'import { a } from "./a.js";\nexport const b = a;\n',
      "design/c.ts": 'import { b } from "../core/b.js";\nexport const c = b;\n',
      "cli/d.ts": 'import "node:fs";\nimport { c } from "../design/c.js";\nexport const d = c;\n',
      "browser.ts": 'export * from "./design/c.js";\n',
      "index.ts": 'export * from "./browser.js";\n',
    });
    expect(check(root)).toEqual({ status: 0, offences: [] });
  });

  const up = "imports point down only, and core/ to design/ points up";
  test.each([
    ["an import", 'import { x } from "../design/x.js";', up],
    ["a type", 'import type { X } from "../design/x.js";', up],
    ["an export", 'export * from "../design/x.js";', up],
    ["a dynamic import", 'export const x = () => import("../design/x.js");', up],
    ["an import type", 'export type X = import("../design/x.js").X;', up],
    ["a worker", 'export const x = new URL("../design/x.js", import.meta.url);', up],
    ["node:", 'import "node:fs";', "core/bad.ts runs in a browser and must not import Node's node:fs"],
    ["a bare builtin", 'import "fs";', "core/bad.ts runs in a browser and must not import Node's fs"],
    [
      "a dynamic builtin",
      'export const x = () => import("node:os");',
      "core/bad.ts runs in a browser and must not import Node's node:os",
    ],
  ])("catches %s with its line", (_, text, description) => {
    const root = tree({ "design/x.ts": "export type X = 1;\n", "core/bad.ts": `// a comment\n\n${text}\n` });
    expect(check(root)).toEqual({ status: 1, offences: [`src/core/bad.ts:3: ${description}`] });
  });

  test("does not take comments and texts for imports", () => {
    const root = tree({
      "design/x.ts": "export const x = 1;\n",
      "core/good.ts": `/** import { x } from "../design/x.js" */\nexport const text = 'import "node:fs"';\n`,
    });
    expect(check(root)).toEqual({ status: 0, offences: [] });
  });

  test("catches sideways, and folders that the picture does not have", () => {
    const root = tree({
      "active/a.ts": "export const a = 1;\n",
      "fairness/b.ts": 'import { a } from "../active/a.js";\nexport const b = a;\n',
      "utils/c.ts": "export const c = 1;\n",
    });
    expect(check(root)).toEqual({
      status: 1,
      offences: [
        "src/utils/c.ts:1: utils/ has no row in scripts/check-imports.mjs",
        "src/fairness/b.ts:1: imports point down only, and fairness/ to active/ points sideways",
      ],
    });
  });

  test("catches the long way to Node, and lets types pass", () => {
    const root = tree({
      "sources/file.ts": 'import "node:fs";\nexport type Table = 1;\n',
      "sources/table.ts": 'export * from "./file.js";\n',
      "browser.ts":
        'export { t } from "./sources/table.js";\nexport type { Table } from "./sources/table.js";\n',
    });
    const way = "src/sources/table.ts -> src/sources/file.ts -> node:fs";
    expect(check(root)).toEqual({
      status: 1,
      offences: [`src/browser.ts:1: browser.ts runs in a browser and must not reach Node (${way})`],
    });
  });
});
