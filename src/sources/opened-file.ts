/**
 * A file that is read by others: under a name that means nothing to them, and the same bytes from beginning to end.
 *
 * DuckDB takes `*`, `?` and `[` in a path for a pattern, `sex=F/` for a column and `~` for a home. It therefore never
 * sees the path that was given, but a link to it in a folder of our own.
 */
import { createHash } from "node:crypto";
import type { BigIntStats } from "node:fs";
import { type FileHandle, link, mkdtemp, open, rm, stat, symlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { EnvironmentError, InputError } from "../core/errors.js";
import { fileTexts, openError } from "./file-texts.js";

export const openedTexts = {
  noName: 'the name of a table is empty (""): give the path of a file.',
  notPlain: (file: string) =>
    `${file} is a pipe or a device, which cannot be read twice: write what it gives to a file first.`,
  changed: (file: string) => `${file} changed while it was read: try again when nobody writes to it.`,
  temporary: (folder: string) =>
    `the folder for temporary files, ${folder}, has one of * ? [ in its name, which DuckDB takes for a pattern: name another one with TMPDIR.`,
  noRoom: (folder: string, reason: string) =>
    `the folder for temporary files, ${folder}, cannot be written to (${reason}): make room there, or name another one with TMPDIR.`,
};

export interface OpenedFile {
  /** Where others find it; not the name that was given. */
  readonly path: string;
  /** Around that name, for what a reader writes; goes away with it. */
  readonly folder: string;
  readonly bytes: number;
  /** Throws where the file is no longer what it was when it was opened. */
  requireUnchanged(): Promise<void>;
  /** SHA-256 of the bytes of the file, and of what a database keeps beside it; throws where they changed. */
  sha256(): Promise<string>;
}

/** What databases keep beside a file and read with it: DuckDB's log, SQLite's log and journal. */
const BESIDE = [".wal", "-wal", "-journal"] as const;

/** Runs `use` with the file open; `name` is what it is called in messages. */
export const withOpenedFile = async <Result>(
  path: string,
  name: string,
  use: (file: OpenedFile) => Promise<Result>,
): Promise<Result> => {
  const handle = await openPlain(path, name);
  try {
    return await withTemporaryFolder(async (folder) => {
      const linked = join(folder, "table");
      await linkTo(resolve(path), linked);
      return use({ folder, ...(await opened(handle, path, linked, name)) });
    });
  } finally {
    await handle.close();
  }
};

/** A folder of our own, gone afterwards, whose name DuckDB takes as it is. */
export const withTemporaryFolder = async <Result>(
  use: (folder: string) => Promise<Result>,
): Promise<Result> => {
  const root = tmpdir();
  if (/[*?[]/.test(root)) throw new EnvironmentError("temporary-folder", openedTexts.temporary(root));
  const folder = await mkdtemp(join(root, "fairbed-table-")).catch((error: NodeJS.ErrnoException) => {
    throw new EnvironmentError("temporary-folder", openedTexts.noRoom(root, error.code ?? "unknown"));
  });
  try {
    return await use(folder);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
};

const openPlain = async (path: string, name: string): Promise<FileHandle> => {
  if (path === "") throw new InputError("no-file", openedTexts.noName);
  try {
    // Before it is opened: to open a pipe waits for somebody to write to it.
    const found = await stat(path);
    if (found.isDirectory()) throw new InputError("table-is-folder", fileTexts.folder(name));
    if (!found.isFile()) throw new InputError("not-plain", openedTexts.notPlain(name));
    return await open(path);
  } catch (error) {
    throw error instanceof InputError ? error : openError(error, name);
  }
};

/** A symbolic link, or where the system lets nobody make one, a second name for the file. */
const linkTo = async (path: string, linked: string): Promise<void> => {
  try {
    await symlink(path, linked);
  } catch (error) {
    await link(path, linked).catch(() => {
      const code = error instanceof Error && "code" in error ? String(error.code) : "unknown";
      throw new EnvironmentError("temporary-folder", openedTexts.noRoom(tmpdir(), code));
    });
  }
};

const identityOf = ({ dev, ino, size, mtimeNs, ctimeNs }: BigIntStats): string =>
  [dev, ino, size, mtimeNs, ctimeNs].join(" ");

/** The file that has this name now, as text; "" where there is none. */
const identityAt = async (path: string): Promise<string> => {
  const found = await stat(path, { bigint: true }).catch(() => undefined);
  return found === undefined ? "" : identityOf(found);
};

const opened = async (
  handle: FileHandle,
  path: string,
  linked: string,
  name: string,
): Promise<Omit<OpenedFile, "folder">> => {
  const beside = BESIDE.map((ending) => path + ending);
  const stats = await handle.stat({ bigint: true });
  const identity = identityOf(stats);
  const besideAtFirst = await Promise.all(beside.map(identityAt));
  const fail = () => new InputError("file-changed", openedTexts.changed(name));
  const requireUnchanged = async () => {
    // The open file and what has its name: somebody may have written to it, or put another in its place.
    const now = [identityOf(await handle.stat({ bigint: true })), await identityAt(path)];
    if (now.some((each) => each !== identity)) throw fail();
  };
  const requireUnchangedBeside = async () => {
    const now = await Promise.all(beside.map(identityAt));
    if (now.some((each, index) => each !== besideAtFirst[index])) throw fail();
  };
  return {
    path: linked,
    bytes: Number(stats.size),
    requireUnchanged,
    async sha256() {
      const hash = createHash("sha256");
      for await (const part of handle.createReadStream({ start: 0, autoClose: false })) hash.update(part);
      for (const [index, other] of beside.entries()) {
        if (besideAtFirst[index] === "") continue;
        const file = await open(other).catch(() => {
          throw fail();
        });
        for await (const part of file.createReadStream()) hash.update(part);
      }
      await requireUnchanged();
      await requireUnchangedBeside();
      return hash.digest("hex");
    },
  };
};
