/** The fair rule chosen from acquired labels: what it reaches on a known population, and what it may not read. */
import { describe, expect, it } from "vitest";
import { type RandomStream, seededStream } from "../../src/core/random.js";
import type { Classifier, FeatureMatrix, Learner } from "../../src/learners/classifier.js";
import { forest } from "../../src/learners/forest.js";
import { logistic } from "../../src/learners/logistic.js";
import { trainingTexts } from "../../src/learners/training.js";
import { applyFairRule, fitFairRule } from "../../src/mitigation/fair-rule.js";
import {
  type RuleCounting,
  type TuneRuleOptions,
  tuneRule,
  tuneRuleTexts,
} from "../../src/workflows/tune-rule.js";
import { bestRandomised, judge, type Kind } from "../mitigation/small-population.js";

/** How many people of each kind, P(y = 1 | kind) and P(group 1 | kind), which is P(group 1 | kind, y = 1), too. */
const KINDS: readonly Kind[] = [
  { mass: 2, eta: 0.95, second: 0.05 },
  { mass: 1, eta: 0.9, second: 0.3 },
  { mass: 2, eta: 0.81, second: 0.1 },
  { mass: 1, eta: 0.74, second: 0.4 },
  { mass: 2, eta: 0.66, second: 0.15 },
  { mass: 2, eta: 0.58, second: 0.55 },
  { mass: 2, eta: 0.47, second: 0.85 },
  { mass: 1, eta: 0.42, second: 0.35 },
  { mass: 2, eta: 0.36, second: 0.8 },
  { mass: 2, eta: 0.27, second: 0.7 },
  { mass: 1, eta: 0.15, second: 0.9 },
  { mass: 2, eta: 0.05, second: 0.75 },
];
const MASS = 20;

/** Rows whose features are their kind, one-hot; every kind as often as its mass says. */
const population = (count: number, stream: RandomStream) => {
  const kinds = Int32Array.from({ length: count }, (_, row) => {
    let left = ((row % MASS) * 7) % MASS;
    let kind = 0;
    while (left >= KINDS[kind].mass) left -= KINDS[kind++].mass;
    return kind;
  });
  const values = new Float32Array(count * KINDS.length);
  kinds.forEach((kind, row) => {
    values[row * KINDS.length + kind] = 1;
  });
  const features: FeatureMatrix = { values, rows: count, columns: KINDS.length };
  return {
    kinds,
    features,
    target: { labels: kinds.map((kind) => Number(stream.uniform() < KINDS[kind].eta)), classes: 2 },
    sensitive: { labels: kinds.map((kind) => Number(stream.uniform() < KINDS[kind].second)), classes: 2 },
  };
};

/** Says of each kind what it is told, whatever it is given to learn from. */
const oracle = (chance: (kind: Kind) => number): Learner => ({
  name: "oracle",
  fit: (): Classifier => {
    const predict = ({ values, columns, rows }: FeatureMatrix, wanted?: Int32Array) => {
      const all = wanted ?? Int32Array.from({ length: rows }, (_, row) => row);
      return Float64Array.from(
        Array.from(all, (row) => {
          const p = chance(KINDS[values.subarray(row * columns, (row + 1) * columns).indexOf(1)]);
          return [1 - p, p];
        }).flat(),
      );
    };
    const predictMembers = (features: FeatureMatrix, wanted?: Int32Array) => {
      const values = Float32Array.from(predict(features, wanted));
      return { kind: "dense" as const, rows: values.length / 2, members: 1, classes: 2, values };
    };
    return { classes: 2, members: 1, predict, predictMembers };
  },
});

const upTo = (from: number, to: number) => Int32Array.from({ length: to - from }, (_, i) => from + i);
const setting = (count: number, labels: number, seed = "tune") => {
  const made = population(count, seededStream(seed));
  const labelled = upTo(0, labels);
  return {
    ...made,
    labelled,
    representative: { rows: labelled },
    unlabelled: upTo(labels, count),
    learner: oracle(({ eta }) => eta),
    sensitiveLearner: oracle(({ second }) => second),
    stream: seededStream(3),
  };
};
/** What a rule decides of each kind, judged on the exact population. */
const onKinds = (
  { kinds }: { readonly kinds: Int32Array },
  decide: (rows: Int32Array) => Int32Array,
  metric: "dp" | "eopp",
) => {
  const first = Int32Array.from(KINDS, (_, kind) => kinds.indexOf(kind));
  const { accuracy, rates } = judge(KINDS, [...decide(first)], metric);
  return { accuracy, ratio: Math.min(...rates) / Math.max(...rates) };
};
const WAYS: readonly RuleCounting[] = ["soft", "true", "both"];

describe.each(["dp", "eopp"] as const)("a population that is known, %s", (metric) => {
  const level = 0.8;

  it.each(["soft", "both"] as const)(
    "gets the best rule of all from its exact probabilities, %s",
    async (by) => {
      const given = setting(6000, 2000);
      const { decide, rule, chosenOn } = await tuneRule({ ...given, metric, level, by });
      expect(chosenOn.by).toBe(by);
      expect(chosenOn.unlabelled).toEqual(given.unlabelled);
      expect(rule.level).toBe(level);
      const reached = onKinds(given, decide, metric);
      // The best classifier that decides by no coin and is about as fair: what is drawn differs a little from the kinds.
      const best = bestRandomised(KINDS, level, metric).accuracy;
      expect(reached.ratio).toBeGreaterThan(level - 0.06);
      expect(reached.accuracy).toBeGreaterThan(best - 0.03);
      const plain = judge(
        KINDS,
        KINDS.map(({ eta }) => Number(eta > 0.5)),
        metric,
      );
      expect(Math.min(...plain.rates) / Math.max(...plain.rates)).toBeLessThan(level - 0.15);
      expect(rule.interval[0]).toBeLessThan(rule.ratio);
    },
  );

  it("is reached by a model of the group that is far too timid and takes one group for the rarer", async () => {
    const odds = (p: number) => (p / (1 - p)) ** 0.4 / 2;
    const wrong = oracle(({ second }) => odds(second) / (1 + odds(second)));
    const given = { ...setting(6000, 2000), sensitiveLearner: wrong };
    const tuned = await tuneRule({ ...given, metric, level, by: "soft" });
    // Right up to what is counted: 2000 rows to calibrate on.
    const shown = tuned.blindRows(Int32Array.from(KINDS, (_, kind) => given.kinds.indexOf(kind)));
    KINDS.forEach(({ second }, kind) => {
      expect(Math.abs(shown.groupProbabilities[2 * kind + 1] - second)).toBeLessThan(0.15);
    });
    expect(onKinds(given, tuned.decide, metric).ratio).toBeGreaterThan(level - 0.06);
    // Believed as it is, that model leads to a rule that is not fair.
    const classifier = wrong.fit({ ...given, labels: given.target.labels, classes: 2 }, seededStream(0));
    const believed = {
      scores: shown.scores,
      groupProbabilities: classifier.predict(
        given.features,
        Int32Array.from(KINDS, (_, kind) => given.kinds.indexOf(kind)),
      ),
      weights: KINDS.map(({ mass }) => mass),
    };
    const blindly = await fitFairRule(believed, { metric, level, replicates: 0 });
    const { rates } = judge(KINDS, [...applyFairRule(blindly, believed)], metric);
    expect(Math.min(...rates) / Math.max(...rates)).toBeLessThan(level);
  });
});

describe("what is read", () => {
  const real = (options: Partial<TuneRuleOptions> = {}) => {
    const given = setting(400, 160, "read");
    return {
      ...given,
      learner: forest({ trees: 15, threads: 1 }),
      sensitiveLearner: forest({ trees: 15, threads: 1 }),
      folds: 3,
      ...options,
    };
  };
  const plainOf = async (options: TuneRuleOptions) => {
    const { rule, groupModel, chosenOn, decide } = await tuneRule(options);
    return JSON.stringify([rule, groupModel.calibration, chosenOn.by, [...decide(upTo(0, 400))]]);
  };
  const without = (
    { labels, classes }: { readonly labels: Int32Array; readonly classes: number },
    from: number,
  ) => ({
    labels: labels.map((label, row) => (row < from ? label : -1)),
    classes,
  });

  it.each(WAYS)("is nothing of unlabelled rows but their features, %s", async (by) => {
    for (const metric of ["dp", "eopp"] as const) {
      const given = real({ by, metric });
      const { target, sensitive } = given;
      const blind = { ...given, target: without(target, 160), sensitive: without(sensitive, 160) };
      expect(await plainOf(blind)).toBe(await plainOf(given));
    }
  });

  it("is the group of unlabelled rows where the caller says that it may be, and their label never", async () => {
    const given = real({ attributesKnown: true });
    const { target, sensitive } = given;
    const found = await plainOf(given);
    expect(found).toContain('"attributes"');
    expect(await plainOf({ ...given, target: without(target, 160) })).toBe(found);
    const other = {
      ...sensitive,
      labels: sensitive.labels.map((label, row) => (row < 160 ? label : 1 - label)),
    };
    expect(await plainOf({ ...given, sensitive: other })).not.toBe(found);
    // Some are unknown: the others are counted.
    const some = {
      ...sensitive,
      labels: sensitive.labels.map((label, row) => (row % 3 === 0 && row >= 160 ? -1 : label)),
    };
    const { chosenOn } = await tuneRule({ ...given, sensitive: some });
    expect(chosenOn.unlabelled).toHaveLength(160);
  });

  it("is the same for the same stream, and each option matters", async () => {
    const given = real({ by: "both" });
    const found = await plainOf(given);
    expect(await plainOf(given)).toBe(found);
    const representative = {
      rows: upTo(0, 40),
      weights: Float64Array.from({ length: 40 }, (_, i) => 1 + (i % 5)),
    };
    const weights = Float64Array.from({ length: 400 }, (_, row) => 1 + (row % 3));
    for (const other of [
      { stream: seededStream(4) },
      { by: "soft" as const },
      { by: "true" as const },
      { metric: "eopp" as const },
      { level: 0.95 },
      { selectionRate: 0.3 },
      { folds: 5 },
      { reweighed: true },
      { weights },
      { representative: { rows: representative.rows } },
      { representative },
      { unlabelled: upTo(160, 300) },
      { attributesKnown: true },
      { judged: upTo(0, 80) },
      { replicates: 50, by: "soft" as const },
    ])
      expect(await plainOf({ ...given, ...other })).not.toBe(found);
    const drawn = await plainOf({ ...given, representative: { rows: representative.rows } });
    expect(await plainOf({ ...given, representative })).not.toBe(drawn);
  });

  it("are those labelled rows alone that a step before has not seen, where that is said", async () => {
    const judged = upTo(20, 90);
    for (const by of WAYS) {
      const { chosenOn } = await tuneRule(real({ by, judged, unlabelled: undefined }));
      expect(chosenOn.labelled).toEqual(judged);
    }
    // Outcomes and groups of the others are learnt from, and no more.
    const given = real({
      judged,
      learner: oracle(({ eta }) => eta),
      sensitiveLearner: oracle(({ second }) => second),
    });
    const others = {
      ...given.sensitive,
      labels: given.sensitive.labels.map((g, row) => (row < 20 ? 1 - g : g)),
    };
    const strength = async (options: TuneRuleOptions) =>
      (await tuneRule(options)).groupModel.calibration.strength;
    // Up to the order of the folds.
    expect(await strength({ ...given, sensitive: others })).toBeCloseTo(await strength(given), 12);
    expect(await strength({ ...given, judged: undefined })).not.toBeCloseTo(await strength(given), 3);
  });

  it("are rows that no model which judged them has learnt from", async () => {
    const fitted: Int32Array[] = [];
    const asked: [Int32Array, Int32Array][] = [];
    const watched = (learner: Learner): Learner => ({
      name: "watched",
      fit(training, stream) {
        const rows = training.rows ?? new Int32Array(0);
        fitted.push(rows);
        const made = learner.fit(training, stream);
        return {
          classes: made.classes,
          members: made.members,
          predictMembers: (features, wanted) => made.predictMembers(features, wanted),
          predict(features, wanted = new Int32Array(0)) {
            asked.push([rows, wanted]);
            return made.predict(features, wanted);
          },
        };
      },
    });
    for (const options of [
      { by: "soft" as const },
      { by: "true" as const },
      { by: "both" as const },
      { attributesKnown: true },
    ]) {
      const given = real(options);
      await tuneRule({
        ...given,
        learner: watched(given.learner),
        sensitiveLearner: watched(given.sensitiveLearner),
      });
    }
    expect(asked.length).toBeGreaterThan(20);
    for (const [learnt, wanted] of asked) {
      const seen = new Set(learnt);
      expect([...wanted].filter((row) => seen.has(row))).toEqual([]);
    }
  });
});

describe("selected labels", () => {
  it("lead to the level by what a random part of them says", async () => {
    // Labels of those whose group the model is surest of, nearly all of one group, and a hundred at random.
    const given = setting(8000, 0, "selected");
    const { kinds, sensitive } = given;
    const random = upTo(0, 300);
    const chosen = upTo(300, 8000)
      .filter((row) => kinds[row] >= 3 && sensitive.labels[row] === 1)
      .subarray(0, 400);
    const labelled = Int32Array.from([...random, ...chosen]).sort();
    const isLabelled = new Set(labelled);
    const own = { ...given, labelled, unlabelled: upTo(0, 8000).filter((row) => !isLabelled.has(row)) };
    const learnt = { ...own, learner: logistic(), sensitiveLearner: logistic() };
    const tuned = await tuneRule({ ...learnt, representative: { rows: random } });
    expect(onKinds(given, tuned.decide, "dp").ratio).toBeGreaterThan(0.7);
    // The share of the groups is that of the population, not that of the labels.
    const share = KINDS.reduce((sum, { mass, second }) => sum + mass * second, 0) / MASS;
    expect(Math.abs(tuned.rule.shares[1] - share)).toBeLessThan(0.07);
    const untold = await tuneRule({ ...learnt, representative: undefined });
    expect(untold.rule.shares[1]).toBeGreaterThan(share + 0.05);
  });
});

describe("several groups, and some that are not known", () => {
  it("are brought together", async () => {
    const count = 3000;
    const stream = seededStream("three");
    const groups = Int32Array.from({ length: count }, (_, row) => (row % 11 === 0 ? -1 : stream.integer(3)));
    const values = new Float32Array(count * 2);
    const labels = new Int32Array(count);
    for (let row = 0; row < count; row++) {
      const group = groups[row] < 0 ? stream.integer(3) : groups[row];
      const skill = stream.normal() + 0.5 * group;
      values[2 * row] = skill;
      values[2 * row + 1] = 2 * group + stream.normal();
      labels[row] = Number(stream.uniform() < 1 / (1 + Math.exp(-2 * (skill - 0.5))));
    }
    const given = {
      features: { values, rows: count, columns: 2 },
      target: { labels, classes: 2 },
      sensitive: { labels: groups, classes: 3 },
      labelled: upTo(0, 600),
      representative: { rows: upTo(0, 600) },
      unlabelled: upTo(600, 1800),
      learner: logistic(),
      sensitiveLearner: logistic(),
      folds: 4,
      stream: seededStream(1),
    };
    const test = upTo(1800, count);
    const ratioOf = (decided: ArrayLike<number>) => {
      const rates = [0, 1, 2].map((g) => {
        const own = Array.from(test.keys()).filter((i) => groups[test[i]] === g);
        return own.reduce((sum, i) => sum + decided[i], 0) / own.length;
      });
      return Math.min(...rates) / Math.max(...rates);
    };
    for (const by of WAYS) {
      const { decide, blindRows, rule } = await tuneRule({ ...given, by });
      const plain = Array.from(blindRows(test).scores, (score) => Number(score > 0.5));
      expect(rule.shares).toHaveLength(3);
      expect(ratioOf(plain)).toBeLessThan(0.65);
      expect(Math.abs(ratioOf(decide(test)) - 0.8)).toBeLessThan(0.15);
    }
  });
});

describe("what cannot be done", () => {
  const given = setting(400, 120, "cannot");

  it("is done as far as it can be, with a sentence", async () => {
    const none = new Int32Array(0);
    // Predicted groups of the labelled rows, by models that had not seen them.
    const byLabels = await tuneRule({ ...given, unlabelled: none, by: "soft" });
    expect(byLabels.chosenOn).toMatchObject({ by: "soft", labelled: given.labelled, representative: true });
    expect(byLabels.warnings).not.toContain(tuneRuleTexts.notRandom);
    const untold = await tuneRule({ ...given, unlabelled: none, representative: undefined });
    expect(untold.warnings).toContain(tuneRuleTexts.notRandom);
    const corrected = await tuneRule({ ...given, unlabelled: none, by: "both" });
    expect(corrected.chosenOn).toMatchObject({ by: "both", labelled: given.labelled, unlabelled: none });
    const selected = await tuneRule({ ...given, representative: undefined, by: "both" });
    expect(selected.chosenOn).toMatchObject({ by: "soft", representative: false });
    expect(selected.warnings).toContain(tuneRuleTexts.notCorrected);
    const all = await tuneRule({ ...given, representative: { rows: none }, by: "true" });
    expect(all.chosenOn).toMatchObject({ by: "true", representative: false, labelled: given.labelled });
    expect(all.warnings).toContain(tuneRuleTexts.notRandom);
    const { labels } = given.target;
    const favourable = { rows: given.labelled.filter((row) => labels[row] === 1) };
    const few = await tuneRule({ ...given, representative: favourable, by: "both" });
    expect(few.chosenOn.by).toBe("soft");
    expect(few.warnings).toContain(tuneRuleTexts.fewKnown);
    // Without unlabelled rows there are all labelled ones to choose on.
    const alone = await tuneRule({ ...given, representative: favourable, unlabelled: none, by: "true" });
    expect(alone.chosenOn).toMatchObject({ by: "soft", representative: false, labelled: given.labelled });
  });

  it("is the plain rule where there is one group only", async () => {
    const one = { labels: given.sensitive.labels.map(() => 1), classes: 2 };
    const tuned = await tuneRule({ ...given, sensitive: one, sensitiveLearner: logistic() });
    expect(tuned.groupModel).toMatchObject({ classifier: undefined, only: 1, groups: 2 });
    expect(tuned.warnings).toContain(tuneRuleTexts.oneGroup);
    const unknown = { labels: given.sensitive.labels.map(() => -1), classes: 2 };
    const blind = await tuneRule({ ...given, sensitive: unknown, sensitiveLearner: logistic() });
    expect(blind.warnings).toContain(tuneRuleTexts.oneGroup);
  });

  it("is refused in one sentence where nothing can be", async () => {
    const fails = async (options: Partial<TuneRuleOptions>, text: string) =>
      expect(tuneRule({ ...given, ...options })).rejects.toThrow(text);
    await fails({ target: { ...given.target, classes: 3 } }, tuneRuleTexts.classes(3));
    await fails({ folds: 1 }, tuneRuleTexts.folds(1));
    await fails({ by: "hard" as "soft" }, tuneRuleTexts.by("hard"));
    await fails(
      { learner: logistic(), target: { labels: given.target.labels.map(() => 1), classes: 2 } },
      trainingTexts.oneClass(120),
    );
    const stop = new AbortController();
    stop.abort(new Error("enough"));
    await expect(tuneRule({ ...given, signal: stop.signal })).rejects.toThrow("enough");
  });
});
