import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { locationFinding } from "../../src/design/models/location.js";
import { bestPolicies } from "../../src/reproduce/best-policies.js";
import type { DesignCell, DesignResult } from "../../src/reproduce/cell.js";
import { cellKey } from "../../src/reproduce/cell.js";
import { describeCell } from "../../src/reproduce/describe-cell.js";
import { runCell } from "../../src/reproduce/run-cell.js";
import { ResultStore } from "../../src/reproduce/store.js";
import { evaluatePolicy } from "../../src/workflows/evaluate-policy.js";
import { trainPolicy } from "../../src/workflows/train-policy.js";

const folder = mkdtempSync(join(tmpdir(), "fairbed-best-"));
afterAll(() => rmSync(folder, { recursive: true }));

const FULL = { quick: false };
const own = (bestPolicies.cells(FULL) as readonly DesignCell[]).filter(({ bestStatic }) => bestStatic);
const cellOf = (policy: string, beta: number, seed = 0): DesignCell => {
  const found = own.find((cell) => cell.policy === policy && cell.beta === beta && cell.seed === seed);
  if (found === undefined) throw new Error(`no ${policy} at ${beta}`);
  return found;
};

const SMALL: DesignCell = {
  ...cellOf("dad", 0.8),
  horizon: 2,
  bestStatic: { starts: 2, steps: 20 },
  training: { steps: 20, outer: 20, contrastive: 40, marginal: 40 },
  evaluation: { outer: 50, batches: 2, inner: 0, exact: true },
};

const resultOf = (objective: number, objectiveError: number): DesignResult => ({
  target: [1.1, 1.3],
  sensitive: [0.3, 0.4],
  sensitiveGivenTarget: [0.4, 0.5],
  joint: [1.5, 1.8],
  objective,
  objectiveError,
});

test("what a network gains over the static designs it started from is said with its interval", () => {
  const store = ResultStore.open(join(folder, "gains.jsonl"));
  store.append(cellOf("static", 0), resultOf(1.9, 0.03), 1);
  store.append(cellOf("dad", 0), resultOf(2.3, 0.04), 1);
  store.append(cellOf("static", 2), resultOf(0.2, 0.003), 1);
  store.append(cellOf("dad", 2), resultOf(0.202, 0.004), 1);
  store.append(cellOf("static", 1), resultOf(0.2, 0.003), 1);
  const { findings = [], measured } = bestPolicies.draw(store, FULL);
  // 0.4 and 0.002, with errors of 0.05 and 0.005 by Pythagoras, and 1.96 of them to each side.
  expect(findings).toEqual([
    "beta 0: DAD gains: DAD less the static designs that it started from is 0.400 nats of R_c (95 % interval 0.302 to 0.498, 1 seed)",
    "beta 2: no difference can be told from noise: DAD less the static designs that it started from is 0.002 nats of R_c (95 % interval -0.008 to 0.012, 1 seed)",
  ]);
  const [target] = measured.filter(({ row, column }) => /DAD.*beta 0$/.test(row) && /theta \(/.test(column));
  // The middle of an interval, which is 1.96 errors to each side.
  expect(target.ours.mean).toBeCloseTo(1.2, 10);
  expect(target.ours.standardError).toBeCloseTo(0.1 / 1.96, 4);
});

test("several seeds are a mean over them", () => {
  const store = ResultStore.open(join(folder, "seeds.jsonl"));
  for (const [seed, gain] of [0.1, 0.2, 0.3].entries()) {
    store.append(cellOf("static", 0.8, seed), resultOf(0.7, 0.005), 1);
    store.append(cellOf("dad", 0.8, seed), resultOf(0.7 + gain, 0.005), 1);
  }
  const [all, gains] = bestPolicies.draw(store, FULL).findings ?? [];
  // Student's t with two degrees of freedom is 4.303, and the standard error 0.1 / sqrt(3).
  expect(gains).toContain("is 0.200 nats of R_c (95 % interval -0.048 to 0.448, 3 seeds)");
  expect(all).toBe("R_c at beta 0.8, in nats: static, best found 0.700 ± 0.000; DAD from it 0.900 ± 0.058");
});

test("a cell is static training and then a network from it, evaluated exactly", async () => {
  const { objective, objectiveError, target } = await runCell(SMALL, { threads: 1 });
  const model = locationFinding();
  const { bestStatic, training, evaluation } = SMALL;
  const { steps, outer, contrastive, marginal } = training;
  const common = { horizon: 2, beta: 0.8, seed: 0, sizes: { outer, contrastive, marginal } };
  const fixed = await trainPolicy(model, { ...common, ...bestStatic, evaluation: false });
  if (fixed.kind !== "static") throw new Error("not static");
  const policy = await trainPolicy(model, { ...common, kind: "dad", start: fixed, steps, evaluation: false });
  const report = await evaluatePolicy(model, policy, {
    ...{ exact: true, outer: evaluation.outer, batches: evaluation.batches, seed: 0 },
  });
  expect(target).toEqual([report.target.lower, report.target.upper]);
  const { lower, upper, standardError } = report.objectives.conditional;
  expect(objective).toBe((lower + upper) / 2);
  expect(objectiveError).toBe(standardError);
});

test("results keep the objective in their table, and cells without the search their keys", async () => {
  const store = ResultStore.open(join(folder, "table.jsonl"));
  const [fixed, adaptive] = [cellOf("static", 0.8), cellOf("dad", 0.8)];
  store.append(adaptive, resultOf(0.95, 0.005), 1);
  for (const [name, text] of store.tables([adaptive])) writeFileSync(join(folder, name), text);
  expect(ResultStore.read(folder).get(adaptive)).toEqual(resultOf(0.95, 0.005));
  const { bestStatic: _, ...without } = fixed;
  expect(cellKey({ ...without, bestStatic: undefined })).toBe(cellKey(without));
  expect(cellKey(fixed)).not.toBe(cellKey(without));
  expect([fixed, adaptive, without].map((cell) => describeCell(cell))).toEqual([
    "location static conditional beta 0.8 T 10, best found",
    "location dad conditional beta 0.8 T 10, from the best static",
    "location static conditional beta 0.8 T 10",
  ]);
});
