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
