import { expect, test } from "vitest";
import { optionalPackage, packageTexts } from "../../src/sources/optional-package.js";

const missing = () => Promise.reject(new Error("not found"));

test("a missing package is a sentence with the command that installs it", async () => {
  await expect(optionalPackage(missing, "a store", "kysely")).rejects.toThrow(
    "a store needs the package kysely, which is not installed here: run npm install kysely.",
  );
});

test("where a task needs several, the command installs all of them", async () => {
  const all = "kysely libsql";
  const failing = optionalPackage(missing, "a store", "kysely", undefined, all);
  await expect(failing).rejects.toThrow(packageTexts.missing("a store", "kysely", undefined, all));
  await expect(failing).rejects.toThrow(/npm install kysely libsql\.$/);
});
