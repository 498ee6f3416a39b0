/** A policy for location finding: trained by the paper's protocol or from the best static designs, and what it tells. */
import { Workspace } from "../compute/index.js";
import type { Progress } from "../core/options.js";
import { seededStream } from "../core/random.js";
import type { EvidenceSamples } from "../design/evidence-samples.js";
import { locationFinding } from "../design/models/location.js";
import { nestedEvidences } from "../design/nested-evidences.js";
import type { Policy } from "../design/policy.js";
import { type PolicyFile, policyOf } from "../design/policy-file.js";
import {
  type Bound,
  GIVEN,
  type Given,
  INFORMATION,
  INFORMATION_NAMES,
  type InformationName,
  includesOwn,
  type Quantity,
} from "../design/quantity.js";
import { evaluatePolicy, type PolicyReport } from "../workflows/evaluate-policy.js";
import type { TrainPolicySettings } from "../workflows/policy-settings.js";
import { trainPolicy } from "../workflows/train-policy.js";
import type { DesignCell, DesignResult } from "./cell.js";
import type { CellRun } from "./run-cell.js";

/** The paper's static solution lies uphill of designs near the origin, at a rate that lets them travel. */
const NEAR_ORIGIN = { start: { mean: 0, sd: 0.1 }, rate: 2e-3, decay: false, starts: 1 };
/** Of the work of a cell, as far as progress is concerned. */
const TRAINING_SHARE = 0.9;

export const runDesign = async (cell: DesignCell, run: CellRun): Promise<DesignResult> =>
  judgeDesign(cell, await train(cell, run), run);

/** What is trained for a cell: the policy itself, or first the static designs that it starts from. */
export const trainingsOf = (
  cell: DesignCell,
): { readonly first: TrainPolicySettings; readonly network?: (found: PolicyFile) => TrainPolicySettings } => {
  const { policy: kind, objective, beta, horizon, bestStatic, training, seed, widths } = cell;
  const { steps, settled, rate, ...sizes } = training;
  const common = { objective, beta, horizon, sizes, seed } as const;
  if (bestStatic === undefined) {
    return {
      first: {
        ...{ ...common, kind, steps },
        ...(kind === "static" ? { ...NEAR_ORIGIN, settled } : {}),
        ...(rate === undefined ? {} : { rate }),
      },
    };
  }
  const first = { ...common, ...bestStatic, kind: "static" } as const;
  if (kind === "static") return { first };
  return {
    first,
    network: (found) => ({
      ...common,
      kind,
      steps,
      widths,
      rate,
      start: found.kind === "static" ? found : undefined,
    }),
  };
};

const train = async (cell: DesignCell, { threads, signal, onProgress }: CellRun): Promise<PolicyFile> => {
  const { first, network } = trainingsOf(cell);
  const inPart = (part: number, share: number) => ({
    ...{ threads, signal, evaluation: false as const, device: cell.device },
    onProgress: ({ done, total }: Progress) => onProgress?.(TRAINING_SHARE * (part + share * (done / total))),
  });
  const model = locationFinding(cell.model);
  const found = await trainPolicy(model, {
    ...first,
    ...inPart(0, network === undefined ? 1 : 0.5),
  });
  return network === undefined ? found : trainPolicy(model, { ...network(found), ...inPart(0.5, 0.5) });
};

/** What a trained policy tells and gives away. */
export const judgeDesign = async (
  cell: DesignCell,
  trained: PolicyFile,
  run: CellRun,
): Promise<DesignResult> => {
  const bounds = await (cell.evaluation.exact
    ? evaluateExactly(cell, trained, run)
    : cell.device === "gpu"
      ? evaluateOnGpu(cell, trained, run)
      : evaluate(cell, policyOf(trained, locationFinding(cell.model)), run));
  if (trained.kind !== "static") return bounds;
  return { ...bounds, steps: Number(trained.settings?.stepsTaken), designs: trained.designs };
};

const evaluateOnGpu = async (
  { objective: kind, beta, model, evaluation: { outer, batches, inner }, seed }: DesignCell,
  policy: PolicyFile,
  { signal }: CellRun,
): Promise<DesignResult> => {
  const report = await evaluatePolicy(locationFinding(model), policy, {
    ...{ outer, batches, inner, seed, beta, device: "gpu", signal },
  });
  const { lower, standardError } = report.objectives[kind];
  return { ...reached(report), objective: lower, objectiveError: standardError };
};

/** The bounds of every information. */
const reached = (report: PolicyReport): Record<InformationName, [number, number]> =>
  Object.fromEntries(
    INFORMATION_NAMES.map((name) => [name, [report[name].lower, report[name].upper]]),
  ) as Record<InformationName, [number, number]>;

/** By quadrature for every sampled experiment; the interval's ends, and the objective as it was asked for. */
const evaluateExactly = async (
  { objective: kind, beta, model, evaluation: { outer, batches }, seed }: DesignCell,
  policy: PolicyFile,
  { threads, signal, onProgress }: CellRun,
): Promise<DesignResult> => {
  const report = await evaluatePolicy(locationFinding(model), policy, {
    ...{ exact: true, outer, batches, seed, beta, threads, signal },
    onProgress: ({ done, total }) => onProgress?.(TRAINING_SHARE + ((1 - TRAINING_SHARE) * done) / total),
  });
  const { lower, upper, standardError } = report.objectives[kind];
  return {
    ...reached(report),
    objective: (lower + upper) / 2,
    objectiveError: standardError,
  };
};

/** Means over batches of the lower and upper bound of every information. */
const evaluate = async (
  { model, evaluation: { outer, batches, inner }, seed }: DesignCell,
  policy: Policy,
  { threads, signal, onProgress }: CellRun,
): Promise<Record<InformationName, [number, number]>> => {
  const stream = seededStream(seed).split("evaluation");
  const workspace = new Workspace({ threads });
  try {
    const { samples } = await nestedEvidences(locationFinding(model), policy, {
      ...{ outer, batches, contrastive: inner, marginal: inner, workspace, signal, given: GIVEN },
      streams: (batch) => {
        const own = stream.split(batch);
        return { experiments: own.split("data"), inner: own.split("inner") };
      },
      onProgress: ({ done, total }) => onProgress?.(TRAINING_SHARE + ((1 - TRAINING_SHARE) * done) / total),
    });
    return Object.fromEntries(
      INFORMATION_NAMES.map((name) => [
        name,
        (["lower", "upper"] as const).map((bound) => meanBound(samples, INFORMATION[name], bound)),
      ]),
    ) as Record<InformationName, [number, number]>;
  } finally {
    workspace.dispose();
  }
};

/** The mean over batches of a batch's mean, summed as the stored results were: other orders round otherwise. */
const meanBound = (
  { under, over, outer, batches }: EvidenceSamples,
  quantity: Quantity,
  bound: Bound,
): number => {
  const terms = Object.entries(quantity).map(([given, coefficient]) => ({
    coefficient,
    values: (includesOwn(coefficient, bound) ? over : under)[given as Given] ?? new Float64Array(0),
  }));
  let mean = 0;
  for (let batch = 0; batch < batches; batch++) {
    let sum = 0;
    for (let b = batch * outer; b < (batch + 1) * outer; b++) {
      let value = 0;
      for (const { coefficient, values } of terms) value += coefficient * values[b];
      sum += value;
    }
    mean += sum / outer / batches;
  }
  return mean;
};
