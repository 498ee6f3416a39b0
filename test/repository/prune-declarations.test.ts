/** Declarations that nothing leads to are left out, and what cannot be pruned is not written wrong. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { pruneDeclarations, pruneTexts } from "../../scripts/prune-declarations.mjs";

let folder = "";
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "fairbed-prune-"));
  writeFileSync(
    join(folder, "other.d.ts"),
    "export interface A {}\nexport interface B {}\nexport default interface X {}\n",
  );
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const entry = (text: string): string => {
  const file = join(folder, "index.d.ts");
  writeFileSync(file, text);
  return file;
};

test("what no export names goes, and so does its import", () => {
  const file = entry(
    'import { A, B } from "./other.js";\nexport declare const a: A;\ndeclare const hidden: B;\n',
  );
  const kept = pruneDeclarations([file]);
  expect([...kept].sort()).toEqual([file, join(folder, "other.d.ts")]);
  expect(readFileSync(file, "utf8")).toBe('import { A } from "./other.js";\nexport declare const a: A;\n');
  expect(readFileSync(join(folder, "other.d.ts"), "utf8")).toBe("export interface A {}\n");
});

test.each([
  ["a default import beside names", 'import X, { A, B } from "./other.js";', "export declare const a: A;\n"],
  ["a block of everybody's names", "declare global {", "  interface Window {}\n}\nexport interface C {}\n"],
])("%s is refused", (_, statement, rest) => {
  const text = `${statement}\n${rest}`;
  const file = entry(text);
  expect(() => pruneDeclarations([file])).toThrow(pruneTexts.statement(file, statement));
  expect(readFileSync(file, "utf8")).toBe(text);
});
