/** From decision values to probabilities, as in libsvm. */
import { exp, log, log1p } from "../../core/math.js";

/** P(y = 1 | decision f) = 1 / (1 + exp(slope f + offset)). */
export interface PlattSigmoid {
  readonly slope: number;
  readonly offset: number;
}

export const sigmoidAt = ({ slope, offset }: PlattSigmoid, f: number): number =>
  1 / (1 + exp(slope * f + offset));

/**
 * Platt's sigmoid by Newton's method with backtracking (Lin, Lin and Weng 2007, appendix C). The targets are
 * (N+ + 1) / (N+ + 2) and 1 / (N- + 2), N the rows' weights.
 */
export const fitSigmoid = (decisions: Float64Array, y: Int8Array, weights: Float64Array): PlattSigmoid => {
  let positive = 0;
  let negative = 0;
  y.forEach((each, i) => {
    if (each > 0) positive += weights[i];
    else negative += weights[i];
  });
  const high = (positive + 1) / (positive + 2);
  const low = 1 / (negative + 2);
  const target = Float64Array.from(y, (each) => (each > 0 ? high : low));
  const loss = (slope: number, offset: number): number => {
    let sum = 0;
    for (let i = 0; i < y.length; i++) {
      const z = slope * decisions[i] + offset;
      sum += weights[i] * (z >= 0 ? target[i] * z + log1p(exp(-z)) : (target[i] - 1) * z + log1p(exp(z)));
    }
    return sum;
  };
  let slope = 0;
  let offset = log((negative + 1) / (positive + 1));
  let value = loss(slope, offset);
  for (let iteration = 0; iteration < 100; iteration++) {
    let h11 = 1e-12;
    let h22 = 1e-12;
    let h21 = 0;
    let g1 = 0;
    let g2 = 0;
    for (let i = 0; i < y.length; i++) {
      const f = decisions[i];
      const p = sigmoidAt({ slope, offset }, f);
      const d2 = weights[i] * p * (1 - p);
      const d1 = weights[i] * (target[i] - p);
      h11 += f * f * d2;
      h22 += d2;
      h21 += f * d2;
      g1 += f * d1;
      g2 += d1;
    }
    if (Math.abs(g1) < 1e-5 && Math.abs(g2) < 1e-5) break;
    const determinant = h11 * h22 - h21 * h21;
    const d1 = -(h22 * g1 - h21 * g2) / determinant;
    const d2 = -(h11 * g2 - h21 * g1) / determinant;
    const descent = g1 * d1 + g2 * d2;
    let step = 1;
    for (; step >= 1e-10; step /= 2) {
      const next = loss(slope + step * d1, offset + step * d2);
      if (next >= value + 1e-4 * step * descent) continue;
      slope += step * d1;
      offset += step * d2;
      value = next;
      break;
    }
    if (step < 1e-10) break;
  }
  return { slope, offset };
};

/**
 * Class probabilities p from r[a K + b] = P(a | a or b), all K classes: the p that minimises
 * sum over pairs of (r_ba p_a - r_ab p_b)^2 (Wu, Lin and Weng 2004, algorithm 2).
 */
export const couplePairs = (r: Float64Array, classes: number): Float64Array => {
  const p = new Float64Array(classes).fill(1 / classes);
  const q = new Float64Array(classes * classes);
  for (let a = 0; a < classes; a++)
    for (let b = 0; b < classes; b++) {
      if (a === b) continue;
      q[a * classes + a] += r[b * classes + a] ** 2;
      q[a * classes + b] = -r[b * classes + a] * r[a * classes + b];
    }
  const qp = new Float64Array(classes);
  for (let iteration = 0; iteration < Math.max(100, classes); iteration++) {
    let pqp = 0;
    for (let a = 0; a < classes; a++) {
      qp[a] = 0;
      for (let b = 0; b < classes; b++) qp[a] += q[a * classes + b] * p[b];
      pqp += p[a] * qp[a];
    }
    if (qp.every((each) => Math.abs(each - pqp) < 0.005 / classes)) break;
    for (let a = 0; a < classes; a++) {
      const own = q[a * classes + a];
      const difference = (pqp - qp[a]) / own;
      p[a] += difference;
      pqp = (pqp + difference * (difference * own + 2 * qp[a])) / (1 + difference) ** 2;
      for (let b = 0; b < classes; b++) {
        qp[b] = (qp[b] + difference * q[a * classes + b]) / (1 + difference);
        p[b] /= 1 + difference;
      }
    }
  }
  return p;
};
