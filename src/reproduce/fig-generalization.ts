/** Other models on data that a forest acquired (section 6.3): the trade-off should be the data's, not the model's. */
import {
  acquireCell,
  acquireCells,
  acquisitionProtocol,
  betasOf,
  EPIG,
  fairbed,
  type Line,
  labelOf,
  RANDOM,
  sizeOf,
} from "./acquisition-lines.js";
import type { GeneralizeCell, Metrics, TaskName } from "./cell.js";
import { chartValue, type Reproduction, type Scale, seedsOf } from "./reproduction.js";
import type { Results } from "./store.js";
import { meanOverSeeds } from "./verdict.js";

export const MODELS = {
  forest: "forest",
  boosting: "gradient boosting",
  mlp: "MLP",
  svm: "SVM-RBF",
} as const;
type Model = GeneralizeCell["model"];
export const MODEL_NAMES = Object.keys(MODELS) as readonly Model[];

/** Many models and wide tables: of few betas, the last. */
const ownBetasOf = (scale: Scale): readonly number[] => betasOf(scale).slice(scale.quick ? -1 : 0);

const linesOf = (scale: Scale): readonly Line[] => [RANDOM, EPIG, ...ownBetasOf(scale).map(fairbed)];

export const generalizeCell = (
  task: TaskName,
  line: Line,
  model: Model,
  seed: number,
  scale: Scale,
): GeneralizeCell => ({
  kind: "generalize",
  acquisition: acquireCell(task, line, seed, scale),
  model,
});

const meanOf = (
  results: Results,
  task: TaskName,
  line: Line,
  model: Model,
  metric: keyof Metrics,
  scale: Scale,
) =>
  meanOverSeeds(
    seedsOf(sizeOf(task, scale).seeds).map(
      (seed) => results.get(generalizeCell(task, line, model, seed, scale))?.metrics[metric],
    ),
  );

const COLUMNS = [
  ["accuracy", "target accuracy"],
  ["sensitiveAccuracy", "sensitive accuracy"],
  ["dpRatio", "demographic parity (ratio)"],
] as const;

const generalization = (name: string, title: string, task: TaskName): Reproduction => ({
  name,
  title,
  source: "the figures of generalization across models (section 6.3)",
  protocol: (scale) =>
    acquisitionProtocol(task, scale, {
      stated: [
        "what a forest acquired is frozen; a forest, XGBoost, a multilayer perceptron and a support vector machine with an RBF kernel learn both labels from it",
      ],
      chosen: [
        `beta in 0 (EPIG), ${ownBetasOf(scale).join(", ")}; the models are those of this project, with the defaults of their usual libraries (gradient boosting in place of XGBoost); the perceptron and the support vector machine read standardised features`,
      ],
    }),
  cells: (scale) => [
    ...acquireCells(task, linesOf(scale), scale),
    ...seedsOf(sizeOf(task, scale).seeds).flatMap((seed) =>
      linesOf(scale).flatMap((line) =>
        MODEL_NAMES.map((model) => generalizeCell(task, line, model, seed, scale)),
      ),
    ),
  ],
  draw: (results, scale) => ({
    comparisons: [],
    measured: MODEL_NAMES.flatMap((model) =>
      linesOf(scale).flatMap((line) =>
        COLUMNS.flatMap(([metric, column]) => {
          const ours = meanOf(results, task, line, model, metric, scale);
          return ours === undefined ? [] : [{ row: `${MODELS[model]}: ${labelOf(line)}`, column, ours }];
        }),
      ),
    ),
    figures: [
      {
        id: "models",
        caption: "Every model along beta, trained on the same data; up and to the left is better.",
        chart: {
          kind: "trade-off",
          title,
          xTitle: "sensitive accuracy",
          yTitle: "target accuracy",
          better: "up and to the left",
          points: MODEL_NAMES.flatMap((model) =>
            linesOf(scale).flatMap((line) => {
              const x = meanOf(results, task, line, model, "sensitiveAccuracy", scale);
              const y = meanOf(results, task, line, model, "accuracy", scale);
              if (x === undefined || y === undefined) return [];
              const said = line.method === "random" ? { label: "Random" } : { beta: line.beta ?? 0 };
              return [{ method: MODELS[model], ...said, x: chartValue(x), y: chartValue(y) }];
            }),
          ),
        },
      },
    ],
  }),
});

export const figGeneralization: readonly Reproduction[] = [
  generalization("fig-generalization-census", "Census: other models on the same data", "census"),
  generalization(
    "fig-generalization-students",
    "Student Graduation: other models on the same data",
    "students",
  ),
];
