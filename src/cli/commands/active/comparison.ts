/** What ways of asking reached, for a person: one row a method. */

import { isFair } from "../../../active/strategy-names.js";
import { type InformationUnit, summaryIn } from "../../../core/information-unit.js";
import { between, fixed, percent, signed, significant } from "../../../core/number-text.js";
import { againstRandomTexts } from "../../../workflows/against-random.js";
import { PARITY_JUDGED } from "../../../workflows/evaluation.js";
import type { SimulatedMethod, Simulation } from "../../../workflows/simulate.js";
import type { MetricSummaries, MetricSummary } from "../../../workflows/simulation.js";
import { byGroups, cut, rightAligned } from "../../text-table.js";

type Columns = readonly (readonly [keyof MetricSummaries, string])[];
const PREDICTIONS: Columns = [
  ["accuracy", "accuracy"],
  ["selectionRate", "selected"],
  ["dpRatio", "parity"],
  ["matchedDpRatio", "matched"],
  ["accuracyAtParity", `at parity ${PARITY_JUDGED.level}`],
];
const GIVEN_AWAY: Columns = [
  ["leakageAuc", "AUC"],
  ["leakage", "leakage"],
  ["sensitiveAccuracy", "guessed"],
  ["gapArea", "score gap"],
];

/** A mean, its standard error and its interval, each empty where there is none. */
export const inWords = ({ mean, standardError, interval }: MetricSummary): string[] => {
  if (mean === null) return ["none", "", ""];
  return [
    fixed(mean, 3),
    standardError === null ? "" : `± ${fixed(standardError, 3)}`,
    interval === null ? "" : between(interval),
  ];
};

/**
 * `0.812 ± .003`: five of them and the longest name of a method fit into a hundred columns. `0.703 (1/3)`: where not
 * every seed has a value, those that have one are no fair sample, and an error would not say so.
 */
const withError = (summary: MetricSummary, seeds: number): string => {
  const [mean, error] = inWords(summary);
  if (summary.n > 0 && summary.n < seeds) return `${mean} (${summary.n}/${seeds})`;
  return `${mean} ${error}`.trim().replace("± 0.", "± .");
};

/** `fairbed (beta 10)`: what a row is called. */
const nameOf = ({ method, settings: { goal }, beta }: SimulatedMethod): string => {
  if (!isFair(method) && method !== "hfe") return method;
  if ("beta" in goal) return `${method} (beta ${goal.beta})`;
  const found = [Math.min(...beta), Math.max(...beta)].map((each) => significant(each, 3));
  const reached = `beta ${found[0] === found[1] ? found[0] : `${found[0]} to ${found[1]}`}`;
  return "leakageBudget" in goal
    ? `${method} (${goal.leakageBudget} nats: ${reached})`
    : `${method} (parity ${goal.parityAtLeast}: ${reached})`;
};

/** The groups of an attribute: all of a few, else those that are asked most unlike their share. */
const MOST_GROUPS = 4;

const composition = ({ methods }: Simulation, attribute: number): string[] => {
  const { attribute: name, groups } = methods[0].composition[attribute];
  const unlike = (g: number): number =>
    Math.max(
      ...methods.map((each) => {
        const { acquired, population } = each.composition[attribute].groups[g];
        return Math.abs((acquired.mean ?? population) - population);
      }),
    );
  const places = [...groups.keys()]
    .toSorted((a, b) => unlike(b) - unlike(a))
    .slice(0, MOST_GROUPS)
    .toSorted((a, b) => a - b);
  const shown = places.map((g) => groups[g]);
  const share = (value: number | null): string => (value === null ? "none" : percent(value));
  const others = groups.length - shown.length;
  return [
    ...byGroups([
      [`asked, by ${name}`, ...shown.map(({ group }) => cut(group))],
      ["all candidates", ...shown.map(({ population }) => share(population))],
      ...methods.map((each) => [
        nameOf(each),
        ...places.map((g) => share(each.composition[attribute].groups[g].acquired.mean)),
      ]),
    ]),
    ...(others === 0
      ? []
      : [
          `${others} more ${others === 1 ? "group is" : "groups are"} left out, asked most like their share: --out and --json have them.`,
        ]),
  ];
};

const difference = ({ mean, interval }: MetricSummary): string => {
  if (mean === null) return "none";
  return interval === null
    ? signed(mean, 3)
    : `${signed(mean, 3)} (${signed(interval[0], 3)} to ${signed(interval[1], 3)})`;
};

/** What the fair decision rule makes of the same labels, where a parity was asked for. */
const withRule = ({ methods, seeds }: Simulation): string[] => {
  const level = methods[0].parity?.level;
  if (level === undefined) return [];
  return [
    "",
    ...rightAligned([
      [`with the rule (${level})`, "parity", "more than without", "accuracy", "more than without"],
      ...methods.flatMap((each) => {
        const { metrics, difference: gained } = each.parity ?? {};
        if (metrics === undefined || gained === undefined) return [];
        return [
          [
            nameOf(each),
            withError(metrics.ruleDpRatio, seeds.length),
            difference(gained.dpRatio),
            withError(metrics.ruleAccuracy, seeds.length),
            difference(gained.accuracy),
          ],
        ];
      }),
    ]),
  ];
};

/** Whether each method gains anything over drawing at random, one sentence each. */
const overRandom = ({ againstRandom, methods }: Simulation): readonly string[] => {
  if (againstRandom === null) {
    return methods.every(({ method }) => method === "random") ? [] : [againstRandomTexts.oneSeed];
  }
  if (againstRandom.methods.length === 0) return [];
  return [
    ...againstRandom.methods.map(({ sentence }) => sentence),
    againstRandomTexts.together(againstRandom.comparisons, againstRandom.level),
  ];
};

/** Lines: a table for every sensitive attribute, who was asked, and what it all means. */
export const comparisonInWords = (simulation: Simulation, unit: InformationUnit): string[] => {
  const { methods, sensitive, seeds, warnings } = simulation;
  const { budget } = methods[0].settings;
  const someMissing = methods.some((each) =>
    sensitive.some((attribute) =>
      [...PREDICTIONS, ...GIVEN_AWAY].some(([metric]) => {
        const { n } = each.bySensitive[attribute][metric];
        return n > 0 && n < seeds.length;
      }),
    ),
  );
  const metricsTable = (name: string, columns: Columns, attribute: string): string[] =>
    rightAligned([
      [name, ...columns.map(([metric, head]) => (metric === "leakage" ? unit.name : head))],
      ...methods.map((each) => [
        nameOf(each),
        ...columns.map(([metric]) => {
          const summary = each.bySensitive[attribute][metric];
          return withError(metric === "leakage" ? summaryIn(summary, unit) : summary, seeds.length);
        }),
      ]),
    ]);
  const tables = sensitive.flatMap((attribute, a) => [
    ...(a === 0 ? [] : [""]),
    ...(sensitive.length > 1 ? [`For ${attribute}:`] : []),
    ...metricsTable(`after ${budget} labels`, PREDICTIONS, attribute),
    "",
    ...metricsTable("what they give away", GIVEN_AWAY, attribute),
    "",
    ...composition(simulation, a),
  ]);
  return [
    ...tables,
    ...withRule(simulation),
    "",
    ...overRandom(simulation),
    "",
    `${seeds.length === 1 ? "One seed." : `Means over ${seeds.length} seeds with standard errors.`} Parity is the smallest group's selection rate over the`,
    "largest: 1 is parity. It rises with the selection rate; matched: where as many are selected as are",
    `truly positive; at parity ${PARITY_JUDGED.level}: the highest accuracy there with that parity. AUC and ${unit.name}: how well a`,
    "model of these labels tells the groups apart at their shares of all rows (0.5 and 0: not at all);",
    "guessed: how often it is right without regard to shares. --json has all metrics.",
    ...(someMissing
      ? ["(1/3): so many of the seeds have a value; in the others no rule reaches that parity, say."]
      : []),
    ...warnings.flatMap((warning) => ["", `Warning: ${warning}.`]),
  ];
};
