/**
 * The pool loop by rows and classes: ask, be told, ask again. `acquisition` drives it with people's answers and
 * `simulate` with a table that has them all, so that both take the same steps.
 */
import type { Selected } from "../active/batch.js";
import { type BetaGoal, type BetaState, betaControl } from "../active/beta-control.js";
import type { Quota } from "../active/quotas.js";
import { chooseStep, requireStepSettings, type StepSettings, stepTexts } from "../active/step.js";
import { strategies } from "../active/strategies.js";
import { InputError } from "../core/errors.js";
import type { Pacer } from "../core/options.js";
import type { RandomStream } from "../core/random.js";
import type { Classifier } from "../learners/classifier.js";

export interface RowSessionOptions extends StepSettings {
  /** Rows whose labels are known at the start. */
  readonly initial: Int32Array;
  /** Rows that may be asked for, in ascending order. */
  readonly pool: Int32Array;
  /** Rows that predictions are wanted for: EPIG's inputs are drawn from them at every step. */
  readonly targets: Int32Array;
  /** Beta, or what it is to be found for. */
  readonly goal: BetaGoal;
  /** How many labels are to be acquired in all, beyond the initial ones; goals and quotas are about so many. */
  readonly budget?: number | undefined;
  /** Of what is acquired in all: at least and at most so many of each of the settings' groups. */
  readonly quotas?: readonly Quota[] | undefined;
  /** The demographic-parity ratio of a classifier on rows that are neither tested nor acquired, for `parityAtLeast`. */
  readonly parityOf?: ((classifier: Classifier) => number | undefined) | undefined;
  readonly stream: RandomStream;
}

/** One that was asked for. */
export interface AskedRow extends Selected {
  /** Drawn at random because nothing could be learnt yet: its score says nothing. */
  readonly drawn?: true | undefined;
}

/** What was chosen at once. */
export interface Question {
  /** `row` is a row of the features; `rank` counts from the first that was ever asked for. */
  readonly batch: readonly AskedRow[];
  /** The beta that the batch was scored with. */
  readonly beta: number;
  /** The goal is out of reach: said once. */
  readonly warning: string | undefined;
  /** Nothing could be learnt yet, so the batch was drawn at random. */
  readonly cold: boolean;
}

/** All that the next question depends on beside the labels, as plain data. */
export interface RowSessionState {
  readonly asked: readonly AskedRow[];
  readonly control: BetaState;
}

export interface RowSession {
  /** The next `size` rows, fewer where the pool has no more. */
  ask(size: number, pace?: Pacer): Promise<Question>;
  /** The class of a row: an answer, an answer nobody asked for, or a correction. */
  tell(row: number, label: number): void;
  /** The class of a row's i-th sensitive label; -1 takes it back. */
  tellSensitive(row: number, index: number, label: number): void;
  /** Never asked (again); a label it had is taken back. */
  refuse(row: number): void;
  /** Rows that have a label, initial ones first, then in the order in which they were told. */
  labelled(): Int32Array;
  /** All that were ever asked for, in that order. */
  readonly asked: readonly AskedRow[];
  /** Asked for, and neither answered nor refused. */
  pending(): readonly AskedRow[];
  /** Rows that may still be asked for. */
  pool(): Int32Array;
  isRefused(row: number): boolean;
  /** The class of a row, -1 where it is not known. */
  labelOf(row: number): number;
  /** The classes of the i-th sensitive label of the first rows, -1 where it is not known. */
  sensitiveOf(index: number, rows: number): Int32Array;
  readonly beta: number;
  /** Whether a goal for beta is met. */
  readonly met: boolean;
  readonly state: RowSessionState;
}

export const rowSessionTexts = {
  budget: (given: number, pool: number) =>
    `the budget is ${given} labels and the pool has ${pool} rows: ask for fewer labels, or give a larger table`,
  goalBudget:
    "a leakage budget and quotas are about all labels that are to be acquired: say how many with `budget`",
  done: (budget: number) =>
    `the budget of ${budget} labels is used up, and the quotas are about those: begin another acquisition for more`,
  none: (labelled: number, refused: number) =>
    `no candidate is left to ask for: ${labelled} rows are labelled and ${refused} refused`,
};

/** What a quota over the whole budget asks of one batch: its least only once nothing else can be chosen before. */
const quotaOfBatch =
  (size: number, remaining: number, taken: (group: number) => number) =>
  ({ group, atLeast, atMost }: Quota): Quota => ({
    group,
    // What must still come, less what can come after this batch.
    atLeast:
      atLeast === undefined
        ? undefined
        : Math.max(0, Math.min(size, Math.max(0, atLeast - taken(group)) - (remaining - size))),
    atMost: atMost === undefined ? undefined : Math.max(0, Math.min(size, atMost - taken(group))),
  });

/** The quotas of the next batch, those asked for so far taken off. */
const quotasOfBatch = (
  { budget, quotas = [], groups }: RowSessionOptions,
  taken: readonly AskedRow[],
  size: number,
): readonly Quota[] | undefined => {
  if (budget === undefined || quotas.length === 0) return undefined;
  const counts = new Map<number, number>();
  for (const { row } of taken) {
    const group = groups?.[row] ?? -1;
    counts.set(group, (counts.get(group) ?? 0) + 1);
  }
  return quotas.map(quotaOfBatch(size, budget - taken.length, (group) => counts.get(group) ?? 0));
};

const requireRowSession = (options: RowSessionOptions): void => {
  const { goal, budget, quotas = [] } = options;
  requireStepSettings(options);
  if (budget !== undefined && !(Number.isInteger(budget) && budget >= 1)) {
    throw new InputError("budget", stepTexts.whole("budget", budget));
  }
  if (budget === undefined && ("leakageBudget" in goal || quotas.length > 0)) {
    throw new InputError("budget", rowSessionTexts.goalBudget);
  }
};

/** `from` is the state of an earlier session with the same options, whose labels are told again by the caller. */
export const createRowSession = (options: RowSessionOptions, from?: RowSessionState): RowSession => {
  const { goal, budget, quotas = [], stream } = options;
  requireRowSession(options);
  const control = betaControl(goal, from?.control);
  // Labels are told on the way: what was given stays as it is.
  const target = { ...options.target, labels: options.target.labels.slice() };
  const sensitive = options.sensitive.map((label) => ({ ...label, labels: label.labels.slice() }));
  const told = new Set(options.initial);
  const refused = new Set<number>();
  const asked: AskedRow[] = [...(from?.asked ?? [])];
  const wasAsked = new Set(asked.map(({ row }) => row));

  const isOpen = (row: number) => target.labels[row] < 0 && !refused.has(row);
  const poolNow = (): Int32Array => options.pool.filter((row) => !wasAsked.has(row) && isOpen(row));
  const labelledRows = (): Int32Array => Int32Array.from(told).filter((row) => target.labels[row] >= 0);
  /** Asked for and not refused: these count against the budget. */
  const counted = () => asked.filter(({ row }) => !refused.has(row));

  const ask = async (wanted: number, pace?: Pacer): Promise<Question> => {
    if (!Number.isInteger(wanted) || wanted < 1) {
      throw new InputError("batch", stepTexts.whole("the number of candidates", wanted));
    }
    const pool = poolNow();
    const { beta } = control;
    if (pool.length === 0) return { batch: [], beta, warning: undefined, cold: false };
    const room = quotas.length > 0 && budget !== undefined ? budget - counted().length : Infinity;
    if (room < 1) throw new InputError("budget", rowSessionTexts.done(budget ?? 0));
    const size = Math.min(wanted, pool.length, room);
    const known = labelledRows();
    const cold =
      options.method !== "random" && known.every((row) => target.labels[row] === target.labels[known[0]]);
    const { chosen, classifier, leastLeakage } = await chooseStep(
      // What is told while the step is under way counts from the next one on.
      {
        ...options,
        target: { ...target, labels: target.labels.slice() },
        sensitive: sensitive.map((label) => ({ ...label, labels: label.labels.slice() })),
      },
      {
        labelled: Int32Array.from(told),
        pool,
        targets: options.targets,
        beta,
        size,
        quotas: quotasOfBatch(options, counted(), size),
        method: cold ? "random" : undefined,
        classifier: options.parityOf !== undefined && !cold,
        stream: stream.split("step").split(asked.length),
      },
      pace,
    );
    const batch = chosen.map(
      (each): AskedRow => ({
        ...each,
        rank: asked.length + each.rank,
        ...(cold ? { drawn: true } : {}),
      }),
    );
    for (const each of batch) wasAsked.add(each.row);
    asked.push(...batch);
    const { uses } = strategies[options.method];
    const warning =
      cold || !(uses.sensitive || uses.joint)
        ? undefined
        : control.observe({
            leakage: batch.reduce((sum, { leakage }) => sum + leakage, 0),
            labels: batch.length,
            left: budget === undefined ? 0 : Math.max(0, budget - counted().length),
            leastLeakage,
            parity: classifier === undefined ? undefined : options.parityOf?.(classifier),
          });
    return { batch, beta, warning, cold };
  };

  return {
    ask,
    tell(row, label) {
      if (label >= 0) refused.delete(row);
      target.labels[row] = label;
      told.add(row);
    },
    tellSensitive(row, index, label) {
      sensitive[index].labels[row] = label;
      told.add(row);
    },
    refuse(row) {
      refused.add(row);
      target.labels[row] = -1;
    },
    labelled: labelledRows,
    asked,
    pending: () => asked.filter(({ row }) => isOpen(row)),
    pool: poolNow,
    isRefused: (row) => refused.has(row),
    labelOf: (row) => target.labels[row],
    sensitiveOf: (index, rows) => sensitive[index].labels.slice(0, rows),
    get beta() {
      return control.beta;
    },
    get met() {
      return control.met;
    },
    get state() {
      return { asked: [...asked], control: control.state };
    },
  };
};
