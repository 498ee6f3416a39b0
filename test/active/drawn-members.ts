/** Ensembles drawn at random, for comparisons of one way with another. */
import type { ExactMembers } from "../../src/active/members.js";
import type { RandomStream } from "../../src/core/random.js";
import type { DenseMembers, VoteMembers } from "../../src/learners/classifier.js";
import { single, votes } from "./vectors.js";

/** Every member's probabilities are Dirichlet with the given concentration: small is sure of itself. */
export const drawMembers = (
  stream: RandomStream,
  rows: number,
  members: number,
  classes: number,
  concentration = 1,
): ExactMembers => {
  const values = new Float64Array(rows * members * classes);
  for (let at = 0; at < values.length; at += classes) {
    let sum = 0;
    for (let c = 0; c < classes; c++) {
      values[at + c] = stream.gamma(concentration) + 1e-300;
      sum += values[at + c];
    }
    for (let c = 0; c < classes; c++) values[at + c] /= sum;
  }
  return { kind: "dense", rows, members, classes, values };
};

/**
 * Members that agree more or less, as those of a model do: the log odds of member k at row n are a_n + u_n . f_k, with
 * two features that candidates and targets share through the members.
 */
export const drawRelated = (
  stream: RandomStream,
  members: number,
  sizes: readonly number[],
  spread = 2,
): DenseMembers[] => {
  const features = Array.from({ length: members }, () => [stream.normal(), stream.normal()]);
  return sizes.map((rows) => {
    const values = new Float64Array(rows * members * 2);
    for (let n = 0, at = 0; n < rows; n++) {
      const [a, u, v] = [stream.normal(0, 2), stream.normal(0, spread), stream.normal(0, spread)];
      for (const [f, g] of features) {
        const p = 1 / (1 + Math.exp(-(a + u * f + v * g * Math.abs(u))));
        values[at++] = 1 - p;
        values[at++] = p;
      }
    }
    return single({ kind: "dense", rows, members, classes: 2, values });
  });
};

/** Votes, each row with its own rate. */
export const drawVotes = (stream: RandomStream, rows: number, members: number): VoteMembers =>
  votes(
    Array.from({ length: rows }, () => {
      const rate = stream.uniform();
      return Array.from({ length: members }, () => (stream.uniform() < rate ? 1 : 0));
    }),
  );
