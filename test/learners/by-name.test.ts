/** Learners by name, and their files: what is loaded answers with the same bits as what was saved. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { seededStream } from "../../src/core/random.js";
import {
  LEARNER_NAMES,
  type LearnerName,
  type LearnerOptions,
  learnerNamed,
  learnerTexts,
  loadClassifier,
  type SavedClassifier,
  saveClassifier,
} from "../../src/learners/by-name.js";
import type { FeatureMatrix } from "../../src/learners/classifier.js";
import { formulaLabels, formulaTable } from "./formula-table.js";

const FAST: { readonly [Name in LearnerName]: LearnerOptions[Name] } = {
  forest: { trees: 7 },
  logistic: { members: 5 },
  boosting: { rounds: 9 },
  mlp: { hidden: [5, 4], epochs: 6 },
  svm: {},
};
const features = formulaTable(60, 97);
const questions = formulaTable(40, 89, 1 / 32);
const twoLabels = formulaLabels(features, 9);
const threeLabels = formulaLabels(features, 6, 13);
/** Lists that are whole without their first entry, too. */
const SHORTER = ["importances", "losses", "members"];
const bits = (values: Float64Array): string =>
  Array.from(new BigUint64Array(values.buffer, values.byteOffset, values.length)).join();

const fit = (name: LearnerName, labels: Int32Array, classes: number, matrix: FeatureMatrix = features) =>
  learnerNamed(name, FAST[name]).fit({ features: matrix, labels, classes }, seededStream(1));
const through = (saved: SavedClassifier): SavedClassifier => JSON.parse(JSON.stringify(saved));

describe.each(LEARNER_NAMES)("a saved %s", (name) => {
  it.each([
    ["two classes", twoLabels, 2],
    ["three classes", threeLabels, 3],
    ["classes that did not occur", twoLabels.map((label) => 1 + 2 * label), 5],
  ] as const)("answers with the same bits after a way through JSON: %s", (_, labels, classes) => {
    const fitted = fit(name, labels, classes);
    const again = loadClassifier(through(saveClassifier(fitted)));
    expect(bits(again.predict(questions))).toBe(bits(fitted.predict(questions)));
    expect(again.predictMembers(questions)).toEqual(fitted.predictMembers(questions));
    expect([again.classes, again.members]).toEqual([fitted.classes, fitted.members]);
    expect(through(saveClassifier(again))).toEqual(through(saveClassifier(fitted)));
  });

  it("does so for any small table", () => {
    const cell = fc.oneof(
      fc.constantFrom(0, -0, 1e-40, -3e38),
      fc.float({ noNaN: true, min: -1e6, max: 1e6 }),
    );
    fc.assert(
      fc.property(fc.array(cell, { minLength: 24, maxLength: 24 }), (values) => {
        const small = { values: Float32Array.from(values), rows: 12, columns: 2 };
        const labels = Int32Array.from({ length: 12 }, (_, i) => Number(i % 3 === 0));
        // Numbers near the end of float32 make some learners' sums infinite, and those they refuse themselves.
        fc.pre(name === "forest" || name === "boosting" || values.every((value) => value > -1e7));
        const fitted = fit(name, labels, 2, small);
        const again = loadClassifier(through(saveClassifier(fitted)));
        expect(bits(again.predict(small))).toBe(bits(fitted.predict(small)));
      }),
      { numRuns: 15, seed: 2 },
    );
  });

  it("is refused where any of its parts is damaged, and never hangs", () => {
    const saved = through(saveClassifier(fit(name, threeLabels, 3))) as unknown as Record<string, unknown>;
    const refused = (damaged: Record<string, unknown>) =>
      expect(
        () => loadClassifier(damaged as unknown as SavedClassifier),
        JSON.stringify(Object.keys(damaged)),
      ).toThrow(/^this is no saved/);
    for (const key of Object.keys(saved)) {
      const { [key]: value, ...rest } = saved;
      refused(rest);
      refused({ ...saved, [key]: null });
      if (Array.isArray(value)) {
        refused({ ...saved, [key]: [...value, "x"] });
        if (!SHORTER.includes(key) && !(name === "boosting" && key === "present"))
          refused({ ...saved, [key]: value.slice(1) });
      }
    }
    refused({ ...saved, format: "fairbed-oracle-1" });
    expect(() => loadClassifier(undefined as unknown as SavedClassifier)).toThrow(learnerTexts.saved);
  });
});

describe("boosted trees whose children point back", () => {
  it("are refused instead of being walked for ever", () => {
    const saved = through(saveClassifier(fit("boosting", twoLabels, 2)));
    if (saved.format !== "fairbed-boosting-1") throw new Error("another format");
    expect(() => loadClassifier({ ...saved, left: saved.left.map(() => 0) })).toThrow(/^this is no saved/);
    expect(() => loadClassifier({ ...saved, feature: saved.feature.map((f) => (f < 0 ? f : 99)) })).toThrow();
  });
});

describe("learners by name", () => {
  it("are those that were named", () => {
    for (const name of LEARNER_NAMES) expect(learnerNamed(name).name).toBe(name);
  });

  it("are told apart from what is none, and from classifiers of other makers", () => {
    expect(() => learnerNamed("forrest" as LearnerName)).toThrow(learnerTexts.unknown("forrest", "forest"));
    const foreign = {
      classes: 2,
      members: 1,
      predict: () => new Float64Array(),
      predictMembers: () => undefined,
    };
    expect(() => saveClassifier(foreign as never)).toThrow(learnerTexts.foreign);
  });
});
