/**
 * What a picture of designs needs to know of a model: how far each variable is worth showing, what the prior says, and
 * designs to begin with.
 */
import { wholePower } from "../core/math.js";
import { seededStream } from "../core/random.js";
import { outcomeCombinations } from "../design/exact/enumeration.js";
import type { DesignVariable, Model, Role } from "../design/model.js";
import { drawOuter, nearestAllowed } from "../design/policy.js";
import { type ParticleSummary, summariseParticles } from "./particle-summary.js";
import { outcomesOf } from "./run-policy.js";

export interface SceneVariable extends DesignVariable {
  readonly name: string;
  /** What is worth showing: all that is allowed, or else where the prior has the parameters. */
  readonly shown: readonly [number, number];
}

export interface SceneParameter extends ParticleSummary {
  readonly name: string;
  readonly role: Role;
}

export interface SceneOutcome {
  readonly name: string;
  /** Whether the natural logarithm of what is read is recorded. */
  readonly isLogarithm: boolean;
}

export interface DesignScene {
  readonly variables: readonly SceneVariable[];
  /** With what the prior says of each. */
  readonly parameters: readonly SceneParameter[];
  readonly outcomes: readonly SceneOutcome[];
  /** All that an observation can come to, [outcomes] each; null where there is no end of them. */
  readonly possible: readonly (readonly number[])[] | null;
  /** Draws of the prior among the designs, in the plane of the first two variables; none where parameters are no places. */
  readonly prior: readonly (readonly [number, number])[];
}

const DRAWS = 300;
const SUMMARY_DRAWS = 16_384;
/** Designs of a model without bounds mostly lie within so many standard deviations of its parameters. */
const REACH = 4;

/**
 * Places of a source in the plane of the first two design variables, one after the other, from draws of the parameters;
 * none for models whose designs are no places among the parameters.
 */
export const placesOf = (
  model: Model,
  drawn: Readonly<Record<string, ArrayLike<number>>>,
): readonly (readonly [number, number])[] => {
  const dimensions = model.design.length;
  const names = model.parameters.map(({ name }) => name);
  if (model.name !== "location" || dimensions < 2 || names.length % dimensions > 0) return [];
  const sources = names.filter((_, k) => k % dimensions === 0).map((_, k) => names.slice(k * dimensions));
  return sources.flatMap(([x, y]) =>
    Array.from({ length: drawn[x].length }, (_, i) => [drawn[x][i], drawn[y][i]] as const),
  );
};

/** Draws of the prior among the designs. */
export const priorPlaces = (model: Model): readonly (readonly [number, number])[] =>
  placesOf(model, drawOuter(model, DRAWS, seededStream("prior in the plane")));

export const designScene = (model: Model): DesignScene => {
  const drawn = drawOuter(model, SUMMARY_DRAWS, seededStream("scene"));
  const alike = new Float64Array(SUMMARY_DRAWS).fill(1 / SUMMARY_DRAWS);
  const parameters = model.parameters.map(({ name, role }) => ({
    name,
    role,
    ...summariseParticles(drawn[name], alike),
  }));
  const ofInterest = parameters.filter(({ role }) => role !== "nuisance");
  const reach = [
    Math.min(...ofInterest.map(({ mean, sd }) => mean - REACH * sd)),
    Math.max(...ofInterest.map(({ mean, sd }) => mean + REACH * sd)),
  ] as const;
  const width = reach[1] - reach[0];
  return {
    variables: model.design.map(({ name, low, high, values }) => ({
      ...{ name, low, high, values },
      shown: [
        Number.isFinite(low) ? low : Math.min(reach[0], high - width),
        Number.isFinite(high) ? high : Math.max(reach[1], low + width),
      ],
    })),
    parameters,
    outcomes: outcomesOf(model),
    possible: outcomeCombinations(model) ?? null,
    prior: priorPlaces(model),
  };
};

/**
 * Designs to begin with, [horizon][variables]: spread over the middle of what is shown, each where the ones before leave
 * most room (the additive recurrence of the generalised golden ratio).
 */
export const firstDesigns = (model: Model, horizon: number, scene = designScene(model)): number[][] => {
  const { variables } = scene;
  const ratio = goldenRatio(variables.length);
  return Array.from({ length: horizon }, (_, t) =>
    variables.map(({ shown: [low, high] }, d) => {
      const share = (0.5 + (t + 1) / wholePower(ratio, d + 1)) % 1;
      return nearestAllowed(model.design[d], low + (0.25 + 0.5 * share) * (high - low));
    }),
  );
};

/** The root above 1 of x^(dimensions + 1) = x + 1, by Newton's method from above, where it only comes nearer. */
const goldenRatio = (dimensions: number): number => {
  let root = 2;
  for (let i = 0; i < 60; i++) {
    const power = wholePower(root, dimensions);
    root -= (power * root - root - 1) / ((dimensions + 1) * power - 1);
  }
  return root;
};
