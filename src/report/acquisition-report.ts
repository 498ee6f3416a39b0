/** What several ways of acquiring labels reach, as one HTML page. */
import type { StrategyName } from "../active/strategies.js";
import type { ChartValue } from "../core/chart-description.js";
import type { SimulatedMethod, Simulation } from "../workflows/simulate.js";
import type { MetricSummaries, MetricSummary } from "../workflows/simulation.js";
import { compositionChart, curveChart, tradeOffChart } from "./acquisition-charts.js";
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
  readonly footer: string;
}

const COLUMNS: readonly (readonly [keyof MetricSummaries, string])[] = [
  ["accuracy", "accuracy"],
  ["dpRatio", "demographic parity"],
  ["matchedDpRatio", "the same at a matched rate"],
  ["selectionRate", "selected"],
  ["gapArea", "score gap"],
  ["sensitiveAccuracy", "group guessed right"],
];

const words = ({ mean, standardError }: MetricSummary): string => {
  if (mean === null) return "none";
  return standardError === null ? mean.toFixed(3) : `${mean.toFixed(3)} ± ${standardError.toFixed(3)}`;
};

const percent = ({ mean, standardError }: MetricSummary): string => {
  if (mean === null) return "none";
  const share = (100 * mean).toFixed(0);
  return standardError === null ? `${share} %` : `${share} ± ${(100 * standardError).toFixed(0)} %`;
};

/** All that is drawn lies between 0 and 1, and so does what it can be: intervals of few seeds end there. */
const chartValue = ({ mean, interval }: MetricSummary): ChartValue | undefined =>
  mean === null
    ? undefined
    : { mean, low: Math.max(0, interval?.[0] ?? mean), high: Math.min(1, interval?.[1] ?? mean) };

const nameOf = ({ method }: SimulatedMethod): string => METHODS_IN_WORDS[method].name;

/** The page: curves with intervals, the trade-off, who was asked, and the numbers. */
export const acquisitionReport = async (report: AcquisitionReport): Promise<string> => {
  const { title, lead, about, simulation, footer } = report;
  const { methods, sensitive, warnings, notes } = simulation;
  return page(title, [
    html`<h1>${title}</h1><p class="lead">${lead}</p>`,
    ...about.map((text) => html`<p>${text}</p>`),
    ...warnings.map((text) => html`<p class="warning">${sentence(text)}</p>`),
    ...(await figuresOf(simulation)),
    html`<h2>What each way of asking reached</h2>`,
    ...sensitive.flatMap((attribute) => [
      ...(sensitive.length > 1 ? [html`<h3>${attribute}</h3>`] : []),
      htmlTable(
        ["after the last label", ...COLUMNS.map(([, label]) => label)],
        methods.map((each) => [
          nameOf(each),
          ...COLUMNS.map(([metric]) => words(each.bySensitive[attribute][metric])),
        ]),
      ),
    ]),
    html`<p>Means over seeds with their standard errors. <em>Demographic parity</em> is the smaller group's selection
rate over the larger's: 1 is parity. It rises by itself when more are selected, so it stands beside the selection rate,
and once more where every method selects as many as are truly positive. The <em>score gap</em> is the area between the
groups' distributions of predicted probabilities. <em>Group guessed right</em> is how often a model trained on the same
labels guesses the group of a person it has not seen.</p>`,
    html`<h2>Who was asked</h2>`,
    ...compositionTables(simulation),
    html`<p>Shares of the labels that were acquired, beside the group's share of all candidates. A method that asks one
group only learns little about the other: parity that is gained in this way says little about the method.</p>`,
    html`<h2>The ways of asking</h2>`,
    html`<ul>${methods.map((each) => html`<li><strong>${nameOf(each)}</strong>: ${METHODS_IN_WORDS[each.method].description}</li>`)}</ul>`,
    ...notes.map((text) => html`<p class="note">${sentence(text)}</p>`),
    html`<footer>${footer}</footer>`,
  ]);
};

const sentence = (text: string): string =>
  `${text.charAt(0).toUpperCase()}${text.slice(1)}${text.endsWith(".") ? "" : "."}`;

const compositionTables = ({ methods, sensitive }: Simulation): Html[] =>
  sensitive.flatMap((attribute, a) => {
    const groups = methods[0].composition[a].groups;
    return [
      htmlTable(
        [attribute, "all candidates", ...methods.map(nameOf)],
        groups.map(({ group, population }, g) => [
          group,
          `${(100 * population).toFixed(0)} %`,
          ...methods.map(({ composition }) => percent(composition[a].groups[g].acquired)),
        ]),
      ),
    ];
  });

const figuresOf = async (simulation: Simulation): Promise<Html[]> => {
  const { methods, sensitive } = simulation;
  const points = methods.flatMap((each) => {
    const [x, y] = [chartValue(each.final.dpRatio), chartValue(each.final.accuracy)];
    return x === undefined || y === undefined ? [] : [{ method: nameOf(each), x, y }];
  });
  const curve = (metric: keyof MetricSummaries) =>
    methods.flatMap((each) =>
      each.checkpoints.flatMap((at) => {
        const value = chartValue(at[metric]);
        return value === undefined ? [] : [{ method: nameOf(each), labels: at.labels, value }];
      }),
    );
  const held = "on rows that were held out";
  const charts = [
    {
      caption: "What fairness costs here: accuracy against parity.",
      chart: tradeOffChart(points, {
        subtitle: "each point is a way of asking for labels, after the last one",
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
    ...sensitive.map((attribute, a) => ({
      caption: `Who was asked, by ${attribute}.`,
      chart: compositionChart(
        methods.flatMap((each) =>
          each.composition[a].groups.flatMap(({ group, acquired, population }) => {
            const share = chartValue(acquired);
            return share === undefined ? [] : [{ method: nameOf(each), group, share, population }];
          }),
        ),
        { title: "Who was asked", subtitle: attribute },
      ),
    })),
  ];
  return Promise.all(charts.map(async ({ caption, chart }) => figure(await renderSvg(chart), caption)));
};
