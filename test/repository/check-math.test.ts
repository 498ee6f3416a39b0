import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, expect, test } from "vitest";
import { checkMath } from "../../scripts/check-math.mjs";
import { ROOT } from "../setup/dist.js";

const folders: string[] = [];
afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true });
});

const offencesIn = (path: string, text: string): string[] => {
  const root = mkdtempSync(join(tmpdir(), "fairbed-math-"));
  folders.push(root);
  mkdirSync(dirname(join(root, path)), { recursive: true });
  writeFileSync(join(root, path), text);
  return checkMath(root).map(
    ({ file, line, description }) => `${file}:${line}: ${description.split(":")[0]}`,
  );
};

test("nothing here depends on how an engine rounds", () => {
  expect(checkMath(ROOT)).toEqual([]);
});

test.each([
  ["export const f = (x: number) => Math.exp(x);", "Math.exp"],
  ["export const f = [1].map(Math.log);", "Math.log"],
  ["export const f = Math.hypot(1, 2);", "Math.hypot"],
  ['export const f = Math["exp"];', 'Math["exp"]'],
  ["export const f = (x: number) => x ** 0.5;", "x ** 0.5"],
  ["export const f = (x: number, n: number) => x ** n;", "x ** n"],
  // biome-ignore lint/suspicious/noTemplateCurlyInString: it is the text of a file
  ["export const f = (x: string) => `Math.log(${x})`;", "`Math.log(${"],
])("%s is found", (text, found) => {
  expect(offencesIn("src/design/bad.ts", `\n${text}\n`)).toEqual([`src/design/bad.ts:2: ${found}`]);
});

test.each([
  [
    "src/design/good.ts",
    "export const f = (x: number) => Math.sqrt(Math.abs(x)) * 2 ** x + x ** 2 - x ** -1;",
  ],
  ["src/design/good.ts", "/** Math.exp in a comment */\nexport const f = Math.LN2;"],
  ["src/design/good.ts", 'import { exp } from "../core/math.js";\nexport const f = exp(1);'],
  ["src/cli/free.ts", "export const f = Math.exp(1);"],
])("in %s, %s is fine", (path, text) => {
  expect(offencesIn(path, `${text}\n`)).toEqual([]);
});

test("an exception that is not needed is one too many", () => {
  expect(offencesIn("src/compute/graph/scalar.ts", "export const f = 1;\n")).toEqual([
    "src/compute/graph/scalar.ts:1: a ** b is allowed in scripts/check-math.mjs and not used here",
  ]);
});
