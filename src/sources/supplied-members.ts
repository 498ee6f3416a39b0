/**
 * Predictions that come from outside: the probabilities that the members of somebody else's model give to every row of
 * a table, so that nobody has to reveal a sensitive label when labels are asked for.
 *
 * - A table (CSV, Parquet, ...) with a row for each row and a column for each member: its P(class 1).
 * - An ONNX network that takes the encoded features [rows, columns], float32, and gives [rows, members, classes], or
 *   [rows, members] of P(class 1).
 */
import { readFile } from "node:fs/promises";
import { EnvironmentError, InputError } from "../core/errors.js";
import { fitEncoder } from "../tables/encoder.js";
import { columnNamed, type Table } from "../tables/table.js";
import type { Task } from "../tables/task.js";
import { readTable } from "./source.js";

/** [rows, members, classes], float32. */
export interface SuppliedMembers {
  readonly kind: "dense";
  readonly rows: number;
  readonly members: number;
  readonly classes: number;
  readonly values: Float32Array;
}

export const suppliedTexts = {
  rows: (file: string, given: number, expected: number) =>
    `${file} has ${given} rows of probabilities and the table has ${expected} rows: give one for each row, in the same order.`,
  text: (file: string, column: string) =>
    `the column "${column}" of ${file} holds text where a member's probabilities are expected: give numbers from 0 to 1 only.`,
  probability: (file: string, row: number) =>
    `row ${row + 1} of ${file} has a number that is no probability: give numbers from 0 to 1, none missing.`,
  oneMember: (file: string) =>
    `${file} has one member, and information is measured by how members disagree: give at least two, such as the trees or the draws of an ensemble.`,
  classes: (file: string, classes: number) =>
    `${file} has one probability a member, which is enough for two classes only, and the attribute has ${classes}: give an ONNX network with [rows, members, classes].`,
  shape: (file: string, shape: readonly number[], rows: number, classes: number) =>
    `${file} gave [${shape.join(", ")}] where [${rows}, members, ${classes}] is expected: change its output.`,
  noRuntime:
    "an ONNX model needs the package onnxruntime-node, which is not installed here: run npm install onnxruntime-node.",
  failed: (file: string, reason: string) => `${file} could not be run on the encoded features (${reason}).`,
  numbers: (column: string) =>
    `the column "${column}" holds text or missing values: name a column of numbers.`,
};

export const suppliedMembers = async (
  file: string,
  task: Task,
  classes: number,
): Promise<SuppliedMembers> => {
  const members = file.endsWith(".onnx")
    ? await fromNetwork(file, task, classes)
    : await fromTable(file, task, classes);
  if (members.members < 2) throw new InputError("members", suppliedTexts.oneMember(file));
  const { values } = members;
  const wrong = values.findIndex((value) => !(value >= 0 && value <= 1));
  if (wrong >= 0) {
    const row = Math.floor(wrong / (members.members * classes));
    throw new InputError("members", suppliedTexts.probability(file, row));
  }
  return members;
};

const fromTable = async (file: string, task: Task, classes: number): Promise<SuppliedMembers> => {
  if (classes !== 2) throw new InputError("members", suppliedTexts.classes(file, classes));
  const table = await readTable(file);
  const { rows } = task.table;
  if (table.rows !== rows) throw new InputError("members", suppliedTexts.rows(file, table.rows, rows));
  const members = table.columns.length;
  const positive = new Float32Array(rows * members);
  table.columns.forEach((column, k) => {
    if (column.kind !== "numeric") throw new InputError("members", suppliedTexts.text(file, column.name));
    column.values.forEach((value, row) => {
      positive[row * members + k] = value;
    });
  });
  return binary(positive, rows, members);
};

const binary = (positive: Float32Array, rows: number, members: number): SuppliedMembers => {
  const values = new Float32Array(rows * members * 2);
  positive.forEach((value, i) => {
    values[2 * i] = 1 - value;
    values[2 * i + 1] = value;
  });
  return { kind: "dense", rows, members, classes: 2, values };
};

const fromNetwork = async (file: string, task: Task, classes: number): Promise<SuppliedMembers> => {
  const { InferenceSession, Tensor } = await loadRuntime();
  const { values, rows, columns } = fitEncoder(task).encode(task.table);
  const bytes = await readFile(file).catch((cause) => {
    throw new InputError("no-model", suppliedTexts.failed(file, "it cannot be read"), { cause });
  });
  try {
    const session = await InferenceSession.create(bytes);
    const input = new Tensor("float32", Float32Array.from(values), [rows, columns]);
    const answer = await session.run({ [session.inputNames[0]]: input });
    const { data, dims } = answer[session.outputNames[session.outputNames.length - 1]];
    const numbers = Float32Array.from(data as Float32Array);
    if (dims.length === 2 && dims[0] === rows && classes === 2) return binary(numbers, rows, dims[1]);
    if (dims.length === 3 && dims[0] === rows && dims[2] === classes) {
      return { kind: "dense", rows, members: dims[1], classes, values: numbers };
    }
    throw new InputError("members", suppliedTexts.shape(file, dims, rows, classes));
  } catch (cause) {
    if (cause instanceof InputError) throw cause;
    const reason = (cause instanceof Error ? cause.message : String(cause)).split("\n")[0].slice(0, 200);
    throw new InputError("members", suppliedTexts.failed(file, reason), { cause });
  }
};

const loadRuntime = async () => {
  try {
    const loaded = await import("onnxruntime-node");
    // The package is CommonJS: its names may be below `default` only.
    return "InferenceSession" in loaded ? loaded : (loaded as { default: typeof loaded }).default;
  } catch (cause) {
    throw new EnvironmentError("no-onnxruntime", suppliedTexts.noRuntime, { cause });
  }
};

/** A column of numbers, none missing. */
export const numbersOf = (table: Table, name: string): Float64Array => {
  const column = columnNamed(table, name);
  if (column.kind !== "numeric" || column.values.some(Number.isNaN)) {
    throw new InputError("numbers", suppliedTexts.numbers(name));
  }
  return column.values;
};
