// Rates of four groups with the gaps between them and 1000 bootstrap resamples, on 10,000 rows. What is compared
// with scikit-learn's confusion counts are the rates and gaps; the resamples, which are random, are only timed.
import { array, normals } from "./inputs.mjs";

const rows = 10_000;
const groups = 4;

/** [base, selection, TPR, FPR, precision, accuracy] from the four counts. */
const ratesOf = ([tp, fp, fn, tn]) => [
  (tp + fn) / (tp + fp + fn + tn),
  (tp + fp) / (tp + fp + fn + tn),
  tp / (tp + fn),
  fp / (fp + tn),
  tp / (tp + fp),
  (tp + tn) / (tp + fp + fn + tn),
];

const gapsOf = (rates) => {
  const columns = rates[0].map((_, k) => rates.map((each) => each[k]));
  return columns.flatMap((values) => [
    Math.max(...values) - Math.min(...values),
    Math.min(...values) / Math.max(...values),
  ]);
};

export default {
  peer: "sklearn.metrics",
  threads: 1,
  settings: { groups, replicates: 1000 },
  tolerance: 1e-12,
  inputs() {
    const normal = normals(11);
    const group = array([rows], (i) => i % groups);
    const signal = Float64Array.from({ length: rows }, (_, i) => normal() + 0.3 * group.data[i]);
    return {
      group,
      actual: array([rows], (i) => Number(signal[i] > 0.5)),
      predicted: array([rows], (i) => Number(signal[i] + 0.7 * normal() > 0.6)),
    };
  },
  reference({ group, actual, predicted }) {
    const counts = Array.from({ length: groups }, () => [0, 0, 0, 0]);
    group.data.forEach((g, i) => {
      // TP, FP, FN, TN
      const [yes, said] = [actual.data[i] === 1, predicted.data[i] === 1];
      counts[g][said ? (yes ? 0 : 1) : yes ? 2 : 3]++;
    });
    const rates = counts.map(ratesOf);
    return { rates: rates.flat(), gaps: gapsOf(rates) };
  },
  setup({ library, inputs, settings }) {
    const given = {
      groups: Int32Array.from(inputs.group.data),
      actual: Int32Array.from(inputs.actual.data),
      predicted: Int32Array.from(inputs.predicted.data),
      groupNames: Array.from({ length: groups }, (_, g) => `group ${g}`),
    };
    const names = [
      "baseRate",
      "selectionRate",
      "truePositiveRate",
      "falsePositiveRate",
      "precision",
      "accuracy",
    ];
    const run = () =>
      library.groupMetrics(given, {
        stream: library.seededStream(1),
        replicates: settings.replicates,
      });
    const values = () => {
      const metrics = run();
      return {
        rates: metrics.groups.flatMap(({ rates }) => names.map((name) => rates[name].value)),
        gaps: names.flatMap((name) => {
          const { difference, ratio } = metrics.comparisons[name];
          return [difference.value, ratio.value];
        }),
      };
    };
    return { run, values };
  },
};
