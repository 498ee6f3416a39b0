/**
 * Losses and probabilities are those of scikit-learn 1.2.1's MLPClassifier, given the initial weights that the stream
 * draws, all rows as one batch, and epsilon 1e-10: it adds epsilon before it corrects the bias of the mean square, and
 * that is the last difference (beyond which a unit that switches on a step earlier sets the two apart for good).
 */
import { describe, expect, it } from "vitest";
import { seededStream } from "../../src/core/random.js";
import { type MlpOptions, mlp, mlpTexts } from "../../src/learners/mlp.js";
import { column, formulaLabels, formulaTable, largestDifference } from "./formula-table.js";
import { describeOneMember } from "./one-member-contract.js";

describeOneMember((options) => mlp({ epochs: 30, hidden: [10], ...options }));

/** Twelve rows of two columns. */
const features = {
  values: Float32Array.from({ length: 24 }, (_, at) => {
    const i = Math.floor(at / 2);
    return at % 2 === 0 ? ((5 * i) % 12) / 6 - 1 : ((7 * i + 3) % 11) / 5 - 1;
  }),
  rows: 12,
  columns: 2,
};
const two = Int32Array.of(0, 1, 1, 0, 1, 0, 1, 1, 0, 1, 0, 0);
const three = Int32Array.of(0, 1, 2, 0, 2, 0, 0, 2, 0, 1, 0, 1);
const plain: MlpOptions = { standardise: false, rate: 0.01, epochs: 60, tolerance: 0, patience: 1000 };

describe("the network, against scikit-learn's", () => {
  it("has its losses and probabilities of two classes, with a penalty", () => {
    const fitted = mlp({ ...plain, hidden: [8], l2: 0.1 }).fit(
      { features, labels: two, classes: 2 },
      seededStream(5),
    );
    const losses = [0, 1, 9, 59].map((epoch) => fitted.losses[epoch]);
    expect(largestDifference(losses, [0.6636184, 0.6547717, 0.5873238, 0.2786103])).toBeLessThan(2e-6);
    const theirs = [0.03298287, 0.8413592, 0.9057863, 0.1257969, 0.9430172, 0.06665453];
    expect(largestDifference(column(fitted.predict(features), 2, 1).slice(0, 6), theirs)).toBeLessThan(2e-6);
  });

  it("has its losses and probabilities of three classes, with two hidden layers", () => {
    const fitted = mlp({ ...plain, epochs: 40, hidden: [6, 5] }).fit(
      { features, labels: three, classes: 3 },
      seededStream(6),
    );
    const losses = [0, 1, 9, 39].map((epoch) => fitted.losses[epoch]);
    expect(largestDifference(losses, [1.170455, 1.149311, 1.001232, 0.588764])).toBeLessThan(2e-6);
    const theirs = [
      0.7326033, 0.1574716, 0.1099251, 0.07227769, 0.2451746, 0.6825477, 0.03649684, 0.2107883, 0.7527148,
      0.7156645, 0.165876, 0.1184595,
    ];
    expect(largestDifference(fitted.predict(features).slice(0, 12), theirs)).toBeLessThan(1e-5);
  });

  it("stops after as many epochs", () => {
    const options: MlpOptions = { standardise: false, hidden: [8], rate: 0.05, epochs: 1000 };
    const { losses } = mlp(options).fit({ features, labels: two, classes: 2 }, seededStream(5));
    expect(losses.length).toBe(116);
    expect(losses[115]).toBeCloseTo(0.00466835, 6);
  });
});

describe("the network", () => {
  const table = formulaTable(60, 97);
  const labels = formulaLabels(table, 9);
  const training = { features: table, labels, classes: 2 };

  it("does not see the units of the features, since it standardises them", () => {
    const scaled = { ...table, values: table.values.map((x, at) => (at % 4 === 1 ? 1024 * x - 4096 : x)) };
    const p = mlp({ epochs: 20 }).fit(training, seededStream(2)).predict(table);
    const q = mlp({ epochs: 20 })
      .fit({ ...training, features: scaled }, seededStream(2))
      .predict(scaled);
    expect(largestDifference(p, Array.from(q))).toBeLessThan(1e-6);
    const raw = mlp({ epochs: 20, standardise: false }).fit(training, seededStream(2)).predict(table);
    expect(largestDifference(p, Array.from(raw))).toBeGreaterThan(0.01);
  });

  it("treats a row of weight 2 as two rows where all are one batch", () => {
    const twice = Int32Array.from([...labels.keys(), ...[...labels.keys()].filter((i) => i % 3 === 0)]);
    const weights = Float64Array.from(labels.keys(), (i) => (i % 3 === 0 ? 2 : 1));
    // The penalty is by batch row, of which there are fewer.
    const learner = mlp({ epochs: 30, l2: 0 });
    const repeated = { features: table, rows: twice, labels: twice.map((i) => labels[i]), classes: 2 };
    const p = learner.fit(repeated, seededStream(4)).predict(table);
    const q = learner.fit({ ...training, weights }, seededStream(4)).predict(table);
    expect(largestDifference(p, Array.from(q))).toBeLessThan(1e-5);
  });

  it("takes mini-batches, the last one shorter, in an order that the stream draws", () => {
    const learner = mlp({ epochs: 5, batch: 25 });
    const [one, other] = [1, 2].map((seed) => learner.fit(training, seededStream(seed)).losses);
    expect(one).not.toEqual(other);
    expect(one[4]).toBeLessThan(one[0]);
  });

  it("gives the same bits on any number of threads", () => {
    const wide = {
      values: Float32Array.from({ length: 200 * 300 }, (_, at) => ((at * 7919) % 101) / 50 - 1),
      rows: 200,
      columns: 300,
    };
    const given = {
      features: wide,
      labels: Int32Array.from({ length: 200 }, (_, i) => ((i * 31) % 7) & 1),
      classes: 2,
    };
    const [one, three] = [1, 3].map((threads) =>
      mlp({ epochs: 3, threads }).fit(given, seededStream(0)).predict(wide),
    );
    expect(three).toEqual(one);
  });

  it("says that it diverged", () => {
    const huge = { ...table, values: table.values.map((x) => x * 1e30) };
    const learner = mlp({ standardise: false, rate: 1e10 });
    expect(() => learner.fit({ ...training, features: huge }, seededStream(0))).toThrow(mlpTexts.diverged(2));
  });

  it("refuses options that cannot be", () => {
    const whole = "a whole number of at least 1";
    const wrong: [MlpOptions, string][] = [
      [{ hidden: [0] }, mlpTexts.option("hidden", [0], "a list of whole numbers of at least 1")],
      [{ rate: 0 }, mlpTexts.option("rate", 0, "a positive, finite number")],
      [{ l2: -1 }, mlpTexts.option("l2", -1, "a finite number of at least 0")],
      [{ batch: 0.5 }, mlpTexts.option("batch", 0.5, whole)],
      [{ epochs: 0 }, mlpTexts.option("epochs", 0, whole)],
      [{ tolerance: Number.NaN }, mlpTexts.option("tolerance", Number.NaN, "a finite number of at least 0")],
      [{ patience: 0 }, mlpTexts.option("patience", 0, whole)],
      [{ threads: 0 }, mlpTexts.option("threads", 0, whole)],
    ];
    for (const [options, text] of wrong) expect(() => mlp(options)).toThrow(text);
  });
});

describe("rows kept aside", () => {
  const stream = seededStream("aside");
  const rows = 400;
  const features = {
    values: Float32Array.from({ length: rows * 20 }, () => stream.normal()),
    rows,
    columns: 20,
  };
  // What there is to learn is in the first column; the rest can only be learnt by heart.
  const labels = Int32Array.from({ length: rows }, (_, i) =>
    Number(features.values[20 * i] + 1.5 * stream.normal() > 0),
  );
  const training = { features, labels, classes: 2 };
  const options = { hidden: [64], rate: 0.01, epochs: 60, batch: 50, tolerance: 0, patience: 60 };

  it("end what is learnt by heart: the network is that of the best epoch", () => {
    const fresh = {
      values: Float32Array.from({ length: rows * 20 }, () => stream.normal()),
      rows,
      columns: 20,
    };
    const truth = Int32Array.from({ length: rows }, (_, i) =>
      Number(fresh.values[20 * i] + 1.5 * stream.normal() > 0),
    );
    const lossOf = (validation: number): number => {
      const said = mlp({ ...options, validation })
        .fit(training, seededStream(2))
        .predict(fresh);
      return truth.reduce((sum, label, i) => sum - Math.log(said[2 * i + label]) / rows, 0);
    };
    expect(lossOf(0)).toBeGreaterThan(1);
    expect(lossOf(0.2)).toBeLessThan(0.72);
    const { losses } = mlp({ ...options, validation: 0.2 }).fit(training, seededStream(2));
    expect(losses.indexOf(Math.min(...losses))).toBeLessThan(losses.length - 1);
  });

  it("and a gradient that is cut changes the way, not what is refused", () => {
    const [plain, cut] = [undefined, 0.01].map((clip) =>
      mlp({ ...options, epochs: 3, clip })
        .fit(training, seededStream(2))
        .predict(features),
    );
    expect(cut).not.toEqual(plain);
    expect(cut.every((p) => p >= 0 && p <= 1)).toBe(true);
    expect(() => mlp({ clip: 0 })).toThrow(mlpTexts.option("clip", 0, "a positive number"));
    expect(() => mlp({ validation: 1 })).toThrow(
      mlpTexts.option("validation", 1, "a number of at least 0 and below 1"),
    );
  });
});
