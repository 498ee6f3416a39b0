/** A learned fair representation of what FairBED acquired, and of what random acquisition did (appendix on LFR). */
import {
  acquireCell,
  acquireCells,
  acquisitionProtocol,
  betasOf,
  EPIG,
  fairbed,
  type Line,
  labelOf,
  lineMean,
  RANDOM,
  sizeOf,
} from "./acquisition-lines.js";
import type { RepresentationCell } from "./cell.js";
import { chartValue, type Reproduction, type Scale, seedsOf } from "./reproduction.js";
import type { Results } from "./store.js";
import { meanOverSeeds, type SeedMean } from "./verdict.js";

const TASK = "students";
/** The weights that are swept; the figure shows the second. */
const WEIGHTS = [0.1, 1, 10];
export const SHOWN_WEIGHT = 1;

const linesOf = (scale: Scale): readonly Line[] => [RANDOM, EPIG, ...betasOf(scale).map(fairbed)];

export const representationCell = (
  line: Line,
  parity: number,
  seed: number,
  scale: Scale,
): RepresentationCell => ({
  kind: "representation",
  acquisition: acquireCell(TASK, line, seed, scale),
  prototypes: 5,
  reconstruction: 0.01,
  prediction: 1,
  parity,
  steps: scale.quick ? 200 : 5000,
  restarts: scale.quick ? 1 : 5,
});

const weightsOf = ({ quick }: Scale): readonly number[] => (quick ? [SHOWN_WEIGHT] : WEIGHTS);

type Metric = "accuracy" | "dpRatio";

const meanOf = (
  results: Results,
  line: Line,
  parity: number,
  metric: Metric,
  scale: Scale,
): SeedMean | undefined =>
  meanOverSeeds(
    seedsOf(sizeOf(TASK, scale).seeds).map(
      (seed) => results.get(representationCell(line, parity, seed, scale))?.metrics[metric],
    ),
  );

const COLUMNS = [
  ["accuracy", "accuracy"],
  ["dpRatio", "demographic parity (ratio)"],
] as const;

export const figLfrStudents: Reproduction = {
  name: "fig-lfr-students",
  title: "Student Graduation: a fair representation on top",
  source: "the figure of FairBED with LFR (section 6.4)",
  protocol: (scale) => {
    const { prototypes, reconstruction, prediction, steps, restarts } = representationCell(
      RANDOM,
      SHOWN_WEIGHT,
      0,
      scale,
    );
    return acquisitionProtocol(TASK, scale, {
      stated: [
        `the representation is learnt from the acquired labels alone: ${prototypes} prototypes, Ax = ${reconstruction}, Ay = ${prediction}, Az in ${weightsOf(scale).join(", ")}, standardised inputs, at most ${steps} steps of L-BFGS; the figure shows Az = ${SHOWN_WEIGHT}; a forest is trained on the probabilities of the prototypes`,
      ],
      chosen: [
        `beta in 0 (EPIG), ${betasOf(scale).join(", ")}; the weights w of the prototypes stay in [0, 1], |gap| is smoothed in the first half of the steps, and the best of ${restarts} starts counts`,
      ],
    });
  },
  cells: (scale) => [
    ...acquireCells(TASK, linesOf(scale), scale),
    ...seedsOf(sizeOf(TASK, scale).seeds).flatMap((seed) =>
      linesOf(scale).flatMap((line) =>
        weightsOf(scale).map((parity) => representationCell(line, parity, seed, scale)),
      ),
    ),
  ],
  draw: (results, scale) => ({
    comparisons: [],
    measured: linesOf(scale).flatMap((line) =>
      COLUMNS.flatMap(([metric, column]) => [
        ...measured(labelOf(line), column, lineMean(results, TASK, line, metric, scale)),
        ...weightsOf(scale).flatMap((parity) =>
          measured(
            `${labelOf(line)}, LFR Az ${parity}`,
            column,
            meanOf(results, line, parity, metric, scale),
          ),
        ),
      ]),
    ),
    figures: [
      {
        id: "lfr",
        caption: "Accuracy against parity, with Az = 1; up and to the right is better.",
        chart: {
          kind: "trade-off",
          title: "A fair representation on top of what was acquired",
          xTitle: "demographic parity (ratio)",
          yTitle: "target accuracy",
          better: "up and to the right",
          points: linesOf(scale).flatMap((line) => {
            const beta = line.method === "random" ? {} : { beta: line.beta ?? 0 };
            const name = line.method === "random" ? "Random" : "FairBED";
            const point = (method: string, of: (metric: Metric) => SeedMean | undefined) => {
              const [x, y] = [of("dpRatio"), of("accuracy")];
              return x === undefined || y === undefined
                ? []
                : [{ method, ...beta, x: chartValue(x), y: chartValue(y) }];
            };
            return [
              ...point(name, (metric) => lineMean(results, TASK, line, metric, scale)),
              ...point(`${name} and LFR`, (metric) => meanOf(results, line, SHOWN_WEIGHT, metric, scale)),
            ];
          }),
        },
      },
    ],
  }),
};

const measured = (row: string, column: string, ours: SeedMean | undefined) =>
  ours === undefined ? [] : [{ row, column, ours }];
