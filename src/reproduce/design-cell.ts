/** A policy for location finding: trained by the paper's protocol, and bounds of what it tells. */
import { Workspace } from "../compute/index.js";
import { randomStream } from "../core/random.js";
import { locationFinding } from "../design/models/location.js";
import { Nested } from "../design/nested.js";
import { type Policy, sharedDesigns, simulate } from "../design/policy.js";
import { policyOf } from "../design/policy-file.js";
import { GIVEN, INFORMATION, INFORMATION_NAMES, type InformationName } from "../design/quantity.js";
import { trainPolicy } from "../workflows/train-policy.js";
import type { DesignCell, DesignResult } from "./cell.js";
import type { CellRun } from "./run-cell.js";

/** The paper's static solution lies uphill of designs near the origin, at a rate that lets them travel. */
const NEAR_ORIGIN = { start: { mean: 0, sd: 0.1 }, rate: 2e-3, decay: false, starts: 1 };
/** Of the work of a cell, as far as progress is concerned. */
const TRAINING_SHARE = 0.9;

export const runDesign = async (cell: DesignCell, run: CellRun): Promise<DesignResult> => {
  const model = locationFinding();
  const trained = await train(cell, run);
  const bounds = await evaluate(cell, policyOf(trained, model), run);
  if (trained.kind !== "static") return bounds;
  return { ...bounds, steps: Number(trained.settings?.stepsTaken), designs: trained.designs };
};

const train = (
  { policy: kind, objective, beta, horizon, training: { steps, settled, ...sizes }, seed }: DesignCell,
  { threads, onProgress }: CellRun,
) =>
  trainPolicy(locationFinding(), {
    ...{ kind, objective, beta, horizon, steps, sizes, seed },
    ...(kind === "static" ? { ...NEAR_ORIGIN, settled } : {}),
    evaluation: false,
    threads,
    onProgress: ({ done }) => onProgress?.((TRAINING_SHARE * done) / steps),
  });

/** Means over batches of the lower and upper bound of every information. */
const evaluate = async (
  { horizon, evaluation: { outer, batches, inner }, seed }: DesignCell,
  policy: Policy,
  { threads, onProgress }: CellRun,
): Promise<Record<InformationName, [number, number]>> => {
  const model = locationFinding();
  const stream = randomStream(seed).split("evaluation");
  const workspace = new Workspace(threads === undefined ? {} : { threads });
  // Likelihoods of inner samples that all experiments share are computed once.
  const shared = sharedDesigns(model, policy);
  const nested = new Nested({
    model,
    workspace,
    horizon,
    designs: shared === undefined ? "perOuter" : "shared",
    gradients: false,
    outer,
    contrastive: inner,
    marginal: inner,
    given: GIVEN,
  });
  try {
    const bounds = Object.fromEntries(INFORMATION_NAMES.map((name) => [name, [0, 0]])) as Record<
      InformationName,
      [number, number]
    >;
    for (let batch = 0; batch < batches; batch++) {
      const own = stream.split(batch);
      const data = await simulate(model, policy, { outer, stream: own.split("data"), workspace });
      nested.setData(data.parameters, shared ?? data.designs, data.outcomes);
      nested.drawInner(own.split("inner"), data.parameters);
      const estimate = nested.evaluate();
      for (const name of INFORMATION_NAMES) {
        for (const [side, bound] of (["lower", "upper"] as const).entries()) {
          const values = nested.combine(estimate, INFORMATION[name], bound);
          bounds[name][side] += values.reduce((sum, value) => sum + value, 0) / values.length / batches;
        }
      }
      await onProgress?.(TRAINING_SHARE + ((1 - TRAINING_SHARE) * (batch + 1)) / batches);
    }
    return bounds;
  } finally {
    nested.dispose();
    workspace.dispose();
  }
};
