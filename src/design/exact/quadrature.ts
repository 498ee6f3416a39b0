/**
 * Evidences by quadrature: log p(D | g) of simulated experiments with the integral over the other parameters done on
 * a grid, as a weighted log mean over grid points in place of inner samples. What is left of sampling is the outer
 * expectation over experiments.
 */

import {
  add,
  compile,
  compileLogMeanExp,
  div,
  type LogMeanExp,
  type Pause,
  sum,
  type Value,
  type Workspace,
} from "../../compute/index.js";
import { log, wholePower } from "../../core/math.js";
import type { Model, Role, Values } from "../model.js";
import type { Arrays } from "../nested.js";
import { dependsOnFree, distributionOf, held, logPriorOfHeld, parametersFromNoise } from "../priors.js";
import type { Given } from "../quantity.js";
import { asIs, axisOf, isContinuous, tensor } from "./grid.js";

type Inputs = Record<string, readonly string[]>;

const WEIGHT = "log weight";

export interface QuadratureOptions {
  readonly model: Model;
  readonly workspace: Workspace;
  readonly given: Given;
  readonly outer: number;
  readonly horizon: number;
  /** Designs [observation], the same for all experiments, or [outer, observation]. */
  readonly designs: "shared" | "perOuter";
  /** The grid is refined until the mean change of a log evidence is below this, in nats. */
  readonly tolerance?: number | undefined;
  /** Points that the grid may have. */
  readonly points?: number | undefined;
}

/** Generating parameters [outer], designs, outcomes [outer, observation]. */
export interface QuadratureData {
  readonly parameters: Arrays;
  readonly designs: Arrays;
  readonly outcomes: Arrays;
}

export interface Quadrature {
  /** Points of the grid and how far the log evidences of half as fine a one are, on average; after `refine`. */
  readonly points: number;
  readonly discretisation: number;
  /** Refines the grid on these experiments. */
  refine(data: QuadratureData, pause: Pause): Promise<void>;
  /** log p(D | g), [outer]. */
  evaluate(data: QuadratureData, pause: Pause): Promise<Float64Array>;
  dispose(): void;
}

/** Points along every continuous parameter that the refinement starts with, by the number of such parameters. */
const START = [1, 257, 97, 33];
/** As many parameters as that can be integrated over. */
export const MOST_DIMENSIONS = START.length - 1;

/** Evidences p(D | g) of a model by quadrature. */
export const quadrature = (options: QuadratureOptions): Quadrature => {
  const { model, given } = options;
  const roles = held(given);
  return model.parameters.every(({ role }) => roles.includes(role))
    ? nothingToIntegrate(options)
    : onGrid(options, roles);
};

/** log p(D | all parameters). */
const nothingToIntegrate = ({ model, workspace, outer, horizon, designs }: QuadratureOptions): Quadrature => {
  const program = compile((at: Values) => sum("observation", model.logLikelihood(at, at, at)), {
    workspace,
    inputs: { ...axesOf(model, ["target", "sensitive", "nuisance"]), ...dataAxes(model, designs) },
  });
  program.resize({ outer, observation: horizon });
  return {
    points: 1,
    discretisation: 0,
    refine: async () => undefined,
    async evaluate({ parameters, designs, outcomes }) {
      for (const [name, values] of Object.entries({ ...parameters, ...designs, ...outcomes })) {
        program.input(name).set(values);
      }
      program.run();
      return Float64Array.from(program.output());
    },
    dispose: () => program.dispose(),
  };
};

const axesOf = (model: Model, roles: readonly Role[]): Inputs =>
  Object.fromEntries(
    model.parameters.map(({ name, role }) => [name, [roles.includes(role) ? "outer" : "inner"]]),
  );

const dataAxes = (model: Model, designs: QuadratureOptions["designs"]): Inputs => ({
  ...Object.fromEntries(
    model.design.map(({ name }) => [name, designs === "shared" ? ["observation"] : ["outer", "observation"]]),
  ),
  ...Object.fromEntries(model.outcomes.map((name) => [name, ["outer", "observation"]])),
});

/** sum of log p(parameter | before) over the free parameters with finitely many values and a dependent prior. */
const logPriorOfDiscrete = (model: Model, roles: readonly Role[], at: Values): Value =>
  model.parameters
    .filter(
      ({ name, role, prior }) =>
        typeof prior === "function" && !roles.includes(role) && !isContinuous(model, name),
    )
    .reduce<Value>((total, { name, prior }) => add(total, distributionOf(prior, at).logDensity(at[name])), 0);

const onGrid = (
  { model, workspace, outer, horizon, designs, tolerance = 1e-3, points: most = 2 ** 20 }: QuadratureOptions,
  roles: readonly Role[],
): Quadrature => {
  const free = model.parameters.filter(({ role }) => !roles.includes(role)).map(({ name }) => name);
  const weighted = dependsOnFree(model, roles);
  const axes = { ...axesOf(model, roles), [WEIGHT]: ["inner"] };
  const weight = (at: Values, parameters: Values): Value =>
    add(
      at[WEIGHT],
      add(logPriorOfDiscrete(model, roles, parameters), logPriorOfHeld(model, roles, parameters)),
    );
  // The kernel adds up observations: each carries its share of the weight.
  const program: LogMeanExp<Inputs> = compileLogMeanExp(
    (at: Values) => {
      const parameters = parametersFromNoise(model, roles, at, asIs);
      return add(model.logLikelihood(parameters, at, at), div(weight(at, parameters), horizon));
    },
    { workspace, inputs: { ...axes, ...dataAxes(model, designs) } },
  );
  // p(D | g) = E[p(g | rest) p(D | g, rest)] / E[p(g | rest)] where the prior of g depends on the rest.
  const normaliser: LogMeanExp<Inputs> | undefined = weighted
    ? compileLogMeanExp((at: Values) => weight(at, parametersFromNoise(model, roles, at, asIs)), {
        workspace,
        inputs: axes,
      })
    : undefined;
  const dimensions = free.filter((name) => isContinuous(model, name)).length;
  let size = START[Math.min(dimensions, MOST_DIMENSIONS)];
  let points = 0;
  let discretisation = 0;
  const resize = (): void => {
    const grid = tensor(free.map((name) => axisOf(model, name, size)));
    points = grid.logWeights.length;
    program.resize({ outer, inner: points, observation: horizon });
    normaliser?.resize({ outer, inner: points, observation: 1 });
    for (const each of [program, normaliser]) {
      if (each === undefined) continue;
      for (const name of free) each.input(name).set(grid.points[name]);
      // The kernel takes a mean, a quadrature is a sum.
      each.input(WEIGHT).set(grid.logWeights.map((value) => value + log(points)));
    }
  };
  const evaluate = async (
    { parameters, designs, outcomes }: QuadratureData,
    pause: Pause,
  ): Promise<Float64Array> => {
    if (points === 0) resize();
    const isHeld = model.parameters.filter(({ role }) => roles.includes(role)).map(({ name }) => name);
    for (const name of isHeld) {
      program.input(name).set(parameters[name]);
      normaliser?.input(name).set(parameters[name]);
    }
    for (const [name, values] of Object.entries({ ...designs, ...outcomes })) program.input(name).set(values);
    await program.runInPieces(pause);
    const value = program.value.slice();
    if (normaliser === undefined) return value;
    await normaliser.runInPieces(pause);
    return value.map((each, b) => each - normaliser.value[b]);
  };
  return {
    get points() {
      return points;
    },
    get discretisation() {
      return discretisation;
    },
    async refine(data, pause) {
      if (dimensions === 0) return;
      let coarse = await evaluate(data, pause);
      for (;;) {
        // The finer grid has the points of the coarser one and those half-way between them.
        const next = 2 * size - 1;
        if (points * wholePower(next / size, dimensions) > most) return;
        size = next;
        resize();
        const fine = await evaluate(data, pause);
        discretisation = fine.reduce((total, value, b) => total + Math.abs(value - coarse[b]), 0) / outer;
        if (discretisation < tolerance) return;
        coarse = fine;
      }
    },
    evaluate,
    dispose() {
      program.dispose();
      normaliser?.dispose();
    },
  };
};
