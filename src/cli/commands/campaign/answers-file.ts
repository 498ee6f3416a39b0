/** A table of answers: who, what, by whom; every mistake by its line. */
import { extname } from "node:path";
import type { Answer, Campaign } from "../../../campaign/campaign.js";
import type { PoolContent } from "../../../campaign/loaded-campaign.js";
import { InputError } from "../../../core/errors.js";
import { nearestName } from "../../../core/nearest-name.js";
import type { Model } from "../../../design/model.js";
import type { ReadOptions } from "../../../sources/source.js";
import { idReader } from "../../../tables/ids.js";
import { columnsOfRule } from "../../../tables/label.js";
import { columnCell, findColumn, type Table } from "../../../tables/table.js";

export const answersFileTexts = {
  at: (file: string, place: string, reason: string) => `${place} of ${file}: ${reason}; no answer was stored`,
  noColumn: (file: string, name: string, near: string | undefined) =>
    `${file} has no column "${name}": name the column so${near === undefined ? "" : `, in the place of "${near}"`}`,
  noId: "there is no id: give one",
  refused: (given: string) => `refused is "${given}": write yes or no`,
  step: (given: string) => `the step is "${given}": give a whole number of at least 0`,
  number: (column: string) => `the column "${column}" has no number here: give one`,
  ignored: (columns: readonly string[]) =>
    `not looked at: the column${columns.length === 1 ? "" : "s"} ${columns.map((each) => `"${each}"`).join(", ")}`,
  unanswered: (rows: number) =>
    `${rows} row${rows === 1 ? " has" : "s have"} no answer yet and ${rows === 1 ? "was" : "were"} left out`,
  empty: (file: string) => `${file} has no answers: fill in the column of labels`,
};

export interface AnswersFile {
  readonly answers: readonly Answer[];
  readonly notes: readonly string[];
  /** A mistake of one of the answers, with its place in the file. */
  refused(index: number, error: InputError, reason: string): InputError;
}

export const sensitiveColumns = ({ sensitive }: PoolContent): readonly string[] => [
  ...new Set(sensitive.flatMap(({ rule }) => columnsOfRule(rule))),
];

/** Reads one cell of a row as text. */
type Cell = (row: number) => string | undefined;

interface Reader {
  /** Column names that mean something. */
  readonly known: readonly string[];
  /** Those of which a file has at least one, by whose name it is asked for one that has none. */
  readonly answers: readonly [string, ...string[]];
  answer(row: number, cell: (name: string) => string | undefined): Answer | undefined;
}

const YES = new Set(["yes", "true", "1", "y", "x", "refused"]);
const NO = new Set(["no", "false", "0", "n"]);

const isRefused = (given: string | undefined): boolean => {
  const word = given?.trim().toLowerCase() ?? "no";
  if (YES.has(word)) return true;
  if (NO.has(word)) return false;
  throw new InputError("refused", answersFileTexts.refused(given ?? ""));
};

const poolReader = (content: PoolContent, has: (name: string) => boolean): Reader => {
  const columns = sensitiveColumns(content);
  const [targetColumn] = columnsOfRule(content.task.target.rule);
  // What it is called in the pool will do where there is no column of that name.
  const label = has("label") || targetColumn === undefined ? "label" : targetColumn;
  const single = columns.length === 1 && !has(columns[0]) && has("sensitive") ? columns[0] : undefined;
  return {
    known: [
      "id",
      label,
      "annotator",
      "event",
      "refused",
      ...(single === undefined ? columns : ["sensitive"]),
    ],
    answers: [
      "label",
      ...(label === "label" ? [] : [label]),
      "refused",
      ...(single === undefined ? columns : ["sensitive"]),
    ],
    answer(_, cell) {
      const told = columns.flatMap((name) => {
        const value = cell(single === name ? "sensitive" : name);
        return value === undefined ? [] : [[name, value] as const];
      });
      const refused = isRefused(cell("refused"));
      const value = cell(label);
      if (value === undefined && !refused && told.length === 0) return undefined;
      return {
        id: cell("id") ?? "",
        label: value,
        refused,
        sensitive: told.length === 0 ? undefined : Object.fromEntries(told),
        annotator: cell("annotator"),
        event: cell("event"),
      };
    },
  };
};

const designReader = (model: Model, has: (name: string) => boolean): Reader => {
  const variables = model.design.map(({ name }) => name);
  const only = model.outcomes.length === 1 && !has(model.outcomes[0]) ? "outcome" : undefined;
  const outcomes = only === undefined ? model.outcomes : [only];
  const numbers = (names: readonly string[], cell: (name: string) => string | undefined) => {
    const given = names.filter((name) => cell(name) !== undefined);
    if (given.length === 0) return undefined;
    return names.map((name) => {
      const value = Number(cell(name)?.trim() || Number.NaN);
      if (Number.isFinite(value)) return value;
      throw new InputError("number", answersFileTexts.number(name));
    });
  };
  return {
    known: ["id", "step", "event", ...outcomes, ...variables],
    answers: [outcomes[0], ...outcomes.slice(1)],
    answer(_, cell) {
      const outcome = numbers(outcomes, cell);
      if (outcome === undefined) return undefined;
      const step = cell("step");
      if (step !== undefined && !/^\s*\d+\s*$/.test(step)) {
        throw new InputError("step", answersFileTexts.step(step));
      }
      return {
        id: cell("id") ?? "",
        outcome,
        design: numbers(variables, cell),
        step: step === undefined ? undefined : Number(step),
        event: cell("event"),
      };
    },
  };
};

const LINES_OF_OBJECTS = new Set([".jsonl", ".ndjson"]);
const LINES_OF_CELLS = new Set([".csv", ".tsv", ".txt", ".tab"]);

/** Where a row stands in its file: its line where it has lines, which cells in quotes may have more of. */
const placeIn = (path: string, reading: ReadOptions, table: Table): ((row: number) => string) => {
  const kind = extname(path).toLowerCase();
  if (reading.query !== undefined) return (row) => `row ${row + 1}`;
  if (LINES_OF_OBJECTS.has(kind)) return (row) => `line ${row + 1}`;
  if (!LINES_OF_CELLS.has(kind)) return (row) => `row ${row + 1}`;
  const cells = table.columns.map(columnCell);
  const ends = (row: number): number =>
    cells.reduce((sum, cell) => sum + String(cell(row) ?? "").split("\n").length - 1, 0);
  return (row) => `line ${Array.from({ length: row }, (_, i) => ends(i)).reduce((a, b) => a + b, row + 2)}`;
};

/** The answers of a table, by the columns that the campaign knows; rows without an answer are left out. */
export const readAnswers = async (
  path: string,
  reading: ReadOptions,
  { now: { content } }: Campaign,
): Promise<AnswersFile> => {
  const { readTable } = await import("../../../sources/source.js");
  const readerFor = (has: (name: string) => boolean): Reader =>
    content.kind === "pool" ? poolReader(content, has) : designReader(content.model, has);
  // Everything stays the text that it is: 007 and 7 are two people, and "1" may be a class.
  const asText = [false, true].flatMap((all) => readerFor(() => all).known);
  const table = await readTable(path, { ...reading, asText: [...asText, "sensitive", "label", "outcome"] });
  const names = table.columns.map(({ name }) => name);
  const reader = readerFor((name) => names.includes(name));
  const cells = new Map<string, Cell>(
    reader.known.flatMap((name) => {
      const column = findColumn(table, name);
      return column === undefined ? [] : [[name, idReader(column)] as const];
    }),
  );
  const unknown = names.filter((each) => !reader.known.includes(each));
  const isLacking = (name: string) => !cells.has(name);
  const lacking = isLacking("id") ? ["id"] : reader.answers.every(isLacking) ? reader.answers : [];
  if (lacking.length > 0) {
    // Of several that would do, the one that was meant.
    const name = lacking.find((each) => nearestName(each, unknown) !== undefined) ?? lacking[0];
    throw new InputError("no-column", answersFileTexts.noColumn(path, name, nearestName(name, unknown)));
  }
  const placeOf = placeIn(path, reading, table);
  const answers: Answer[] = [];
  const rows: number[] = [];
  for (let row = 0; row < table.rows; row++) {
    try {
      const answer = reader.answer(row, (name) => cells.get(name)?.(row));
      if (answer === undefined) continue;
      if (answer.id === "") throw new InputError("id", answersFileTexts.noId);
      answers.push(answer);
      rows.push(row);
    } catch (error) {
      if (!(error instanceof InputError)) throw error;
      throw new InputError(error.code, answersFileTexts.at(path, placeOf(row), error.message));
    }
  }
  if (answers.length === 0) throw new InputError("empty", answersFileTexts.empty(path));
  const unanswered = table.rows - answers.length;
  return {
    answers,
    notes: [
      ...(unknown.length === 0 ? [] : [answersFileTexts.ignored(unknown)]),
      ...(unanswered === 0 ? [] : [answersFileTexts.unanswered(unanswered)]),
    ],
    refused: (index, { code }, reason) =>
      new InputError(code, answersFileTexts.at(path, placeOf(rows[index]), reason)),
  };
};
