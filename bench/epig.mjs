// EPIG of a pool of 20,000 candidates with 1,000 targets and 100 members of two classes: the same for votes
// (epig-bits) and for probabilities (epig-dense). Inputs are P(class 1) of every member, [rows, members].
import { array, normals } from "./inputs.mjs";

const ROWS = 20_000;
export const TARGETS = 1_000;
export const MEMBERS = 100;

/** Log odds a_n + u_n f_k + noise: the members' features f are what candidates and targets share. */
export function epigInputs(seed, probability, rows = ROWS) {
  const normal = normals(seed);
  const features = Float64Array.from({ length: MEMBERS }, normal);
  const members = (count) => {
    let [offset, slope] = [0, 0];
    return array([count, MEMBERS], (i) => {
      if (i % MEMBERS === 0) [offset, slope] = [1.5 * normal(), normal()];
      return probability(offset + slope * features[i % MEMBERS] + normal());
    });
  };
  return { pool: members(rows), targets: members(TARGETS) };
}

const xlogx = (x) => (x > 0 ? x * Math.log(x) : 0);
const entropy = (p) => -xlogx(p) - xlogx(1 - p);

/** H[p] + mean_t (H[q] - H[J]) in plain float64 loops. */
export function epigReference({ pool, targets }) {
  const mean = (data, row) => {
    let sum = 0;
    for (let k = 0; k < MEMBERS; k++) sum += data[row * MEMBERS + k];
    return sum / MEMBERS;
  };
  const q = Float64Array.from({ length: TARGETS }, (_, t) => mean(targets.data, t));
  const epig = new Float64Array(ROWS);
  const [left, right] = [Float64Array.from(pool.data), Float64Array.from(targets.data)];
  for (let n = 0; n < ROWS; n++) {
    const p = mean(pool.data, n);
    let sum = 0;
    for (let t = 0; t < TARGETS; t++) {
      let both = 0;
      for (let k = 0; k < MEMBERS; k++) both += left[n * MEMBERS + k] * right[t * MEMBERS + k];
      both /= MEMBERS;
      sum += entropy(q[t]) + xlogx(both) + xlogx(p - both) + xlogx(q[t] - both) + xlogx(1 - p - q[t] + both);
    }
    epig[n] = entropy(p) + sum / TARGETS;
  }
  return { epig };
}

/** Our side, given how members are made of an input. */
export const epigSetup =
  (membersOf) =>
  ({ library, inputs, threads }) => {
    const workspace = new library.Workspace({ threads });
    const [pool, targets] = [inputs.pool, inputs.targets].map(membersOf);
    const run = () => library.epig(pool, targets, { workspace });
    return { run, values: () => ({ epig: run() }), dispose: () => workspace.dispose() };
  };
