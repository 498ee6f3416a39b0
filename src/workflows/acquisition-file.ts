/** What an acquisition leaves behind for others to learn from: rows by number, which mean something in one table only. */
import { InputError } from "../core/errors.js";
import { columnsOfRule } from "../tables/label.js";
import { columnNamed } from "../tables/table.js";
import { tableHash } from "../tables/table-hash.js";
import type { Task } from "../tables/task.js";
import type { SplitSettings } from "./generalization.js";

/** The part of an answer of `fairbed acquire --json` that is read again. */
export interface AcquisitionFile {
  readonly rows: { readonly table: number };
  /** Of the columns that were used, see {@link taskContent}. */
  readonly content: string;
  readonly features: readonly string[];
  readonly target: string;
  readonly sensitive: readonly string[];
  readonly seeds: readonly number[];
  /** By seed. */
  readonly initial: readonly (readonly number[])[];
  readonly methods: readonly {
    readonly method: string;
    readonly acquired: readonly (readonly number[])[];
    readonly settings: SplitSettings;
  }[];
}

export const acquisitionFileTexts = {
  notAnswer: (file: string) =>
    `${file} is not an answer of fairbed acquire --json: it has no "methods" with the rows that they acquired`,
  noContent: (file: string) =>
    `${file} does not name its table by content, as answers of earlier versions did not: run fairbed acquire again`,
  rows: (file: string, where: string) =>
    `${file} has ${where} that are not lists of row numbers, one for each seed, whole and from 0 on, none twice: give the answer as fairbed acquire --json wrote it`,
};

/**
 * The content of a task as 32 hexadecimal digits: of its features, its target and its sensitive columns with all their
 * rows in their order. Columns that are not used do not count, nor does how the table is called.
 */
export const taskContent = ({ table, features, target, sensitive, weights }: Task): string => {
  const labels = [target, ...sensitive].flatMap(({ rule }) => columnsOfRule(rule));
  const names = [...new Set([...features, ...labels])].sort((a, b) => (a < b ? -1 : 1));
  const counted =
    weights === undefined ? [] : [{ name: "weights", kind: "numeric" as const, values: weights }];
  return tableHash({ ...table, columns: [...names.map((name) => columnNamed(table, name)), ...counted] });
};

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

const isTexts = (value: unknown): value is readonly string[] =>
  Array.isArray(value) && value.every((each) => typeof each === "string");

/** Lists of rows, one for each seed. */
const areRows = (value: unknown, seeds: number): boolean =>
  Array.isArray(value) &&
  value.length === seeds &&
  value.every(
    (rows) =>
      Array.isArray(rows) &&
      rows.every((row) => typeof row === "number" && Number.isInteger(row) && row >= 0) &&
      new Set(rows).size === rows.length,
  );

/** An answer from outside, every part of it looked at; `file` is what it is called in errors. */
export const readAcquisitionFile = (value: unknown, file: string): AcquisitionFile => {
  const wrong = () => new InputError("not-answer", acquisitionFileTexts.notAnswer(file));
  if (!isRecord(value) || !isRecord(value.rows) || typeof value.target !== "string") throw wrong();
  const { seeds, methods, content } = value;
  if (
    !isTexts(value.features) ||
    !isTexts(value.sensitive) ||
    !Array.isArray(methods) ||
    methods.length === 0
  )
    throw wrong();
  if (!Array.isArray(seeds) || seeds.length === 0 || !areRows([seeds], 1)) throw wrong();
  if (!Number.isInteger(value.rows.table)) throw wrong();
  for (const each of methods) {
    if (!isRecord(each) || typeof each.method !== "string" || !isRecord(each.settings)) throw wrong();
    if (!areRows(each.acquired, seeds.length)) {
      throw new InputError("rows", acquisitionFileTexts.rows(file, "acquired rows"));
    }
  }
  if (!areRows(value.initial, seeds.length)) {
    throw new InputError("rows", acquisitionFileTexts.rows(file, "initial rows"));
  }
  if (typeof content !== "string" || !/^[0-9a-f]{32}$/.test(content)) {
    throw new InputError("no-content", acquisitionFileTexts.noContent(file));
  }
  return value as unknown as AcquisitionFile;
};
