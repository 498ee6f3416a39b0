/** What both mitigations start from: a task with two outcomes and two groups, and who is learnt from and tested on. */
import { InputError } from "../../../core/errors.js";
import type { RandomStream } from "../../../core/random.js";
import {
  commonOf,
  countClasses,
  isRare,
  ROWS_TO_NAME_A_VALUE,
  rareTexts,
} from "../../../core/rare-values.js";
import { stratify } from "../../../mitigation/stratify.js";
import type { EncodedMatrix } from "../../../tables/encoder.js";
import type { Label } from "../../../tables/label.js";
import type { Task } from "../../../tables/task.js";
import { integer, real, text } from "../../options.js";
import {
  readSettings,
  readTask,
  type TableWords,
  tableOptions,
  taskSettings,
} from "../sources/table-options.js";

const { weights: _, ...withoutWeights } = tableOptions;

export const mitigationOptions = {
  ...withoutWeights,
  privileged: text(
    "--privileged <value>",
    "the privileged group; the one with the most favourable outcomes unless given",
  ),
  test: text("--test <table>", "rows to test on; a part of the table unless given"),
  testFraction: real("--test-fraction <number>", "the share of rows that is tested on", 0.3, {
    above: 0,
    max: 0.95,
  }),
  trees: integer("--trees <number>", "trees of each forest", 100, { min: 1 }),
  out: text("--out <file>", "write what it gives for each row to this CSV file"),
  seed: integer("--seed <number>", "where the random streams start", 0, { min: 0 }),
};

export const mitigationCommandTexts = {
  outcomes: (target: string, classes: number) =>
    `"${target}" has ${classes} classes, and one of them must be the favourable one: name it, as in --target column=value`,
  oneSensitive: (names: readonly string[]) =>
    `groups are compared by one attribute, and ${names.length} were given (${names.join(", ")}): name one, or add --intersect`,
  /** `groups` are those that may be named; `all` is how many there are with the rare ones. */
  privileged: (given: string, groups: readonly string[], all: number) =>
    `--privileged is "${given}", which is no group: give one of ${
      groups.length === 0 ? `the ${all} groups` : groups.join(", ")
    }${groups.length < all ? ` (${rareTexts.notNamed("group")})` : ""}`,
  rareGroups: `no group has at least ${ROWS_TO_NAME_A_VALUE} rows to learn from: give a larger table, merge groups, or name one with --privileged`,
  testWithTask: "--task has its own rows to test on: leave out --test, or give the table itself",
  fewRows: (set: string) =>
    `the rows ${set} lack a group or an outcome: give a larger table, or another --test-fraction`,
};

export interface MitigationWords extends Omit<TableWords, "weights"> {
  readonly privileged: string | undefined;
  readonly test: string | undefined;
  readonly testFraction: number;
  readonly seed: number;
}

export interface SplitTask {
  readonly task: Task;
  readonly name: string;
  readonly sensitive: Label;
  /** All features, encoded as the training rows say. */
  readonly features: EncodedMatrix;
  /** [all rows]: 1 for the favourable outcome, -1 where it is missing. */
  readonly labels: Int32Array;
  /** [all rows]: 1 for the privileged group, 0 for all others. */
  readonly privileged: Int32Array;
  /** What that group is called. */
  readonly privilegedGroup: string;
  readonly train: Int32Array;
  readonly test: Int32Array;
  readonly stream: RandomStream;
}

/** The tables one below the other, and where the second begins; a task of both. */
const readBoth = async (path: string | undefined, words: MitigationWords) => {
  const described = { ...words, weights: undefined };
  if (words.test === undefined || path === undefined) {
    if (words.test !== undefined && words.task !== undefined)
      throw new InputError("test-with-task", mitigationCommandTexts.testWithTask);
    return { ...(await readTask(path, described, words.seed)), testFrom: undefined };
  }
  if (words.task !== undefined) throw new InputError("test-with-task", mitigationCommandTexts.testWithTask);
  const { readTable } = await import("../../../sources/source.js");
  const { defineTask } = await import("../../../tables/task.js");
  const { appendRows } = await import("../../../tables/table.js");
  const settings = taskSettings(described);
  const reading = readSettings(words);
  const table = await readTable(path, reading);
  const both = appendRows(table, await readTable(words.test, reading));
  return { task: defineTask(both, settings), name: table.name, testFrom: table.rows };
};

export const splitTask = async (path: string | undefined, words: MitigationWords): Promise<SplitTask> => {
  const { randomStream } = await import("../../../core/random.js");
  const { fitEncoder } = await import("../../../tables/encoder.js");
  const { task, name, testFrom } = await readBoth(path, words);
  const { target } = task;
  if (target.classes.length !== 2)
    throw new InputError("outcomes", mitigationCommandTexts.outcomes(target.name, target.classes.length));
  if (task.sensitive.length !== 1) {
    const names = task.sensitive.map((label) => label.name);
    throw new InputError("one-sensitive", mitigationCommandTexts.oneSensitive(names));
  }
  const [sensitive] = task.sensitive;
  const { labels } = target;
  const known = Int32Array.from(labels.keys()).filter(
    (row) => labels[row] >= 0 && sensitive.labels[row] >= 0,
  );
  const learnable = testFrom === undefined ? known : known.filter((row) => row < testFrom);
  const group = privilegedGroup(sensitive, labels, learnable, words.privileged);
  const privileged = sensitive.labels.map((each) => Number(each === group));
  const stream = randomStream(words.seed).split("mitigation");
  const { rest, part } =
    testFrom === undefined
      ? stratify(known, labels, privileged, words.testFraction, stream.split("test"))
      : { rest: learnable, part: known.filter((row) => row >= testFrom) };
  for (const [rows, set] of [
    [rest, "to learn from"],
    [part, "to test on"],
  ] as const)
    requireBoth(rows, labels, privileged, set);
  const features = fitEncoder(task, rest).encode(task.table);
  const privilegedName = sensitive.classes[group];
  return {
    task,
    name,
    sensitive,
    features,
    labels,
    privileged,
    privilegedGroup: privilegedName,
    train: rest,
    test: part,
    stream,
  };
};

/** A rate of each group needs each outcome. */
export const requireBoth = (
  rows: Int32Array,
  labels: Int32Array,
  privileged: Int32Array,
  set: string,
): void => {
  for (const of of [labels, privileged])
    if (!rows.some((row) => of[row] === 0) || !rows.some((row) => of[row] === 1))
      throw new InputError("few-rows", mitigationCommandTexts.fewRows(set));
};

const privilegedGroup = (
  { classes, labels: groups }: Label,
  labels: Int32Array,
  rows: Int32Array,
  given: string | undefined,
): number => {
  if (given !== undefined) {
    const named = classes.indexOf(given);
    if (named < 0) {
      const common = commonOf(classes, countClasses(groups, classes.length));
      const text = mitigationCommandTexts.privileged(given, common, classes.length);
      throw new InputError("privileged", text);
    }
    return named;
  }
  // A group of a few people has the largest rate by chance, and its name may say who they are.
  const counts = countClasses(
    rows.map((row) => groups[row]),
    classes.length,
  );
  const favoured = new Float64Array(classes.length);
  for (const row of rows) favoured[groups[row]] += labels[row];
  const rates = classes.map((_, group) =>
    isRare(counts[group]) ? Number.NEGATIVE_INFINITY : favoured[group] / counts[group],
  );
  const most = Math.max(...rates);
  if (most === Number.NEGATIVE_INFINITY)
    throw new InputError("rare-groups", mitigationCommandTexts.rareGroups);
  return rates.indexOf(most);
};
