/** What is learnt and leaked in location finding as beta or the horizon grows (section 6.1 and its appendix). */
import { type DesignLine, designCells, designMean, designResults } from "./design-cells.js";
import { designProtocol } from "./design-protocol.js";
import { chartValue, type Reproduction, type Scale } from "./reproduction.js";
import type { Results } from "./store.js";

const BETAS = [0, 0.2, 0.4, 0.6, 0.8, 1];
/** With as many of the others as it can share. */
const LARGE_BETAS = [0, 0.4, 0.8, 1, 2, 5, 10];
const HORIZONS = [1, 2, 5, 10, 15, 20];
const few = (values: readonly number[], { quick }: Scale): readonly number[] =>
  quick ? [values[0], values[values.length - 1]] : values;

interface Panel {
  readonly name: string;
  readonly line: (x: number) => DesignLine;
}

const along =
  (policy: DesignLine["policy"], objective: DesignLine["objective"] = "conditional") =>
  (beta: number): DesignLine => ({ policy, objective, beta, horizon: 10 });

const QUANTITIES = [
  ["target", "about the target"],
  ["sensitive", "about the sensitive part"],
] as const;

interface Sweep {
  readonly name: string;
  readonly title: string;
  readonly source: string;
  readonly xTitle: string;
  readonly values: readonly number[];
  readonly panels: readonly Panel[];
}

const sweep = ({ name, title, source, xTitle, values, panels }: Sweep): Reproduction => {
  const points = (scale: Scale) =>
    panels.flatMap((panel) => few(values, scale).map((x) => ({ panel: panel.name, x, line: panel.line(x) })));
  const means = (results: Results, scale: Scale) =>
    points(scale).flatMap(({ panel, x, line }) =>
      QUANTITIES.flatMap(([quantity, about]) => {
        const ours = designMean(results, line, scale, (result) => result[quantity][0]);
        return ours === undefined ? [] : [{ panel, x, about, ours }];
      }),
    );
  return {
    name,
    title,
    source,
    protocol: (scale) => designProtocol(scale, { chosen: [`${xTitle}: ${few(values, scale).join(", ")}`] }),
    cells: (scale) =>
      designCells(
        points(scale).map(({ line }) => line),
        scale,
      ),
    draw: (results, scale) => ({
      comparisons: [],
      measured: means(results, scale).map(({ panel, x, about, ours }) => ({
        row: `${panel}, ${xTitle} ${x}`,
        column: `nats ${about}`,
        ours,
      })),
      figures: [
        {
          id: "information",
          caption: `Lower bounds in nats against ${xTitle}.`,
          chart: {
            kind: "information",
            title,
            xTitle,
            rows: means(results, scale).map(({ panel, x, about, ours }) => ({
              panel,
              x,
              about,
              value: chartValue(ours),
            })),
          },
        },
      ],
    }),
  };
};

const CONDITIONAL: Panel = { name: "conditional", line: along("static") };
const UNCONDITIONAL: Panel = { name: "unconditional", line: along("static", "unconditional") };
const STATIC: Panel = { name: "static", line: along("static") };
const DAD: Panel = { name: "DAD", line: along("dad") };

/** Shares of what designs without any cost of leakage learn and leak. */
const frontier: Reproduction = {
  name: "fig-frontier",
  title: "Location finding: what is kept of the target against what is kept of the leakage",
  source: "the figure of both objectives' frontiers in the appendix on location finding",
  protocol: (scale) =>
    designProtocol(scale, {
      stated: ["static designs, both objectives"],
      chosen: [`beta in ${few(LARGE_BETAS, scale).join(", ")}`],
    }),
  cells: (scale) =>
    designCells(
      [CONDITIONAL, UNCONDITIONAL].flatMap(({ line }) => few(LARGE_BETAS, scale).map(line)),
      scale,
    ),
  draw: (results, scale) => {
    const share = (line: DesignLine, of: "target" | "sensitive") => {
      const most = designMean(results, along("static")(0), scale, (result) => result[of][0])?.mean;
      return most === undefined
        ? undefined
        : designMean(results, line, scale, (result) => result[of][0] / most);
    };
    const points = [CONDITIONAL, UNCONDITIONAL].flatMap(({ name, line }) =>
      few(LARGE_BETAS, scale).flatMap((beta) => {
        const [x, y] = [share(line(beta), "sensitive"), share(line(beta), "target")];
        return x === undefined || y === undefined ? [] : [{ name, beta, x, y }];
      }),
    );
    return {
      comparisons: [],
      measured: points.flatMap(({ name, beta, x, y }) => [
        { row: `${name}, beta ${beta}`, column: "share of EIG_theta", ours: y },
        { row: `${name}, beta ${beta}`, column: "share of EIG_phi", ours: x },
      ]),
      figures: [
        {
          id: "frontier",
          caption: "Shares of what static designs reach at beta = 0; up and to the left is better.",
          chart: {
            kind: "trade-off",
            title: "Location finding: what beta keeps",
            xTitle: "share of the information about the sensitive part",
            yTitle: "share of the information about the target",
            better: "up and to the left",
            points: points.map(({ name, beta, x, y }) => ({
              method: name,
              beta,
              x: chartValue(x),
              y: chartValue(y),
            })),
          },
        },
      ],
    };
  },
};

const SHOWN_DESIGNS = along("static")(0.7);

const staticDesigns: Reproduction = {
  name: "fig-static-designs",
  title: "Location finding: where static designs look",
  source: "the figure of static designs (section 6.1)",
  protocol: (scale) =>
    designProtocol(scale, {
      stated: [`static designs, T = ${SHOWN_DESIGNS.horizon}, beta = ${SHOWN_DESIGNS.beta}`],
    }),
  cells: (scale) => designCells([SHOWN_DESIGNS], scale),
  draw: (results, scale) => ({
    comparisons: [],
    measured: [],
    figures: [
      {
        id: "designs",
        caption: "The designs of every seed; the cross is the prior mean of the source.",
        chart: {
          kind: "designs",
          title: "Static designs, T = 10, beta = 0.7",
          prior: [3, 3],
          points: designResults(results, SHOWN_DESIGNS, scale).flatMap(({ seed, result }) =>
            (result.designs ?? []).map(([x, y]) => ({ seed, x, y })),
          ),
        },
      },
    ],
  }),
};

export const figInformation: readonly Reproduction[] = [
  sweep({
    name: "fig-conditional-vs-unconditional",
    title: "Location finding: the two objectives",
    source: "the figure of conditional and unconditional FairBED (section 6.1)",
    xTitle: "beta",
    values: BETAS,
    panels: [CONDITIONAL, UNCONDITIONAL],
  }),
  staticDesigns,
  sweep({
    name: "fig-beta-static",
    title: "Location finding: beta with static designs",
    source: "the figure of frontiers in the appendix on location finding, left",
    xTitle: "beta",
    values: BETAS,
    panels: [STATIC],
  }),
  sweep({
    name: "fig-beta-dad",
    title: "Location finding: beta with DAD",
    source: "the figure of frontiers in the appendix on location finding, right",
    xTitle: "beta",
    values: BETAS,
    panels: [DAD],
  }),
  sweep({
    name: "fig-beta-large",
    title: "Location finding: large beta",
    source: "the figures of sensitivity to beta in the appendix on location finding",
    xTitle: "beta",
    values: LARGE_BETAS,
    panels: [STATIC, DAD],
  }),
  frontier,
  sweep({
    name: "fig-horizon",
    title: "Location finding: the number of experiments",
    source: "the figure of the horizon in the appendix on location finding",
    xTitle: "observations",
    values: HORIZONS,
    panels: [
      { name: "beta 0.5", line: (horizon) => ({ ...along("static")(0.5), horizon }) },
      { name: "beta 0", line: (horizon) => ({ ...along("static")(0), horizon }) },
    ],
  }),
];
