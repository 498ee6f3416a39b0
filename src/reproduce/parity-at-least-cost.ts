/**
 * Which labels to ask for where parity is required: ways of asking under the same fair decision rule, on five tables.
 * Lines, sizes, outcomes and the rule by which the default is decided were written down here before any of its seeds was
 * run; nothing was chosen on them.
 */

import type { ChartValue } from "../core/chart-description.js";
import { signed } from "../core/number-text.js";
import type { ParityMetrics } from "../workflows/judge-parity.js";
import { CALIBRATED, PAPER, recommendedFor, type SimulationSettings } from "../workflows/simulation.js";
import type { AcquireCell, ParityCell, TaskName } from "./cell.js";
import { paired, type SeedValues } from "./claim-verdict.js";
import { chartValue, type FigureDescription, type Reproduction, type Scale } from "./reproduction.js";
import type { Results } from "./store.js";
import { meanOverSeeds, type SeedMean } from "./verdict.js";

/** What parity is required: the lower selection rate over the higher one. */
const LEVEL = 0.8;
const RANDOM_PART = 0.25;

/** A way of asking, from the simplest on: of two that are as good the simpler one is taken. */
interface Line {
  readonly name: string;
  readonly settings: SimulationSettings;
}

const atShares = (method: Parameters<typeof recommendedFor>[0]): SimulationSettings => ({
  ...recommendedFor(method),
  shares: "population",
  randomPart: RANDOM_PART,
});

const LINES: readonly Line[] = [
  { name: "random", settings: { ...CALIBRATED, method: "random" } },
  { name: "EPIG", settings: { ...CALIBRATED, method: "epig", randomPart: RANDOM_PART } },
  { name: "the paper's FairBED", settings: { ...PAPER, method: "fairbed", randomPart: RANDOM_PART } },
  { name: "FairBED at shares", settings: atShares("fairbed") },
  { name: "whole set at shares", settings: atShares("fairbed-set") },
  { name: "group-minimax EPIG at shares", settings: atShares("epig-minimax") },
  { name: "EPIG at the fair boundary, at shares", settings: atShares("epig-boundary") },
];

/** One row of the study: a line with reweighed training data or without. */
export interface StudyRow {
  readonly line: Line;
  readonly reweigh: boolean;
}

const ROWS: readonly StudyRow[] = [false, true].flatMap((reweigh) =>
  LINES.map((line) => ({ line, reweigh })),
);

export const rowName = ({ line, reweigh }: StudyRow): string =>
  reweigh ? `${line.name}, reweighed` : line.name;

interface StudyTable {
  readonly task: TaskName;
  readonly name: string;
  readonly budget: number;
}

const TABLES: readonly StudyTable[] = [
  { task: "adult", name: "Adult", budget: 400 },
  { task: "census", name: "Census", budget: 400 },
  { task: "students", name: "Student", budget: 400 },
  { task: "german", name: "German", budget: 200 },
  { task: "bank", name: "Bank", budget: 400 },
];
const QUICK_TABLES: readonly StudyTable[] = [{ task: "synthetic", name: "Synthetic", budget: 40 }];

const FIRST_SEED = 40;
const SEEDS = 16;
const BATCH = 4;
const POOL = 3000;
const QUICK = { pool: 400, batch: 10 } as const;

const tablesOf = ({ quick }: Scale): readonly StudyTable[] => (quick ? QUICK_TABLES : TABLES);
const seedsOf = ({ quick, seeds }: Scale): readonly number[] =>
  Array.from({ length: seeds ?? (quick ? 2 : SEEDS) }, (_, i) => FIRST_SEED + i);

const acquireCell = (
  { task, budget }: StudyTable,
  { line: { settings }, reweigh }: StudyRow,
  seed: number,
  { quick }: Scale,
): AcquireCell => {
  const size = quick ? QUICK : { pool: POOL, batch: BATCH };
  const trees = quick ? { trees: 20 } : {};
  return {
    kind: "acquire",
    task,
    dataSeed: 0,
    settings: {
      ...settings,
      ...size,
      budget,
      forest: { ...settings.forest, ...trees },
      sensitiveForest: { ...settings.sensitiveForest, ...trees },
      ...(reweigh ? { reweigh } : {}),
      checkpoints: [],
    },
    seed,
  };
};

const cellOf = (table: StudyTable, row: StudyRow, seed: number, scale: Scale): ParityCell => ({
  kind: "parity",
  acquisition: acquireCell(table, row, seed, scale),
  level: LEVEL,
});

type MetricName = keyof ParityMetrics;

const valuesOf = (
  results: Results,
  table: StudyTable,
  row: StudyRow,
  metric: MetricName,
  scale: Scale,
): SeedValues => seedsOf(scale).map((seed) => results.get(cellOf(table, row, seed, scale))?.metrics[metric]);

const [RANDOM_ROW] = ROWS;

/** Accuracy at parity above random acquisition without reweighing, seed by seed. */
const gainsOf = (results: Results, table: StudyTable, row: StudyRow, scale: Scale): SeedValues =>
  paired(
    valuesOf(results, table, row, "accuracyAtParity", scale),
    valuesOf(results, table, RANDOM_ROW, "accuracyAtParity", scale),
  );

/** The mean over tables of each seed's gain; a seed that lacks a table has none. */
const overTables = (gains: readonly SeedValues[]): SeedValues =>
  (gains[0] ?? []).map((_, seed) => {
    const own = gains.map((each) => each[seed]);
    const known = own.filter((value) => value !== undefined);
    return known.length < own.length ? undefined : known.reduce((sum, each) => sum + each, 0) / own.length;
  });

export interface StudyGain {
  readonly row: StudyRow;
  /** Over all tables, and on each. */
  readonly overall: SeedMean;
  readonly byTable: readonly SeedMean[];
}

const gainOf = (results: Results, row: StudyRow, scale: Scale): StudyGain | undefined => {
  const gains = tablesOf(scale).map((table) => gainsOf(results, table, row, scale));
  const overall = meanOverSeeds(overTables(gains));
  const byTable = gains.map(meanOverSeeds).filter((each) => each !== undefined);
  return overall === undefined || byTable.length < gains.length ? undefined : { row, overall, byTable };
};

/**
 * What becomes the default: of the rows whose gain over random acquisition, averaged over the tables, has an interval
 * above 0, and that are on no table worse than it with an interval below 0, the one with the largest gain, or the first
 * in the order of simplicity whose gain is within one standard error of that; random acquisition where there is none.
 */
export const defaultOf = (gains: readonly StudyGain[]): StudyGain | undefined => {
  const better = gains.filter(
    ({ overall, byTable }) =>
      (overall.interval?.[0] ?? 0) > 0 && byTable.every(({ interval }) => (interval?.[1] ?? 0) >= 0),
  );
  const best = better.reduce<StudyGain | undefined>(
    (most, each) => (most === undefined || each.overall.mean > most.overall.mean ? each : most),
    undefined,
  );
  if (best === undefined) return undefined;
  const enough = best.overall.mean - (best.overall.standardError ?? 0);
  return better.find(({ overall }) => overall.mean >= enough);
};

const withInterval = ({ mean, interval }: SeedMean): string =>
  interval === null
    ? signed(mean, 4)
    : `${signed(mean, 4)} (${signed(interval[0], 4)} to ${signed(interval[1], 4)})`;

/** What FairBED at shares gives away against random acquisition, over all tables and on each. */
const leakagesOf = (results: Results, scale: Scale): readonly string[] =>
  (
    [
      ["leakageAuc", "the AUC of guessing the group"],
      ["leakage", "what the set gives away, in nats,"],
    ] as const
  ).flatMap(([metric, name]) =>
    ROWS.filter(({ line }) => /FairBED/.test(line.name)).flatMap((row) => {
      const differences = tablesOf(scale).map((table) =>
        paired(
          valuesOf(results, table, row, metric, scale),
          valuesOf(results, table, RANDOM_ROW, metric, scale),
        ),
      );
      const overall = meanOverSeeds(overTables(differences));
      if (overall === undefined) return [];
      const byTable = tablesOf(scale).flatMap(({ name: table }, t) => {
        const own = meanOverSeeds(differences[t]);
        return own === undefined ? [] : [`${table} ${withInterval(own)}`];
      });
      return [
        `${rowName(row)}: ${name} changes by ${withInterval(overall)} against random acquisition, averaged over the tables; ${byTable.join(", ")}`,
      ];
    }),
  );

const findingsOf = (gains: readonly StudyGain[], scale: Scale): readonly string[] => {
  const names = tablesOf(scale).map(({ name }) => name);
  const chosen = defaultOf(gains);
  return [
    chosen === undefined
      ? "no way of asking is better than random acquisition by the rule that was written down: with the fair decision rule, random acquisition is the default"
      : `by the rule that was written down the default is ${rowName(chosen.row)}: ${withInterval(chosen.overall)} of accuracy at a DP ratio of ${LEVEL} over random acquisition, averaged over the tables`,
    ...gains.map(
      ({ row, overall, byTable }) =>
        `${rowName(row)}: ${withInterval(overall)} over all tables; ${byTable.map((each, t) => `${names[t]} ${withInterval(each)}`).join(", ")}`,
    ),
  ];
};

/** Where an interval lies, for the colour of a line. */
const verdictOf = ({ interval }: SeedMean): string => {
  if (interval === null) return "undecided";
  return interval[0] > 0 ? "more than random" : interval[1] < 0 ? "less than random" : "undecided";
};

const intervalValue = ({ mean, interval }: SeedMean): ChartValue => ({
  mean,
  low: interval?.[0] ?? mean,
  high: interval?.[1] ?? mean,
});

/** What each row gains over random acquisition, over all tables and on each. */
const gainsFigure = (gains: readonly StudyGain[], scale: Scale): FigureDescription => ({
  id: "gains",
  caption: `Accuracy at a DP ratio of ${LEVEL}, more than after random acquisition without reweighing, seed by seed; bars are 95 % intervals.`,
  chart: {
    kind: "settings",
    title: `Accuracy at a DP ratio of ${LEVEL}: what ways of asking gain`,
    subtitle: "bars are 95 % intervals over seeds; the line is random acquisition",
    xTitle: "accuracy above random acquisition",
    paper: { mean: 0, low: 0, high: 0 },
    rows: [
      { group: "over all tables", of: ({ overall }: StudyGain) => overall },
      ...tablesOf(scale).map(({ name }, t) => ({ group: name, of: ({ byTable }: StudyGain) => byTable[t] })),
    ].flatMap(({ group, of }) =>
      gains
        .filter(({ row }) => !row.reweigh)
        .map((gain) => ({
          group,
          // One line each: the same name in another group is another line.
          setting: `${rowName(gain.row)}${"\u200b".repeat(1 + groupPlace(group, scale))}`,
          value: intervalValue(of(gain)),
          description: verdictOf(of(gain)),
        })),
    ),
  },
});

const groupPlace = (group: string, scale: Scale): number =>
  tablesOf(scale).findIndex(({ name }) => name === group) + 1;

/** Points nearer than this hide each other's names. */
const NEAR = 0.02;

/** What the fair decision rule does to randomly acquired labels, on every table. */
const ruleFigure = (results: Results, scale: Scale): FigureDescription => {
  const points = tablesOf(scale).flatMap((table) =>
    (
      [
        ["without a rule", "dpRatio", "accuracy"],
        ["with the fair decision rule", "ruleDpRatio", "ruleAccuracy"],
      ] as const
    ).flatMap(([method, parity, accuracy]) => {
      const [x, y] = [parity, accuracy].map((metric) =>
        meanOverSeeds(valuesOf(results, table, RANDOM_ROW, metric, scale)),
      );
      return x === undefined || y === undefined
        ? []
        : [{ method, label: table.name, x: chartValue(x), y: chartValue(y) }];
    }),
  );
  const isNear = (a: (typeof points)[number], b: (typeof points)[number]) =>
    Math.abs(a.x.mean - b.x.mean) + Math.abs(a.y.mean - b.y.mean) < NEAR;
  // One name where both points of a table are nearly the same.
  const named = points.map((point, i) =>
    points.some((other, j) => j < i && other.label === point.label && isNear(other, point))
      ? { ...point, label: "" }
      : point,
  );
  return {
    id: "rule",
    caption: `Labels drawn at random, decided with the fair decision rule at a level of ${LEVEL} and without one.`,
    chart: {
      kind: "trade-off",
      title: "What the fair decision rule does",
      xTitle: "demographic parity (ratio of selection rates)",
      yTitle: "accuracy",
      better: "up and to the right",
      points: named,
    },
  };
};

const COLUMNS: readonly (readonly [MetricName, string])[] = [
  ["accuracyAtParity", "accuracy at DP 0.8"],
  ["ruleDpRatio", "DP reached by the rule"],
  ["ruleAccuracy", "accuracy of the rule"],
  ["leakageAuc", "AUC of guessing the group"],
  ["leakage", "leakage (nats)"],
  ["leastShare", "least share of a group over the population's"],
];

export const parityAtLeastCost: Reproduction = {
  name: "parity-at-least-cost",
  title: "Parity at the least cost",
  source: "not in the paper",
  beyond: true,
  protocol: (scale) => {
    const { pool, batch } = scale.quick ? QUICK : { pool: POOL, batch: BATCH };
    const tables = tablesOf(scale);
    const [{ budget }] = tables;
    const others = tables.filter((each) => each.budget !== budget);
    const fewer = others.map((each) => ` (${each.budget} on ${each.name})`).join("");
    const seeds = seedsOf(scale);
    return {
      stated: [],
      chosen: [
        `${budget} labels${fewer}, ${batch} at a time, ${seeds.length} seeds`,
        `seeds from ${FIRST_SEED} on, on which nothing was chosen; tables: ${tables.map(({ name }) => name).join(", ")}; pools of at most ${pool}; forests of ${scale.quick ? 20 : 100} trees`,
        `rows: ${LINES.map(({ name }) => name).join("; ")}; each with reweighed training data and without`,
        "Census and Bank are class-balanced (every row of the rarer class, and as many of the other drawn at random); the attribute is sex, of Bank whether somebody is married; it is no feature",
        "the attribute comes with the label; a quarter of the labels is drawn at random in every row but random acquisition, where all are, so that the fair decision rule is chosen in the same way for all; shares are those of the population, estimated from what was drawn at random",
        `primary outcome: accuracy at a DP ratio of at least ${LEVEL} where as many are selected as are truly positive, along the frontier of the fair decision rule on the test rows, the same for every row`,
        "further outcomes: the DP ratio and the accuracy that the rule reaches on test rows with multipliers and threshold chosen without them (by predicted and calibrated groups of the unlabelled rows, a way that was picked on development seeds: bench/rule-tuning.md); leakage in nats and AUC at the population's shares; composition",
        "the default is the row with the largest gain in the primary outcome over random acquisition without reweighing, averaged over the tables and paired by seeds, among those whose 95 % interval is above 0 and that are on no table worse with an interval below 0; of rows within one standard error of the largest, the first in the order above, without reweighing before with it; random acquisition where there is none",
      ],
    };
  },
  cells: (scale) =>
    seedsOf(scale).flatMap((seed) =>
      tablesOf(scale).flatMap((table) =>
        ROWS.flatMap((row) => {
          const cell = cellOf(table, row, seed, scale);
          return [cell.acquisition, cell];
        }),
      ),
    ),
  draw: (results, scale) => {
    const gains = ROWS.slice(1).flatMap((row) => gainOf(results, row, scale) ?? []);
    return {
      comparisons: [],
      measured: tablesOf(scale).flatMap((table) =>
        ROWS.flatMap((row) =>
          COLUMNS.flatMap(([metric, column]) => {
            const ours = meanOverSeeds(valuesOf(results, table, row, metric, scale));
            return ours === undefined ? [] : [{ row: `${table.name}, ${rowName(row)}`, column, ours }];
          }),
        ),
      ),
      figures: [ruleFigure(results, scale), ...(gains.length === 0 ? [] : [gainsFigure(gains, scale)])],
      ...(scale.quick || gains.length === 0
        ? {}
        : { findings: [...findingsOf(gains, scale), ...leakagesOf(results, scale)] }),
    };
  },
};
