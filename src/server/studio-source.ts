/** Where the page's files come from: a folder, or the archive that ships, which `scripts/shrink-build.mjs` makes. */
import { readdir, readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { brotliDecompress } from "node:zlib";

export interface StudioSource {
  /** When it was written; undefined where there is none. */
  writtenAt(): Promise<number | undefined>;
  /** Names of all files, with `/` between folders. */
  names(): Promise<readonly string[]>;
  read(name: string): Promise<Uint8Array<ArrayBuffer>>;
}

const decompress = promisify(brotliDecompress);

export const INDEX = "index.html";

const timeOf = async (path: string): Promise<number | undefined> => {
  try {
    return (await stat(path)).mtimeMs;
  } catch {
    return undefined;
  }
};

/** Links are not followed. */
const namesIn = async (folder: string, under = ""): Promise<readonly string[]> => {
  const entries = await readdir(join(folder, under), { withFileTypes: true });
  const names = await Promise.all(
    entries.map(async (entry) => {
      const name = under === "" ? entry.name : `${under}/${entry.name}`;
      if (entry.isDirectory()) return namesIn(folder, name);
      return entry.isFile() ? [name] : [];
    }),
  );
  return names.flat();
};

export const folderSource = (folder: string): StudioSource => ({
  writtenAt: () => timeOf(join(folder, INDEX)),
  names: () => namesIn(folder),
  read: async (name) => new Uint8Array(await readFile(join(folder, name))),
});

/** Texts by their names, as JSON, compressed as a whole. */
export const archiveSource = (file: string): StudioSource => {
  let texts: Promise<Readonly<Record<string, string>>> | undefined;
  const held = () => {
    texts ??= readFile(file)
      .then(decompress)
      .then((bytes) => JSON.parse(bytes.toString()));
    return texts;
  };
  return {
    writtenAt: () => timeOf(file),
    names: async () => Object.keys(await held()),
    read: async (name) => new TextEncoder().encode((await held())[name]),
  };
};
