/** Where a greedy policy looks for its next design: candidates all over, and a search from the best of them. */
import { InputError } from "../core/errors.js";
import type { Pacer } from "../core/options.js";
import { type RandomStream, seededStream } from "../core/random.js";
import { momentsOf } from "../core/stats.js";
import type { Model } from "./model.js";
import { drawOuter } from "./policy.js";

type Particles = Readonly<Record<string, Float64Array>>;
/** A lowest and a highest value. */
export type SearchRange = readonly [low: number, high: number];

export const searchTexts = {
  ranges: (given: number, expected: number) =>
    `search has ${given} ranges and the model ${expected} design variables: give one [low, high] for each`,
  range: (name: string) =>
    `the search range of "${name}" is not inside its bounds: give [low, high] with low < high, both finite`,
};

const PRIOR_DRAWS = 512;
const PRIOR_DEVIATIONS = 4;

/** The default of the option `search` of a greedy policy. */
export const searchRanges = (model: Model): readonly SearchRange[] => {
  const prior = drawOuter(model, PRIOR_DRAWS, seededStream("search ranges"));
  const around = Object.values(prior).map((draws) => {
    const { mean, m2, n } = momentsOf(draws);
    const reach = PRIOR_DEVIATIONS * Math.sqrt(m2 / n);
    return [mean - reach, mean + reach] as const;
  });
  const low = Math.min(...around.map(([from]) => from));
  const high = Math.max(...around.map(([, to]) => to));
  return model.design.map((variable) => {
    const from = Number.isFinite(variable.low) ? variable.low : Math.min(low, variable.high - (high - low));
    const to = Number.isFinite(variable.high) ? variable.high : Math.max(high, from + (high - low));
    return [from, to];
  });
};

export const checkSearch = (model: Model, search: readonly SearchRange[]): void => {
  if (search.length !== model.design.length) {
    throw new InputError("search", searchTexts.ranges(search.length, model.design.length));
  }
  for (const [d, [low, high]] of search.entries()) {
    const { name, ...bounds } = model.design[d];
    const inside = low >= bounds.low && high <= bounds.high && low < high && high - low < Infinity;
    if (!inside) throw new InputError("search", searchTexts.range(name));
  }
};

/** Finite design variables with at most this many combinations are tried in all of them. */
const MOST_COMBINATIONS = 512;

/**
 * Designs to try. Where every variable is finite, all of them; else points that fill the search ranges evenly (a Latin
 * hypercube) and, in variables without bounds, which are taken to be on the scale of the parameters, as many around
 * values of the posterior.
 */
export const drawCandidates = (
  model: Model,
  search: readonly SearchRange[],
  particles: Particles,
  count: number,
  stream: RandomStream,
): Float64Array[] => {
  const finite = model.design.map(({ values }, d) =>
    values?.filter((value) => value >= search[d][0] && value <= search[d][1]),
  );
  const combinations = finite.reduce<number>((n, values) => n * (values?.length ?? 1), 1);
  if (finite.every((values) => values !== undefined) && combinations <= MOST_COMBINATIONS) {
    return finite
      .reduce<number[][]>(
        (rows, values) => rows.flatMap((row) => (values ?? []).map((v) => [...row, v])),
        [[]],
      )
      .map((row) => Float64Array.from(row));
  }
  const columns = model.design.map((variable, d) => {
    const own = stream.split(d);
    const order = own.permutation(count);
    const [low, high] = search[d];
    const values = finite[d];
    const near = nearParticles(particles, own.split("posterior"));
    const unbounded = !Number.isFinite(variable.low) || !Number.isFinite(variable.high);
    return Array.from({ length: count }, (_, i) => {
      const place = (order[i] + own.uniform()) / count;
      if (values !== undefined) return values[Math.floor(place * values.length)];
      if (unbounded && i % 2 === 1) return Math.min(high, Math.max(low, near()));
      return low + (high - low) * place;
    });
  });
  return Array.from({ length: count }, (_, i) => Float64Array.from(columns, (column) => column[i]));
};

/** Values of a random parameter of a random particle, moved by its posterior standard deviation. */
const nearParticles = (particles: Particles, stream: RandomStream): (() => number) => {
  const all = Object.values(particles).map((values) => {
    const { m2, n } = momentsOf(values);
    return { values, sd: Math.sqrt(m2 / n) };
  });
  return () => {
    const { values, sd } = all[stream.integer(all.length)];
    return stream.normal(values[stream.integer(values.length)], sd);
  };
};

const REFINED = 3;
const REFINING_EVALUATIONS = 40;
const FIRST_STEP = 1 / 16;
const LAST_STEP = 1 / 2048;

/** The best candidate, after a compass search from the best few: finite variables try all their values. */
export const bestDesign = async (
  model: Model,
  search: readonly SearchRange[],
  candidates: readonly Float64Array[],
  value: (design: Float64Array) => number,
  pace: Pacer,
): Promise<Float64Array> => {
  const total = candidates.length + REFINED * REFINING_EVALUATIONS;
  let done = 0;
  const worth = async (design: Float64Array): Promise<number> => {
    const found = value(design);
    done = Math.min(total, done + 1);
    await pace.step({ done, total, label: "designs" });
    // A design at which nothing can be computed is never chosen.
    return Number.isNaN(found) ? -Infinity : found;
  };
  const ranked: { readonly design: Float64Array; readonly value: number }[] = [];
  for (const design of candidates) ranked.push({ design, value: await worth(design) });
  ranked.sort((a, b) => b.value - a.value);
  let winner = ranked[0];
  for (const start of ranked.slice(0, REFINED)) {
    let here = start;
    let left = REFINING_EVALUATIONS;
    let step = FIRST_STEP;
    while (step >= LAST_STEP && left > 0) {
      let improved = false;
      for (const [d, { values }] of model.design.entries()) {
        const [low, high] = search[d];
        const reach = step * (high - low);
        const moves =
          values === undefined
            ? [here.design[d] - reach, here.design[d] + reach]
            : // Once, at the first step: they have no scale.
              step === FIRST_STEP
              ? values.filter((each) => each >= low && each <= high)
              : [];
        for (const to of moves) {
          const moved = here.design.slice();
          moved[d] = Math.min(high, Math.max(low, to));
          if (moved[d] === here.design[d]) continue;
          left--;
          const found = await worth(moved);
          if (found > here.value) {
            here = { design: moved, value: found };
            improved = true;
          }
        }
      }
      if (!improved) step /= 2;
    }
    if (here.value > winner.value) winner = here;
  }
  return winner.design;
};
