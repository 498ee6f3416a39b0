import {
  chmodSync,
  lstatSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { writeFileAtomically, writeText } from "../../src/cli/atomic-write.js";
import { InputError } from "../../src/core/errors.js";

let folder = "";
let file = "";
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "fairbed-write-"));
  file = join(folder, "result.json");
});
afterEach(() => rmSync(folder, { recursive: true }));

const contents = () => readFileSync(file, "utf8");

test("writes text, bytes and streams", async () => {
  await writeFileAtomically(file, "text");
  expect(contents()).toBe("text");
  await writeFileAtomically(file, new TextEncoder().encode("bytes"));
  expect(contents()).toBe("bytes");
  const parts = async function* () {
    yield "in ";
    yield "parts";
  };
  await writeFileAtomically(file, parts());
  expect(contents()).toBe("in parts");
  expect(readdirSync(folder)).toEqual(["result.json"]);
});

test.each([
  ["EACCES", "a folder that you may write to"],
  ["EROFS", "a folder that you may write to"],
  ["ENOSPC", "free some space"],
  ["EIO", "another place"],
])("a refusal by %s says what to do next", (reason, next) => {
  expect(writeText.refused(file, reason)).toContain(`${file} could not be written (${reason}): `);
  expect(writeText.refused(file, reason)).toContain(next);
});

test("keeps the permissions of the former file, and a link a link", async () => {
  writeFileSync(file, "old");
  chmodSync(file, 0o600);
  const link = join(folder, "link");
  symlinkSync(file, link);
  await writeFileAtomically(link, "new");
  expect(contents()).toBe("new");
  expect(statSync(file).mode & 0o777).toBe(0o600);
  expect(lstatSync(link).isSymbolicLink()).toBe(true);
});

test("an error in the middle leaves the former file and nothing else", async () => {
  writeFileSync(file, "old");
  const parts = async function* () {
    yield "half";
    throw new Error("the source broke");
  };
  await expect(writeFileAtomically(file, parts())).rejects.toThrow("the source broke");
  expect(contents()).toBe("old");
  expect(readdirSync(folder)).toEqual(["result.json"]);
});

test("an abort in the middle leaves nothing", async () => {
  const controller = new AbortController();
  const parts = async function* () {
    yield "half";
    controller.abort();
    yield "whole";
  };
  const { signal } = controller;
  await expect(writeFileAtomically(file, parts(), { signal })).rejects.toThrow("aborted");
  expect(readdirSync(folder)).toEqual([]);
});

test("two writers at once leave one whole file", async () => {
  const [a, b] = ["a".repeat(1e6), "b".repeat(1e6)];
  await Promise.all([writeFileAtomically(file, a), writeFileAtomically(file, b)]);
  expect([a, b]).toContain(contents());
  expect(readdirSync(folder)).toEqual(["result.json"]);
});

test("says what is wrong with the path", async () => {
  await expect(writeFileAtomically(folder, "")).rejects.toThrow(
    new InputError("file-is-folder", writeText.isFolder(folder)),
  );
  const nowhere = join(folder, "no", "file");
  await expect(writeFileAtomically(nowhere, "")).rejects.toThrow(
    new InputError("no-folder", writeText.noFolder(nowhere)),
  );
});

test("what cannot be replaced is written straight", async () => {
  await writeFileAtomically("/dev/null", "x");
  expect(statSync("/dev/null").isCharacterDevice()).toBe(true);
});
