/** What both mitigations start from: a table with two outcomes and two groups, and who is learnt from and tested on. */
import { InputError } from "../core/errors.js";
import type { RunOptions } from "../core/options.js";
import { type RandomStream, seededStream } from "../core/random.js";
import { commonOf, countClasses, isRare, ROWS_TO_NAME_A_VALUE, rareTexts } from "../core/rare-values.js";
import { stratify } from "../mitigation/stratify.js";
import { type EncodedMatrix, fitEncoder } from "../tables/encoder.js";
import type { Label } from "../tables/label.js";
import type { Table } from "../tables/table.js";
import { defineTask, type Task, type TaskSettings } from "../tables/task.js";
import { MITIGATION_DEFAULTS } from "./mitigation-defaults.js";

/** The roles of the columns, of which one sensitive attribute is compared, and what is common to both mitigations. */
export interface MitigationOptions extends RunOptions, Omit<TaskSettings, "weights"> {
  /** The privileged group; the one with the most favourable outcomes unless given. */
  readonly privileged?: string | undefined;
  /** The share of rows that is tested on (0.3), unless ... */
  readonly testFraction?: number | undefined;
  /** ... rows from this one on are tested on, and no other is. */
  readonly testFrom?: number | undefined;
  /** Trees of each forest (100). */
  readonly trees?: number | undefined;
  /** Where the random streams start (0). */
  readonly seed?: number | undefined;
}

/** A smaller share of the rows to learn from is not taken for the privileged group unless it is named. */
const LEAST_SHARE = 0.05;

export const mitigationSplitTexts = {
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
  /** `group` was chosen though a smaller one has a larger share. */
  passedOver: (group: string, passed: number) =>
    `the privileged group is taken to be ${group}: ${passed === 1 ? "a group" : `${passed} groups`} of less than ${100 * LEAST_SHARE} % of the rows ${passed === 1 ? "has" : "have"} a larger share of favourable outcomes, which so few rows do not show; name another with --privileged`,
  fewRows: (set: string) =>
    `the rows ${set} lack a group or an outcome: give a larger table, or another --test-fraction`,
};

export interface MitigationSplit {
  readonly task: Task;
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
  /** How the privileged group was chosen, where that needs to be said. */
  readonly notes: readonly string[];
}

export const splitForMitigation = (table: Table, options: MitigationOptions): MitigationSplit => {
  const {
    testFrom,
    testFraction = MITIGATION_DEFAULTS.testFraction,
    seed = MITIGATION_DEFAULTS.seed,
  } = options;
  const task = defineTask(table, { ...options, weights: undefined });
  const { target } = task;
  if (target.classes.length !== 2)
    throw new InputError("outcomes", mitigationSplitTexts.outcomes(target.name, target.classes.length));
  if (task.sensitive.length !== 1) {
    const names = task.sensitive.map((label) => label.name);
    throw new InputError("one-sensitive", mitigationSplitTexts.oneSensitive(names));
  }
  const [sensitive] = task.sensitive;
  const { labels } = target;
  const known = Int32Array.from(labels.keys()).filter(
    (row) => labels[row] >= 0 && sensitive.labels[row] >= 0,
  );
  const learnable = testFrom === undefined ? known : known.filter((row) => row < testFrom);
  const notes: string[] = [];
  const group = privilegedGroup(
    sensitive,
    labels,
    learnable,
    options.privileged ?? options.referenceGroup,
    notes,
  );
  const privileged = sensitive.labels.map((each) => Number(each === group));
  const stream = seededStream(seed).split("mitigation");
  const { rest, part } =
    testFrom === undefined
      ? stratify(known, labels, privileged, testFraction, stream.split("test"))
      : { rest: learnable, part: known.filter((row) => row >= testFrom) };
  requireBoth(rest, labels, privileged, "to learn from");
  requireBoth(part, labels, privileged, "to test on");
  return {
    task,
    sensitive,
    features: fitEncoder(task, rest).encode(task.table),
    labels,
    privileged,
    privilegedGroup: sensitive.classes[group],
    train: rest,
    test: part,
    stream,
    notes,
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
      throw new InputError("few-rows", mitigationSplitTexts.fewRows(set));
};

/**
 * The place of the privileged group: the one named, or that with the largest share of favourable outcomes among the
 * rows. A group of few rows may have that by chance, so those of less than a twentieth of the rows are not looked at,
 * unless there are no others; `notes` says where it matters.
 */
export const privilegedGroup = (
  { classes, labels: groups }: Label,
  labels: Int32Array,
  rows: Int32Array,
  given: string | undefined,
  notes: string[],
): number => {
  if (given !== undefined) {
    const named = classes.indexOf(given);
    if (named < 0) {
      const common = commonOf(classes, countClasses(groups, classes.length));
      const text = mitigationSplitTexts.privileged(given, common, classes.length);
      throw new InputError("privileged", text);
    }
    return named;
  }
  const counts = countClasses(
    rows.map((row) => groups[row]),
    classes.length,
  );
  const favoured = new Float64Array(classes.length);
  for (const row of rows) if (groups[row] >= 0) favoured[groups[row]] += labels[row];
  const rates = classes.map((_, group) => favoured[group] / counts[group]);
  const all = [...classes.keys()].filter((group) => !isRare(counts[group]));
  if (all.length === 0) throw new InputError("rare-groups", mitigationSplitTexts.rareGroups);
  const large = all.filter((group) => counts[group] >= LEAST_SHARE * rows.length);
  const best = (of: readonly number[]) =>
    of.reduce((most, group) => (rates[group] > rates[most] ? group : most));
  const chosen = best(large.length === 0 ? all : large);
  const passed = all.filter((group) => rates[group] > rates[chosen]).length;
  if (passed > 0) notes.push(mitigationSplitTexts.passedOver(classes[chosen], passed));
  return chosen;
};
