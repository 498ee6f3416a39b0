import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { seededStream } from "../../src/core/random.js";
import {
  calibratedGroups,
  calibrateGroups,
  groupCalibrationTexts,
  type KnownGroups,
} from "../../src/mitigation/group-calibration.js";
import { mitigationTexts } from "../../src/mitigation/groups.js";

/** People whose group goes by a hint and by how well they score, and a model that sees the hint alone, and too much in it. */
const drawn = (count: number, seed: string, exaggerated = 3, by = 1) => {
  const stream = seededStream(seed);
  const rows = Array.from({ length: count }, () => {
    const hint = stream.normal();
    const skill = stream.normal();
    const eta = 1 / (1 + Math.exp(-2 * skill));
    const second = 1 / (1 + Math.exp(-(0.5 + hint + by * 2 * skill)));
    const said = 1 / (1 + Math.exp(-exaggerated * hint));
    return { eta, said, second, group: Number(stream.uniform() < second) };
  });
  return {
    scores: rows.map(({ eta }) => eta),
    groupProbabilities: rows.flatMap(({ said }) => [1 - said, said]),
    groups: rows.map(({ group }) => group),
    seconds: rows.map(({ second }) => second),
  };
};

describe("calibrated groups", () => {
  it("are right among those with high and with low scores, with the right shares", () => {
    const calibration = calibrateGroups(drawn(4000, "calibrate"));
    const others = drawn(4000, "others");
    const p = calibratedGroups(calibration, others);
    const mean = (values: number[]) => values.reduce((sum, each) => sum + each, 0) / values.length;
    for (const among of [(eta: number) => eta > 0.7, (eta: number) => eta < 0.3, () => true]) {
      const rows = others.scores.flatMap((eta, i) => (among(eta) ? [i] : []));
      expect(mean(rows.map((i) => p[2 * i + 1]))).toBeCloseTo(mean(rows.map((i) => others.seconds[i])), 1);
    }
    // The hint counts three times as much as it should.
    expect(calibration.strength).toBeGreaterThan(0.25);
    expect(calibration.strength).toBeLessThan(0.45);
    expect(calibration.slopes[0]).toBe(0);
    expect(calibration.slopes[1]).toBeGreaterThan(0.8);
    const without = calibrateGroups(drawn(4000, "calibrate"), { byOutcome: false });
    expect(without.slopes).toEqual([0, 0]);
  });

  it("have the smallest loss: no step from it in any direction is better", () => {
    const stream = seededStream("three");
    const said = Array.from({ length: 60 }, () => {
      const [a, b] = [stream.uniform(), stream.uniform()];
      const [low, high] = [Math.min(a, b), Math.max(a, b)];
      return [low, high - low, 1 - high];
    });
    const rows: KnownGroups = {
      scores: said.map(() => stream.uniform()),
      groupProbabilities: said.flat(),
      // Now and then unknown, else as the model says.
      groups: said.map(([first, second], i) => {
        const u = stream.uniform();
        return i % 10 === 0 ? -1 : u < first ? 0 : u < first + second ? 1 : 2;
      }),
      weights: said.map(() => stream.uniform()),
    };
    const found = calibrateGroups(rows);
    const counted = Array.from(rows.groups).flatMap((g, i) => (g < 0 ? [] : [i]));
    const whole = counted.reduce((sum, i) => sum + Number(rows.weights?.[i]), 0);
    const lossAt = (strength: number, shifts: readonly number[], slopes: readonly number[]) => {
      const p = calibratedGroups({ strength, shifts, slopes }, rows);
      const fit = counted.reduce(
        (sum, i) =>
          sum - ((Number(rows.weights?.[i]) * counted.length) / whole) * Math.log(p[3 * i + rows.groups[i]]),
        0,
      );
      const squares = (values: readonly number[]) => values.reduce((sum, each) => sum + each * each, 0);
      return fit + (strength - 1) ** 2 / 2 + (0.01 * squares(shifts)) / 2 + squares(slopes) / 2;
    };
    const { strength, shifts, slopes } = found;
    expect(strength).toBeGreaterThan(0.2);
    const best = lossAt(strength, shifts, slopes);
    for (const step of [-0.01, 0.01]) {
      expect(lossAt(strength + step, shifts, slopes)).toBeGreaterThan(best);
      for (const c of [1, 2]) {
        expect(lossAt(strength, shifts.with(c, shifts[c] + step), slopes)).toBeGreaterThan(best);
        expect(lossAt(strength, shifts, slopes.with(c, slopes[c] + step))).toBeGreaterThan(best);
      }
    }
  });

  it("never take a model for one that knows the opposite", () => {
    const rows = drawn(400, "opposite");
    const turned = { ...rows, groupProbabilities: rows.groupProbabilities.map((p) => 1 - p) };
    const calibration = calibrateGroups(turned);
    expect(calibration.strength).toBe(0);
    // The rest is fitted as if there were no model of the group.
    const without = calibrateGroups({ ...rows, groupProbabilities: rows.groupProbabilities.map(() => 0.5) });
    expect(calibration.shifts[1]).toBeCloseTo(without.shifts[1], 6);
    expect(calibration.slopes[1]).toBeCloseTo(without.slopes[1], 6);
  });

  it("from others keep their slopes, and move to the shares of other rows", () => {
    const first = calibrateGroups(drawn(500, "selected"));
    // A population in which group 1 is rare.
    const rare = drawn(4000, "rare");
    const groups = rare.groups.map((group, i) => (group === 1 && i % 3 > 0 ? 0 : group));
    const again = calibrateGroups({ ...rare, groups }, { from: first });
    expect([again.strength, again.slopes]).toEqual([first.strength, first.slopes]);
    const p = calibratedGroups(again, rare);
    const share = groups.reduce((sum, each) => sum + each, 0) / groups.length;
    expect(p.filter((_, at) => at % 2 === 1).reduce((sum, each) => sum + each, 0) / 4000).toBeCloseTo(
      share,
      2,
    );
    // One row says little.
    const one = calibrateGroups(
      { scores: [0.5], groupProbabilities: [0.5, 0.5], groups: [0] },
      { from: first },
    );
    expect(Math.abs(one.shifts[1] - first.shifts[1])).toBeLessThan(0.7);
  });

  it("are probabilities, whatever the models say", () => {
    fc.assert(
      fc.property(
        fc.array(
          fc.record({
            eta: fc.double({ min: 0, max: 1, noNaN: true }),
            q: fc.double({ min: 0, max: 1, noNaN: true }),
            g: fc.integer({ min: -1, max: 1 }),
          }),
          {
            minLength: 1,
            maxLength: 30,
          },
        ),
        (given) => {
          const rows = {
            scores: given.map(({ eta }) => eta),
            groupProbabilities: given.flatMap(({ q }) => [1 - q, q]),
            groups: given.map(({ g }) => g),
          };
          if (rows.groups.every((g) => g < 0)) return;
          const p = calibratedGroups(calibrateGroups(rows), rows);
          for (let i = 0; i < given.length; i++) {
            expect(p[2 * i]).toBeGreaterThanOrEqual(0);
            expect(p[2 * i] + p[2 * i + 1]).toBeCloseTo(1, 12);
          }
        },
      ),
      { numRuns: 100, seed: 7 },
    );
  });

  it("need rows, groups and shapes that fit", () => {
    const right = { scores: [0.5], groupProbabilities: [0.5, 0.5], groups: [1] };
    expect(() => calibrateGroups({ ...right, groups: [-1] })).toThrow(groupCalibrationTexts.nobody);
    expect(() => calibrateGroups({ ...right, groups: [1, 0] })).toThrow(
      mitigationTexts.lengths("groups", 2, 1),
    );
    expect(() => calibrateGroups({ scores: [], groupProbabilities: [], groups: [] })).toThrow(
      mitigationTexts.noRows(),
    );
    const calibration = calibrateGroups(right);
    expect(() =>
      calibratedGroups(calibration, { scores: [0.5, 0.5], groupProbabilities: [1, 0, 0] }),
    ).toThrow(mitigationTexts.lengths("group probabilities", 3, 2));
  });
});
