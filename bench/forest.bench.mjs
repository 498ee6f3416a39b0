// The learners' part of one step of active learning: two forests of 100 trees fitted to 400 labels, and what every
// tree of both says of 3000 pool rows. 36 features as tables have them: numbers, counts, yes or no.
import { array, normals } from "./inputs.mjs";

const rows = 3000;
const columns = 36;
const labelled = 400;

export default {
  peer: "sklearn",
  threads: 2,
  settings: { labelled },
  inputs() {
    const normal = normals(11);
    const x = array([rows, columns], (i) => {
      const kind = (i % columns) % 3;
      const z = normal();
      if (kind === 0) return Math.round(100 * z) / 10;
      return kind === 1 ? Math.floor(Math.abs(4 * z)) : Number(z > 0.5);
    });
    const says = (weights) =>
      array([rows], (i) => {
        let sum = 0.6 * normal();
        for (const [j, w, centre] of weights) sum += w * (x.data[i * columns + j] - centre);
        return Number(sum > 0);
      });
    // The second label is the harder one, as a sensitive attribute's would be.
    return {
      x,
      target: says([
        [0, 0.1, 0],
        [1, -0.3, 2.5],
        [2, 1, 0.3],
        [3, 0.08, 0],
        [4, 0.2, 2.5],
      ]),
      sensitive: says([
        [6, 0.04, 0],
        [8, 0.5, 0.3],
        [10, -0.1, 2.5],
      ]),
    };
  },
  // What the labels are: two forests of other random numbers cannot agree value by value, but in how right they are.
  reference: ({ target, sensitive }) => ({ target: target.data, sensitive: sensitive.data }),
  agreement(values, reference) {
    const accuracy = (name) => {
      let right = 0;
      for (let i = labelled; i < rows; i++)
        right += values[name][i] > 0.5 === (reference[name][i] === 1) ? 1 : 0;
      return right / (rows - labelled);
    };
    const [target, sensitive] = [accuracy("target"), accuracy("sensitive")];
    const ok = target > 0.72 && sensitive > 0.6;
    return {
      ok,
      text: `right in ${target.toFixed(3)} and ${sensitive.toFixed(3)} of the rows without label`,
    };
  },
  setup({ library, inputs, threads }) {
    const learner = library.forest({ threads });
    const features = { values: inputs.x.data, rows, columns };
    const labelledRows = Int32Array.from({ length: labelled }, (_, i) => i);
    const fit = (name, stream) =>
      learner.fit(
        { features, rows: labelledRows, labels: labelledRows.map((i) => inputs[name].data[i]), classes: 2 },
        stream.split(name),
      );
    let step = 0;
    const run = () => {
      const stream = library.seededStream(step++);
      return ["target", "sensitive"].map((name) => fit(name, stream).predictMembers(features));
    };
    const values = () => {
      const stream = library.seededStream("values");
      return Object.fromEntries(
        ["target", "sensitive"].map((name) => [
          name,
          fit(name, stream)
            .predict(features)
            .filter((_, i) => i % 2 === 1),
        ]),
      );
    };
    return { run, values };
  },
};
