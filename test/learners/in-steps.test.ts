/** Learning and predicting in pieces gives what doing it at once gives, and can be stopped in between. */
import { describe, expect, test, vi } from "vitest";
import { paced, unpaced } from "../../src/core/options.js";
import { seededStream } from "../../src/core/random.js";
import { lookup } from "../../src/fairness/leakage/lookup.js";
import { boosting } from "../../src/learners/boosting.js";
import { saveClassifier } from "../../src/learners/by-name.js";
import type { Learner } from "../../src/learners/classifier.js";
import { forestWorkspace } from "../../src/learners/forest/workspace.js";
import { forest } from "../../src/learners/forest.js";
import { fitInSteps, PieceSize, predictInSteps } from "../../src/learners/in-steps.js";
import { logistic } from "../../src/learners/logistic.js";
import { mlp } from "../../src/learners/mlp.js";
import { svm } from "../../src/learners/svm.js";
import { formulaLabels, formulaTable } from "./formula-table.js";

const LEARNERS: readonly Learner[] = [
  forest({ trees: 20, threads: 2 }),
  logistic({ members: 5 }),
  logistic({ members: 3, ensemble: "bootstrap" }),
  boosting({ rounds: 5 }),
  mlp({ hidden: [8], epochs: 5, threads: 2 }),
  svm(),
  lookup(),
];

const features = formulaTable(600, 97);
const labels = formulaLabels(features, 9);
const training = { features, labels, classes: 2 };

/** Walks a generator, doing something else after every piece; also how many pieces there were. */
const walk = <Result>(steps: Generator<unknown, Result>, between: () => void): [Result, number] => {
  for (let pieces = 1; ; pieces++) {
    const { done, value } = steps.next();
    if (done === true) return [value, pieces];
    between();
  }
};

describe.each(LEARNERS.map((learner) => [learner.name, learner] as const))(
  "%s in pieces",
  (name, learner) => {
    const whole = learner.fit(training, seededStream(3));
    const answers = whole.predict(features);

    test("is the same as at once, whatever else happens in between", () => {
      const other = formulaTable(900, 13);
      let turns = 0;
      const disturb = () => {
        // Others allocate, fit and predict while this one waits.
        if (turns++ % 16 === 0)
          forest({ trees: 3, threads: 2 }).fit(
            { features: other, labels: formulaLabels(other, 2), classes: 2 },
            seededStream(1),
          );
      };
      const [fitted, pieces] = walk(fitInSteps(learner, training, seededStream(3)), disturb);
      expect(pieces).toBeGreaterThan(1);
      expect(fitted.predict(features)).toEqual(answers);
      if (name !== "lookup") expect(saveClassifier(fitted)).toEqual(saveClassifier(whole));
      const [predicted] = walk(predictInSteps(fitted, features), disturb);
      expect(predicted).toEqual(answers);
    });

    test("predicts the rows that are named, in their order", () => {
      const rows = Int32Array.from({ length: 700 }, (_, i) => (i * 37) % 600);
      expect(unpaced(predictInSteps(whole, features, rows))).toEqual(whole.predict(features, rows));
    });

    test("is heard when it is stopped, and gives back what it holds", async () => {
      const { workspace } = forestWorkspace(2);
      const size = 1000;
      const addresses = () => {
        const address = workspace.allocate(size);
        workspace.release(address);
        return address;
      };
      const before = addresses();
      let pauses = 0;
      const stop = {
        pause: async () => {
          if (++pauses === 1) throw new Error("stopped");
        },
      };
      await expect(paced(fitInSteps(learner, training, seededStream(3)), stop)).rejects.toThrow("stopped");
      expect(addresses()).toBe(before);
    });
  },
);

test("a learner that knows no pieces is one", () => {
  const { name, fit } = logistic({ members: 2 });
  const [fitted, pieces] = walk(fitInSteps({ name, fit }, training, seededStream(0)), () => {});
  expect(pieces).toBe(1);
  expect(fitted.predict(features)).toEqual(fit(training, seededStream(0)).predict(features));
});

test("pieces grow while they are quick and shrink where they are slow", () => {
  let time = 0;
  const clock = vi.spyOn(performance, "now").mockImplementation(() => time);
  try {
    const size = new PieceSize(4);
    expect(size.next()).toBe(4);
    time += 1;
    size.done();
    expect(size.next()).toBe(8);
    time += 40;
    size.done();
    expect(size.next()).toBe(4);
    time += 40;
    size.done();
    expect(size.next()).toBe(4);
  } finally {
    clock.mockRestore();
  }
});
