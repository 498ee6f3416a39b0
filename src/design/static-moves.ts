/** Moves of static designs that no gradient makes: of idle ones to other places, and among finitely many values. */
import type { Pacer } from "../core/options.js";
import type { RandomStream } from "../core/random.js";
import type { Model } from "./model.js";
import type { Noise, Objective } from "./objective.js";
import { ANYWHERE, drawPlace, type Reach } from "./static-starts.js";

/** Batches that designs are compared on, all on the same samples. */
export const COMPARING = 4;
/** A design whose removal costs less than this many nats does not inform. */
export const IDLE = 0.005;
/** Places that an idle design is tried at. */
export const PLACES = 12;
/** How near to another design half of them are, in spreads. */
const NEAR = 0.3;
/** Steps from one exchange of values to the next, where other variables climb between. */
export const EXCHANGE_EVERY = 16;
/** So many combinations of an observation's values are all tried; of more, those that differ in one variable. */
const MOST_TRIED = 64;
/** So many sets of designs are gone through one by one. */
const MOST_LISTED = 256;

export interface StaticMoves {
  readonly model: Model;
  readonly horizon: number;
  readonly bound: Objective;
  /** The objective of one observation fewer, compiled when it is first asked for; undefined where there is only one. */
  readonly without: () => Objective | undefined;
  readonly reach: readonly Reach[];
  readonly pace: Pacer;
}

/** The mean objective of designs on the same samples every time. */
const comparer = (
  { bound, pace }: StaticMoves,
  from: RandomStream,
): {
  readonly streams: readonly RandomStream[];
  readonly noises: readonly Noise[];
  value(designs: Float64Array): Promise<number>;
} => {
  const streams = Array.from({ length: COMPARING }, (_, i) => from.split("compare").split(i));
  const noises = streams.map((each) => bound.noise(each));
  return {
    streams,
    noises,
    async value(designs) {
      let sum = 0;
      for (const [i, each] of streams.entries()) {
        sum += bound.evaluate(designs, each, "lower", noises[i]);
        await pace.pause();
      }
      return sum / COMPARING;
    },
  };
};

/** The noise of the same experiments without observation t. */
const withoutObservation = (noise: Noise, t: number, horizon: number): Noise =>
  noise.map((byOutcome) =>
    Object.fromEntries(
      Object.entries(byOutcome).map(([name, all]) => [name, all.filter((_, k) => k % horizon !== t)]),
    ),
  );

/** The k-th place that idle observation t of designs [horizon, variables] is tried at: half near another, half anywhere. */
export const placeFor = (
  { model, horizon, reach }: Pick<StaticMoves, "model" | "horizon" | "reach">,
  designs: ArrayLike<number>,
  t: number,
  k: number,
  from: RandomStream,
): number[] => {
  const variables = model.design.length;
  const near = from.split("place").split(t).split(k);
  const other = near.integer(horizon);
  const beside = Array.from({ length: variables }, (_, d) => designs[other * variables + d]);
  const middle = reach.map((each) => each.middle);
  return k % 2 === 0
    ? drawPlace(model, reach, near, beside, NEAR)
    : drawPlace(model, reach, near, middle, ANYWHERE);
};

/**
 * Moves designs [horizon, variables] that inform hardly at all, each to the best of some random places, and gives the
 * observations that were moved.
 */
export const moveIdle = async (
  moves: StaticMoves,
  designs: Float64Array,
  from: RandomStream,
): Promise<readonly number[]> => {
  const { model, horizon, pace } = moves;
  const without = moves.without();
  if (without === undefined) return [];
  await pace.pause();
  const variables = model.design.length;
  const { streams, noises, value } = comparer(moves, from);
  /** The same experiments without observation t: the difference is what the observation is worth. */
  const valueWithout = async (t: number): Promise<number> => {
    const others = designs.filter((_, i) => Math.floor(i / variables) !== t);
    let sum = 0;
    for (const [i, each] of streams.entries()) {
      sum += without.evaluate(others, each, "lower", withoutObservation(noises[i], t, horizon));
      await pace.pause();
    }
    return sum / COMPARING;
  };
  const moved = new Set<number>();
  for (let t = 0; t < horizon; t++) {
    const all = designs.slice();
    let best = await value(all);
    if (best - (await valueWithout(t)) >= IDLE) continue;
    for (let k = 0; k < PLACES; k++) {
      const place = placeFor(moves, all, t, k, from);
      const tried = all.slice();
      tried.set(place, t * variables);
      const there = await value(tried);
      if (!(there > best)) continue;
      best = there;
      designs.set(tried);
      moved.add(t);
    }
  }
  return [...moved];
};

/**
 * Gives observation t the best of its values on the samples that `from` determines, the other observations held (one step
 * of coordinate exchange, Meyer and Nachtsheim 1995), and says what it is worth and whether it changed.
 */
export const exchange = async (
  moves: StaticMoves,
  designs: Float64Array,
  t: number,
  from: RandomStream,
): Promise<{ readonly value: number; readonly changed: boolean }> => {
  const { model } = moves;
  const variables = model.design.length;
  const { value } = comparer(moves, from);
  const now = [...designs.subarray(t * variables, (t + 1) * variables)];
  let best = await value(designs);
  let changed = false;
  for (const candidate of candidatesFor(model, now)) {
    const tried = designs.slice();
    tried.set(candidate, t * variables);
    const there = await value(tried);
    if (!(there > best)) continue;
    best = there;
    designs.set(tried);
    changed = true;
  }
  return { value: best, changed };
};

/** Designs with other values than `now`; variables without values stay as they are. */
export const candidatesFor = ({ design }: Model, now: readonly number[]): readonly (readonly number[])[] => {
  const joint = design.reduce((count, { values }) => count * (values?.length ?? 1), 1);
  const all =
    joint <= MOST_TRIED
      ? product(design.map(({ values }, d) => values ?? [now[d]]))
      : design.flatMap(({ values = [] }, d) => values.map((value) => now.with(d, value)));
  return all.filter((candidate) => candidate.some((value, d) => value !== now[d]));
};

const product = (lists: readonly (readonly number[])[]): number[][] =>
  lists.reduce<number[][]>((rows, list) => rows.flatMap((row) => list.map((value) => [...row, value])), [[]]);

/**
 * All sets of designs [horizon, variables] of a model whose variables all have values, where they are few; an objective of
 * static designs does not depend on their order. Undefined where they are many, or where a variable has no values.
 */
export const allDesigns = ({ design }: Model, horizon: number): readonly number[][] | undefined => {
  const choices = design.reduce((count, { values }) => count * (values?.length ?? Infinity), 1);
  // Multisets of `horizon` out of `choices`: C(choices + horizon - 1, horizon).
  let count = 1;
  for (let k = 1; k <= horizon; k++) {
    count = (count * (choices + k - 1)) / k;
    if (!(count <= MOST_LISTED)) return undefined;
  }
  const single = product(design.map(({ values = [] }) => values));
  let sets: { readonly last: number; readonly designs: number[] }[] = [{ last: 0, designs: [] }];
  for (let t = 0; t < horizon; t++) {
    sets = sets.flatMap(({ last, designs }) =>
      single.slice(last).map((each, i) => ({ last: last + i, designs: [...designs, ...each] })),
    );
  }
  return sets.map(({ designs }) => designs);
};
