/**
 * Results as small tables, one for each kind of cell, that can be committed, read and compared: all that drawings and
 * later cells need, with six significant digits. A row is found by its cell's key, so the cell itself is not in it.
 */

import { InputError } from "../core/errors.js";
import { shortest } from "../core/number-text.js";
import { KEY_DIGITS } from "../jobs/job-store.js";
import { csvText, parseCsv } from "../tables/csv.js";
import type {
  AcquireResult,
  Bounds,
  CellKind,
  CellResult,
  DesignResult,
  JudgeResult,
  Metrics,
  ParityResult,
  StoredComposition,
  StoredShare,
} from "./cell.js";

/** What a row says of its cell. */
export interface CompactCell {
  /** As many digits of the key as tell cells apart. */
  readonly key: string;
  /** The cell in words. */
  readonly what: string;
  readonly seed: number;
  readonly result: CellResult;
  readonly seconds: number;
}

const SIGNIFICANT = 6;
/** Row numbers are written in this base. */
const BASE = 36;
const NONE = "-";

export const compactTexts = {
  line: (path: string, line: number) =>
    `line ${line} of ${path} is not a result: give tables that fairbed reproduce wrote, or take that line out`,
};

const rounded = (value: number): string => shortest(value, SIGNIFICANT);
const listed = (values: readonly (number | undefined)[]): string =>
  values.map((value) => (typeof value === "number" ? rounded(value) : NONE)).join(" ");

const inBase = (numbers: readonly number[]): string => numbers.map((each) => each.toString(BASE)).join(" ");
const fromBase = (text: string): readonly number[] =>
  text.split(" ").map((each) => Number.parseInt(each, BASE));

type Fields = ReadonlyMap<string, string>;

interface Codec<Result> {
  /** By column; columns that a result does not have are left empty. */
  write(result: Result): Readonly<Record<string, string>>;
  /** Of all fields that are not the cell's own; those that are not known are metrics. Undefined where it is broken. */
  read(fields: Fields): Result | undefined;
}

/** As short a text as JSON allows: [attribute, [group, count, share of the candidates] …, [outcome, group, …] …]. */
const compositionText = (composition: readonly StoredComposition[]): string => {
  const share = ({ group, count, population }: StoredShare) => [group, count, Number(rounded(population))];
  return JSON.stringify(
    composition.map(({ attribute, groups, cells }) => [
      attribute,
      groups.map(share),
      cells.map((each) => [each.outcome, ...share(each)]),
    ]),
  );
};

/** Undefined where it is broken. */
const readComposition = (text: string): readonly StoredComposition[] | undefined => {
  const shareOf = ([group, count, population]: unknown[]): StoredShare => {
    if (typeof group !== "string" || typeof count !== "number" || typeof population !== "number")
      throw new SyntaxError("not a share");
    return { group, count, population };
  };
  try {
    const read = JSON.parse(text) as readonly [string, unknown[][], unknown[][]][];
    return read.map(([attribute, groups, cells]) => ({
      attribute,
      groups: groups.map(shareOf),
      cells: cells.map(([outcome, ...rest]) => ({ outcome: String(outcome), ...shareOf(rest) })),
    }));
  } catch {
    return undefined;
  }
};

const acquire: Codec<AcquireResult> = {
  write({ labelled, drawn, composition, checkpoints }) {
    const names = [...new Set(checkpoints.flatMap(({ metrics }) => Object.keys(metrics)))];
    return {
      labels: checkpoints.map(({ labels }) => labels).join(" "),
      ...Object.fromEntries(
        names.map((name) => [name, listed(checkpoints.map(({ metrics }) => metrics[name as keyof Metrics]))]),
      ),
      ...(composition === undefined ? {} : { composition: compositionText(composition) }),
      ...(drawn === undefined ? {} : { drawn: inBase(drawn) }),
      labelled: inBase(labelled),
    };
  },
  read(fields) {
    const { labels, labelled, drawn = "", composition = "", ...rest } = Object.fromEntries(fields);
    if (labels === undefined || labelled === undefined) return undefined;
    const composed = composition === "" ? undefined : readComposition(composition);
    if (composition !== "" && composed === undefined) return undefined;
    const metrics = Object.entries(rest)
      .filter(([, text]) => text !== "")
      .map(([name, text]) => [name, text.split(" ")] as const);
    return {
      labelled: fromBase(labelled),
      ...(drawn === "" ? {} : { drawn: fromBase(drawn) }),
      ...(composed === undefined ? {} : { composition: composed }),
      checkpoints: labels.split(" ").map((each, i) => ({
        labels: Number(each),
        metrics: numbersOf(metrics.map(([name, values]) => [name, values[i]])),
      })),
    };
  },
};

const numbersOf = (
  entries: readonly (readonly [string, string | undefined])[],
): Readonly<Record<string, number>> =>
  Object.fromEntries(
    entries
      .filter(([, text]) => text !== undefined && text !== "" && text !== NONE)
      .map(([name, text]) => [name, Number(text)]),
  );

const judge: Codec<JudgeResult | ParityResult> = {
  write: ({ metrics, warning }) => ({
    ...Object.fromEntries(Object.entries(metrics).map(([name, value]) => [name, listed([value])])),
    ...(warning === undefined ? {} : { warning }),
  }),
  read(fields) {
    const { warning = "", ...metrics } = Object.fromEntries(fields);
    return { metrics: numbersOf(Object.entries(metrics)), ...(warning === "" ? {} : { warning }) };
  },
};

const SIDES = ["lower", "upper"] as const;
const BOUNDS = ["target", "sensitive", "sensitiveGivenTarget", "joint"] as const;

/** What is neither bounds nor designs is one number each. */
const design: Codec<DesignResult> = {
  write({ designs, target, sensitive, sensitiveGivenTarget, joint, ...numbers }) {
    const bounds = { target, sensitive, sensitiveGivenTarget, joint };
    return {
      ...Object.fromEntries(
        BOUNDS.flatMap((name) => SIDES.map((side, i) => [`${name} ${side}`, rounded(bounds[name][i])])),
      ),
      ...Object.fromEntries(Object.entries(numbers).map(([name, value]) => [name, listed([value])])),
      ...(designs === undefined ? {} : { designs: designs.map((each) => listed(each)).join(";") }),
    };
  },
  read(fields) {
    const bound = (name: string) => Number(fields.get(name) ?? Number.NaN);
    const bounds = BOUNDS.map((name) => [name, SIDES.map((side) => bound(`${name} ${side}`))] as const);
    if (bounds.some(([, pair]) => pair.some(Number.isNaN))) return undefined;
    const names = bounds.flatMap(([name]) => SIDES.map((side) => `${name} ${side}`));
    const designs = fields.get("designs") ?? "";
    return {
      ...(Object.fromEntries(bounds) as unknown as Record<(typeof BOUNDS)[number], Bounds>),
      ...numbersOf([...fields].filter(([name]) => name !== "designs" && !names.includes(name))),
      ...(designs === "" ? {} : { designs: designs.split(";").map((each) => each.split(" ").map(Number)) }),
    };
  },
};

const CODECS: Readonly<Record<CellKind, Codec<CellResult>>> = {
  acquire,
  generalize: judge,
  "reject-option": judge,
  representation: judge,
  parity: judge,
  design,
};

/** A result as texts by column. */
export const compactFields = (kind: CellKind, result: CellResult): Readonly<Record<string, string>> =>
  CODECS[kind].write(result);

export const CELL_KINDS = Object.keys(CODECS) as readonly CellKind[];

const byText = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

/** The table of one kind, in an order that does not depend on who ran what when. */
export const compactTable = (kind: CellKind, cells: readonly CompactCell[]): string => {
  const rows = [...cells]
    .sort((a, b) => byText(a.what, b.what) || a.seed - b.seed || byText(a.key, b.key))
    .map((cell) => ({ cell, fields: CODECS[kind].write(cell.result) }));
  const columns = [...new Set(rows.flatMap(({ fields }) => Object.keys(fields)))];
  // The longest one is last, where it does not hide the others.
  const last = columns.filter((name) => name === "labelled");
  const ordered = [...columns.filter((name) => name !== "labelled"), ...last];
  return csvText([
    ["key", "what", "seed", "seconds", ...ordered],
    ...rows.map(({ cell: { key, what, seed, seconds }, fields }) => [
      key.slice(0, KEY_DIGITS),
      what,
      seed,
      Number(seconds.toPrecision(3)),
      ...ordered.map((name) => fields[name] ?? ""),
    ]),
  ]);
};

/** The rows of such a table; `path` is said where one is broken. */
export const readCompactTable = (kind: CellKind, text: string, path: string): readonly CompactCell[] => {
  const [head = [], ...rows] = parseCsv(text);
  return rows.map((row, i) => {
    const fields = new Map(head.map((name, at) => [name, row[at]] as const));
    const own = (name: string): string => {
      const value = fields.get(name);
      fields.delete(name);
      return value ?? "";
    };
    const [key, what, seed, seconds] = [own("key"), own("what"), Number(own("seed")), Number(own("seconds"))];
    const whole = row.length === head.length && key.length === KEY_DIGITS && Number.isInteger(seed);
    const result = whole ? CODECS[kind].read(fields) : undefined;
    if (result === undefined) throw new InputError("results", compactTexts.line(path, i + 2));
    return { key, what, seed, result, seconds };
  });
};
