/** The three loops of a log-likelihood, as bits: which of them a value depends on. */
import type { Traced } from "../graph/expression.js";

export const OUTER = 1;
export const OBSERVATION = 2;
export const INNER = 4;

/** In the order in which arrays are laid out, the fastest last. */
export const AXES = ["outer", "observation", "inner"] as const;
export type Axis = (typeof AXES)[number];

const BITS: Readonly<Record<string, number>> = { outer: OUTER, observation: OBSERVATION, inner: INNER };

export const bitsOf = (node: Traced): number => node.axes.reduce((bits, axis) => bits | BITS[axis], 0);

/** The length of every axis. */
export type Sizes = Readonly<Record<Axis, number>>;

/** Elements of an array over these axes. */
export const lengthOf = (bits: number, sizes: Sizes): number =>
  ((bits & OUTER) !== 0 ? sizes.outer : 1) *
  ((bits & OBSERVATION) !== 0 ? sizes.observation : 1) *
  ((bits & INNER) !== 0 ? sizes.inner : 1);
