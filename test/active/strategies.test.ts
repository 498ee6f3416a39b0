/**
 * What every acquisition strategy must do. A new one is found here by its name in `strategies`, and fails until it has
 * an entry in CASES.
 */
import { describe, expect, test } from "vitest";
import { selectBatch } from "../../src/active/batch.js";
import { fairbedTexts, type Prediction } from "../../src/active/fairbed.js";
import { type Members, membersTexts, productMembers, takeRows } from "../../src/active/members.js";
import { minimaxTexts } from "../../src/active/minimax.js";
import {
  type AcquisitionInput,
  type JointPrediction,
  type Strategy,
  strategies,
  strategyTexts,
} from "../../src/active/strategies.js";
import { type StrategyName, strategyNames } from "../../src/active/strategy-names.js";
import { targetWeightTexts } from "../../src/active/weights.js";
import { InputError } from "../../src/core/errors.js";
import { seededStream } from "../../src/core/random.js";
import { drawMembers, drawRelated, drawVotes } from "./drawn-members.js";
import * as V from "./vectors.js";

const FAIRBED_BALD_10 = V.BALD_THETA.map((value, n) => value - 10 * [Math.LN2, Math.LN2, 0, 0][n]);

/** Two rows are labelled, with probabilities of 1/4 and 1/2, and one of each class is made up: (1 + 3/4) / 4. */
const PBAR = 1.75 / 4;
/** Of probabilities 1/2, 1/2, 0 and 1/2. */
const HALF = 0.5 * Math.log(0.5 / PBAR) + 0.5 * Math.log(0.5 / (1 - PBAR));
const SET_LEAKAGE = [HALF, HALF, -Math.log(1 - PBAR), HALF];

/** I(y_n; z_t) of the published ensemble, by its joint distribution. */
const informationOf = (n: number, t: number): number => {
  const [p, q] = [V.THETA_POOL[n], V.THETA_TARGETS[t]];
  const mean = (values: readonly number[]) => values.reduce((sum, each) => sum + each, 0) / values.length;
  const side = (values: readonly number[], c: number) => values.map((value) => (c === 1 ? value : 1 - value));
  let sum = 0;
  for (const c of [0, 1])
    for (const d of [0, 1]) {
      const joint = mean(side(p, c).map((value, k) => value * side(q, d)[k]));
      if (joint > 0) sum += joint * Math.log(joint / (mean(side(p, c)) * mean(side(q, d))));
    }
  return sum;
};

/** The scores of the published ensemble at beta = 10, from where they are given or can be written down; null if drawn. */
const CASES: Record<StrategyName, readonly number[] | null> = {
  random: null,
  entropy: V.ENTROPY_THETA,
  bald: V.BALD_THETA,
  epig: V.EPIG_THETA,
  // The least of what a candidate says of either target, each of which is of one group.
  "epig-minimax": V.THETA_POOL.map((_, n) =>
    Math.min(...V.THETA_TARGETS.map((__, t) => informationOf(n, t))),
  ),
  // Which targets there are is the step's affair: of the same ones, EPIG.
  "epig-boundary": V.EPIG_THETA,
  hfe: V.ENTROPY_THETA.map((value, n) => value - 10 * [Math.LN2, Math.LN2, 0, Math.LN2][n]),
  fairbed: V.FAIRBED_10,
  "fairbed-set": V.EPIG_THETA.map((value, n) => value - 10 * SET_LEAKAGE[n]),
  // A model of both labels whose parts are independent gives the unconditional scores (appendix C).
  "fairbed-conditional": V.FAIRBED_10,
  "fairbed-bald": FAIRBED_BALD_10,
};

const small = (): AcquisitionInput => ({
  target: { pool: V.binary(V.THETA_POOL), targets: V.binary(V.THETA_TARGETS) },
  sensitive: [
    {
      pool: V.binary(V.PHI_POOL),
      targets: V.binary(V.PHI_TARGETS),
      labelled: V.binary([
        [0.25, 0.25, 0.25, 0.25],
        [1, 1, 0, 0],
      ]),
    },
  ],
  joint: {
    pool: productMembers(V.binary(V.THETA_POOL), V.binary(V.PHI_POOL)),
    targets: productMembers(V.binary(V.THETA_TARGETS), V.binary(V.PHI_TARGETS)),
    sensitiveClasses: 2,
  },
  groups: [
    [1, 0],
    [0, 1],
  ],
  beta: 10,
  stream: seededStream(1),
});

const ROWS = 60;
const soft = (name: string): Prediction => {
  const [pool, targets, labelled] = drawRelated(seededStream(name), 12, [ROWS, 9, 7]);
  return { pool, targets, labelled };
};
const KINDS: Record<string, (name: string) => Prediction> = {
  "float32 members": soft,
  votes: (name) => {
    const stream = seededStream(name);
    return {
      pool: drawVotes(stream, ROWS, 40),
      targets: drawVotes(stream, 9, 40),
      labelled: drawVotes(stream, 7, 40),
    };
  },
  "three classes": (name) => {
    const stream = seededStream(name);
    return {
      pool: drawMembers(stream, ROWS, 8, 3),
      targets: drawMembers(stream, 9, 8, 3),
      labelled: drawMembers(stream, 7, 8, 3),
    };
  },
};
/** Of both labels, two classes each. */
const jointOf = (name: string): JointPrediction => {
  const stream = seededStream(name);
  return {
    pool: drawMembers(stream, ROWS, 8, 4),
    targets: drawMembers(stream, 9, 8, 4),
    sensitiveClasses: 2,
  };
};
/** The same input with every model's predictions changed. */
const changed = (
  { target, sensitive = [], joint, ...rest }: AcquisitionInput,
  change: <P extends Prediction>(prediction: P) => P,
): AcquisitionInput => ({
  ...rest,
  target: change(target),
  sensitive: sensitive.map(change),
  joint: joint === undefined ? undefined : change(joint),
});
const medium = (kind: (name: string) => Prediction = soft, seed = 1): AcquisitionInput => ({
  target: kind("target"),
  sensitive: [kind("first"), kind("second")],
  joint: jointOf("both"),
  groups: [1, 2].map((g) => Array.from({ length: 9 }, (_, t) => (g === 1 ? t / 9 : 1 - t / 9))),
  beta: 0.7,
  stream: seededStream(seed),
});

const without = (input: AcquisitionInput, ...names: (keyof AcquisitionInput)[]): AcquisitionInput =>
  Object.fromEntries(
    Object.entries(input).filter(([name]) => !names.some((each) => each === name)),
  ) as unknown as AcquisitionInput;

const emptied = (given: Members): Members => takeRows(given, []);

test("every strategy has a case, and no case is left over", () => {
  expect(Object.keys(CASES).sort()).toEqual([...strategyNames].sort());
});

describe.each(strategyNames)("%s", (name) => {
  const strategy: Strategy = strategies[name];
  const { uses } = strategy;
  const leaks = uses.sensitive || uses.joint;

  test("gives the known scores", () => {
    const expected = CASES[name];
    expect(expected === null).toBe(uses.stream);
    const { score } = strategy.score(small());
    expected?.forEach((value, n) => {
      expect(score[n]).toBeCloseTo(value, 9);
    });
  });

  test.each(Object.keys(KINDS))("scores %s: one finite number a candidate, made of its parts", (kind) => {
    const input = medium(KINDS[kind]);
    const { score, target, leakage } = strategy.score(input);
    expect([score.length, target.length, leakage.length]).toEqual([ROWS, ROWS, ROWS]);
    score.forEach((value, n) => {
      expect(Number.isFinite(value)).toBe(true);
      expect(value).toBeCloseTo(target[n] - (leaks ? 0.7 : 0) * leakage[n], 12);
    });
    expect(new Set(score).size).toBeGreaterThan(5);
    expect(leakage.some((value) => value !== 0)).toBe(leaks);
  });

  test("is reproducible, and draws only if it says so", () => {
    const again = strategy.score(medium());
    expect(strategy.score(medium())).toEqual(again);
    const other = strategy.score(medium(soft, 2));
    if (uses.stream) expect(other).not.toEqual(again);
    else expect(other).toEqual(again);
    if (!uses.stream) expect(strategy.score(without(medium(), "stream"))).toEqual(again);
  });

  test("changes nothing that it was given", () => {
    const input = medium();
    const before = structuredClone([input.target, input.sensitive]);
    strategy.score(input);
    expect([input.target, input.sensitive]).toEqual(before);
  });

  test("depends on the targets and the sensitive models only if it says so", () => {
    const given = medium();
    const { score } = strategy.score(given);
    const otherTargets = { ...given.target, targets: soft("other").targets };
    const otherJoint = { ...jointOf("both"), targets: jointOf("other").targets };
    const moved = strategy.score({ ...medium(), target: otherTargets, joint: otherJoint }).score;
    if (uses.targets) expect(moved).not.toEqual(score);
    else expect(moved).toEqual(score);
    const unfair = strategy.score({ ...medium(), sensitive: [soft("other")] }).score;
    if (uses.sensitive) expect(unfair).not.toEqual(score);
    else expect(unfair).toEqual(score);
    const together = strategy.score({ ...medium(), joint: jointOf("other") }).score;
    if (uses.joint) expect(together).not.toEqual(score);
    else expect(together).toEqual(score);
  });

  test("scores a candidate by itself: in any part of the pool, in any order", () => {
    if (uses.stream) return; // a drawn score has nothing to do with its candidate
    const given = medium();
    const { score } = strategy.score(given);
    const rows = [41, 3, 3, 59];
    const some = strategy.score(changed(given, (each) => ({ ...each, pool: takeRows(each.pool, rows) })));
    expect([...some.score]).toEqual(rows.map((row) => score[row]));
  });

  test("fills batches of every size, and never with what is excluded", () => {
    const parts = strategy.score(medium());
    for (const size of [1, 5, ROWS]) {
      const rows = selectBatch(parts, { size }).map(({ row }) => row);
      expect(new Set(rows).size).toBe(size);
    }
    const [best] = selectBatch(parts, { size: 1 });
    const rest = selectBatch(parts, { size: ROWS - 1, exclude: [best.row] });
    expect(rest.map(({ row }) => row)).not.toContain(best.row);
  });

  test("refuses an empty pool", () => {
    const given = changed(medium(), (each) => ({ ...each, pool: emptied(each.pool) }));
    expect(() => strategy.score(given)).toThrow(membersTexts.empty("the pool"));
  });

  test("refuses values that do not fit their sizes", () => {
    const given = changed(medium(), (each) => ({ ...each, pool: { ...each.pool, rows: ROWS + 1 } }));
    const values = uses.joint ? 32 : 24;
    const expected = membersTexts.size("the pool", ROWS * values, (ROWS + 1) * values);
    expect(() => strategy.score(given)).toThrow(expected);
  });

  /** Tests of what a strategy does not use do not exist, and are not skipped. */
  const onlyIf = (wanted: boolean, title: string, body: () => void): void => {
    if (wanted) test(title, body);
  };

  onlyIf(uses.stream, "refuses to draw without a stream", () => {
    expect(() => strategy.score(without(medium(), "stream"))).toThrow(strategyTexts.stream(name));
  });

  onlyIf(uses.targets, "refuses targets of other members, none, and weights that are none", () => {
    const given = medium();
    const score = (change: Partial<Prediction>) => () =>
      strategy.score(
        uses.joint && given.joint !== undefined
          ? { ...given, joint: { ...given.joint, ...change } }
          : { ...given, target: { ...given.target, ...change } },
      );
    const { targets } = uses.joint ? jointOf("both") : given.target;
    const other = drawMembers(seededStream(1), 3, 5, targets.classes);
    expect(score({ targets: other })).toThrow(membersTexts.members(targets.members, 5));
    expect(score({ targets: emptied(targets) })).toThrow(membersTexts.empty("the target set"));
    expect(score({ weights: [1] })).toThrow(targetWeightTexts.length(1, 9));
    expect(score({ weights: new Float64Array(9).fill(-1) })).toThrow(targetWeightTexts.value(0));
    expect(score({ weights: new Float64Array(9) })).toThrow(targetWeightTexts.sum);
  });

  onlyIf(
    uses.sensitive,
    "refuses a beta that is none, and sensitive models that are missing or of other rows",
    () => {
      const given = medium();
      for (const beta of [-1, Number.NaN, Number.POSITIVE_INFINITY]) {
        expect(() => strategy.score({ ...given, beta })).toThrow(fairbedTexts.beta(beta));
      }
      expect(() => strategy.score(without(given, "beta"))).toThrow(strategyTexts.beta(name));
      expect(() => strategy.score(without(given, "sensitive"))).toThrow(fairbedTexts.noSensitive);
      expect(() => strategy.score({ ...given, combine: "mean" as "sum" })).toThrow(
        fairbedTexts.combine("mean"),
      );
      const short = { ...soft("short"), pool: takeRows(soft("short").pool, [0, 1]) };
      expect(() => strategy.score({ ...given, sensitive: [short] })).toThrow(
        membersTexts.rows("sensitive model 1", 2, ROWS),
      );
    },
  );

  onlyIf(uses.labelled, "depends on what is labelled, and refuses to do without", () => {
    const given = medium();
    const labelled = soft("other").targets;
    const other = { ...given, sensitive: given.sensitive?.map((each) => ({ ...each, labelled })) ?? [] };
    expect(strategy.score(other).score).not.toEqual(strategy.score(given).score);
    const { labelled: _, ...alone } = soft("first");
    expect(() => strategy.score({ ...given, sensitive: [alone] })).toThrow(fairbedTexts.noLabelled);
  });

  onlyIf(uses.sensitive, "with beta = 0 is its target part, and combines leakage as it is told", () => {
    const given = medium();
    const free = strategy.score({ ...given, beta: 0 });
    expect(free.score).toEqual(free.target);
    const [sum, worst] = (["sum", "worst"] as const).map(
      (combine) => strategy.score({ ...given, combine }).leakage,
    );
    const each = (given.sensitive ?? []).map((one) => strategy.score({ ...given, sensitive: [one] }).leakage);
    sum.forEach((value, n) => {
      expect(value).toBeCloseTo(each[0][n] + each[1][n], 12);
      expect(worst[n]).toBe(Math.max(each[0][n], each[1][n]));
    });
  });

  onlyIf(uses.groups, "depends on the groups of the targets, and refuses to do without", () => {
    const given = medium();
    const { score } = strategy.score(given);
    const all = strategy.score({ ...given, groups: [new Float64Array(9).fill(1)] }).score;
    strategies.epig.score(given).score.forEach((value, n) => {
      expect(all[n]).toBeCloseTo(value, 12);
    });
    score.forEach((value, n) => {
      expect(value).toBeLessThanOrEqual(all[n] + 1e-9);
    });
    expect(score).not.toEqual(all);
    for (const groups of [[], [new Float64Array(9)]]) {
      expect(() => strategy.score({ ...given, groups })).toThrow(minimaxTexts.none);
    }
    expect(() => strategy.score({ ...given, groups: [[1]] })).toThrow(targetWeightTexts.length(1, 9));
  });

  onlyIf(uses.joint, "refuses to do without the model of both labels, or a beta", () => {
    expect(() => strategy.score(without(medium(), "joint"))).toThrow(strategyTexts.joint(name));
    expect(() => strategy.score(without(medium(), "beta"))).toThrow(strategyTexts.beta(name));
    expect(() => strategy.score({ ...medium(), beta: -1 })).toThrow(fairbedTexts.beta(-1));
  });

  test("its errors are the caller's to mend", () => {
    const given = changed(medium(), (each) => ({ ...each, pool: emptied(each.pool) }));
    expect(() => strategy.score(given)).toThrow(InputError);
  });
});
