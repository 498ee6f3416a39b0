/** Brotli's dictionary as the page has it, against the package's own. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { expect, test } from "vitest";
import { pageDictionary } from "../../scripts/page-dictionary.mjs";
import { ROOT } from "../setup/dist.js";

const FILE = join(ROOT, "node_modules/hyparquet-compressors/src/brotli.dictionary.js");
const dictionaryOf = async (url: string): Promise<Uint8Array> =>
  ((await import(/* @vite-ignore */ url)) as { getDictionary(): Uint8Array }).getDictionary();

test("the dictionary as text has the bytes of the one that is packed", async () => {
  const { transform } = pageDictionary() as unknown as {
    transform(code: string, id: string): { readonly code: string } | null;
  };
  const made = transform(readFileSync(FILE, "utf8"), FILE);
  const text = `data:text/javascript;base64,${Buffer.from(made?.code ?? "").toString("base64")}`;
  const [own, packed] = [await dictionaryOf(text), await dictionaryOf(pathToFileURL(FILE).href)];
  expect(own.length).toBe(122_784);
  expect(Buffer.from(own).equals(packed)).toBe(true);
  expect(transform("", "another.js")).toBeNull();
});
