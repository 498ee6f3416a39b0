/** Names that an object of a model file has twice are found, and no others. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { repeatedKey } from "../../src/cli/commands/design/repeated-key.js";
import { ROOT } from "../setup/dist.js";

test.each([
  ["side by side", "f({ a: 1, a: 2 });", "a", 1, 1],
  ["in quotes and without", "f({\n  a: 1,\n  'a': 2 });", "a", 3, 2],
  ["on both sides of an object", "f({ a: { b: 1 }, b: [{ a: 2 }],\n a: 3 });", "a", 2, 1],
  ["within a template", "\n\nf(`a: $\u007bg({ a: 1, a: 2 })} a: `);", "a", 3, 3],
  ["behind a template of many lines", "f(`{\n\n`);\nf({ a: 1, a: 2 });", "a", 4, 4],
  ["a reserved word", "f({ if: 1, if: 2 });", "if", 1, 1],
  ["that hold objects", "f({ a: {}, a: {} });", "a", 1, 1],
])("%s", (_, source, key, line, firstLine) => {
  for (const typescript of [false, true]) {
    expect(repeatedKey(source, typescript)).toEqual({ key, line, firstLine });
  }
});

test.each([
  ["different objects", "f({ a: 1 }, { a: 2 }); f({ a: { a: { a: 1 } } });"],
  ["strings, templates and comments", "f({ a: 'a: 1, a: 2', b: `a: 1, a: 2` /* a: 1, a: 2 */ }); // a: 1"],
  ["conditions and labels", "f({ a: b ? a : a }); a: for (;;) break a;"],
  ["computed keys", "f({ [a]: 1, [b]: 2, ['c']: 3, ['c']: 4 });"],
  ["accessors", "f({ get a() { return 1; }, set a(b) {} });"],
  ["cases", "switch (b) { case a: { c: 1 } case d: { c: 1 } }"],
  ["patterns", "const { a: b, a: c } = d; ({ a: b, a: c } = d); f(({ a: b, a: [c], a: { e: g } }) => b);"],
  ["classes", "class A { a = 1; static a = 2; }"],
  ["what cannot be read", "f({ a: 1, a: 2 }"],
])("not in %s", (_, source) => {
  for (const typescript of [false, true]) expect(repeatedKey(source, typescript)).toBeUndefined();
});

test("not in types", () => {
  const source =
    "interface A { a: 1; a: 1 } type B = { a: 1, a: 1 }; class C { a: 1; b: 2 } f<{ a: 1; a: 1 }>({ a: 1 });";
  expect(repeatedKey(source, true)).toBeUndefined();
});

test("not in this project's own sources", () => {
  for (const path of [
    "src/design/models/location.ts",
    "src/design/distribution.ts",
    "test/cli/design.test.ts",
  ]) {
    expect(repeatedKey(readFileSync(join(ROOT, path), "utf8"), true), path).toBeUndefined();
  }
});
