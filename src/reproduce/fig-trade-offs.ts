/**
 * What fairness costs as beta grows: accuracy against how well the sensitive label is predicted (fig-pareto-*), and
 * against demographic parity (fig-dp-accuracy-*); and the same on Adult, which the paper does not have.
 */
import {
  acquireCells,
  acquisitionProtocol,
  betasOf,
  EPIG,
  fairbed,
  type Line,
  labelOf,
  lineMean,
  linesInWords,
  type MetricName,
  ownLines,
  RANDOM,
  sizeOf,
} from "./acquisition-lines.js";
import type { TaskName } from "./cell.js";
import {
  chartValue,
  type Drawing,
  type FigureDescription,
  type Reproduction,
  type Scale,
} from "./reproduction.js";
import type { Results } from "./store.js";

/** EPIG is FairBED at beta = 0. */
const linesOf = (scale: Scale): readonly Line[] => [
  RANDOM,
  EPIG,
  ...betasOf(scale).map(fairbed),
  ...ownLines(scale),
];

const TITLES: Readonly<Partial<Record<MetricName, string>>> = {
  accuracy: "target accuracy",
  sensitiveAccuracy: "sensitive accuracy",
  dpRatio: "demographic parity (ratio)",
  matchedAccuracy: "accuracy at a matched selection rate",
  matchedDpRatio: "demographic parity at a matched selection rate",
  selectionRate: "selected",
  gapArea: "area between the groups' scores",
};

interface View {
  readonly x: MetricName;
  readonly y: MetricName;
  readonly better: string;
}

const SENSITIVE: View = { x: "sensitiveAccuracy", y: "accuracy", better: "up and to the left" };
const PARITY: View = { x: "dpRatio", y: "accuracy", better: "up and to the right" };
/** A ratio rises by itself with the selection rate, so it is shown at one rate too. */
const MATCHED: View = { x: "matchedDpRatio", y: "matchedAccuracy", better: "up and to the right" };

const sizesShown = (task: TaskName, scale: Scale): readonly number[] => {
  const { budget } = sizeOf(task, scale);
  return scale.quick ? [budget] : [budget / 4, budget / 2, budget];
};

const figureOf = (
  results: Results,
  title: string,
  task: TaskName,
  view: View,
  scale: Scale,
): FigureDescription => ({
  id: view.x,
  caption: `${TITLES[view.y] ?? view.y} against ${TITLES[view.x] ?? view.x}; ${view.better} is better.`,
  chart: {
    kind: "trade-off",
    points: linesOf(scale).flatMap((line) =>
      sizesShown(task, scale).flatMap((labels) => {
        const x = lineMean(results, task, line, view.x, scale, labels);
        const y = lineMean(results, task, line, view.y, scale, labels);
        if (x === undefined || y === undefined) return [];
        const beta = line.method === "epig" ? 0 : line.beta;
        // EPIG is where the line of FairBED begins.
        const method = line.method === "epig" ? fairbed(0).name : line.name;
        return [{ method, beta, labels, x: chartValue(x), y: chartValue(y) }];
      }),
    ),
    title,
    xTitle: TITLES[view.x] ?? view.x,
    yTitle: TITLES[view.y] ?? view.y,
    better: view.better,
  },
});

/** What is seen in the figures; beside a parity, what may pass for it. */
const measuredIn = (views: readonly View[]): readonly MetricName[] => [
  ...new Set<MetricName>([
    ...views.flatMap(({ x, y }) => [y, x]),
    ...(views.includes(PARITY) ? (["selectionRate", "gapArea"] as const) : []),
  ]),
];

const draw =
  (title: string, task: TaskName, views: readonly View[]) =>
  (results: Results, scale: Scale): Drawing => ({
    comparisons: [],
    measured: linesOf(scale).flatMap((line) =>
      measuredIn(views).flatMap((metric) => {
        const ours = lineMean(results, task, line, metric, scale);
        return ours === undefined ? [] : [{ row: labelOf(line), column: TITLES[metric] ?? metric, ours }];
      }),
    ),
    figures: views.map((view) => figureOf(results, title, task, view, scale)),
  });

const tradeOff = (
  name: string,
  title: string,
  source: string,
  task: TaskName,
  views: readonly View[],
): Reproduction => ({
  name,
  title,
  source,
  protocol: (scale) =>
    acquisitionProtocol(task, scale, {
      chosen: [
        `beta in 0 (EPIG), ${betasOf(scale).join(", ")}; shown after ${sizesShown(task, scale).join(", ")} labels`,
        ...linesInWords(ownLines(scale)),
      ],
    }),
  cells: (scale) => acquireCells(task, linesOf(scale), scale),
  draw: draw(title, task, views),
});

export const tradeOffs: readonly Reproduction[] = [
  tradeOff(
    "fig-pareto-students",
    "Student Graduation: target against sensitive accuracy",
    "the figure of the trade-off on Student Graduation (section 6.2)",
    "students",
    [SENSITIVE],
  ),
  tradeOff(
    "fig-pareto-census",
    "Census: target against sensitive accuracy",
    "the figure of the trade-off on Census (section 6.2)",
    "census",
    [SENSITIVE],
  ),
  tradeOff(
    "fig-dp-accuracy-students",
    "Student Graduation: accuracy against parity",
    "the figure of accuracy and DP ratio on Student Graduation (section 6.2)",
    "students",
    [PARITY, MATCHED],
  ),
  tradeOff(
    "fig-dp-accuracy-census",
    "Census: accuracy against parity",
    "the figure of accuracy and DP ratio in the appendix on Census",
    "census",
    [PARITY, MATCHED],
  ),
];

export const frontierAdult: Reproduction = {
  ...tradeOff(
    "frontier-adult",
    "Adult at its natural rates",
    "not in the paper: the same protocol on another table",
    "adult",
    [PARITY, MATCHED, SENSITIVE],
  ),
  beyond: true,
};
