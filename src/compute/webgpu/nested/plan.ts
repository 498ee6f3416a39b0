/**
 * How the log-likelihood of one observation, and its derivatives, are split between the loops over inner and outer
 * samples: what only varies with one of them is not computed in both.
 *
 *     own     varies with the outer sample and the observation: once for each, in shared memory
 *     shared  varies with the inner sample and the observation: where it is dear, a table that all outer samples read
 *     joint   varies with all
 */
import { reachable, reachableUntil, substitute, type Traced, type Value } from "../../graph/expression.js";
import { gradient } from "../../graph/gradient.js";
import { type Elementwise, isElementwise } from "../../graph/scalar.js";
import { trace } from "../../graph/trace.js";
import type { EvidenceDescription, NestedDescription, Values } from "./description.js";

const AXES = ["outer", "observation", "inner"] as const;

/** A table costs a load of each number that is read from it: below this many operations that is no gain. */
const WORTH_A_TABLE = 8;
/** What an operation costs, in additions. */
const COST: Readonly<Partial<Record<Elementwise, number>>> = {
  div: 4,
  sqrt: 4,
  exp: 14,
  log: 16,
  log1p: 18,
  expm1: 16,
  tanh: 24,
  sigmoid: 22,
  softplus: 26,
  erf: 30,
  pow: 40,
  lgamma: 60,
  digamma: 60,
  trigamma: 60,
};

export interface EvidencePlan {
  readonly description: EvidenceDescription;
  /** Parameters that are integrated over. */
  readonly free: readonly string[];
  /** The value at one point of all axes; in it `tables` stand for what they replace. */
  readonly value: Traced;
  /** Its derivatives in what `sloped` names, in this order; empty without gradients. */
  readonly gradients: readonly Traced[];
  /** log p(held | the others) at an inner sample, where that depends on the others. */
  readonly weight: Traced | undefined;
  /** What is tabulated, by the input that stands for it: [observation, inner] each. */
  readonly tables: readonly { readonly stand: Traced; readonly node: Traced }[];
  /** Where the tables of the derivatives begin, which the value does not need. */
  readonly valueTables: number;
  /** What is kept for every outer sample and observation. */
  readonly own: readonly Traced[];
}

export const varies = (node: Traced, axis: (typeof AXES)[number]): boolean => node.axes.includes(axis);
/** Whether all outer samples share it. */
export const isShared = (node: Traced): boolean => varies(node, "inner") && !varies(node, "outer");

const costOf = (node: Traced): number => {
  let cost = 0;
  for (const each of reachable([node])) {
    if (isElementwise(each.op) && varies(each, "inner")) cost += COST[each.op] ?? 1;
  }
  return cost;
};

/** The largest parts of `roots` for which `is` holds and which stand below a part for which it does not. */
const frontier = (roots: readonly Traced[], is: (node: Traced) => boolean): Traced[] => {
  const found = new Set<Traced>();
  for (const node of reachableUntil(roots, is)) if (is(node)) found.add(node);
  return [...found];
};

export interface PlanOptions {
  readonly gradients: boolean;
  /** Designs [observation], or [outer, observation]. */
  readonly designs: "shared" | "perOuter";
}

/** What derivatives are wanted in: designs, and outcomes where gradients go through them. */
export const sloped = ({ design, outcomes, reparameterised }: NestedDescription): readonly string[] => [
  ...design,
  ...(reparameterised ? outcomes.map(({ name }) => name) : []),
];

/** The parameters of an inner sample: its values, or, where priors depend on each other, what follows from its noise. */
const parametersOf = (
  { parameters, dependent }: NestedDescription,
  held: readonly string[],
  at: Values,
): Values => {
  const made: Record<string, Value> = { ...at };
  if (!dependent) return made;
  for (const { name, fromNoise } of parameters) {
    if (!held.includes(name)) made[name] = fromNoise(made, at[name]);
  }
  return made;
};

export const planEvidence = (
  nested: NestedDescription,
  description: EvidenceDescription,
  { gradients, designs }: PlanOptions,
): EvidencePlan => {
  const { parameters, design, outcomes, logLikelihood } = nested;
  const { held, logPrior } = description;
  const names = parameters.map(({ name }) => name);
  const inputs: Record<string, readonly string[]> = {
    ...Object.fromEntries(names.map((name) => [name, [held.includes(name) ? "outer" : "inner"]])),
    ...Object.fromEntries(
      design.map((name) => [name, designs === "shared" ? ["observation"] : ["outer", "observation"]]),
    ),
    ...Object.fromEntries(outcomes.map(({ name }) => [name, ["outer", "observation"]])),
  };
  const traced = trace(
    (at) => {
      const made = parametersOf(nested, held, at as Values);
      const value = logLikelihood(made);
      return logPrior === undefined ? { value } : { value, weight: logPrior(made) };
    },
    inputs,
    { axes: AXES, checked: true },
  );
  const { graph } = traced;
  const whole = traced.outputs.value;
  const dear = frontier([whole], isShared).filter((node) => costOf(node) >= WORTH_A_TABLE);
  const stands = new Map(dear.map((node) => [node, graph.standIn(["observation", "inner"])]));
  const [value] = substitute([whole], stands);
  const tables = dear.map((node) => ({ stand: stands.get(node) ?? node, node }));
  const valueTables = tables.length;
  const derivatives: Traced[] = [];
  if (gradients) {
    const wanted = sloped(nested).map((name) => traced.inputs[name]);
    const parts = gradient(value, [...wanted, ...stands.values()], { pointwise: true });
    // By the chain rule through what is tabulated, whose own derivatives are tabulated too.
    const through = dear.map((node) => gradient(node, wanted, { pointwise: true }));
    wanted.forEach((_, i) => {
      let total = parts[i];
      dear.forEach((_node, k) => {
        const inside = through[k][i];
        if (inside.op === "constant" && inside.value === 0) return;
        let factor = inside;
        if (isShared(inside)) {
          factor = graph.standIn(["observation", "inner"]);
          tables.push({ stand: factor, node: inside });
        }
        total = graph.apply("add", [total, graph.apply("mul", [parts[wanted.length + k], factor])]);
      });
      derivatives.push(total);
    });
  }
  const standIns = new Set(tables.map(({ stand }) => stand));
  const isOwn = (node: Traced) => !varies(node, "inner") && !standIns.has(node) && node.op !== "constant";
  return {
    description,
    free: names.filter((name) => !held.includes(name)),
    value,
    gradients: derivatives,
    tables,
    valueTables,
    weight: traced.outputs.weight,
    own: frontier([value, ...derivatives, ...(logPrior === undefined ? [] : [traced.outputs.weight])], isOwn),
  };
};

/** The generating sample's own log-likelihood and derivatives, and how outcomes follow from noise. */
export interface OwnPlan {
  readonly outcomes: readonly Traced[];
  /** d(outcome)/d(design variable), [outcomes][variables]; empty where gradients do not go through outcomes. */
  readonly outcomeGradients: readonly (readonly Traced[])[];
  readonly value: Traced;
  /** In what `sloped` names. */
  readonly gradients: readonly Traced[];
  /** log p(held | the others), by the number of the evidence. */
  readonly priors: readonly (Traced | undefined)[];
}

/** The name of the noise of an outcome or a parameter; no name of a model's own has a space. */
export const noiseOf = (name: string): string => `noise of ${name}`;

export const planOwn = (nested: NestedDescription): OwnPlan => {
  const { parameters, design, outcomes, evidences, reparameterised, logLikelihood } = nested;
  const point: readonly string[] = [];
  const inputs = Object.fromEntries(
    [
      ...parameters.map(({ name }) => name),
      ...design,
      ...outcomes.flatMap(({ name }) => [name, noiseOf(name)]),
    ].map((name) => [name, point]),
  );
  const { inputs: nodes, outputs } = trace(
    (at) => ({
      value: logLikelihood(at),
      ...Object.fromEntries(
        outcomes.map(({ name, fromNoise }) => [`outcome ${name}`, fromNoise(at, at[noiseOf(name)])]),
      ),
      ...Object.fromEntries(
        evidences.flatMap(({ name, logPrior }) =>
          logPrior === undefined ? [] : [[`prior ${name}`, logPrior(at)]],
        ),
      ),
    }),
    inputs,
    { axes: AXES, checked: true },
  );
  const simulated = outcomes.map(({ name }) => outputs[`outcome ${name}`]);
  const variables = design.map((name) => nodes[name]);
  return {
    outcomes: simulated,
    outcomeGradients: reparameterised
      ? simulated.map((node) => gradient(node, variables, { pointwise: true }))
      : [],
    value: outputs.value,
    gradients: gradient(
      outputs.value,
      sloped(nested).map((name) => nodes[name]),
      { pointwise: true },
    ),
    priors: evidences.map(({ name }) => outputs[`prior ${name}`]),
  };
};

/** All parameters of an experiment as they follow from their noise, one after the other. */
export const planParameters = ({ parameters }: NestedDescription): readonly Traced[] => {
  const inputs = Object.fromEntries(parameters.map(({ name }) => [noiseOf(name), [] as readonly string[]]));
  const { outputs } = trace(
    (at) => {
      const made: Record<string, Value> = {};
      for (const { name, fromNoise } of parameters) made[name] = fromNoise(made, at[noiseOf(name)]);
      return made;
    },
    inputs,
    { axes: AXES, checked: true },
  );
  return parameters.map(({ name }) => outputs[name]);
};
