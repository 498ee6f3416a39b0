/**
 * FairBED at beta = 10 on Student Graduation, under every setting that the paper leaves open: one change at a time from
 * what is run for the table, and a few together. Which ones was fixed before any of them was run, and all are reported.
 */
import { fixed } from "../core/number-text.js";
import type { ForestOptions } from "../learners/forest.js";
import type { SimulationSettings } from "../workflows/simulation.js";
import { acquireCell, acquisitionProtocol, fairbed, type MetricName, sizeOf } from "./acquisition-lines.js";
import type { AcquireCell, FeatureChoice } from "./cell.js";
import { chartValue, type Reproduction, type Scale, seedsOf } from "./reproduction.js";
import type { Results } from "./store.js";
import { PAPER_STUDENT_FAIRBED, RATIO_COLUMNS } from "./table-ratios.js";
import { compare, meanOverSeeds, REPRODUCED_WITHIN, type SeedMean } from "./verdict.js";

const TASK = "students";

interface Change {
  readonly beta?: number | undefined;
  readonly features?: FeatureChoice | undefined;
  readonly forest?: ForestOptions | undefined;
  readonly sensitiveForest?: ForestOptions | undefined;
  readonly others?: Partial<SimulationSettings> | undefined;
}

interface Setting extends Change {
  readonly group: string;
  readonly name: string;
  /** Also run where little is run. */
  readonly quick?: boolean | undefined;
}

const both = (forest: ForestOptions): Change => ({ forest, sensitiveForest: forest });
const PRETRAINED: Change = { others: { sensitiveModel: "pretrained" } };

const of = (group: string, settings: readonly (readonly [string, Change])[]): readonly Setting[] =>
  settings.map(([name, change]) => ({ group, name, ...change }));

const SETTINGS: readonly Setting[] = [
  { group: "as in the table", name: "nothing changed", quick: true },
  ...of(
    "smallest leaves, sensitive model",
    [2, 5, 10, 20].map((minLeaf) => [`sensitive leaves of ${minLeaf}`, { sensitiveForest: { minLeaf } }]),
  ),
  ...of(
    "smallest leaves, both models",
    [2, 5, 10, 20].map((minLeaf) => [`leaves of ${minLeaf}`, both({ minLeaf })]),
  ),
  ...of(
    "greatest depth, both models",
    [3, 5, 10].map((maxDepth) => [`depth ${maxDepth}`, both({ maxDepth })]),
  ),
  ...of(
    "trees, both models",
    [10, 30, 300].map((trees) => [`${trees} trees`, both({ trees })]),
  ),
  ...of("correction for the number of trees", [
    ["sensitive model, analytic", { others: { sensitiveCorrection: "analytic" } }],
    ["sensitive model, permutation", { others: { sensitiveCorrection: "permutation" } }],
    ["both models, analytic", { others: { correction: "analytic", sensitiveCorrection: "analytic" } }],
    [
      "both models, permutation",
      { others: { correction: "permutation", sensitiveCorrection: "permutation" } },
    ],
  ]),
  ...of("target inputs", [
    ["100 set aside", { others: { targets: 100 } }],
    ["1000 set aside", { others: { targets: 1000 } }],
    // Of 3097 rows outside the test rows: 593 are left to choose 400 from.
    ["2500 set aside", { others: { targets: 2500 } }],
    ["25 drawn at each step", { others: { targetsPerStep: 25 } }],
    ["all drawn at each step", { others: { targetsPerStep: 1000 } }],
    ["1000 set aside, all drawn at each step", { others: { targets: 1000, targetsPerStep: 1000 } }],
  ]),
  ...of(
    "initial labels",
    [2, 10, 20, 50].map((initial) => [`${initial} initial labels`, { others: { initial } }]),
  ),
  ...of("rows tested on", [["20 % tested on", { others: { testFraction: 0.2 } }]]),
  ...of("features", [
    ["codes as one-hot categories", { features: "codes-as-categories" }],
    ["gender as a feature", { features: "sensitive-too" }],
    ["no results of semesters", { features: "known-at-start" }],
  ]),
  ...of(
    "beta",
    [1, 2, 5, 20, 50, 100].map((beta) => [`beta ${beta}`, { beta }]),
  ),
  { group: "sensitive model", name: "pretrained", ...PRETRAINED, quick: true },
  ...of("together", [
    ["pretrained, sensitive leaves of 5", { ...PRETRAINED, sensitiveForest: { minLeaf: 5 } }],
    ["pretrained, beta 100", { ...PRETRAINED, beta: 100 }],
    ["pretrained on 1000 rows", { others: { ...PRETRAINED.others, targets: 1000 } }],
    ["pretrained on 1000 rows, beta 100", { beta: 100, others: { ...PRETRAINED.others, targets: 1000 } }],
    ["leaves of 5, beta 100", { ...both({ minLeaf: 5 }), beta: 100 }],
    ["sensitive model corrected, beta 100", { beta: 100, others: { sensitiveCorrection: "analytic" } }],
    ["one-hot codes, leaves of 5", { ...both({ minLeaf: 5 }), features: "codes-as-categories" }],
  ]),
];

const settingsOf = ({ quick }: Scale): readonly Setting[] =>
  quick ? SETTINGS.filter((setting) => setting.quick === true) : SETTINGS;

const cellOf = (setting: Setting, seed: number, scale: Scale): AcquireCell => {
  const cell = acquireCell(TASK, fairbed(setting.beta ?? 10), seed, scale);
  const { forest, sensitiveForest } = cell.settings;
  return {
    ...cell,
    ...(setting.features === undefined ? {} : { features: setting.features }),
    settings: {
      ...cell.settings,
      forest: { ...forest, ...setting.forest },
      sensitiveForest: { ...sensitiveForest, ...setting.sensitiveForest },
      ...setting.others,
    },
  };
};

const meanOf = (results: Results, setting: Setting, metric: MetricName, scale: Scale): SeedMean | undefined =>
  meanOverSeeds(
    seedsOf(sizeOf(TASK, scale).seeds).map(
      (seed) => results.get(cellOf(setting, seed, scale))?.checkpoints.at(-1)?.metrics[metric],
    ),
  );

const MEASURED: readonly (readonly [MetricName, string])[] = [
  ["accuracy", "accuracy"],
  ["sensitiveAccuracy", "sensitive accuracy"],
  ["selectionRate", "selected"],
  ["dpRatio", "DP"],
  ["matchedDpRatio", "DP at a matched selection rate"],
];

const [PAPER_PARITY] = PAPER_STUDENT_FAIRBED;

/** How many settings come near the paper's numbers, and how far they all reach. */
const findingsOf = (results: Results, scale: Scale): readonly string[] => {
  const reach = (metric: MetricName) => {
    const run = settingsOf(scale)
      .flatMap((setting) => {
        const ours = meanOf(results, setting, metric, scale);
        return ours === undefined ? [] : [{ name: setting.name, ours }];
      })
      .sort((a, b) => a.ours.mean - b.ours.mean);
    const end = ({ name, ours }: (typeof run)[number]) => `${fixed(ours.mean, 3)} (${name})`;
    const words = run.length === 0 ? "none was run" : `from ${end(run[0])} to ${end(run[run.length - 1])}`;
    return { run, words };
  };
  return [
    ...RATIO_COLUMNS.map(([metric, column], i) => {
      const paper = PAPER_STUDENT_FAIRBED[i];
      const { run, words } = reach(metric);
      // With so many settings, one at the edge says little: those that are really there are counted too.
      const within = (errors: number) =>
        run.filter(({ ours }) => (compare("", "", paper, ours).apart ?? Infinity) <= errors).length;
      return `${column}, ${paper.mean} ± ${paper.standardError} in the paper: ${within(REPRODUCED_WITHIN)} of ${run.length} settings come within ${REPRODUCED_WITHIN} combined standard errors, ${within(1)} within one; ${words}`;
    }),
    `DP at a matched selection rate: ${reach("matchedDpRatio").words}`,
  ];
};

export const sweepStudents: Reproduction = {
  name: "sweep-students",
  title: "Student Graduation: settings that the paper leaves open",
  source:
    "not in the paper: FairBED's row for Student Graduation in the table of ratios, under other settings",
  beyond: true,
  protocol: (scale) =>
    acquisitionProtocol(TASK, scale, {
      chosen: [
        "FairBED at beta = 10 unless another is named; one change at a time, and a few together",
        "the settings were written down before any of them was run; all are reported, and each is compared with the same row of the paper",
      ],
    }),
  cells: (scale) =>
    seedsOf(sizeOf(TASK, scale).seeds).flatMap((seed) =>
      settingsOf(scale).map((setting) => cellOf(setting, seed, scale)),
    ),
  draw: (results, scale) => ({
    comparisons: settingsOf(scale).flatMap((setting) =>
      RATIO_COLUMNS.map(([metric, column], i) =>
        compare(setting.name, column, PAPER_STUDENT_FAIRBED[i], meanOf(results, setting, metric, scale)),
      ),
    ),
    measured: settingsOf(scale).flatMap((setting) =>
      MEASURED.flatMap(([metric, column]) => {
        const ours = meanOf(results, setting, metric, scale);
        return ours === undefined ? [] : [{ row: setting.name, column, ours }];
      }),
    ),
    ...(scale.quick ? {} : { findings: findingsOf(results, scale) }),
    figures: [
      {
        id: "settings",
        caption: "Demographic parity of FairBED under every setting that was tried; farther right is better.",
        chart: {
          kind: "settings",
          title: "Student Graduation: parity by setting",
          xTitle: "demographic parity (ratio)",
          paper: chartValue({ ...PAPER_PARITY, interval: null, n: 0 }),
          rows: settingsOf(scale).flatMap((setting) => {
            const ours = meanOf(results, setting, "dpRatio", scale);
            if (ours === undefined) return [];
            const { group, name } = setting;
            const description = scale.quick ? "not run" : compare(name, "DP", PAPER_PARITY, ours).verdict;
            return [{ group, setting: name, value: chartValue(ours), description }];
          }),
        },
      },
    ],
  }),
};
