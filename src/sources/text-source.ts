/** Tables that are read here and not by the database: CSV, ARFF and Excel workbooks. */
import { InputError } from "../core/errors.js";
import { arffRows } from "../tables/arff.js";
import { type TextPieces, withCsvRows } from "../tables/csv-rows.js";
import { type DialectSettings, dialectTexts } from "../tables/dialect.js";
import type { TextRows } from "../tables/text-rows.js";
import type { FileKind, FileStart } from "./file-kind.js";
import { textOf, WINDOWS_1252 } from "./text-encoding.js";
import { xlsxRows } from "./xlsx.js";

interface TextSourceSettings extends DialectSettings {
  readonly missing?: readonly string[] | undefined;
  readonly asText?: readonly string[] | undefined;
  readonly encoding?: string | undefined;
  readonly sheet?: string | undefined;
}

/** A file that `inspectFile` looked at. */
export interface InspectedFile {
  readonly path: string;
  /** What it is called in messages. */
  readonly name: string;
  readonly start: FileStart;
}

export const isTextSource = (kind: FileKind): boolean =>
  kind === "text" || kind === "arff" || kind === "xlsx";

/** Runs `use` with the rows of a file; again where its text turns out to be written in another way further down. */
export const withTextRows = async <Result>(
  file: InspectedFile,
  settings: TextSourceSettings,
  use: (rows: TextRows) => Promise<Result>,
): Promise<Result> => {
  const { path, name, start } = file;
  if (start.kind === "xlsx") return use(await xlsxRows(path, name, settings));
  const isFound = settings.encoding === undefined;
  const read = (encoding: string) =>
    withDecodedRows(file, encoding, settings, (rows) =>
      use(
        isFound && encoding === WINDOWS_1252
          ? { ...rows, notes: [...rows.notes, dialectTexts.encoding(encoding)] }
          : rows,
      ),
    );
  try {
    return await read(start.encoding);
  } catch (error) {
    const isOther = error instanceof InputError && error.code === "not-utf8" && start.encoding === "utf-8";
    if (isOther && isFound) return read(WINDOWS_1252);
    throw error;
  }
};

const withDecodedRows = async <Result>(
  { path, name, start }: InspectedFile,
  encoding: string,
  settings: TextSourceSettings,
  use: (rows: TextRows) => Promise<Result>,
): Promise<Result> => {
  const text: TextPieces = {
    start: start.text,
    whole: start.whole,
    pieces: () => textOf({ path, name, gzip: start.gzip }, encoding, settings.encoding !== undefined),
  };
  return start.kind === "arff"
    ? use(await arffRows(name, text, settings))
    : withCsvRows(name, text, settings, use);
};
