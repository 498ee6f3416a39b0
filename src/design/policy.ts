/**
 * Policies: what chooses the next design from what was seen so far. A policy is a value; what it needs to be used
 * again is in its file (`policy-file.ts`).
 */
import type { Workspace } from "../compute/index.js";
import { InputError } from "../core/errors.js";
import { pacer, type RunOptions } from "../core/options.js";
import type { RandomStream } from "../core/random.js";
import { type DesignVariable, drawParameters, type Model } from "./model.js";
import { fillPrior } from "./nested.js";
import { Outcomes } from "./outcomes.js";

/** Experiments so far, side by side: designs [outer, steps, variables] and outcomes [outer, steps, outcomes]. */
export interface History {
  readonly outer: number;
  readonly steps: number;
  readonly designs: Float64Array;
  readonly outcomes: Float64Array;
}

export interface Policy {
  readonly kind: "random" | "static" | "dad" | "greedy";
  readonly horizon: number;
  /**
   * The next design of every experiment: [outer, variables]. `stream` is for policies that draw. A policy that takes
   * long to decide answers with a promise, and heeds the options.
   */
  next(history: History, stream: RandomStream, run?: RunOptions): Float64Array | Promise<Float64Array>;
  /** The designs [horizon, variables] of a policy that does not look at outcomes and draws nothing. */
  readonly designs?: Float64Array | undefined;
}

export const policyTexts = {
  over: (steps: number, horizon: number) =>
    `the history has ${steps} observations and the policy a horizon of ${horizon}: there is no next design; train a policy with a longer horizon to go on`,
};

/** Every policy refuses to go on past its horizon. */
export const requireObservationLeft = (steps: number, horizon: number): void => {
  if (steps >= horizon) throw new InputError("history", policyTexts.over(steps, horizon));
};

/** The value nearest to a given one that a design variable allows: inside its bounds, or among its values. */
export const nearestAllowed = ({ low, high, values }: DesignVariable, value: number): number =>
  values === undefined
    ? Math.min(high, Math.max(low, value))
    : values.reduce((best, each) => (Math.abs(each - value) < Math.abs(best - value) ? each : best));

/**
 * The same designs [horizon, variables] whatever happens.
 *
 * @example
 * ```ts
 * import { staticPolicy } from "fairbed/design";
 *
 * const policy = staticPolicy(Float64Array.of(1, 2, 3, 4), 2);
 * console.log(policy.horizon); // 2
 * ```
 */
export const staticPolicy = (designs: Float64Array, variables: number): Policy => {
  const horizon = designs.length / variables;
  return {
    kind: "static",
    horizon,
    designs,
    next: ({ outer, steps }) => {
      requireObservationLeft(steps, horizon);
      const row = designs.subarray(steps * variables, (steps + 1) * variables);
      const all = new Float64Array(outer * variables);
      for (let b = 0; b < outer; b++) all.set(row, b * variables);
      return all;
    },
  };
};

/** Normal designs; what is left out is 0 and 1. */
export interface RandomDesigns {
  readonly mean?: number | undefined;
  readonly sd?: number | undefined;
}

/**
 * Independent designs. A variable with finitely many values is drawn among them. Any other one is uniform between
 * its bounds, N(0, 1) where it has none, and as far from its only bound as |N(0, 1)|; or, where a mean or a standard deviation is
 * given, normal and clipped to the bounds.
 *
 * @example
 * ```ts
 * import { pharmacokinetics, randomPolicy, seededStream } from "fairbed/design";
 *
 * const policy = randomPolicy(pharmacokinetics(), 3);
 * const nothing = { outer: 1000, steps: 0, designs: new Float64Array(0), outcomes: new Float64Array(0) };
 * const times = policy.next(nothing, seededStream(0));
 * console.log(times.every((time) => time >= 0.1 && time <= 24)); // true
 * ```
 */
export const randomPolicy = (model: Model, horizon: number, given: RandomDesigns = {}): Policy => {
  const { mean = 0, sd = 1 } = given;
  const asGiven = given.mean !== undefined || given.sd !== undefined;
  const drawDesign = (variable: DesignVariable, stream: RandomStream): number => {
    const { low, high, values } = variable;
    if (values !== undefined) return values[stream.integer(values.length)];
    if (asGiven) return nearestAllowed(variable, stream.normal(mean, sd));
    const [hasLow, hasHigh] = [Number.isFinite(low), Number.isFinite(high)];
    if (hasLow && hasHigh) return nearestAllowed(variable, low + (high - low) * stream.uniform());
    const normal = stream.normal(mean, sd);
    if (hasLow) return low + Math.abs(normal);
    return hasHigh ? high - Math.abs(normal) : normal;
  };
  return {
    kind: "random",
    horizon,
    next: ({ outer, steps }, stream) => {
      requireObservationLeft(steps, horizon);
      const { design } = model;
      return Float64Array.from({ length: outer * design.length }, (_, i) =>
        drawDesign(design[i % design.length], stream),
      );
    },
  };
};

/** Simulated experiments: everything by name, [outer] for parameters, [outer, horizon] for designs and outcomes. */
export interface Simulation {
  readonly parameters: Readonly<Record<string, Float64Array>>;
  readonly designs: Readonly<Record<string, Float64Array>>;
  readonly outcomes: Readonly<Record<string, Float64Array>>;
}

/** Independent draws of all parameters: [outer] each. */
export const drawOuter = (
  model: Model,
  outer: number,
  stream: RandomStream,
): Record<string, Float64Array> => {
  const parameters: Record<string, Float64Array> = {};
  for (const parameter of model.parameters) parameters[parameter.name] = new Float64Array(outer);
  if (!model.dependentPriors) {
    for (const parameter of model.parameters)
      fillPrior(parameter, stream.split(parameter.name), parameters[parameter.name]);
    return parameters;
  }
  for (let b = 0; b < outer; b++) {
    const drawn = drawParameters(model.parameters, stream);
    for (const { name } of model.parameters) parameters[name][b] = drawn[name];
  }
  return parameters;
};

/**
 * Runs the policy on `outer` simulated experiments, whose parameters [outer] come from the prior unless given: designs and
 * outcomes [outer, horizon] by name.
 *
 * @example
 * ```ts
 * import { linearGaussian, seededStream, simulatePolicy, staticPolicy, Workspace } from "fairbed/design";
 *
 * const workspace = new Workspace({ threads: 1 });
 * const policy = staticPolicy(Float64Array.of(1, 0, 2, 0), 2);
 * const { designs, outcomes } = await simulatePolicy(linearGaussian(), policy, {
 *   outer: 3,
 *   stream: seededStream(0),
 *   workspace,
 * });
 * console.log([...designs.x].join(), outcomes.outcome.length); // 1,2,1,2,1,2 6
 * workspace.dispose();
 * ```
 */
export const simulate = async (
  model: Model,
  policy: Policy,
  {
    outer,
    stream,
    workspace,
    parameters,
    signal,
  }: {
    readonly outer: number;
    readonly stream: RandomStream;
    readonly workspace: Workspace;
    readonly parameters?: Readonly<Record<string, Float64Array>> | undefined;
    readonly signal?: RunOptions["signal"];
  },
): Promise<Simulation> => {
  const pace = pacer({ signal });
  const generating = parameters ?? drawOuter(model, outer, stream.split("parameters"));
  const { horizon } = policy;
  const variables = model.design.length;
  const byName = (names: readonly string[]): Record<string, Float64Array> =>
    Object.fromEntries(names.map((name) => [name, new Float64Array(outer * horizon)]));
  const designs = byName(model.design.map(({ name }) => name));
  const outcomes = byName(model.outcomes);
  const simulator = new Outcomes({ model, workspace, outer, horizon: 1, designs: "perOuter" });
  try {
    for (let t = 0; t < horizon; t++) {
      const history: History = {
        outer,
        steps: t,
        designs: interleave(
          model.design.map(({ name }) => designs[name]),
          outer,
          horizon,
          t,
        ),
        outcomes: interleave(
          model.outcomes.map((name) => outcomes[name]),
          outer,
          horizon,
          t,
        ),
      };
      const chosen = await policy.next(history, stream.split("design").split(t), { signal });
      const now = Object.fromEntries(
        model.design.map(({ name }, d) => [
          name,
          Float64Array.from({ length: outer }, (_, b) => chosen[b * variables + d]),
        ]),
      );
      const seen = simulator.simulate(generating, now, simulator.drawNoise(stream.split("noise").split(t)));
      for (let b = 0; b < outer; b++) {
        for (const { name } of model.design) designs[name][b * horizon + t] = now[name][b];
        for (const name of model.outcomes) outcomes[name][b * horizon + t] = seen[name][b];
      }
      await pace.pause();
    }
  } finally {
    simulator.dispose();
  }
  return { parameters: generating, designs, outcomes };
};

/** The designs of a policy that does not look at outcomes, by name: [horizon] each. */
export const sharedDesigns = (
  model: Model,
  { designs, horizon }: Policy,
): Record<string, Float64Array> | undefined => {
  const variables = model.design.length;
  return (
    designs &&
    Object.fromEntries(
      model.design.map(({ name }, d) => [
        name,
        Float64Array.from({ length: horizon }, (_, t) => designs[t * variables + d]),
      ]),
    )
  );
};

/** Columns [outer, horizon] each, up to step t, as one array [outer, t, columns]. */
const interleave = (
  columns: readonly Float64Array[],
  outer: number,
  horizon: number,
  t: number,
): Float64Array => {
  const all = new Float64Array(outer * t * columns.length);
  let at = 0;
  for (let b = 0; b < outer; b++) {
    for (let step = 0; step < t; step++) {
      for (const column of columns) all[at++] = column[b * horizon + step];
    }
  }
  return all;
};
