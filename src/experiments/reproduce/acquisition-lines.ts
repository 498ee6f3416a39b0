/**
 * The protocol that all active-learning tables and figures share (section 6.2), so that they share their cells.
 *
 * Stated in the paper: random forests of 100 trees, 400 labels one at a time, 8 seeds; for CelebA 300 labels two at a
 * time, 5 seeds; beta = 10 in the tables. Chosen here where it is silent: 30 % of the rows are tested on, 2 initial
 * labels of each class, at most 1000 target inputs of which 100 are drawn at each step, one-hot categories, and the
 * grid of betas.
 */
import type { StrategyName } from "../../active/strategies.js";
import type { EVALUATION_NAMES } from "../evaluation.js";
import { PAPER, RECOMMENDED, type SimulationSettings } from "../simulation.js";
import type { AcquireCell, TaskName } from "./cell.js";
import { type Scale, seedsOf } from "./reproduction.js";
import type { Results } from "./store.js";
import { meanOverSeeds, type SeedMean } from "./verdict.js";

/** One way of asking for labels. */
export interface Line {
  readonly name: string;
  readonly method: StrategyName;
  /** Of the methods that have one. */
  readonly beta?: number;
  /** With the sensitive model that is recommended instead of the paper's. */
  readonly recommended?: boolean;
}

export type MetricName = (typeof EVALUATION_NAMES)[number];

export const RANDOM: Line = { name: "Random", method: "random" };
export const ENTROPY: Line = { name: "Predictive Entropy", method: "entropy" };
export const EPIG: Line = { name: "EPIG", method: "epig" };
export const hfe = (beta: number): Line => ({ name: "HFE", method: "hfe", beta });
export const fairbed = (beta: number): Line => ({ name: "FairBED-EPIG", method: "fairbed", beta });
export const recommended = (beta: number): Line => ({
  name: "FairBED, recommended",
  method: "fairbed",
  beta,
  recommended: true,
});

export const betasOf = ({ quick }: Scale): readonly number[] => (quick ? [1, 10] : [0.5, 1, 2, 5, 10, 20]);

interface Size {
  readonly seeds: number;
  readonly budget: number;
  readonly batch: number;
  /** Labels between evaluations. */
  readonly every: number;
  readonly pool?: number;
  readonly trees?: number;
}

const FULL: Size = { seeds: 8, budget: 400, batch: 1, every: 25 };
const FULL_BY_TASK: Partial<Record<TaskName, Size>> = {
  celeba: { seeds: 5, budget: 300, batch: 2, every: 50 },
};
const QUICK: Size = { seeds: 2, budget: 40, batch: 10, every: 10, pool: 400, trees: 20 };

export const sizeOf = (task: TaskName, { quick, seeds }: Scale): Size => {
  const size = quick ? QUICK : (FULL_BY_TASK[task] ?? FULL);
  return { ...size, seeds: seeds ?? size.seeds };
};

export const checkpointsOf = (task: TaskName, scale: Scale): readonly number[] => {
  const { budget, every } = sizeOf(task, scale);
  return Array.from({ length: Math.floor(budget / every) + 1 }, (_, i) => every * i);
};

export const acquireCell = (task: TaskName, line: Line, seed: number, scale: Scale): AcquireCell => {
  const { budget, batch, pool, trees } = sizeOf(task, scale);
  const own = trees === undefined ? {} : { trees };
  const base = line.recommended === true ? RECOMMENDED : PAPER;
  const settings: SimulationSettings = {
    ...base,
    method: line.method,
    goal: { beta: line.beta ?? 0 },
    budget,
    batch,
    forest: { ...base.forest, ...own },
    sensitiveForest: { ...base.sensitiveForest, ...own },
    ...(pool === undefined ? {} : { pool }),
    checkpoints: checkpointsOf(task, scale),
  };
  return { kind: "acquire", task, dataSeed: 0, settings, seed };
};

export const acquireCells = (task: TaskName, lines: readonly Line[], scale: Scale): AcquireCell[] =>
  seedsOf(sizeOf(task, scale).seeds).flatMap((seed) =>
    lines.map((line) => acquireCell(task, line, seed, scale)),
  );

/** A metric of a line over seeds, after so many labels: all of them unless given. */
export const lineMean = (
  results: Results,
  task: TaskName,
  line: Line,
  metric: MetricName,
  scale: Scale,
  labels = sizeOf(task, scale).budget,
): SeedMean | undefined =>
  meanOverSeeds(
    seedsOf(sizeOf(task, scale).seeds).map((seed) => {
      const result = results.get(acquireCell(task, line, seed, scale));
      return result?.checkpoints.find((each) => each.labels === labels)?.metrics[metric];
    }),
  );

export const labelOf = ({ name, beta }: Line): string =>
  beta === undefined ? name : `${name}, beta ${beta}`;

/** Said where both are shown. */
export const RECOMMENDED_SAYS = `the line of what is recommended here differs in one thing: leaves of at least ${RECOMMENDED.sensitiveForest.minLeaf} labels in the sensitive model`;

/** Said in every protocol that acquires. */
export const acquisitionProtocol = (task: TaskName): readonly string[] => [
  task === "celeba"
    ? "300 labels, two at a time, 5 seeds; features come from a network that is truncated at layer3 (256 values, where the paper has 512), of 10,000 images"
    : "400 labels, one at a time, 8 seeds",
  "forests of 100 fully grown trees on both sides, fitted anew at each step; 30 % of the rows are tested on; 2 initial labels of each class; 100 target inputs drawn at each step",
  ...(task === "census"
    ? [
        "class-balanced: every row above 50000, and as many of the others drawn at random; sex and the instance weight are no features",
      ]
    : []),
];
