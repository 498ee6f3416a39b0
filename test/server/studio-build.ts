/** A small build of a page in a folder of its own, as the real one is laid out. */
import { mkdirSync, mkdtempSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gzipSync } from "node:zlib";

export const INDEX =
  '<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><meta name="fairbed-mode" content="static"><title>FairBED</title></head><body></body></html>\n';
export const SCRIPT = `console.log(${JSON.stringify("word ".repeat(1000))});\n`;
export const SECRET = "nobody may read this";

/** What is beside the build is not part of it, and a link out of it leads nowhere. */
export const makeBuild = (): { readonly root: string; readonly folder: string } => {
  const root = mkdtempSync(join(tmpdir(), "fairbed-studio-"));
  const folder = join(root, "studio");
  mkdirSync(join(folder, "assets"), { recursive: true });
  const write = (name: string, text: string | Uint8Array) => writeFileSync(join(folder, name), text);
  writeFileSync(join(root, "secret.txt"), SECRET);
  symlinkSync(join(root, "secret.txt"), join(folder, "link.txt"));
  symlinkSync(root, join(folder, "up"));
  write("index.html", INDEX);
  write("icon.svg", '<svg xmlns="http://www.w3.org/2000/svg"/>');
  write("manifest.webmanifest", '{"name":"FairBED"}');
  write("assets/index-Dk3_a-9Z.js", SCRIPT);
  write("assets/engine-12345678.js", SCRIPT);
  write("assets/engine-12345678.js.gz", gzipSync(`// packed before\n${SCRIPT}`));
  write("assets/index-BcdEfgh1.css", "body{margin:0}");
  write("assets/kernel-aaaabbbb.wasm", new Uint8Array([0, 0x61, 0x73, 0x6d]));
  write("assets/text-aaaabbbb.woff2", new Uint8Array(4000));
  write("assets/data.json", "{}");
  return { root, folder };
};
