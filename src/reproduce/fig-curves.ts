/** How accuracy (fig-curves-*) and parity (fig-dp-curves-*) change as labels come in, a row for each beta. */
import {
  acquireCells,
  acquisitionProtocol,
  betasOf,
  checkpointsOf,
  ENTROPY,
  EPIG,
  fairbed,
  hfe,
  type Line,
  labelOf,
  lineMean,
  type MetricName,
  RANDOM,
  sizeOf,
} from "./acquisition-lines.js";
import type { TaskName } from "./cell.js";
import { chartValue, type Reproduction, type Scale } from "./reproduction.js";

/** At beta = 0 FairBED is EPIG and HFE is predictive entropy. */
const rowsOf = (scale: Scale): readonly { readonly beta: number; readonly lines: readonly Line[] }[] => [
  { beta: 0, lines: [RANDOM, { ...EPIG, name: "FairBED-EPIG" }, { ...ENTROPY, name: "HFE" }] },
  ...betasOf(scale).map((beta) => ({ beta, lines: [RANDOM, fairbed(beta), hfe(beta)] })),
];

const linesOf = (scale: Scale): readonly Line[] => [
  RANDOM,
  EPIG,
  ENTROPY,
  ...betasOf(scale).flatMap((beta) => [fairbed(beta), hfe(beta)]),
];

type Columns = readonly (readonly [MetricName, string])[];
const ACCURACIES: Columns = [
  ["accuracy", "target accuracy"],
  ["sensitiveAccuracy", "sensitive accuracy"],
];
const PARITIES: Columns = [["dpRatio", "demographic parity (ratio)"]];

const curves = (
  name: string,
  title: string,
  source: string,
  task: TaskName,
  columns: Columns,
): Reproduction => ({
  name,
  title,
  source,
  protocol: (scale) =>
    acquisitionProtocol(task, scale, {
      chosen: [
        `beta in 0, ${betasOf(scale).join(", ")}; evaluated every ${sizeOf(task, scale).every} labels`,
      ],
    }),
  cells: (scale) => acquireCells(task, linesOf(scale), scale),
  draw: (results, scale) => ({
    comparisons: [],
    measured: linesOf(scale).flatMap((line) =>
      columns.flatMap(([metric, column]) => {
        const ours = lineMean(results, task, line, metric, scale);
        return ours === undefined ? [] : [{ row: labelOf(line), column, ours }];
      }),
    ),
    figures: [
      {
        id: "curves",
        caption: `${columns.map(([, column]) => column).join(" and ")} against the number of labels.`,
        chart: {
          kind: "curves",
          title,
          points: rowsOf(scale).flatMap(({ beta, lines }) =>
            lines.flatMap((line) =>
              columns.flatMap(([metric, column]) =>
                checkpointsOf(task, scale).flatMap((labels) => {
                  const value = lineMean(results, task, line, metric, scale, labels);
                  if (value === undefined) return [];
                  return [
                    { row: `β = ${beta}`, column, method: line.name, labels, value: chartValue(value) },
                  ];
                }),
              ),
            ),
          ),
        },
      },
    ],
  }),
});

export const figCurves: readonly Reproduction[] = [
  curves(
    "fig-curves-census",
    "Census: accuracy as labels come in",
    "the first figure of curves in the appendix on Census",
    "census",
    ACCURACIES,
  ),
  curves(
    "fig-dp-curves-census",
    "Census: parity as labels come in",
    "the second figure of curves in the appendix on Census",
    "census",
    PARITIES,
  ),
  curves(
    "fig-curves-students",
    "Student Graduation: accuracy as labels come in",
    "the first figure of curves in the appendix on Student Graduation",
    "students",
    ACCURACIES,
  ),
  curves(
    "fig-dp-curves-students",
    "Student Graduation: parity as labels come in",
    "the second figure of curves in the appendix on Student Graduation",
    "students",
    PARITIES,
  ),
];
