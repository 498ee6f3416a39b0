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
import { evaluatePolicy } from "../workflows/evaluate-policy.js";
import { trainPolicy } from "../workflows/train-policy.js";
import type { DesignCell, DesignResult } from "./cell.js";
import type { CellRun } from "./run-cell.js";

/** The paper's static solution lies uphill of designs near the origin, at a rate that lets them travel. */
const NEAR_ORIGIN = { start: { mean: 0, sd: 0.1 }, rate: 2e-3, decay: false, starts: 1 };
/** Of the work of a cell, as far as progress is concerned. */
const TRAINING_SHARE = 0.9;

export const runDesign = async (cell: DesignCell, run: CellRun): Promise<DesignResult> => {
  const trained = await train(cell, run);
  const bounds = await (cell.evaluation.exact
    ? evaluateExactly(cell, trained, run)
    : evaluate(cell, policyOf(trained, locationFinding()), run));
  if (trained.kind !== "static") return bounds;
  return { ...bounds, steps: Number(trained.settings?.stepsTaken), designs: trained.designs };
};

const train = async (cell: DesignCell, { threads, onProgress }: CellRun): Promise<PolicyFile> => {
  const { policy: kind, objective, beta, horizon, bestStatic, training, seed } = cell;
  const { steps, settled, rate, ...sizes } = training;
  const common = { objective, beta, horizon, sizes, seed, evaluation: false, threads } as const;
  const inPart = (first: number, share: number) => ({
    onProgress: ({ done, total }: Progress) =>
      onProgress?.(TRAINING_SHARE * (first + share * (done / total))),
  });
  if (bestStatic === undefined) {
    return trainPolicy(locationFinding(), {
      ...{ ...common, kind, steps },
      ...(kind === "static" ? { ...NEAR_ORIGIN, settled } : {}),
      ...(rate === undefined ? {} : { rate }),
      ...inPart(0, 1),
    });
  }
  const found = await trainPolicy(locationFinding(), {
    ...{ ...common, ...bestStatic, kind: "static" },
    ...inPart(0, kind === "static" ? 1 : 0.5),
  });
  if (kind === "static" || found.kind !== "static") return found;
  return trainPolicy(locationFinding(), { ...common, kind, steps, start: found, ...inPart(0.5, 0.5) });
};

/** By quadrature for every sampled experiment; the interval's ends, and the objective as it was asked for. */
const evaluateExactly = async (
  { objective: kind, beta, evaluation: { outer, batches }, seed }: DesignCell,
  policy: PolicyFile,
  { threads, onProgress }: CellRun,
): Promise<DesignResult> => {
  const report = await evaluatePolicy(locationFinding(), policy, {
    ...{ exact: true, outer, batches, seed, beta, threads },
    onProgress: ({ done, total }) => onProgress?.(TRAINING_SHARE + ((1 - TRAINING_SHARE) * done) / total),
  });
  const { lower, upper, standardError } = report.objectives[kind];
  return {
    ...(Object.fromEntries(
      INFORMATION_NAMES.map((name) => [name, [report[name].lower, report[name].upper]]),
    ) as Record<InformationName, [number, number]>),
    objective: (lower + upper) / 2,
    objectiveError: standardError,
  };
};

/** Means over batches of the lower and upper bound of every information. */
const evaluate = async (
  { evaluation: { outer, batches, inner }, seed }: DesignCell,
  policy: Policy,
  { threads, onProgress }: CellRun,
): Promise<Record<InformationName, [number, number]>> => {
  const stream = seededStream(seed).split("evaluation");
  const workspace = new Workspace({ threads });
  try {
    const { samples } = await nestedEvidences(locationFinding(), policy, {
      ...{ outer, batches, contrastive: inner, marginal: inner, workspace, given: GIVEN },
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
