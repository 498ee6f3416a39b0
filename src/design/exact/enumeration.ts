/**
 * Evidences by enumeration, for outcomes with finitely many values and a policy that draws nothing: all sequences of
 * outcomes D are gone through, and the parameters are integrated out on a grid, so that
 *
 *     E log p(D | g) = sum_h w_h sum_D p(D | h) log p(D | h),    p(D | h) = sum_f w_f p(D | h, f)
 *
 * with h the grid points of the held parameters and f those of the others. Nothing is sampled.
 */

import { compile, type Program } from "../../compute/index.js";
import { exp, log, wholePower } from "../../core/math.js";
import { type Pacer, pacer, type RunOptions } from "../../core/options.js";
import { seededStream } from "../../core/random.js";
import type { Model, Role, Values } from "../model.js";
import type { Policy } from "../policy.js";
import { held, parametersFromNoise } from "../priors.js";
import type { Given } from "../quantity.js";
import { asIs, axisOf, tensor } from "./grid.js";

type Inputs = Record<string, readonly string[]>;
type Numbers = Readonly<Record<string, number>>;

export interface EnumerationOptions {
  readonly model: Model;
  readonly policy: Policy;
  readonly given: readonly Given[];
  /** The grid is refined until no expected log evidence changes by more than this, in nats. */
  readonly tolerance?: number | undefined;
  /** Probabilities of sequences that may be computed for one evidence. */
  readonly work?: number | undefined;
}

export interface Enumeration {
  /** E log p(D | g). */
  readonly expected: Readonly<Partial<Record<Given, number>>>;
  /** The largest change of one of them when the grid was refined last. */
  readonly discretisation: number;
  readonly sequences: number;
}

/** Points along every parameter that the refinement starts with. */
const START = 25;

/** All combinations of the values of the outcomes at one design, or nothing where an outcome has infinitely many. */
export const outcomeCombinations = (model: Model): readonly (readonly number[])[] | undefined => {
  const ones = Object.fromEntries([...model.parameters, ...model.design].map(({ name }) => [name, 1]));
  const by = model.distributions(ones, ones);
  let combinations: readonly (readonly number[])[] = [[]];
  for (const name of model.outcomes) {
    const { support } = by[name];
    if (support === undefined) return undefined;
    combinations = combinations.flatMap((sofar) => support.map((value) => [...sofar, value]));
  }
  return combinations;
};

/** A policy's designs at every node of the tree of outcomes. */
interface DesignTree {
  /** Designs by name, [distinct designs]. */
  readonly designs: Readonly<Record<string, Float64Array>>;
  readonly count: number;
  /** Which design follows the prefix with this number at step t. */
  at(t: number, prefix: number): number;
}

const designTree = async (
  model: Model,
  policy: Policy,
  combinations: readonly (readonly number[])[],
  run: RunOptions,
): Promise<DesignTree> => {
  const variables = model.design.length;
  const { horizon } = policy;
  const rows: Float64Array[] = [];
  const offsets: number[] = [];
  let count = 0;
  if (policy.designs !== undefined) {
    rows.push(policy.designs);
    count = horizon;
  } else {
    const stream = seededStream("enumeration");
    let designs = new Float64Array(0);
    let outcomes = new Float64Array(0);
    for (let t = 0, outer = 1; t < horizon; t++, outer *= combinations.length) {
      const chosen = await policy.next({ outer, steps: t, designs, outcomes }, stream.split(t), run);
      rows.push(chosen);
      offsets.push(count);
      count += outer;
      const grown = extend(outer, t, designs, outcomes, chosen, variables, combinations);
      designs = grown.designs;
      outcomes = grown.outcomes;
    }
  }
  const all = new Float64Array(count * variables);
  let from = 0;
  for (const row of rows) {
    all.set(row, from);
    from += row.length;
  }
  return {
    designs: Object.fromEntries(
      model.design.map(({ name }, d) => [
        name,
        Float64Array.from({ length: count }, (_, i) => all[i * variables + d]),
      ]),
    ),
    count,
    at: policy.designs !== undefined ? (t) => t : (t, prefix) => offsets[t] + prefix,
  };
};

/** Histories of t + 1 steps: each of those of t steps, with its design and every combination of outcomes. */
const extend = (
  outer: number,
  t: number,
  designs: Float64Array,
  outcomes: Float64Array,
  chosen: Float64Array,
  variables: number,
  combinations: readonly (readonly number[])[],
) => {
  const width = combinations[0].length;
  const choices = combinations.length;
  const newDesigns = new Float64Array(outer * choices * (t + 1) * variables);
  const newOutcomes = new Float64Array(outer * choices * (t + 1) * width);
  for (let b = 0; b < outer; b++) {
    for (let c = 0; c < choices; c++) {
      const to = b * choices + c;
      newDesigns.set(designs.subarray(b * t * variables, (b + 1) * t * variables), to * (t + 1) * variables);
      newDesigns.set(chosen.subarray(b * variables, (b + 1) * variables), (to * (t + 1) + t) * variables);
      newOutcomes.set(outcomes.subarray(b * t * width, (b + 1) * t * width), to * (t + 1) * width);
      newOutcomes.set(combinations[c], (to * (t + 1) + t) * width);
    }
  }
  return { designs: newDesigns, outcomes: newOutcomes };
};

/** Exact expected log evidences by enumeration. The model must have finite supports and priors that can be held. */
export const enumerate = async (
  { model, policy, given, tolerance = 1e-6, work = 2 ** 29 }: EnumerationOptions,
  run: RunOptions = {},
): Promise<Enumeration> => {
  const pace = pacer(run);
  const combinations = outcomeCombinations(model) ?? [];
  const sequences = wholePower(combinations.length, policy.horizon);
  const tree = await designTree(model, policy, combinations, { signal: run.signal });
  const program = probabilities(model, tree);
  const evaluate = async (size: number): Promise<Partial<Record<Given, number>>> => {
    const expected: Partial<Record<Given, number>> = {};
    for (const each of given) {
      const setting = {
        model,
        horizon: policy.horizon,
        roles: held(each),
        size,
        tree,
        combinations,
        program,
      };
      expected[each] = await expectedLogEvidence(setting, pace);
    }
    return expected;
  };
  try {
    let size = START;
    let expected = await evaluate(size);
    let discretisation = Infinity;
    while (discretisation > tolerance) {
      const next = 2 * size - 1;
      if (gridSize(model, next) * sequences > work) break;
      size = next;
      const finer = await evaluate(size);
      discretisation = Math.max(...given.map((each) => Math.abs((finer[each] ?? 0) - (expected[each] ?? 0))));
      expected = finer;
    }
    return { expected, discretisation, sequences };
  } finally {
    program.dispose();
  }
};

const gridSize = (model: Model, size: number): number =>
  model.parameters.reduce((product, { name }) => product * axisOf(model, name, size).points.length, 1);

const nameOf = (outcome: string, value: number): string => `${outcome} = ${value}`;

/** log p(outcome = value | parameters) at every design of the tree, in float64. */
const probabilities = (model: Model, tree: DesignTree): Program<Inputs> => {
  const inputs: Inputs = {
    ...Object.fromEntries(model.parameters.map(({ name }) => [name, []])),
    ...Object.fromEntries(model.design.map(({ name }) => [name, ["design"]])),
  };
  const program = compile(
    (at: Values) => {
      const by = model.distributions(at, at);
      return Object.fromEntries(
        model.outcomes.flatMap((name) =>
          (by[name].support ?? []).map((value) => [nameOf(name, value), by[name].logDensity(value)]),
        ),
      );
    },
    { inputs, backend: "js" },
  ) as Program<Inputs>;
  program.resize({ design: tree.count });
  for (const { name } of model.design) program.input(name).set(tree.designs[name]);
  return program;
};

/** Probabilities of sequences that are computed between two looks at the clock. */
const PIECE = 2 ** 18;

/** One evidence on one grid. */
interface Setting {
  readonly model: Model;
  readonly horizon: number;
  readonly roles: readonly Role[];
  /** Points along every continuous parameter. */
  readonly size: number;
  readonly tree: DesignTree;
  readonly combinations: readonly (readonly number[])[];
  readonly program: Program<Inputs>;
}

/** sum_h w_h sum_D p(D | h) log p(D | h). */
const expectedLogEvidence = async (
  { model, horizon, roles, size, tree, combinations, program }: Setting,
  pace: Pacer,
): Promise<number> => {
  const split = (isHeld: boolean) =>
    tensor(
      model.parameters
        .filter(({ role }) => roles.includes(role) === isHeld)
        .map(({ name }) => axisOf(model, name, size)),
    );
  const heldGrid = split(true);
  const freeGrid = split(false);
  const evidence = new Float64Array(wholePower(combinations.length, horizon));
  const scratch = [new Float64Array(evidence.length), new Float64Array(evidence.length)] as const;
  const often = Math.max(1, Math.floor(PIECE / (evidence.length + tree.count)));
  const points = heldGrid.logWeights.length * freeGrid.logWeights.length;
  let total = 0;
  let done = 0;
  for (let h = 0; h < heldGrid.logWeights.length; h++) {
    evidence.fill(0);
    for (let f = 0; f < freeGrid.logWeights.length; f++) {
      const at: Record<string, number> = {};
      for (const [name, points] of Object.entries(heldGrid.points)) at[name] = points[h];
      for (const [name, points] of Object.entries(freeGrid.points)) at[name] = points[f];
      const parameters = parametersFromNoise(model, [], at, asIs) as Numbers;
      for (const [name, value] of Object.entries(parameters)) program.input(name)[0] = value;
      program.run();
      const likelihood = sequenceProbabilities(model, horizon, tree, combinations, program, scratch);
      const weight = exp(freeGrid.logWeights[f]);
      for (let i = 0; i < evidence.length; i++) evidence[i] += weight * likelihood[i];
      if (++done % often === 0) await pace.step({ done, total: points, label: "grid points" });
    }
    let inner = 0;
    for (let i = 0; i < evidence.length; i++) {
      if (evidence[i] > 0) inner += evidence[i] * log(evidence[i]);
    }
    total += exp(heldGrid.logWeights[h]) * inner;
  }
  return total;
};

/** p(D | parameters) of all sequences: those of t + 1 outcomes from those of t. */
const sequenceProbabilities = (
  model: Model,
  horizon: number,
  tree: DesignTree,
  combinations: readonly (readonly number[])[],
  program: Program<Inputs>,
  scratch: readonly [Float64Array, Float64Array],
): Float64Array => {
  const choices = combinations.length;
  const step = combinations.map((values) => {
    const product = new Float64Array(tree.count);
    for (const [k, name] of model.outcomes.entries()) {
      const logs = program.output(nameOf(name, values[k]));
      // An output that does not depend on the design has a single element.
      for (let i = 0; i < product.length; i++) product[i] += logs[logs.length === 1 ? 0 : i];
    }
    return product.map((value) => exp(value));
  });
  let [now, next] = scratch;
  now[0] = 1;
  for (let t = 0, count = 1; t < horizon; t++, count *= choices) {
    for (let prefix = 0; prefix < count; prefix++) {
      const place = tree.at(t, prefix);
      for (let c = 0; c < choices; c++) next[prefix * choices + c] = now[prefix] * step[c][place];
    }
    [now, next] = [next, now];
  }
  return now;
};
