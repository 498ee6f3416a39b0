import { describe, expect, test } from "vitest";
import { type SyntheticOptions, syntheticPool, syntheticTexts } from "../../src/tables/synthetic.js";
import { defineTask } from "../../src/tables/task.js";

const entropy = (probabilities: readonly number[]): number =>
  -probabilities.reduce((sum, p) => (p > 0 ? sum + p * Math.log(p) : sum), 0);

/**
 * The joint of (x, phi, theta) written out cell by cell from the description of the pool, noise and all, and the
 * information from entropies of its margins: nothing is shared with the code under test.
 */
const enumerate = (bias: number, proxies: number, legitimate: number, noise: number) => {
  const cells: { x: string; phi: number; theta: number; p: number }[] = [];
  const levels = [...Array(proxies).fill(4), ...Array(legitimate).fill(3), ...Array(noise).fill(4)];
  const total = levels.reduce((a, b) => a * b, 1);
  for (let index = 0; index < total; index++) {
    const x: number[] = [];
    let rest = index;
    for (const count of levels) {
      x.push(rest % count);
      rest = Math.floor(rest / count);
    }
    for (const phi of [0, 1]) {
      const sign = phi === 1 ? 1 : -1;
      let p = 0.5;
      for (let j = 0; j < proxies; j++) {
        const strength = 0.9 / (1 + 0.5 * j);
        const weight = (level: number) => Math.exp(sign * strength * (level - 1.5));
        p *= weight(x[j]) / (weight(0) + weight(1) + weight(2) + weight(3));
      }
      p *= 3 ** -legitimate * 4 ** -noise;
      const merit = x
        .slice(proxies, proxies + legitimate)
        .reduce((sum, level, i) => sum + (1.5 / (1 + 0.25 * i)) * (level - 1), 0);
      const yes = 1 / (1 + Math.exp(-merit - 2 * bias * sign));
      cells.push(
        { x: x.join(), phi, theta: 1, p: p * yes },
        { x: x.join(), phi, theta: 0, p: p * (1 - yes) },
      );
    }
  }
  const H = (key: (cell: (typeof cells)[number]) => string) => {
    const margin = new Map<string, number>();
    for (const cell of cells) margin.set(key(cell), (margin.get(key(cell)) ?? 0) + cell.p);
    return entropy([...margin.values()]);
  };
  const [phi, x, theta] = [H((c) => `${c.phi}`), H((c) => c.x), H((c) => `${c.theta}`)];
  const thetaPhi = H((c) => `${c.theta} ${c.phi}`);
  return {
    unconditional: x + phi - H((c) => `${c.x} ${c.phi}`),
    conditional: H((c) => `${c.x} ${c.theta}`) + thetaPhi - H((c) => `${c.x} ${c.theta} ${c.phi}`) - theta,
    outcome: theta + phi - thetaPhi,
  };
};

describe("the leakage of a synthetic pool", () => {
  test.each<[number, number, number, number]>([
    [0.5, 2, 3, 1],
    [0, 2, 2, 0],
    [1.5, 1, 2, 1],
    [0.7, 0, 2, 1],
    [0.3, 3, 1, 0],
  ])("bias %f, %i proxies, %i merits, %i noise: as by enumeration", (bias, proxies, legitimate, noise) => {
    const { leakage } = syntheticPool({ rows: 1, bias, proxies, legitimate, noise });
    const expected = enumerate(bias, proxies, legitimate, noise);
    expect(leakage.unconditional).toBeCloseTo(expected.unconditional, 11);
    expect(leakage.conditional).toBeCloseTo(expected.conditional, 11);
    expect(leakage.outcome).toBeCloseTo(expected.outcome, 11);
  });

  test("is nothing without proxies and bias, and noise does not change it", () => {
    const none = syntheticPool({ rows: 1, bias: 0, proxies: 0 }).leakage;
    expect(none.unconditional).toBe(0);
    expect(none.conditional).toBeCloseTo(0, 14);
    expect(none.outcome).toBeCloseTo(0, 14);
    expect(syntheticPool({ rows: 1, noise: 7 }).leakage).toEqual(
      syntheticPool({ rows: 1, noise: 0 }).leakage,
    );
  });

  test("is the mean of log p(phi | x) / p(phi) over the rows that are drawn", () => {
    const { table, settings, leakage, sensitiveGivenFeatures, targetGivenFeatures } = syntheticPool({
      rows: 100_000,
      seed: 3,
    });
    const { target, sensitive } = defineTask(table, settings);
    const terms = sensitiveGivenFeatures.map((p, row) =>
      Math.log(2 * (sensitive[0].labels[row] === 1 ? p : 1 - p)),
    );
    const mean = terms.reduce((a, b) => a + b) / terms.length;
    const variance = terms.reduce((a, b) => a + (b - mean) ** 2, 0) / terms.length;
    expect(Math.abs(mean - leakage.unconditional)).toBeLessThan(5 * Math.sqrt(variance / terms.length));
    // Given x, the outcome is yes as often as it says, in every tenth of it.
    for (let tenth = 0; tenth < 10; tenth++) {
      const rows = [...targetGivenFeatures.keys()].filter(
        (row) => Math.floor(10 * targetGivenFeatures[row]) === tenth,
      );
      if (rows.length === 0) continue;
      const expected = rows.reduce((sum, row) => sum + targetGivenFeatures[row], 0);
      const seen = rows.reduce((sum, row) => sum + target.labels[row], 0);
      expect(Math.abs(seen - expected)).toBeLessThan(5 * Math.sqrt(rows.length / 4));
    }
  });
});

describe("a synthetic pool", () => {
  const pool = syntheticPool({ rows: 2000, seed: 1 });

  test("is a table with a task", () => {
    const task = defineTask(pool.table, pool.settings);
    const expected = ["proxy_1", "proxy_2", "merit_1", "merit_2", "merit_3", "noise_1", "noise_2"];
    expect(task.features).toEqual(expected);
    expect(task.target.classes).toEqual(["no", "yes"]);
    expect(task.sensitive[0].classes).toEqual(["A", "B"]);
    expect(pool.graph).toContain("group -> outcome (log-odds differ by 2)");
    expect(syntheticPool({ rows: 1, bias: 0 }).graph.join()).not.toContain("group -> outcome");
  });

  test("comes from its seed, and a larger one begins with a smaller one", () => {
    expect(syntheticPool({ rows: 2000, seed: 1 })).toEqual(pool);
    expect(syntheticPool({ rows: 2000, seed: 2 }).targetGivenFeatures).not.toEqual(pool.targetGivenFeatures);
    const larger = syntheticPool({ rows: 3000, seed: 1 });
    expect(larger.targetGivenFeatures.subarray(0, 2000)).toEqual(pool.targetGivenFeatures);
  });

  test("gives the groups the same merit and other outcomes", () => {
    const { target, sensitive } = defineTask(pool.table, pool.settings);
    const rate = (group: number) => {
      const rows = [...sensitive[0].labels.keys()].filter((row) => sensitive[0].labels[row] === group);
      return rows.reduce((sum, row) => sum + target.labels[row], 0) / rows.length;
    };
    expect(rate(1) - rate(0)).toBeGreaterThan(0.2);
  });

  test.each<[SyntheticOptions, string]>([
    [{ rows: 0 }, syntheticTexts.rows(0)],
    [{ rows: 1, bias: -1 }, syntheticTexts.bias(-1)],
    [{ rows: 1, proxies: 6 }, syntheticTexts.count("proxies", 6, 0, 5)],
    [{ rows: 1, legitimate: 0 }, syntheticTexts.count("legitimate", 0, 1, 5)],
    [{ rows: 1, noise: 0.5 }, syntheticTexts.count("noise", 0.5, 0, 1000)],
  ])("refuses %j", (options, text) => {
    expect(() => syntheticPool(options)).toThrow(text);
  });
});
