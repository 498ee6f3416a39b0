/** A table made ready for an audit: its features as numbers, its labels, and what identifies it. */
import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { stat } from "node:fs/promises";
import { InputError } from "../../../core/errors.js";
import { binByCuts, quantileBins } from "../../../fairness/leakage.js";
import { readTable } from "../../../sources/source.js";
import { type EncodedMatrix, type Encoder, fitEncoder } from "../../../tables/encoder.js";
import { applyRule, combineLabels, type Label } from "../../../tables/label.js";
import { categoricalColumn, type Table } from "../../../tables/table.js";
import { defineTask, type Task } from "../../../tables/task.js";
import {
  readSettings,
  readTask,
  type TableWords,
  tableOptionTexts,
  taskSettings,
} from "../sources/table-options.js";

/** More different numbers than this are a quantity, which is cut into classes. */
const MOST_NUMERIC_CLASSES = 10;

export const auditTableTexts = {
  binned: (column: string, bins: number) =>
    `"${column}" is a quantity: it was cut at its quantiles into ${bins} classes of about the same size`,
  weights: "weights are not used: every row counts the same in an audit",
  noTest: (name: string, column: string) =>
    `${name} has no known value of "${column}" that the table has too: give test data with the same columns and values.`,
};

/** Where each quantity was cut, so that another table is cut there too. */
type Cuts = ReadonlyMap<string, readonly number[]>;

export interface AuditTable {
  readonly name: string;
  readonly task: Task;
  readonly encoder: Encoder;
  readonly encoded: EncodedMatrix;
  /** The sensitive attributes, and last their intersection where there are several. */
  readonly sensitive: readonly Label[];
  readonly cuts: Cuts;
  readonly notes: readonly string[];
  readonly sha256: string;
}

/** Of the file's bytes, or where there is no one file, of the numbers that are learnt from. */
const hashOf = async (path: string | undefined, encoded: EncodedMatrix, labels: readonly Int32Array[]) => {
  const hash = createHash("sha256");
  const isFile = path !== undefined && (await stat(path).catch(() => undefined))?.isFile() === true;
  if (isFile) for await (const part of createReadStream(path)) hash.update(part as Uint8Array);
  else {
    const bytes = (view: Float32Array | Int32Array) =>
      new Uint8Array(view.buffer, view.byteOffset, view.byteLength).slice();
    hash.update(bytes(encoded.values));
    for (const each of labels) hash.update(bytes(each));
  }
  return hash.digest("hex");
};

const cutTable = (table: Table, words: readonly string[], bins: number, given: Cuts | undefined) => {
  const cuts = new Map(given);
  const notes: string[] = [];
  const columns = table.columns.map((column) => {
    if (column.kind !== "numeric" || !words.includes(column.name)) return column;
    if (given === undefined) {
      const different = new Set(column.values.filter((value) => !Number.isNaN(value)));
      if (different.size <= MOST_NUMERIC_CLASSES) return column;
      cuts.set(column.name, quantileBins(column.values, bins).cuts);
    }
    const own = cuts.get(column.name);
    if (own === undefined) return column;
    notes.push(auditTableTexts.binned(column.name, own.length + 1));
    const names = namesOf(own);
    return categoricalColumn(
      column.name,
      Array.from(binByCuts(column.values, own), (bin) => (bin < 0 ? undefined : names[bin])),
    );
  });
  return { table: { ...table, columns }, cuts, notes };
};

const short = (value: number): string => String(Number(value.toPrecision(6)));

/** Numbered, so that they sort as they lie. */
const namesOf = (cuts: readonly number[]): readonly string[] => [
  `1: below ${short(cuts[0])}`,
  ...cuts.slice(1).map((cut, i) => `${i + 2}: ${short(cuts[i])} to below ${short(cut)}`),
  `${cuts.length + 1}: ${short(cuts[cuts.length - 1])} or more`,
];

export const readAuditTable = async (
  path: string | undefined,
  words: TableWords,
  {
    seed,
    bins,
    cuts: given,
  }: { readonly seed: number; readonly bins: number; readonly cuts?: Cuts | undefined },
): Promise<AuditTable> => {
  let task: Task;
  let name: string;
  let cuts: Cuts = new Map();
  const notes: string[] = words.weights === undefined ? [] : [auditTableTexts.weights];
  if (words.task !== undefined) ({ task, name } = await readTask(path, words, seed));
  else {
    if (path === undefined) throw new InputError("no-table", tableOptionTexts.noTable);
    const settings = taskSettings(words);
    const asText = words.id === undefined ? [] : [words.id];
    const read = await readTable(path, { ...readSettings(words), asText });
    const cut = cutTable(read, words.sensitive ?? [], bins, given);
    cuts = cut.cuts;
    notes.push(...cut.notes);
    task = defineTask(cut.table, settings);
    name = path;
  }
  const encoder = fitEncoder(task);
  const encoded = encoder.encode(task.table);
  const sensitive =
    task.sensitive.length > 1
      ? [...task.sensitive, combineLabels(task.table, task.sensitive)]
      : task.sensitive;
  return {
    name,
    task,
    encoder,
    encoded,
    sensitive,
    cuts,
    notes: [...notes, ...task.table.notes, ...task.notes],
    sha256: await hashOf(path, encoded, [task.target.labels, ...sensitive.map(({ labels }) => labels)]),
  };
};

/** Test rows, labelled and encoded as the table's were. */
export interface AuditTest {
  readonly name: string;
  readonly rows: number;
  readonly encoded: EncodedMatrix;
  readonly target: Int32Array;
  readonly sensitive: readonly Int32Array[];
  readonly sha256: string;
}

export const readAuditTest = async (
  path: string,
  words: TableWords,
  of: AuditTable,
  bins: number,
): Promise<AuditTest> => {
  const read = await readTable(path, readSettings(words));
  const { table } = cutTable(read, words.sensitive ?? [], bins, of.cuts);
  const target = applyRule(of.task.target.rule, table);
  const sensitive = of.sensitive.map((label) => {
    const labels = applyRule(label.rule, table);
    if (!labels.some((each) => each >= 0)) {
      throw new InputError("test-labels", auditTableTexts.noTest(path, label.name));
    }
    return labels;
  });
  const encoded = of.encoder.encode(table);
  return {
    name: path,
    rows: table.rows,
    encoded,
    target,
    sensitive,
    sha256: await hashOf(path, encoded, [target, ...sensitive]),
  };
};
