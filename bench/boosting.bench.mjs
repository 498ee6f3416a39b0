// Gradient boosting of 39,000 rows of 388 mostly one-hot columns, two classes: 40 trees of depth 6.
import { codedTable, LEVELS, oneHot } from "./coded-table.mjs";

const rows = 39_000;
const learnt = 30_000;

export default {
  peer: "sklearn",
  threads: 2,
  settings: { levels: LEVELS, learnt },
  inputs: () => codedTable(rows, 2),
  reference: ({ labels }) => ({ labels: labels.data }),
  // Two ways to cut columns into bins give other trees, which are as right.
  agreement({ positive }, { labels }) {
    let loss = 0;
    for (let i = learnt; i < rows; i++) {
      const p = positive[i - learnt];
      loss -= Math.log(labels[i] === 1 ? p : 1 - p) / (rows - learnt);
    }
    return { ok: loss < 0.6, text: `log loss ${loss.toFixed(4)} on rows held out` };
  },
  setup({ library, inputs }) {
    const features = oneHot(inputs);
    const labels = Int32Array.from(inputs.labels.data.subarray(0, learnt));
    const learner = library.boosting({ rounds: 40, rate: 0.2, maxDepth: 6, fromShares: true });
    const own = Int32Array.from({ length: learnt }, (_, i) => i);
    const fit = () => learner.fit({ features: { ...features }, rows: own, labels, classes: 2 });
    const others = Int32Array.from({ length: rows - learnt }, (_, i) => learnt + i);
    return {
      run: fit,
      values: () => ({
        positive: fit()
          .predict(features, others)
          .filter((_, at) => at % 2 === 1),
      }),
    };
  },
};
