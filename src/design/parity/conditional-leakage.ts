/** F_c of the data that a policy gathers, exactly 0 where their likelihood does not depend on the sensitive part. */

import { add, compile, type Program, sum, type Workspace } from "../../compute/index.js";
import type { Pacer } from "../../core/options.js";
import type { RandomStream } from "../../core/random.js";
import { meanEstimate } from "../../core/stats.js";
import type { Values } from "../model.js";
import { drawParameters, type Model } from "../model.js";
import { Nested } from "../nested.js";
import { drawOuter, type Simulation } from "../policy.js";
import { INFORMATION } from "../quantity.js";
import { ofRole, readBy } from "./by-role.js";

type Inputs = Record<string, readonly string[]>;

/** F_c between two bounds, in nats. */
export interface ConditionalFairness {
  readonly lower: number;
  readonly upper: number;
  readonly standardError: number;
}

/** F_c = -EIG_{phi|theta}: its lower bound is the upper bound of the leakage. */
export const fairnessOf = async (
  model: Model,
  horizon: number,
  { parameters, designs, outcomes }: Simulation,
  inner: number,
  stream: RandomStream,
  workspace: Workspace,
  pace: Pacer,
): Promise<ConditionalFairness> => {
  const [{ length: outer }] = Object.values(parameters);
  const nested = new Nested({
    model,
    workspace,
    outer,
    horizon,
    contrastive: inner,
    marginal: inner,
    designs: "perOuter",
    given: ["target", "both"],
    gradients: false,
  });
  try {
    nested.drawInner(stream, parameters);
    nested.setData(parameters, designs, outcomes);
    const estimate = await nested.evaluateInPieces(pace.pause);
    const bound = (side: "lower" | "upper") =>
      meanEstimate(nested.combine(estimate, INFORMATION.sensitiveGivenTarget, side));
    const [least, most] = [bound("lower"), bound("upper")];
    return {
      lower: -most.mean,
      upper: -least.mean,
      standardError: Math.max(least.standardError, most.standardError),
    };
  } finally {
    nested.dispose();
  }
};

const INVARIANCE_DRAWS = 64;
/** Rounding of a log-likelihood in float64, with room. */
const ROUNDING = 1e-9;

/**
 * Whether the likelihood of every data set is the same for all draws of phi, everything else held: then F_c = 0
 * exactly, without the error of a nested estimate, which a nuisance would leave.
 */
export const isInvariant = (
  model: Model,
  horizon: number,
  { parameters, designs, outcomes }: Simulation,
  stream: RandomStream,
): boolean => {
  const [{ length: outer }] = Object.values(parameters);
  const names = ofRole(model, "sensitive").map(({ name }) => name);
  const values = drawParameters(model.parameters, stream.split("trial"));
  // A nuisance that depends on phi carries it into the data.
  if (
    ofRole(model, "nuisance").some(({ prior }) => readBy(prior, values).some((read) => names.includes(read)))
  ) {
    return false;
  }
  const observed = { ...designs, ...outcomes };
  const program: Program<Inputs> = compile(
    (at: Values) => add(at.each, sum("observation", model.logLikelihood(at, at, at))),
    {
      backend: "js",
      inputs: {
        each: ["outer", "inner"],
        ...Object.fromEntries(
          model.parameters.map(({ name }) => [name, names.includes(name) ? ["inner"] : ["outer"]]),
        ),
        ...Object.fromEntries(Object.keys(observed).map((name) => [name, ["outer", "observation"]])),
      },
    },
  );
  program.resize({ outer, inner: INVARIANCE_DRAWS, observation: horizon });
  const draws = drawOuter(model, INVARIANCE_DRAWS, stream.split("draws"));
  for (const [name, all] of Object.entries({ ...parameters, ...observed })) {
    program.input(name).set(names.includes(name) ? draws[name] : all);
  }
  program.run();
  const likelihoods = program.output();
  program.dispose();
  return likelihoods.every((value, i) => {
    const first = likelihoods[i - (i % INVARIANCE_DRAWS)];
    return Math.abs(value - first) <= ROUNDING * (1 + Math.abs(first));
  });
};
