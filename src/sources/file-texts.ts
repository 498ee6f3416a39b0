/** What is wrong with a file that should hold a table. */
import { InputError } from "../core/errors.js";

export const fileTexts = {
  missing: (file: string) => `there is no file ${file}: check the path.`,
  folder: (file: string) => `${file} is a folder: name a table in it.`,
  unreadable: (file: string, reason: string) =>
    `${file} could not be read (${reason}): check who may read it.`,
  empty: (file: string) => `${file} is empty: give a table with at least one row.`,
  nameTooLong: (file: string) =>
    `the name of a file is longer than the system allows (${file.slice(0, 40)}…): give a shorter path.`,
  notUtf8: (file: string) => `${file} is not UTF-8 text: convert it to UTF-8.`,
  notParquet: (file: string) =>
    `${file} is no Parquet file, whatever its name says: get it again, or rename it if it is another kind of table.`,
  noTable: (file: string, looksLike: string) =>
    `${file} is no table (it looks like ${looksLike}): give CSV, Excel (.xlsx), ARFF, Parquet, JSON lines, Arrow, or a DuckDB or SQLite file.`,
  brokenGzip: (file: string) => `${file} is not whole: its gzip data end early or are damaged; get it again.`,
};

/** Why a file could not be opened, by the system's own code. */
export const openError = (error: unknown, name: string): InputError => {
  const code = error instanceof Error && "code" in error ? String(error.code) : String(error);
  if (/ENOENT|ENOTDIR/.test(code)) {
    return new InputError("no-file", fileTexts.missing(name), { cause: error });
  }
  if (code === "ENAMETOOLONG")
    return new InputError("no-file", fileTexts.nameTooLong(name), { cause: error });
  return new InputError("unreadable-file", fileTexts.unreadable(name, code), { cause: error });
};
