// A whole acquisition on the students table: 3000 candidates, two forests of 100 trees refitted at every label, their
// members on every candidate, FairBED-EPIG with 100 targets, 400 labels. Run once: it takes minutes in scikit-learn.
import { acquire } from "./acquire.mjs";
import { tables } from "./learners-data.mjs";

const POOL = 3000;
const CHECKED = { labels: 50, error: 0.08 };

const numbers = (data) => ({ shape: [data.length], data: Float32Array.from(data) });

export default {
  peer: "sklearn",
  threads: 2,
  once: true,
  settings: { labels: 400, check: CHECKED.labels, targets: 100, beta: 10 },
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
  reference: () => ({ accuracy: [0.76] }),
  /** The two draw different trees: their accuracies agree within what 50 labels leave open. */
  agreement: ({ accuracy }, reference) => ({
    ok: Math.abs(accuracy[0] - reference.accuracy[0]) < CHECKED.error,
    text: `accuracy ${accuracy[0].toFixed(3)} after ${CHECKED.labels} labels`,
  }),
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
    const run = (budget) =>
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
        stream: seededStream(0),
      });
    return {
      run: () => run(settings.labels),
      async values() {
        const { acquired } = await run(settings.check);
        const labelled = Int32Array.from([...split.initial, ...acquired.map(({ row }) => row)]);
        const labels = labelled.map((row) => target.labels[row]);
        const fitted = learner.fit({ features, rows: labelled, labels, classes: 2 }, seededStream(1));
        const p = fitted.predict(features, split.test);
        const right = split.test.filter((row, i) => Number(p[2 * i + 1] > 0.5) === target.labels[row]);
        return { accuracy: [right.length / split.test.length] };
      },
    };
  },
};
