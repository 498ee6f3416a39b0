/**
 * The pool loop by rows and classes: ask, be told, ask again. `acquisition` drives it with people's answers and
 * `simulate` with a table that has them all, so that both take the same steps.
 */
import type { Selected } from "../active/batch.js";
import { type BetaGoal, type BetaState, betaControl } from "../active/beta-control.js";
import type { Quota } from "../active/quotas.js";
import type { SharesOfBatch } from "../active/shares.js";
import {
  type BoundaryWeights,
  chooseStep,
  requireStepSettings,
  type Step,
  type StepInput,
  type StepSettings,
  stepTexts,
} from "../active/step.js";
import { strategies } from "../active/strategies.js";
import { InputError } from "../core/errors.js";
import { onDemand } from "../core/on-demand.js";
import type { Pacer } from "../core/options.js";
import type { RandomStream } from "../core/random.js";
import type { Classifier } from "../learners/classifier.js";
import { loadModels } from "./sensitive-models.js";

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
  /** The share of all that is asked which is drawn at random from what is left, with equal probability; none unless given. */
  readonly randomPart?: number | undefined;
  /** What the acquired groups of the first sensitive label are kept to; nothing unless given. */
  readonly shares?: SharesOfAcquired | undefined;
  /** Whether the target's model learns from rows that are reweighed, so that outcome and group are independent. */
  readonly reweigh?: boolean | undefined;
  /** The demographic-parity ratio of a classifier on rows that are neither tested nor acquired, for `parityAtLeast`. */
  readonly parityOf?:
    | ((classifier: Classifier) => number | undefined | Promise<number | undefined>)
    | undefined;
  readonly stream: RandomStream;
}

export interface SharesOfAcquired {
  /** Those of the population, or one for each group. */
  readonly of: "population" | ArrayLike<number>;
  /** The group of each row where it is known before the row is asked, else -1. [all rows] */
  readonly known: Int32Array;
}

/** One that was asked for. */
export interface AskedRow extends Selected {
  /** Drawn at random, as a part of all is or because nothing could be learnt yet: its score says nothing. */
  readonly drawn?: true | undefined;
  /** With which it was drawn among all that were left: see `inclusionWeights`. */
  readonly probability?: number | undefined;
  /** The group that it was taken for, where shares are kept to: it counts as that until it is known. */
  readonly group?: number | undefined;
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

/** The best by their scores, to be asked for later: see `RowSession.rank`. */
export interface RankedRows {
  /** `rank` counts from 1. */
  readonly rows: readonly AskedRow[];
  readonly beta: number;
  /** Nothing could be learnt yet: there are none. */
  readonly cold: boolean;
  /** What a goal for beta is judged by. */
  readonly leastLeakage: number;
  readonly parity: number | undefined;
}

export interface RowSession {
  /** The next `size` rows, fewer where the pool has no more. */
  ask(size: number, pace?: Pacer): Promise<Question>;
  /**
   * The `size` rows that would be chosen by their scores, for one who asks for them later and draws the random part
   * himself. Asks for nothing and changes nothing; `name` tells its random stream from others.
   */
  rank(size: number, name: number, pace?: Pacer): Promise<RankedRows>;
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
  /** The classes of all rows, -1 where they are not known. */
  labels(): Int32Array;
  /** The classes of the i-th sensitive label of the first rows, -1 where it is not known. */
  sensitiveOf(index: number, rows: number): Int32Array;
  readonly beta: number;
  /** Whether a goal for beta is met. */
  readonly met: boolean;
  /** Nats that the chosen labels have given away, where there is a leakage budget. */
  readonly spent: number;
  readonly state: RowSessionState;
}

export const rowSessionTexts = {
  budget: (given: number, pool: number) =>
    `the budget is ${given} labels and the pool has ${pool} rows: ask for fewer labels, or give a larger table`,
  goalBudget:
    "a leakage budget and quotas are about all labels that are to be acquired: say how many with `budget`",
  done: (budget: number) =>
    `the budget of ${budget} labels is used up, and the quotas are about those: begin another acquisition for more`,
  randomPart: (given: unknown) =>
    `the random part was ${String(given)}: give a share from 0 to 1, such as 0.25`,
  quotas:
    "quotas say who is asked, and so do shares and a random part: leave the quotas out, or set shares to none and the random part to 0",
  sharesUnknown:
    "the shares of the population are not known, since the candidates' groups are not and no part is drawn at random: give the shares, or a random part above 0",
  randomShares:
    "random acquisition has the shares of the population and no others: leave the shares out, or choose another method",
  noGroups:
    "shares are of the groups of a sensitive attribute, and there is none: give one, or leave the shares out",
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
  const { goal, budget, quotas = [], randomPart = 0, shares, method } = options;
  requireStepSettings(options);
  if (!(randomPart >= 0 && randomPart <= 1)) {
    throw new InputError("random-part", rowSessionTexts.randomPart(randomPart));
  }
  if (quotas.length > 0 && (randomPart > 0 || shares !== undefined)) {
    throw new InputError("quotas", rowSessionTexts.quotas);
  }
  if (shares !== undefined && options.sensitive.length === 0) {
    throw new InputError("shares", rowSessionTexts.noGroups);
  }
  if (shares !== undefined && shares.of !== "population" && method === "random") {
    throw new InputError("shares", rowSessionTexts.randomShares);
  }
  if (shares?.of === "population" && randomPart === 0 && method !== "random" && !allKnown(options)) {
    throw new InputError("shares", rowSessionTexts.sharesUnknown);
  }
  if (budget !== undefined && !(Number.isInteger(budget) && budget >= 1)) {
    throw new InputError("budget", stepTexts.whole("budget", budget));
  }
  if (budget === undefined && ("leakageBudget" in goal || quotas.length > 0)) {
    throw new InputError("budget", rowSessionTexts.goalBudget);
  }
};

/** Whether the group of every candidate is known before it is asked. */
const allKnown = ({ pool, shares }: RowSessionOptions): boolean =>
  pool.every((row) => (shares?.known[row] ?? -1) >= 0);

/** How many of the places `from` to `to` are drawn at random: as evenly spread as whole numbers allow. */
const drawnAmong = (from: number, to: number, part: number): number => {
  const upTo = (place: number) => Math.floor(place * part + 1e-9);
  return upTo(to) - upTo(from);
};

/** Whether the place, from 0, of all that is asked is one that is drawn at random. */
export const isDrawnPlace = (place: number, part: number): boolean => drawnAmong(place, place + 1, part) > 0;

/**
 * So many places of a ranking are filled jointly, those behind them by the scores alone: the time of a joint batch grows
 * with the square of its places (0.1 s for 8, 0.5 s for 32), and a ranking should not be old when it is done.
 */
const JOINT_PLACES = 8;

/** What the known groups of a few rows count against those drawn at random, while those are few. */
const PRIOR_ROWS = 4;

const fairBoundary = onDemand(() => import("./fair-boundary.js"));

/** Loads what a step with these options needs and others do not. */
const loadForStep = async ({ method, sensitiveModels }: RowSessionOptions): Promise<void> => {
  if (strategies[method].uses.boundary) await fairBoundary.load();
  await loadModels(sensitiveModels);
};

const reweighed = async (
  { target, sensitive, weights }: RowSessionOptions,
  rows: Int32Array,
): Promise<Float64Array | undefined> => {
  if (sensitive.length === 0) return undefined;
  const { reweighedRows } = await import("./reweighed-rows.js");
  return reweighedRows({ rows, labels: target.labels, groups: sensitive[0].labels, weights });
};

/** `from` is the state of an earlier session with the same options, whose labels are told again by the caller. */
export const createRowSession = (given: RowSessionOptions, from?: RowSessionState): RowSession => {
  const boundary: BoundaryWeights = (rows) => fairBoundary.now().fairBoundaryWeights(rows);
  const options: RowSessionOptions = { ...given, boundary: given.boundary ?? boundary };
  const { goal, budget, quotas = [], randomPart = 0, stream } = options;
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

  const groupCounts = (rows: Iterable<number>): Float64Array => {
    const counts = new Float64Array(sensitive[0].classes);
    for (const row of rows) if (sensitive[0].labels[row] >= 0) counts[sensitive[0].labels[row]] += 1;
    return counts;
  };
  /** Asked for and answered. */
  const answered = () => asked.filter(({ row }) => target.labels[row] >= 0 && !refused.has(row));
  /** Known, or estimated from what was drawn at random so far, with a little of what was known at the start. */
  const populationNow = ({ known }: SharesOfAcquired): Float64Array | undefined => {
    if (allKnown(options)) {
      const counts = new Float64Array(sensitive[0].classes);
      for (const row of options.pool) counts[known[row]] += 1;
      return counts;
    }
    const start = groupCounts(options.initial);
    const drawn = groupCounts(
      answered().flatMap(({ row, probability }) => (probability === undefined ? [] : [row])),
    );
    const [before, since] = [start, drawn].map((counts) => counts.reduce((sum, each) => sum + each, 0));
    if (before + since === 0) return undefined;
    return drawn.map((count, g) => count + (PRIOR_ROWS * (start[g] + 0.5)) / (before + start.length / 2));
  };
  /** Of all that were asked for and not refused: by the group that is known by now, else by what they were taken for. */
  const countsSoFar = (): Float64Array => {
    const counts = new Float64Array(sensitive[0].classes);
    for (const { row, group = -1 } of counted()) {
      // An attribute that the table holds is not looked at before the answer, unless it may be.
      const told = target.labels[row] >= 0 ? sensitive[0].labels[row] : -1;
      const known = told >= 0 ? told : (options.shares?.known[row] ?? -1);
      const now = known >= 0 ? known : group;
      if (now >= 0) counts[now] += 1;
    }
    return counts;
  };
  /** What this batch is kept to; random acquisition keeps to the population's shares by itself. */
  const sharesOfBatch = (): SharesOfBatch | undefined => {
    const { shares, method } = options;
    if (shares === undefined || method === "random") return undefined;
    const population = populationNow(shares);
    return {
      shares: shares.of === "population" ? population : shares.of,
      population,
      have: countsSoFar(),
      known: shares.known,
    };
  };
  /** `count` rows of the pool, each equally likely among those that are left. */
  const drawRows = (pool: Int32Array, count: number, drawn: RandomStream): AskedRow[] =>
    Array.from(drawn.choice(pool.length, count), (at, i) => ({
      row: pool[at],
      score: 0,
      target: 0,
      leakage: 0,
      cost: options.costs?.[pool[at]] ?? 0,
      rank: i + 1,
      drawn: true,
      probability: 1 / (pool.length - i),
    }));

  /** Nothing can be learnt from labels of one class. */
  const isCold = (): boolean => {
    const known = labelledRows();
    return (
      options.method !== "random" && known.every((row) => target.labels[row] === target.labels[known[0]])
    );
  };
  /** How many more the quotas leave room for. */
  const roomLeft = (): number => {
    const room = quotas.length > 0 && budget !== undefined ? budget - counted().length : Infinity;
    if (room < 1) throw new InputError("budget", rowSessionTexts.done(budget ?? 0));
    return room;
  };
  const choose = async (
    pool: Int32Array,
    size: number,
    batchQuotas: readonly Quota[] | undefined,
    cold: boolean,
    stepStream: RandomStream,
    pace: Pacer | undefined,
    ranking: Pick<StepInput, "pending" | "tail"> = {},
  ): Promise<Step> => {
    // What is told while the step is under way counts from the next one on.
    const settings: RowSessionOptions = {
      ...options,
      target: { ...target, labels: target.labels.slice() },
      sensitive: sensitive.map((label) => ({ ...label, labels: label.labels.slice() })),
    };
    const rows = labelledRows();
    const input: StepInput = {
      labelled: Int32Array.from(told),
      pool,
      ...ranking,
      targets: options.targets,
      beta: control.beta,
      size,
      quotas: batchQuotas,
      shares: cold ? undefined : sharesOfBatch(),
      method: cold ? "random" : undefined,
      classifier: options.parityOf !== undefined && !cold,
      stream: stepStream,
    };
    await loadForStep(options);
    const targetWeights = options.reweigh === true ? await reweighed(settings, rows) : undefined;
    return chooseStep(settings, { ...input, targetWeights }, pace);
  };

  const rank = async (wanted: number, name: number, pace?: Pacer): Promise<RankedRows> => {
    const pool = poolNow();
    const { beta } = control;
    const cold = isCold();
    const none = { rows: [], beta, cold, leastLeakage: 0, parity: undefined };
    if (pool.length === 0 || cold) return none;
    const size = Math.min(wanted, pool.length, roomLeft());
    const stepStream = stream.split("ranking").split(name);
    const pending = Int32Array.from(
      asked.filter(({ row }) => isOpen(row)),
      ({ row }) => row,
    );
    const batchQuotas = quotasOfBatch(options, counted(), size);
    // Quotas are about a batch as a whole.
    const places =
      options.batchKind === "joint" && batchQuotas === undefined ? Math.min(size, JOINT_PLACES) : size;
    const tail = size - places;
    const step = await choose(pool, places, batchQuotas, false, stepStream, pace, { pending, tail });
    const { chosen, groups, classifier, leastLeakage } = step;
    return {
      rows: chosen.map((each, i) => ({ ...each, ...(groups === undefined ? {} : { group: groups[i] }) })),
      beta,
      cold,
      leastLeakage,
      parity: classifier === undefined ? undefined : await options.parityOf?.(classifier),
    };
  };

  const ask = async (wanted: number, pace?: Pacer): Promise<Question> => {
    if (!Number.isInteger(wanted) || wanted < 1) {
      throw new InputError("batch", stepTexts.whole("the number of candidates", wanted));
    }
    const pool = poolNow();
    const { beta } = control;
    if (pool.length === 0) return { batch: [], beta, warning: undefined, cold: false };
    const size = Math.min(wanted, pool.length, roomLeft());
    const cold = isCold();
    const stepStream = stream.split("step").split(asked.length);
    const random =
      options.method === "random" ? 0 : drawnAmong(asked.length, asked.length + size, randomPart);
    const drawn = drawRows(pool, cold ? 0 : random, stepStream.split("drawn"));
    const left = drawn.length === 0 ? pool : pool.filter((row) => !drawn.some((each) => each.row === row));
    const unchosen = { chosen: [], groups: undefined, classifier: undefined, leastLeakage: 0 };
    const step =
      drawn.length === size
        ? unchosen
        : await choose(
            left,
            size - drawn.length,
            quotasOfBatch(options, counted(), size),
            cold,
            stepStream,
            pace,
          );
    const { chosen, groups: taken, classifier, leastLeakage } = step;
    // A method that draws gives every row the same chance, unless quotas or costs have a say.
    const equal =
      (cold || options.method === "random") && quotas.length === 0 && !((options.costWeight ?? 0) > 0);
    const batch = [
      ...drawn,
      ...chosen.map(
        (each, i): AskedRow => ({
          ...each,
          ...(taken === undefined ? {} : { group: taken[i] }),
          rank: drawn.length + each.rank,
          ...(cold ? { drawn: true } : {}),
          ...(equal ? { probability: 1 / (pool.length - each.rank + 1) } : {}),
        }),
      ),
    ].map((each) => ({ ...each, rank: asked.length + each.rank }));
    const parity = classifier === undefined ? undefined : await options.parityOf?.(classifier);
    for (const each of batch) wasAsked.add(each.row);
    asked.push(...batch);
    const { uses } = strategies[options.method];
    const warning =
      cold || chosen.length === 0 || !(uses.sensitive || uses.joint)
        ? undefined
        : control.observe({
            leakage: chosen.reduce((sum, { leakage }) => sum + leakage, 0),
            labels: chosen.length,
            // A leakage budget is about the labels that are chosen: those drawn at random are what they are.
            left:
              budget === undefined
                ? 0
                : Math.round(Math.max(0, budget - counted().length) * (1 - randomPart)),
            leastLeakage,
            parity,
          });
    return { batch, beta, warning, cold };
  };

  return {
    ask,
    rank,
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
    labels: () => target.labels.slice(),
    sensitiveOf: (index, rows) => sensitive[index].labels.slice(0, rows),
    get beta() {
      return control.beta;
    },
    get met() {
      return control.met;
    },
    get spent() {
      return control.state.spent;
    },
    get state() {
      return { asked: [...asked], control: control.state };
    },
  };
};
