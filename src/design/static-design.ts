/**
 * A static design for location finding: T places to listen, chosen before any reading, that say much about the
 * first coordinate of the source (theta) and little about the second (phi). Stochastic ascent of the conditional
 * objective R_c with fresh samples at every step.
 */
import { adam, type WorkspaceOptions } from "../compute/index.js";
import { InputError } from "../core/errors.js";
import { fillNormal, type RandomStream, randomStream } from "../core/random.js";
import { type MeanEstimate, meanEstimate } from "../core/stats.js";
import { type ConditionalStep, conditionalStep, type StepEstimate } from "./conditional-step.js";

export interface StaticDesignOptions extends WorkspaceOptions {
  /** Observations T. */
  readonly horizon?: number;
  /** How much leakage costs. */
  readonly beta?: number;
  readonly steps?: number;
  readonly seed?: number;
  readonly priorMean?: readonly [number, number];
  /** Batches of fresh samples that the design is evaluated on, before and after. */
  readonly evaluations?: number;
  /** Called after every step; await something in it to let other work happen. */
  readonly onStep?: (step: number, estimate: StepEstimate) => void | Promise<void>;
}

/** Means over independent batches, in nats. */
export type DesignEvaluation = Readonly<Record<keyof StepEstimate, MeanEstimate>>;

export interface StaticDesign {
  /** [horizon][2] */
  readonly designs: readonly (readonly [number, number])[];
  readonly start: DesignEvaluation;
  readonly found: DesignEvaluation;
}

export const staticDesignTexts = {
  whole: (name: string, given: number) => `${name} was ${given}: give a whole number of at least 1`,
  beta: (given: number) => `beta was ${given}: give a number from 0, such as 0.8`,
};

const SIZES = { outer: 100, contrastive: 1000, marginal: 1000 };
/** Where the rate starts; it falls to a fiftieth along half a cosine. */
const RATE = 0.05;

export const optimiseStaticDesign = async ({
  horizon = 10,
  beta = 0.8,
  steps = 2000,
  seed = 0,
  priorMean = [3, 3],
  evaluations = 40,
  onStep,
  ...workspace
}: StaticDesignOptions = {}): Promise<StaticDesign> => {
  for (const [name, value] of Object.entries({ horizon, steps, evaluations })) {
    if (!Number.isInteger(value) || value < 1)
      throw new InputError(name, staticDesignTexts.whole(name, value));
  }
  if (!(beta >= 0 && beta < Infinity)) throw new InputError("beta", staticDesignTexts.beta(beta));
  const stream = randomStream(seed);
  const step = conditionalStep({ ...workspace, ...SIZES, horizon, beta, designs: "shared" });
  try {
    const designs = new Float64Array(2 * horizon);
    const start = stream.split("start");
    // As wide as the prior around the origin: far designs tell nothing and have no gradient to come back by.
    for (let i = 0; i < designs.length; i++) designs[i] = start.normal(priorMean[i % 2] / 2, 1);
    setDesigns(step, designs);
    const before = evaluate(step, stream.split("before"), priorMean, evaluations);
    const rate = (at: number) => RATE * (0.51 + 0.49 * Math.cos((Math.PI * (at - 1)) / steps));
    const optimiser = adam({ rate });
    const state = optimiser.init(designs);
    const descent = new Float64Array(designs.length);
    for (let i = 0; i < steps; i++) {
      drawSamples(step, stream.split("step").split(i), priorMean);
      const estimate = step.run();
      for (let t = 0; t < horizon; t++) {
        descent[2 * t] = -step.gradientX[t];
        descent[2 * t + 1] = -step.gradientY[t];
      }
      optimiser.update(designs, descent, state);
      setDesigns(step, designs);
      await onStep?.(i + 1, estimate);
    }
    return {
      designs: Array.from({ length: horizon }, (_, t) => [designs[2 * t], designs[2 * t + 1]] as const),
      start: before,
      found: evaluate(step, stream.split("after"), priorMean, evaluations),
    };
  } finally {
    step.dispose();
  }
};

const setDesigns = ({ arrays }: ConditionalStep, designs: Float64Array): void => {
  for (let t = 0; t < arrays.x.length; t++) {
    arrays.x[t] = designs[2 * t];
    arrays.y[t] = designs[2 * t + 1];
  }
};

/** Fresh draws of everything random: sources from N(priorMean, I), noise from N(0, 1). */
const drawSamples = (
  { arrays }: ConditionalStep,
  stream: RandomStream,
  [meanTheta, meanPhi]: readonly [number, number],
): void => {
  const means = {
    theta0: meanTheta,
    thetaL: meanTheta,
    phi0: meanPhi,
    phiL: meanPhi,
    phiM: meanPhi,
    noise: 0,
  };
  for (const [name, mean] of Object.entries(means)) {
    const array = arrays[name as keyof typeof means];
    fillNormal(stream.split(name), array);
    if (mean !== 0) for (let i = 0; i < array.length; i++) array[i] += mean;
  }
};

const evaluate = (
  step: ConditionalStep,
  stream: RandomStream,
  priorMean: readonly [number, number],
  batches: number,
): DesignEvaluation => {
  const estimates = Array.from({ length: batches }, (_, i) => {
    drawSamples(step, stream.split(i), priorMean);
    return step.run();
  });
  const over = (name: keyof StepEstimate) => meanEstimate(estimates.map((estimate) => estimate[name]));
  return { objective: over("objective"), target: over("target"), leakage: over("leakage") };
};
