/** What several ways of acquiring labels reach, as one HTML page. */
import type { ChartValue } from "../core/chart-description.js";
import { curveChart, tradeOffChart } from "./acquisition-charts.js";
import { figure, type Html, html, htmlTable, page } from "./page.js";
import { renderSvg } from "./render.js";

/** A mean over seeds; null where it has no value. */
export interface ReportMetric {
  readonly mean: number | null;
  readonly standardError: number | null;
  readonly interval: readonly [number, number] | null;
}

type MetricName =
  | "accuracy"
  | "sensitiveAccuracy"
  | "dpRatio"
  | "selectionRate"
  | "matchedDpRatio"
  | "gapArea";
export type ReportMetrics = Readonly<Record<MetricName, ReportMetric>>;

export interface ReportedMethod {
  readonly name: string;
  readonly description: string;
  readonly final: ReportMetrics;
  readonly checkpoints: readonly ({ readonly labels: number } & ReportMetrics)[];
}

export interface AcquisitionReport {
  readonly title: string;
  readonly lead: string;
  readonly about: readonly string[];
  readonly methods: readonly ReportedMethod[];
  readonly footer: string;
}

const COLUMNS: readonly (readonly [MetricName, string])[] = [
  ["accuracy", "accuracy"],
  ["dpRatio", "demographic parity"],
  ["matchedDpRatio", "the same at a matched rate"],
  ["selectionRate", "selected"],
  ["gapArea", "score gap"],
  ["sensitiveAccuracy", "group guessed right"],
];

const words = ({ mean, standardError }: ReportMetric): string => {
  if (mean === null) return "none";
  return standardError === null ? mean.toFixed(3) : `${mean.toFixed(3)} ± ${standardError.toFixed(3)}`;
};

const chartValue = ({ mean, interval }: ReportMetric): ChartValue | undefined =>
  mean === null ? undefined : { mean, low: interval?.[0] ?? mean, high: interval?.[1] ?? mean };

/** The page; without figures where charts cannot be drawn. */
export const acquisitionReport = async (report: AcquisitionReport): Promise<string> => {
  const { title, lead, about, methods, footer } = report;
  const figures = await figuresOf(methods);
  return page(title, [
    html`<h1>${title}</h1><p class="lead">${lead}</p>`,
    ...about.map((text) => html`<p>${text}</p>`),
    ...figures,
    html`<h2>What each way of asking reached</h2>`,
    htmlTable(
      ["after the last label", ...COLUMNS.map(([, label]) => label)],
      methods.map(({ name, final }) => [name, ...COLUMNS.map(([metric]) => words(final[metric]))]),
    ),
    html`<p>Means over seeds with their standard errors. <em>Demographic parity</em> is the smaller group's selection
rate over the larger's: 1 is parity. It rises by itself when more are selected, so it stands beside the selection rate,
and once more where every method selects as many as are truly positive. The <em>score gap</em> is the area between the
groups' distributions of predicted probabilities. <em>Group guessed right</em> is how often a model trained on the same
labels guesses the group of a person it has not seen.</p>`,
    html`<ul>${methods.map(({ name, description }) => html`<li><strong>${name}</strong>: ${description}</li>`)}</ul>`,
    html`<footer>${footer}</footer>`,
  ]);
};

const figuresOf = async (methods: readonly ReportedMethod[]): Promise<Html[]> => {
  const subtitle = "each point is a way of asking for labels, after the last one";
  const points = methods.flatMap(({ name, final }) => {
    const [x, y] = [chartValue(final.dpRatio), chartValue(final.accuracy)];
    return x === undefined || y === undefined ? [] : [{ method: name, x, y }];
  });
  const curve = (metric: MetricName) =>
    methods.flatMap(({ name, checkpoints }) =>
      checkpoints.flatMap((each) => {
        const value = chartValue(each[metric]);
        return value === undefined ? [] : [{ method: name, labels: each.labels, value }];
      }),
    );
  const charts = [
    {
      caption: "What fairness costs here: accuracy against parity.",
      chart: tradeOffChart(points, {
        subtitle,
        xTitle: "demographic parity (ratio)",
        yTitle: "accuracy",
        better: "up and to the right",
      }),
    },
    {
      caption: "Accuracy as labels come in.",
      chart: curveChart(curve("accuracy"), {
        title: "Accuracy",
        subtitle: "on people that were held out",
        yTitle: "accuracy",
      }),
    },
    {
      caption: "Parity as labels come in.",
      chart: curveChart(curve("dpRatio"), {
        title: "Demographic parity",
        subtitle: "on people that were held out",
        yTitle: "ratio of selection rates",
      }),
    },
  ];
  return Promise.all(charts.map(async ({ caption, chart }) => figure(await renderSvg(chart), caption)));
};
