/**
 * Features that nearly are the target or a sensitive attribute: the outcome under another name, or a copy of what must
 * not be given away. Each column is asked by itself, on rows that its answers were not counted on.
 */
import { fixed } from "../core/number-text.js";
import { countClasses } from "../core/rare-values.js";
import type { Label } from "./label.js";
import { type Column, columnNamed, type Table } from "./table.js";

/** What is asked, of which columns. */
export interface AskedColumns {
  readonly table: Table;
  readonly features: readonly string[];
  readonly target: Label;
  readonly sensitive: readonly Label[];
}

/** How often a column alone is right about a label on rows held out, and how often the most frequent class is. */
export interface ColumnTells {
  readonly right: number;
  readonly mostFrequent: number;
}

/** A feature that nearly is the target, or an attribute. */
export interface TellingColumn extends ColumnTells {
  readonly column: string;
  readonly about: "target" | "sensitive";
  /** What it tells, as a person names it. */
  readonly label: string;
}

/** What is the case, wherever it is said; what to do about it is said otherwise in a page than on a command line. */
export const tellingTexts = {
  predicts: (column: string, target: string, tells: ColumnTells) =>
    `"${column}" alone predicts ${target} right in ${shares(tells)}`,
  says: (column: string, attribute: string, tells: ColumnTells) =>
    `"${column}" alone says ${attribute} right in ${shares(tells)}`,
  target: (column: string, target: string, tells: ColumnTells) =>
    `${tellingTexts.predicts(column, target, tells)}: if it is only known once the outcome is, leave it out with --exclude "${column}"`,
  sensitive: (column: string, attribute: string, tells: ColumnTells) =>
    `${tellingTexts.says(column, attribute, tells)}: it stands in for the attribute; --exclude "${column}" leaves it out`,
};

const shares = ({ right, mostFrequent }: ColumnTells): string =>
  `${percent(right)} of rows held out (${percent(mostFrequent)} without it)`;

const percent = (share: number): string => `${fixed(100 * share, 1)} %`;

/** Warned of where this share of the errors is gone that the most frequent class makes ... */
const NEARLY = 0.8;
/** ... with so many rows, and so many of them in other classes: fewer may be told by chance. */
const LEAST_ROWS = 50;
const LEAST_OTHERS = 10;
const FOLDS = 5;
/** Numbers are asked by as many quantiles; where the classes part is found to that precision. */
const BINS = 64;
const SAMPLE = 4096;

/** One sentence for each feature that nearly determines the target, or an attribute. */
export const tellingNotes = (asked: AskedColumns): readonly string[] =>
  tellingColumns(asked).map(({ column, about, label, ...tells }) =>
    tellingTexts[about](column, label, tells),
  );

/** Every feature that nearly determines the target, then those that nearly determine each attribute. */
export const tellingColumns = ({
  table,
  features,
  target,
  sensitive,
}: AskedColumns): readonly TellingColumn[] => {
  const asked = [
    { label: target, about: "target" as const },
    ...sensitive.map((label) => ({ label, about: "sensitive" as const })),
  ]
    .map((each) => ({ ...each, question: questionOf(each.label) }))
    .filter(({ question }) => question.mostFrequent < 1);
  const found = asked.map((): TellingColumn[] => []);
  for (const column of features) {
    const bins = binsOf(columnNamed(table, column));
    for (const [at, { label, about, question }] of asked.entries()) {
      const right = rightOf(bins, label, question);
      const { mostFrequent } = question;
      if (right - mostFrequent >= NEARLY * (1 - mostFrequent))
        found[at].push({ column, about, label: label.name, right, mostFrequent });
    }
  }
  return found.flat();
};

/** Rows with a known label, and how often the most frequent class is right; 1 where there are too few to ask. */
interface Question {
  readonly rows: number;
  readonly mostFrequent: number;
}

const questionOf = ({ classes, labels }: Label): Question => {
  const counts = countClasses(labels, classes.length);
  const rows = counts.reduce((sum, count) => sum + count, 0);
  const most = counts.reduce((largest, count) => Math.max(largest, count), 0);
  const isEnough = rows >= LEAST_ROWS && rows - most >= LEAST_OTHERS;
  return { rows, mostFrequent: isEnough ? most / rows : 1 };
};

interface Bins {
  readonly count: number;
  /** [rows] */
  readonly of: Int32Array;
}

/** The level of every row, or between which quantiles its number is; what is missing is a bin of its own. */
const binsOf = (column: Column): Bins => {
  if (column.kind === "categorical") {
    const { codes, levels } = column;
    return { count: levels.length + 1, of: codes.map((code) => (code < 0 ? levels.length : code)) };
  }
  const cuts = cutsOf(column.values);
  const of = Int32Array.from(column.values, (value) => {
    if (Number.isNaN(value)) return cuts.length + 1;
    let [low, high] = [0, cuts.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (value < cuts[middle]) high = middle;
      else low = middle + 1;
    }
    return low;
  });
  return { count: cuts.length + 2, of };
};

/** The different quantiles of the numbers, of some of them where there are many. */
const cutsOf = (values: Float64Array): Float64Array => {
  const step = Math.max(1, Math.floor(values.length / SAMPLE));
  const some = values.filter((value, at) => at % step === 0 && !Number.isNaN(value)).sort();
  const different = some.filter((value, at) => at === 0 || value !== some[at - 1]);
  // Few different numbers are told apart, however rare they are.
  if (different.length <= BINS) return different;
  const cuts = Float64Array.from(
    { length: BINS - 1 },
    (_, at) => some[Math.floor(((at + 1) * some.length) / BINS)],
  );
  return cuts.filter((value, at) => at === 0 || value !== cuts[at - 1]);
};

/** The share of rows whose class is the most frequent one of their bin in the other folds. */
const rightOf = ({ count, of }: Bins, { classes, labels }: Label, { rows }: Question): number => {
  const width = classes.length;
  const all = new Int32Array(count * width);
  const folds = Array.from({ length: FOLDS }, () => new Int32Array(count * width));
  for (let row = 0; row < labels.length; row++) {
    if (labels[row] < 0) continue;
    const cell = of[row] * width + labels[row];
    all[cell] += 1;
    folds[foldOf(row)][cell] += 1;
  }
  let right = 0;
  for (const own of folds) {
    for (let from = 0; from < all.length; from += width) {
      let best = -1;
      let most = 0;
      for (let c = 0; c < width; c++) {
        const others = all[from + c] - own[from + c];
        if (others > most) [best, most] = [c, others];
      }
      // What no other fold has is not known.
      if (best >= 0) right += own[from + best];
    }
  }
  return right / rows;
};

/** Rows are dealt by their number, mixed, so that an order in the table does not matter. */
const foldOf = (row: number): number => ((Math.imul(row + 1, 0x9e3779b1) >>> 16) ^ row) % FOLDS;
