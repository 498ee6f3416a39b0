// A whole acquisition on the students table: 3000 candidates, two forests of 100 trees refitted at every label, their
// members on every candidate, FairBED-EPIG with 100 targets, 400 labels. Run once: it takes minutes in scikit-learn.
import { acquire } from "./acquire.mjs";
import { agreesInMean } from "./agreement.mjs";
import { tables } from "./learners-data.mjs";

const POOL = 3000;
/** Accuracies are compared after so many labels, over so many seeds: ours take a second each, scikit-learn's half a minute. */
const CHECKED = { labels: 50, seeds: 32, peerSeeds: 4 };
/** Accuracy after the checked labels in scikit-learn 1.2.1: `node bench/students-accuracy.mjs`. */
const REFERENCE = { seeds: 40, mean: 0.7309, sd: 0.0542 };

const numbers = (data) => ({ shape: [data.length], data: Float32Array.from(data) });

export default {
  peer: "sklearn",
  threads: 2,
  once: true,
  settings: { labels: 400, checked: CHECKED, targets: 100, beta: 10 },
  inputs() {
    const { features, labels, sensitive } = tables.students();
    // Every row has its place by a fixed mixing of its number: no two sides need the same random numbers.
    const order = Array.from({ length: features.rows }, (_, row) => row).sort(
      (a, b) => ((a * 7919) % features.rows) - ((b * 7919) % features.rows),
    );
    const initial = [0, 1].flatMap((c) => order.filter((row) => labels[row] === c).slice(0, 2));
    const rest = order.filter((row) => !initial.includes(row));
    return {
      x: { shape: [features.rows, features.columns], data: features.values },
      target: numbers(labels),
      sensitive: numbers(sensitive),
      initial: numbers(initial),
      pool: numbers(rest.slice(0, POOL)),
      targets: numbers(rest.slice(POOL, POOL + 200)),
      test: numbers(rest.slice(POOL + 200)),
    };
  },
  reference: () => REFERENCE,
  /** The two draw different trees, and after so few labels one run says little: their means are compared. */
  agreement: agreesInMean("accuracy"),
  setup({ library, inputs, settings, threads }) {
    const { forest, seededStream } = library;
    const [rows, columns] = inputs.x.shape;
    const features = { values: inputs.x.data, rows, columns };
    const ints = (name) => Int32Array.from(inputs[name].data);
    const label = (name) => ({ labels: ints(name), classes: 2 });
    const learner = forest({ threads });
    const target = label("target");
    const split = {
      initial: ints("initial"),
      pool: ints("pool").sort(),
      targets: ints("targets"),
      test: ints("test"),
    };
    const run = (budget, seed) =>
      acquire(library, {
        features,
        target,
        sensitive: [label("sensitive")],
        split,
        method: "fairbed",
        goal: { beta: settings.beta },
        budget,
        learner,
        sensitiveModels: [{ kind: "revealed", learner }],
        targetsPerStep: settings.targets,
        stream: seededStream(seed),
      });
    const accuracy = async (seed) => {
      const { acquired } = await run(settings.checked.labels, seed);
      const labelled = Int32Array.from([...split.initial, ...acquired.map(({ row }) => row)]);
      const labels = labelled.map((row) => target.labels[row]);
      const fitted = learner.fit(
        { features, rows: labelled, labels, classes: 2 },
        seededStream(seed).split("checked"),
      );
      const p = fitted.predict(features, split.test);
      const right = split.test.filter((row, i) => Number(p[2 * i + 1] > 0.5) === target.labels[row]);
      return right.length / split.test.length;
    };
    return {
      run: () => run(settings.labels, 0),
      async values() {
        const accuracies = [];
        for (let seed = 0; seed < settings.checked.seeds; seed++) accuracies.push(await accuracy(seed));
        return { accuracy: accuracies };
      },
    };
  },
};
