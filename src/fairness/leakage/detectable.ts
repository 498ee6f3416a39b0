/**
 * The smallest leakage that so many rows could have shown: found 4 times in 5 by the test at 5 %.
 *
 * The attribute is drawn anew from the features themselves: a column, drawn at random, gives a known amount of it
 * away, p(c | x) ∝ p(c) e^(strength u_c x_j). The test runs on a few such tables and shows how far it moves, D. With
 * n rows judged by models of m rows, a learner whose noise is q moves by about
 *
 *     D(I) = A 2 I / sqrt(2 I + q),   A = sum_k w_k sqrt(n_k) / sqrt(sum_k w_k^2)
 *
 * (the gain of the log-likelihood ratio against its spread, sqrt(2 I) for a small I, and the learner's own noise), so
 * one measured D gives q, and D(I) = z(.95) + z(.80) gives I. Of many rows some are drawn for the planted tables: with r
 * times as many rows A is sqrt(r) times as large, and q, the noise of a learner of r times as many rows, 1 / r of it.
 */
import { exp, log, normalQuantile } from "../../core/math.js";
import type { RandomStream } from "../../core/random.js";
import { momentsOf } from "../../core/stats.js";
import type { FeatureMatrix } from "../../learners/classifier.js";
import { type Adversary, type FitSettings, fitStages, type StratumFolds, type Watch } from "./cross-fit.js";
import { joinRows, someRows, stratifiedFolds } from "./folds.js";
import { type JudgedStratum, type TestSettings, testLeakage } from "./permutation-test.js";
import { type Stratum, shares } from "./stratum.js";

export const DETECTION = { level: 0.05, power: 0.8 };
const NEEDED = normalQuantile(1 - DETECTION.level) + normalQuantile(DETECTION.power);

/** p(group | x) [rows of the stratum, groups] for a strength, and its leakage. */
const plantedProbabilities = (
  column: Float64Array,
  base: Float64Array,
  directions: Float64Array,
  strength: number,
): { readonly p: Float64Array; readonly nats: number } => {
  const groups = base.length;
  const p = new Float64Array(column.length * groups);
  const mean = new Float64Array(groups);
  column.forEach((x, i) => {
    let sum = 0;
    for (let c = 0; c < groups; c++) {
      p[i * groups + c] = base[c] * exp(strength * directions[c] * x);
      sum += p[i * groups + c];
    }
    for (let c = 0; c < groups; c++) {
      p[i * groups + c] /= sum;
      mean[c] += p[i * groups + c] / column.length;
    }
  });
  let nats = 0;
  p.forEach((value, at) => {
    if (value > 0) nats += value * log(value / mean[at % groups]);
  });
  return { p, nats: nats / column.length };
};

/** Probabilities that leak as much as asked for, or as much as this column can. */
const plantedAt = async (
  column: Float64Array,
  base: Float64Array,
  directions: Float64Array,
  nats: number,
  watch: Watch,
) => {
  let low = 0;
  let high = 1;
  while (high < 64 && plantedProbabilities(column, base, directions, high).nats < nats) {
    high *= 2;
    await watch.pause();
  }
  for (let step = 0; step < 30; step++) {
    await watch.pause();
    const middle = (low + high) / 2;
    if (plantedProbabilities(column, base, directions, middle).nats < nats) low = middle;
    else high = middle;
  }
  return plantedProbabilities(column, base, directions, high);
};

/** The column of these rows with mean 0 and variance 1, its tails cut at 4; undefined where it is constant. */
const standardised = (
  { values, columns }: FeatureMatrix,
  rows: Int32Array,
  column: number,
): Float64Array | undefined => {
  const own = Float64Array.from(rows, (row) => values[row * columns + column]);
  const { mean, m2, n } = momentsOf(own);
  const sd = Math.sqrt(m2 / n);
  if (!(sd > 1e-9 * (1 + Math.abs(mean)))) return undefined;
  return own.map((x) => Math.max(-4, Math.min(4, (x - mean) / sd)));
};

interface Planted {
  readonly strata: readonly StratumFolds[];
  readonly nats: number;
}

/** A stratum with an attribute drawn so that about `nats` of it are in the column; undefined where that is constant. */
const plantIn = async (
  stratum: Stratum,
  { features, folds, watch }: Pick<DetectableSettings, "features" | "folds" | "watch">,
  column: number,
  nats: number,
  own: RandomStream,
): Promise<(StratumFolds & { readonly nats: number; readonly rows: number }) | undefined> => {
  const rows = stratum.test === undefined ? stratum.rows : joinRows([stratum.rows, stratum.test]);
  const x = standardised(features, rows, column);
  if (x === undefined) return undefined;
  const groups = stratum.groups.length;
  const directions = Float64Array.from({ length: groups }, (_, c) => (groups === 2 ? c : own.uniform(-1, 1)));
  const planted = await plantedAt(x, shares(stratum.rows, stratum), directions, nats, watch);
  const labels = new Int32Array(stratum.labels.length).fill(-1);
  rows.forEach((row, i) => {
    labels[row] = own.categorical(planted.p.subarray(i * groups, (i + 1) * groups));
  });
  const dealt = stratifiedFolds(stratum.rows, (row) => labels[row], folds, own.split("folds"));
  return { stratum: { ...stratum, labels }, folds: dealt, nats: planted.nats, rows: rows.length };
};

/** The same rows with an attribute drawn so that about `nats` of it are in one column. */
const plant = async (
  strata: readonly Stratum[],
  settings: Pick<DetectableSettings, "features" | "folds" | "watch">,
  nats: number,
  stream: RandomStream,
): Promise<Planted> => {
  // Some column of a table with features varies; where the draws meet none, there is nothing to hide a leak in.
  for (let attempt = 0; attempt < 200; attempt++) {
    const own = stream.split(attempt);
    const column = own.integer(settings.features.columns);
    const planted: NonNullable<Awaited<ReturnType<typeof plantIn>>>[] = [];
    for (const stratum of strata) {
      const one = await plantIn(stratum, settings, column, nats, own);
      if (one !== undefined) planted.push(one);
    }
    // Every group must be in the first fold, or its models could not know it.
    const complete = planted.every(
      ({ stratum, folds }) =>
        new Set(Array.from(folds[0], (row) => stratum.labels[row])).size === stratum.groups.length,
    );
    if (planted.length < strata.length || !complete) continue;
    const leaked = planted.reduce((sum, each) => sum + each.nats * each.rows, 0);
    const total = planted.reduce((sum, each) => sum + each.rows, 0);
    return { strata: planted, nats: leaked / total };
  }
  return { strata: [], nats: 0 };
};

export interface DetectableSettings extends TestSettings, FitSettings {
  readonly folds: number;
  /** How many tables are drawn, and how many rows each has at most. */
  readonly plants: number;
  readonly plantRows: number;
  /** All there is to know: H(group), of the strata together. */
  readonly most: number;
}

/** Groups that have rows for every fold, or the two largest where fewer have; the rows of the others are left out. */
const withLargeGroups = (stratum: Stratum, folds: number): Stratum => {
  const rows = shares(stratum.rows, stratum).map((share) => share * stratum.rows.length);
  const bySize = [...rows.keys()].sort((a, b) => rows[b] - rows[a]);
  const kept = bySize.filter((group, at) => at < 2 || rows[group] >= 2 * folds).sort((a, b) => a - b);
  if (kept.length === stratum.groups.length) return stratum;
  const place = new Map(kept.map((group, at) => [group, at]));
  const labels = stratum.labels.map((group) => place.get(group) ?? -1);
  const known = (row: number) => labels[row] >= 0;
  return {
    ...stratum,
    labels,
    groups: kept.map((group) => stratum.groups[group]),
    rows: stratum.rows.filter(known),
    test: stratum.test?.filter(known),
  };
};

/** The strata with no more rows than a planted table has, and how many times as many there are. */
const drawRows = (
  strata: readonly Stratum[],
  { plantRows, folds }: Pick<DetectableSettings, "plantRows" | "folds">,
  stream: RandomStream,
) => {
  const rows = strata.reduce((sum, stratum) => sum + stratum.rows.length, 0);
  const ratio = Math.max(1, rows / plantRows);
  if (ratio === 1) return { strata, ratio };
  const some = (of: Int32Array, name: string) =>
    someRows(of, Math.max(1, Math.round(of.length / ratio)), stream.split(name));
  const drawn = strata.map((stratum, s) =>
    withLargeGroups(
      {
        ...stratum,
        rows: some(stratum.rows, `rows ${s}`),
        test: stratum.test === undefined ? undefined : some(stratum.test, `test ${s}`),
      },
      folds,
    ),
  );
  return { strata: drawn.filter((stratum) => stratum.rows.length >= 4 * folds), ratio };
};

/** What the adversaries say of a planted table, stage by stage. */
const judgePlanted = async (
  planted: readonly StratumFolds[],
  adversaries: readonly (readonly [string, Adversary])[],
  settings: FitSettings,
  stream: RandomStream,
): Promise<JudgedStratum[]> => {
  const judged: JudgedStratum[] = [];
  for (const [s, dealt] of planted.entries()) {
    const own: JudgedStratum["adversaries"][number][] = [];
    for (const [name, adversary] of adversaries) {
      own.push(await fitStages(adversary, dealt, settings, stream.split(`${name} in stratum ${s}`)));
    }
    judged.push({ stratum: dealt.stratum, adversaries: own });
  }
  return judged;
};

/** In nats; undefined where even all there is to know could not be told from nothing. */
export const smallestDetectable = async (
  all: readonly Stratum[],
  adversaries: readonly (readonly [string, Adversary])[],
  settings: DetectableSettings,
  stream: RandomStream,
): Promise<number | undefined> => {
  const { plants, most } = settings;
  const { strata, ratio } = drawRows(all, settings, stream.split("rows"));
  const rows = strata.reduce((sum, stratum) => sum + (stratum.test ?? stratum.rows).length, 0);
  // A first guess: a learner with a few weights.
  let nats = Math.min(most * 0.5, Math.max(8 / rows, 0.002));
  for (let attempt = 0; attempt < 5; attempt++) {
    const drifts: number[] = [];
    let leaked = 0;
    let reach = 0;
    for (let i = 0; i < plants; i++) {
      const own = stream.split(`${attempt} ${i}`);
      const planted = await plant(strata, settings, nats, own.split("plant"));
      if (planted.strata.length === 0) return undefined;
      const judged = await judgePlanted(planted.strata, adversaries, settings, own.split("fits"));
      const result = await testLeakage(judged, settings, own.split("test"));
      const squares = result.stages.reduce((sum, { learnt }) => sum + learnt, 0);
      reach +=
        result.stages.reduce((sum, { learnt, rows: n }) => sum + Math.sqrt(learnt * n), 0) /
        Math.sqrt(squares) /
        plants;
      drifts.push(result.drift);
      leaked += planted.nats / plants;
    }
    const drift = momentsOf(drifts).mean;
    // Too close to nothing, or so far out that the formula for small leakages does not hold: try a better guess.
    if (drift < 1.5 && nats < most * 0.8 && attempt < 4) {
      nats = Math.min(most * 0.9, nats * (drift < 0.7 ? 3 : 1.7));
      continue;
    }
    if (drift < 0.7) return undefined;
    const noise = Math.max(0, ((2 * reach * leaked) / drift) ** 2 - 2 * leaked);
    if (drift > 4 && attempt < 4) {
      nats = neededAt(reach, noise);
      continue;
    }
    const found = neededAt(reach * Math.sqrt(ratio), noise / ratio);
    return found < most ? found : undefined;
  }
  return undefined;
};

/** The I at which D(I) is what is needed, for A = `reach` and q = `noise`. */
const neededAt = (reach: number, noise: number): number => {
  const square = NEEDED * NEEDED;
  return (square + Math.sqrt(square * square + 4 * reach * reach * square * noise)) / (4 * reach * reach);
};
