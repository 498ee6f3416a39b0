/** A cell in words, and about how long it takes. */
import { strategies } from "../active/strategies.js";
import type { Cell, CellResult, DesignCell, TaskName } from "./cell.js";
import { departuresInWords } from "./settings-in-words.js";

export const describeCell = (cell: Cell): string => {
  switch (cell.kind) {
    case "acquire": {
      const { task, features, settings } = cell;
      const { method, goal } = settings;
      const fair = strategies[method].uses.sensitive;
      const beta = fair && "beta" in goal ? ` beta ${goal.beta}` : "";
      const others = [
        ...departuresInWords(settings),
        ...(features === undefined ? [] : [`features ${features}`]),
      ];
      return [`${task} ${method}${beta}`, ...others].join(", ");
    }
    case "design":
      return `location ${cell.policy} ${cell.objective} beta ${cell.beta} T ${cell.horizon}${startInWords(cell)}${departures(cell)}`;
    case "generalize":
      return `${describeCell(cell.acquisition)}; ${cell.model}`;
    case "reject-option":
      return `${describeCell(cell.acquisition)}; reject option`;
    case "representation":
      return `${describeCell(cell.acquisition)}; representation Az ${cell.parity}`;
    case "parity":
      return `${describeCell(cell.acquisition)}; parity ${cell.level}`;
  }
};

const startInWords = ({ bestStatic, policy }: DesignCell): string => {
  if (bestStatic === undefined) return "";
  return policy === "static" ? ", best found" : ", from the best static";
};

/** Where a policy is not as the paper has it. */
const departures = ({ model, widths, device }: DesignCell): string =>
  [
    ...(model === undefined ? [] : [`${model.sources ?? 1} sources in ${model.dimensions ?? 2} dimensions`]),
    ...(widths === undefined
      ? []
      : [`widths ${[...widths.encoder, widths.encoding, ...widths.emitter].join("-")}`]),
    ...(device === undefined ? [] : ["on a GPU"]),
  ]
    .map((words) => `, ${words}`)
    .join("");

/** Seconds for a step of acquisition on one core, over the whole pool. */
const STEP_SECONDS: Readonly<Record<TaskName, number>> = {
  students: 0.02,
  census: 0.06,
  adult: 0.13,
  german: 0.01,
  bank: 0.06,
  celeba: 0.05,
  synthetic: 0.01,
};

/** Seconds for 10,000 steps of the paper's size on one core, T = 10. */
const trainingSeconds = ({ policy, objective, training }: DesignCell): number => {
  if (policy === "random") return 0;
  if (policy === "dad") return 110;
  const all = objective === "conditional" ? 40 : 64;
  return training.settled === undefined ? all : TAKEN * all;
};

const experimentsOf = ({ evaluation: { outer, batches } }: DesignCell): number => outer * batches;

/** Seconds for the best static designs on one core: most starts are given up early. */
const searchSeconds = ({ bestStatic, policy, training }: DesignCell): number =>
  bestStatic === undefined || policy === "static"
    ? 0
    : (60 * bestStatic.steps * training.outer * training.contrastive * (3 + bestStatic.starts / 4)) / 5.4e9;

/** The share of their steps after which static designs have settled, on average. */
const TAKEN = 0.85;

/** Rough seconds on one core: what progress is measured in. */
export const estimateSeconds = (cell: Cell): number => {
  switch (cell.kind) {
    case "acquire": {
      const { budget, batch, method, pool } = cell.settings;
      const scored = method === "random" ? 0.1 : 1;
      return (0.5 + (budget / batch) * STEP_SECONDS[cell.task] * scored) * (pool === undefined ? 1 : 0.3);
    }
    case "design": {
      const { training, evaluation, horizon } = cell;
      // What a step does apart from its observations takes as long as three of them.
      const size = (training.steps * training.outer * training.contrastive * (horizon + 3)) / 1.3e10;
      const evaluated = (evaluation.batches * evaluation.outer * evaluation.inner * horizon) / 2e9;
      const sampled = (cell.policy === "static" ? 6 : 8) * evaluated;
      const exact = evaluation.exact ? (cell.policy === "static" ? 3e-4 : 1e-3) * experimentsOf(cell) : 0;
      return 0.2 + searchSeconds(cell) + trainingSeconds(cell) * size + sampled + exact;
    }
    case "generalize":
      return cell.model === "mlp" || cell.model === "svm" ? 2 : 0.5;
    case "reject-option":
      return 0.5;
    case "representation":
      return cell.steps / 2500;
    case "parity":
      return 1;
  }
};

/** The numbers of a result, one line each. */
export const numbersOf = (
  result: CellResult,
): readonly { readonly labels?: number | undefined; readonly metric: string; readonly value: number }[] => {
  const listed = (metrics: object, labels?: number) =>
    Object.entries(metrics)
      .filter((entry): entry is [string, number] => typeof entry[1] === "number")
      .map(([metric, value]) => ({ labels, metric, value }));
  if ("checkpoints" in result) {
    return result.checkpoints.flatMap(({ labels, metrics }) => listed(metrics, labels));
  }
  if ("metrics" in result) return listed(result.metrics);
  return (["target", "sensitive", "sensitiveGivenTarget", "joint"] as const).flatMap((name) => [
    { metric: `${name} lower`, value: result[name][0] },
    { metric: `${name} upper`, value: result[name][1] },
  ]);
};
