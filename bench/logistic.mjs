// Logistic regression with C = 1 behind a StandardScaler: fitted to all rows. That both sides seek the same weights is
// checked on the first rows, where each is asked for its most exact answer: the objective's gradient there is 0.
import { COLUMNS, codedTable, LEVELS, oneHot } from "./coded-table.mjs";

const CHECKED = 4000;

/** The largest entry of the mean gradient at the weights [vectors, columns + 1], by plain loops. */
function gradientAt({ values }, labels, classes, weights) {
  const width = COLUMNS + 1;
  const vectors = classes === 2 ? 1 : classes;
  const means = new Float64Array(COLUMNS);
  const scales = new Float64Array(COLUMNS);
  for (let i = 0; i < CHECKED; i++)
    for (let j = 0; j < COLUMNS; j++) means[j] += values[i * COLUMNS + j] / CHECKED;
  for (let i = 0; i < CHECKED; i++)
    for (let j = 0; j < COLUMNS; j++) scales[j] += (values[i * COLUMNS + j] - means[j]) ** 2 / CHECKED;
  for (let j = 0; j < COLUMNS; j++) scales[j] = Math.sqrt(scales[j]) || 1;
  const gradient = Float64Array.from(weights, (w, at) => (at % width === COLUMNS ? 0 : w));
  const x = new Float64Array(width).fill(1);
  for (let i = 0; i < CHECKED; i++) {
    for (let j = 0; j < COLUMNS; j++) x[j] = (values[i * COLUMNS + j] - means[j]) / scales[j];
    const logits = Array.from({ length: vectors }, (_, k) =>
      x.reduce((s, v, j) => s + v * weights[k * width + j], 0),
    );
    const all = vectors === 1 ? [0, logits[0]] : logits;
    const total = all.reduce((sum, each) => sum + Math.exp(each), 0);
    for (let k = 0; k < vectors; k++) {
      const c = k + classes - vectors;
      const residual = Math.exp(all[c]) / total - Number(labels[i] === c);
      for (let j = 0; j < width; j++) gradient[k * width + j] += residual * x[j];
    }
  }
  return gradient.reduce((most, each) => Math.max(most, Math.abs(each)), 0) / CHECKED;
}

export function logisticBench({ rows, classes, sparse = false }) {
  let table;
  return {
    peer: "sklearn",
    peerBench: "logistic",
    threads: 2,
    settings: { classes, sparse, levels: LEVELS, checked: CHECKED },
    inputs: () => codedTable(rows, classes),
    reference(inputs) {
      table = { features: oneHot(inputs), labels: Int32Array.from(inputs.labels.data) };
      return {};
    },
    agreement({ weights }) {
      const gradient = gradientAt(table.features, table.labels, classes, weights);
      return { ok: gradient < 1e-5, text: `mean gradient ${gradient.toExponential(1)}` };
    },
    setup({ library }) {
      const { features, labels } = table;
      const learner = library.logistic({ ensemble: "mode" });
      // A matrix of its own for every run: what is derived from one is kept with it.
      const fit = (count) =>
        learner.fit(
          {
            features: { ...features },
            rows: Int32Array.from({ length: count }, (_, i) => i),
            labels: labels.subarray(0, count),
            classes,
          },
          library.seededStream(0),
        );
      return { run: () => fit(rows), values: () => ({ weights: fit(CHECKED).parameters.mode }) };
    },
  };
}
