/** What several ways of acquiring labels reach, as one HTML page. */

import type { StrategyName } from "../active/strategy-names.js";
import type { ChartValue } from "../core/chart-description.js";
import { type InformationUnit, NATS, summaryIn } from "../core/information-unit.js";
import type { LeftOutGroup } from "../core/left-out.js";
import { fixed, percent, percentWithError, signed, withError } from "../core/number-text.js";
import { againstRandomTexts } from "../workflows/against-random.js";
import { PARITY_JUDGED } from "../workflows/evaluation.js";
import type { SimulatedMethod, Simulation } from "../workflows/simulate.js";
import type { GroupShare } from "../workflows/simulated-composition.js";
import type { MetricSummaries, MetricSummary } from "../workflows/simulation.js";
import { compositionChart, compositionCurveChart, curveChart, tradeOffChart } from "./acquisition-charts.js";
import { leftOutInWords, mostImportant, notDrawnInWords } from "./not-drawn.js";
import { figure, type Html, html, htmlTable, page } from "./page.js";
import { renderSvg } from "./render.js";

/** What a way of asking is called, and what it does, for a reader who knows none. */
export const METHODS_IN_WORDS: Readonly<
  Record<StrategyName, { readonly name: string; readonly description: string }>
> = {
  random: { name: "random", description: "people are drawn at random, as most data are collected" },
  entropy: { name: "entropy", description: "whoever the model is least sure of" },
  bald: { name: "BALD", description: "whoever says most about the model itself" },
  epig: {
    name: "EPIG",
    description: "whoever says most about the outcome of others, whatever else that reveals",
  },
  "epig-minimax": {
    name: "EPIG, least group",
    description: "whoever says most about the outcome of others, in the group that it says least about",
  },
  "epig-boundary": {
    name: "EPIG, fair boundary",
    description: "whoever says most about the outcome of those whom a fair decision would be close for",
  },
  hfe: {
    name: "fair entropy",
    description: "whoever the model is least sure of, less how unsure it is of the group: a heuristic",
  },
  fairbed: {
    name: "FairBED",
    description: "as EPIG, less what the answer would give away about the group",
  },
  "fairbed-set": {
    name: "FairBED, whole set",
    description:
      "as EPIG, less how far a person's features give the group away compared with all that is labelled; the labels may still say as much about the group",
  },
  "fairbed-conditional": {
    name: "FairBED, conditional",
    description:
      "as EPIG, less what the answers would give away about the group beyond what the outcome says",
  },
  "fairbed-bald": {
    name: "FairBED, BALD",
    description: "as BALD, less what the answer would say about a model of the group",
  },
};

export interface AcquisitionReport {
  readonly title: string;
  readonly lead: string;
  readonly about: readonly string[];
  readonly simulation: Simulation;
  /** In which leakage is shown (nats). */
  readonly unit?: InformationUnit | undefined;
  readonly footer: string;
}

type Columns = readonly (readonly [keyof MetricSummaries, string])[];

const PREDICTIONS: Columns = [
  ["accuracy", "accuracy"],
  ["selectionRate", "selected"],
  ["dpRatio", "demographic parity"],
  ["matchedDpRatio", "the same at a matched rate"],
  ["accuracyAtParity", `accuracy at a parity of ${PARITY_JUDGED.level}`],
];
const GIVEN_AWAY: Columns = [
  ["leakageAuc", "groups told apart (AUC)"],
  ["leakage", "leakage in"],
  ["sensitiveAccuracy", "group guessed right"],
  ["gapArea", "score gap"],
];

/** Where not every seed has a value, those that have one are no fair sample, and an error would not say so. */
const words = ({ mean, standardError, n }: MetricSummary, seeds: number): string => {
  if (mean === null) return "none";
  if (n < seeds) return `${fixed(mean, 3)} (${n} of ${seeds} seeds)`;
  return withError(mean, standardError);
};

const share = ({ mean, standardError }: MetricSummary): string =>
  mean === null ? "none" : percentWithError(mean, standardError);

const chartValue = ({ mean, interval }: MetricSummary): ChartValue | undefined =>
  mean === null ? undefined : { mean, low: interval?.[0] ?? mean, high: interval?.[1] ?? mean };

const nameOf = ({ method }: SimulatedMethod): string => METHODS_IN_WORDS[method].name;

/** The page: curves with intervals, the trade-off, who was asked, and the numbers. */
export const acquisitionReport = async (report: AcquisitionReport): Promise<string> => {
  const { title, lead, about, simulation, unit = NATS, footer } = report;
  const { methods, warnings, notes } = simulation;
  return page(title, [
    html`<h1>${title}</h1>`,
    ...simulation.unmet.map((text) => html`<p class="warning"><strong>${sentence(text)}</strong></p>`),
    html`<p class="lead">${lead}</p>`,
    ...about.map((text) => html`<p>${text}</p>`),
    ...warnings.map((text) => html`<p class="warning">${sentence(text)}</p>`),
    ...overRandom(simulation),
    ...(await figuresOf(simulation)),
    html`<h2>What each way of asking reached</h2>`,
    ...metricTables(simulation, PREDICTIONS, unit),
    html`<p>After the last label: means over seeds with their standard errors. <em>Demographic parity</em> is the smallest
group's selection rate over the largest: 1 is parity. It rises by itself when more are selected, so it stands beside the
selection rate, and once more where every method selects as many as are truly positive. <em>Accuracy at a parity of
${String(PARITY_JUDGED.level)}</em> is the highest there at that selection rate, by a decision rule that does not see the group and is chosen
on the rows it is judged on, the same for every method.</p>`,
    ...ruleSection(simulation),
    html`<h2>What the labels give away</h2>`,
    ...metricTables(simulation, GIVEN_AWAY, unit),
    html`<p>A model of the group is trained on the same labels, each counted so that the groups have their shares of all
people, and guesses the group of people it has not seen. The <em>AUC</em> is how often it ranks a member of one group
above one of another: 0.5 is no better than chance. <em>Leakage</em> is what its guesses say about the group, in ${unit.name}.
Neither moves because more of one group were asked. <em>Group guessed right</em>, the paper's measure, does: it is how
often such a model without those weights is right. The <em>score gap</em> is the area between the groups' distributions
of predicted probabilities.</p>`,
    html`<h2>Who was asked</h2>`,
    ...compositionTables(simulation),
    html`<p>Shares of the labels that were acquired, beside the share of all candidates. A method that asks one group only
learns little about the other: parity that is gained in this way says little about the method.</p>`,
    html`<h2>The ways of asking</h2>`,
    html`<ul>${methods.map((each) => html`<li><strong>${nameOf(each)}</strong>: ${METHODS_IN_WORDS[each.method].description}</li>`)}</ul>`,
    ...notes.map((text) => html`<p class="note">${sentence(text)}</p>`),
    html`<footer>${footer}</footer>`,
  ]);
};

/** Whether each method gains anything over drawing at random, one sentence each. */
const overRandom = ({ againstRandom, methods }: Simulation): Html[] => {
  if (againstRandom === null) {
    return methods.every(({ method }) => method === "random")
      ? []
      : [html`<p class="note">${againstRandomTexts.oneSeed}</p>`];
  }
  if (againstRandom.methods.length === 0) return [];
  return [
    html`<h2>What is gained over drawing at random</h2>`,
    html`<ul>${againstRandom.methods.map(({ sentence: text }) => html`<li>${text}</li>`)}</ul>`,
    html`<p>${againstRandomTexts.together(againstRandom.comparisons, againstRandom.level)}</p>`,
  ];
};

/** With the fair decision rule, where a parity was asked for. */
const ruleSection = ({ methods, seeds }: Simulation): Html[] => {
  const level = methods[0].parity?.level;
  if (level === undefined) return [];
  const gained = ({ mean, interval }: MetricSummary): string => {
    if (mean === null) return "none";
    return interval === null
      ? signed(mean, 3)
      : `${signed(mean, 3)} (${signed(interval[0], 3)} to ${signed(interval[1], 3)})`;
  };
  return [
    html`<h2>With the fair decision rule</h2>`,
    htmlTable(
      ["", "demographic parity", "more than without", "accuracy", "more than without", "selected"],
      methods.flatMap((each) => {
        const { metrics, difference } = each.parity ?? {};
        if (metrics === undefined || difference === undefined) return [];
        return [
          [
            nameOf(each),
            words(metrics.ruleDpRatio, seeds.length),
            gained(difference.dpRatio),
            words(metrics.ruleAccuracy, seeds.length),
            gained(difference.accuracy),
            words(metrics.ruleSelectionRate, seeds.length),
          ],
        ];
      }),
    ),
    html`<p>The same labels, but decisions are made by a rule that aims at a parity of ${String(level)}. It does not see the group of the
person it decides about: it reads what models say of the outcome and of the group, and was chosen without the rows that
it is judged on here. Differences are seed by seed, with 95 % intervals.</p>`,
  ];
};

const sentence = (text: string): string =>
  `${text.charAt(0).toUpperCase()}${text.slice(1)}${text.endsWith(".") ? "" : "."}`;

const metricTables = (
  { methods, sensitive, seeds }: Simulation,
  columns: Columns,
  unit: InformationUnit,
): Html[] =>
  sensitive.flatMap((attribute) => [
    ...(sensitive.length > 1 ? [html`<h3>${attribute}</h3>`] : []),
    htmlTable(
      ["", ...columns.map(([metric, label]) => (metric === "leakage" ? `${label} ${unit.name}` : label))],
      methods.map((each) => [
        nameOf(each),
        ...columns.map(([metric]) => {
          const summary = each.bySensitive[attribute][metric];
          return words(metric === "leakage" ? summaryIn(summary, unit) : summary, seeds.length);
        }),
      ]),
    ),
  ]);

const compositionTables = ({ methods, sensitive, target }: Simulation): Html[] =>
  sensitive.flatMap((attribute, a) => {
    const { groups, cells } = methods[0].composition[a];
    const table = (
      head: string,
      shares: readonly GroupShare[],
      nameOfShare: (at: number) => string,
      of: "groups" | "cells",
    ) =>
      htmlTable(
        [head, "all candidates", ...methods.map(nameOf)],
        shares.map(({ population }, at) => [
          nameOfShare(at),
          percent(population),
          ...methods.map(({ composition }) => share(composition[a][of][at].acquired)),
        ]),
      );
    return [
      table(attribute, groups, (g) => groups[g].group, "groups"),
      table(`${attribute}, ${target}`, cells, (c) => `${cells[c].group}, ${cells[c].outcome}`, "cells"),
    ];
  });

const figuresOf = async (simulation: Simulation): Promise<Html[]> => {
  const { methods, sensitive, seeds, leftOut } = simulation;
  const points = methods.flatMap((each) => {
    const pointAt = (method: string, parity: MetricSummary, accuracy: MetricSummary) => {
      const [x, y] = [chartValue(parity), chartValue(accuracy)];
      return x === undefined || y === undefined ? [] : [{ method, x, y }];
    };
    const ruled = each.parity?.metrics;
    return [
      ...pointAt(nameOf(each), each.final.dpRatio, each.final.accuracy),
      ...(ruled === undefined
        ? []
        : pointAt(`${nameOf(each)}, with the rule`, ruled.ruleDpRatio, ruled.ruleAccuracy)),
    ];
  });
  const curve = (metric: keyof MetricSummaries, leastSeeds = 1) =>
    methods.flatMap((each) =>
      each.checkpoints.flatMap((at) => {
        const value = at[metric].n < leastSeeds ? undefined : chartValue(at[metric]);
        return value === undefined ? [] : [{ method: nameOf(each), labels: at.labels, value }];
      }),
    );
  const atParity = curve("accuracyAtParity", seeds.length);
  const held = "on rows that were held out";
  const charts = [
    {
      caption: "What fairness costs here: accuracy against parity.",
      chart: tradeOffChart(points, {
        subtitle: "each point is a way of asking for labels and deciding, after the last one",
        xTitle: "demographic parity (ratio)",
        yTitle: "accuracy",
        better: "up and to the right",
      }),
    },
    {
      caption: "Accuracy as labels come in.",
      chart: curveChart(curve("accuracy"), { title: "Accuracy", subtitle: held, yTitle: "accuracy" }),
    },
    {
      caption: "Parity as labels come in.",
      chart: curveChart(curve("dpRatio"), {
        title: "Demographic parity",
        subtitle: held,
        yTitle: "ratio of selection rates",
      }),
    },
    ...(atParity.length === 0
      ? []
      : [
          {
            caption: `The highest accuracy at a parity of ${PARITY_JUDGED.level} as labels come in, where every seed reaches it.`,
            chart: curveChart(atParity, {
              title: `Accuracy at a parity of ${PARITY_JUDGED.level}`,
              subtitle: "on rows that were held out, with as many selected as are truly positive",
              yTitle: "accuracy",
            }),
          },
        ]),
    {
      caption: "What the labels give away about the group, as they come in.",
      chart: curveChart(curve("leakageAuc"), {
        title: "How well a model of these labels tells the groups apart",
        subtitle: "AUC on rows that were held out, at the groups' shares of all people: 0.5 is chance",
        yTitle: "AUC",
      }),
    },
    ...sensitive.flatMap((attribute, a) => compositionFigures(methods, attribute, a, leftOut)),
  ];
  return Promise.all(charts.map(async ({ caption, chart }) => figure(await renderSvg(chart), caption)));
};

/** A picture of more lines than this is a table. */
const MOST_LINES = 160;
const LEAST_GROUPS = 8;
/** Panels of a group each. */
const MOST_PANELS = 12;

/** Who was asked, of the groups that are asked most unlike their share where there are many. */
const compositionFigures = (
  methods: readonly SimulatedMethod[],
  attribute: string,
  a: number,
  leftOut: readonly LeftOutGroup[],
) => {
  const { groups } = methods[0].composition[a];
  const places = [...groups.keys()];
  const unlike = (g: number): number =>
    Math.max(
      ...methods.map(({ composition }) => {
        const { acquired, population } = composition[a].groups[g];
        return Math.abs((acquired.mean ?? population) - population);
      }),
    );
  const chosen = (most: number) => {
    const { shown, others } = mostImportant(places, most, unlike);
    const notDrawn = {
      names: others.map((g) => groups[g].group),
      why: "asked most like their share; the table has them",
    };
    return { shown: new Set(shown), notDrawn };
  };
  const lines = chosen(Math.max(LEAST_GROUPS, Math.floor(MOST_LINES / methods.length)));
  const panels = chosen(MOST_PANELS);
  const options = { title: "Who was asked", subtitle: `by ${attribute}`, notDrawn: lines.notDrawn };
  return [
    {
      caption: `Who was asked, by ${attribute}.${notDrawnInWords(lines.notDrawn)}${leftOutInWords(leftOut, attribute)}`,
      chart: compositionChart(
        methods.flatMap((each) =>
          each.composition[a].groups.flatMap(({ group, acquired, population }, g) => {
            const value = chartValue(acquired);
            return value === undefined || !lines.shown.has(g)
              ? []
              : [{ method: nameOf(each), group, share: value, population }];
          }),
        ),
        options,
      ),
    },
    {
      caption: `Who was asked as labels came in, by ${attribute}.${notDrawnInWords(panels.notDrawn)}${leftOutInWords(leftOut, attribute)}`,
      chart: compositionCurveChart(
        methods.flatMap((each) =>
          each.composition[a].checkpoints.flatMap(({ labels, groups: shares }) =>
            shares.flatMap((asked, g) => {
              const value = chartValue(asked);
              const { group, population } = groups[g];
              return value === undefined || !panels.shown.has(g)
                ? []
                : [{ method: nameOf(each), group, labels, value, population }];
            }),
          ),
        ),
        { ...options, title: "Who was asked, as labels came in", notDrawn: panels.notDrawn },
      ),
    },
  ];
};
