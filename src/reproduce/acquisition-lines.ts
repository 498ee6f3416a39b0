/**
 * The protocol that all active-learning tables and figures share (section 6.2), so that they share their cells.
 *
 * Stated in the paper: random forests of 100 trees, 400 labels one at a time, 8 seeds; for CelebA 300 labels two at a
 * time, 5 seeds; beta = 10 in the tables. Chosen here where it is silent: 30 % of the rows are tested on, 2 initial
 * labels of each class, at most 1000 target inputs of which 100 are drawn at each step, one-hot categories, and the
 * grid of betas.
 */
import type { StrategyName } from "../active/strategy-names.js";
import type { EVALUATION_NAMES } from "../workflows/evaluation.js";
import { CALIBRATED, PAPER, type SimulationSettings, WHOLE_SET } from "../workflows/simulation.js";
import type { AcquireCell, TaskName } from "./cell.js";
import { mergedProtocol, type Protocol, type Scale, seedsOf, sizeProtocol } from "./reproduction.js";
import { departuresInWords } from "./settings-in-words.js";
import type { Results } from "./store.js";
import { meanOverSeeds, type SeedMean } from "./verdict.js";

/** One way of asking for labels. */
export interface Line {
  readonly name: string;
  readonly method: StrategyName;
  /** Of the methods that have one. */
  readonly beta?: number | undefined;
  /** The paper's unless given. */
  readonly settings?: SimulationSettings | undefined;
}

export type MetricName = (typeof EVALUATION_NAMES)[number];

export const RANDOM: Line = { name: "Random", method: "random" };
export const ENTROPY: Line = { name: "Predictive Entropy", method: "entropy" };
export const EPIG: Line = { name: "EPIG", method: "epig" };
export const hfe = (beta: number): Line => ({ name: "HFE", method: "hfe", beta });
export const fairbed = (beta: number): Line => ({ name: "FairBED-EPIG", method: "fairbed", beta });
/** With the calibrated sensitive model of this project. */
export const calibrated = (beta: number): Line => ({
  name: "FairBED, calibrated",
  method: CALIBRATED.method,
  beta,
  settings: CALIBRATED,
});
/** With the leakage of the acquired set as a whole. */
export const wholeSet = (beta: number): Line => ({
  name: "FairBED, whole set",
  method: WHOLE_SET.method,
  beta,
  settings: WHOLE_SET,
});

export const betasOf = ({ quick }: Scale): readonly number[] => (quick ? [1, 10] : [0.5, 1, 2, 5, 10, 20]);

/** What this project adds to the paper's acquisition; the whole set has another leakage, and so another scale of beta. */
export const ownLines = ({ quick }: Scale): readonly Line[] => [
  ...(quick ? [10] : [2, 10]).map(calibrated),
  ...(quick ? [1] : [0.3, 1, 3]).map(wholeSet),
];

interface Size {
  readonly seeds: number;
  readonly budget: number;
  readonly batch: number;
  /** Labels between evaluations. */
  readonly every: number;
  readonly pool?: number | undefined;
  readonly trees?: number | undefined;
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
  const base = line.settings ?? PAPER;
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

/** A metric of a line by seeds, after so many labels: all of them unless given. */
export const lineValues = (
  results: Results,
  task: TaskName,
  line: Line,
  metric: MetricName,
  scale: Scale,
  labels = sizeOf(task, scale).budget,
): readonly (number | undefined)[] =>
  seedsOf(sizeOf(task, scale).seeds).map((seed) => {
    const result = results.get(acquireCell(task, line, seed, scale));
    return result?.checkpoints.find((each) => each.labels === labels)?.metrics[metric];
  });

/** The same over seeds. */
export const lineMean = (...of: Parameters<typeof lineValues>): SeedMean | undefined =>
  meanOverSeeds(lineValues(...of));

export const labelOf = ({ name, beta }: Line): string =>
  beta === undefined ? name : `${name}, beta ${beta}`;

/** What sets lines of this project apart from the paper's. */
export const linesInWords = (lines: readonly Line[]): readonly string[] =>
  [...new Set(lines.map(({ name }) => name))].map((name) => {
    const own = lines.filter((line) => line.name === name);
    const { method, settings = PAPER } = own[0];
    const others = [
      ...(method === PAPER.method ? [] : [`the method ${method}`]),
      ...departuresInWords(settings),
      `beta in ${[...new Set(own.map(({ beta }) => beta))].join(", ")}`,
    ];
    return `${name}, not in the paper: ${others.join(", ")}`;
  });

/** What is done in every acquisition on a task, with the sentences of one table or figure. */
export const acquisitionProtocol = (
  task: TaskName,
  scale: Scale,
  own: Partial<Protocol> = {},
  heading = "",
): Protocol => {
  const { seeds, budget, batch, pool, trees = 100 } = sizeOf(task, scale);
  const size = [
    `${heading}${budget} labels, ${batch === 1 ? "one" : batch} at a time, ${seeds} seed${seeds === 1 ? "" : "s"}`,
    `random forests of ${trees} trees on both sides, fitted anew at each step`,
  ];
  const general = {
    chosen: [
      `trees are fully grown; ${100 * PAPER.testFraction} % of the rows are tested on; 2 initial labels of each class; a tenth of the other rows are target inputs, at least 100 and at most 1000, of which ${PAPER.targetsPerStep} are drawn at each step; ${PAPER.categories} categories`,
      ...(pool === undefined ? [] : [`at most ${pool} rows to choose from`]),
      "of candidates with the same score, the one that is asked is drawn at random; of the results that ship with fairbed, some are older than this rule and ask the first row of the table: most of sweep-students",
      "ratios are the smaller rate of the two groups over the larger one; the paper writes one group over the other, which may be above 1",
    ],
  };
  return mergedProtocol([sizeProtocol(size, scale), general, OF_TASK[task] ?? {}, own]);
};

const OF_TASK: Partial<Record<TaskName, Partial<Protocol>>> = {
  census: {
    chosen: [
      "Census is class-balanced: every row above 50000, and as many of the others drawn at random; sex and the instance weight are no features",
    ],
    matched: [
      "Census was balanced because its natural rates (94 % of one class) cannot give the paper's accuracy of 0.82, and balanced ones give its row of Random: the row of Random on Census is circular in that, and the other rows rest on the same balance",
    ],
  },
  students: {
    stated: ["the target of Student Graduation is whether somebody graduated"],
    chosen: ["those still enrolled count as not graduated; gender is no feature of Student Graduation"],
  },
  celeba: {
    stated: ["the target of CelebA is Smiling, the sensitive attribute gender"],
    chosen: [
      "features of CelebA come from a network that is truncated at layer3 (256 values, where the paper has 512), of 10,000 images (202,599 in the paper): its numbers are counted apart",
    ],
  },
  adult: { chosen: ["sex and fnlwgt of Adult are no features"] },
};
