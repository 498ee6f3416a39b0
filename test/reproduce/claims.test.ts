import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, describe, expect, test } from "vitest";
import { acquireCell, betasOf, EPIG, fairbed, hfe, RANDOM } from "../../src/reproduce/acquisition-lines.js";
import type { DesignCell, Metrics } from "../../src/reproduce/cell.js";
import { checkClaim, type Expected, judgeClaim, paired } from "../../src/reproduce/claim-verdict.js";
import { claims } from "../../src/reproduce/claims.js";
import { drawingOf } from "../../src/reproduce/reproduction.js";
import { ResultStore } from "../../src/reproduce/store.js";
import { meanOverSeeds } from "../../src/reproduce/verdict.js";

const folder = mkdtempSync(join(tmpdir(), "fairbed-claims-"));
afterAll(() => rmSync(folder, { recursive: true }));

describe("a claim", () => {
  // Mean 2, standard deviation 0.1; Student's t for two degrees of freedom is 4.302653: 2 ± 0.2484.
  const above = meanOverSeeds([2, 2.1, 1.9]);
  const below = meanOverSeeds([-2, -2.1, -1.9]);
  // 2 ± 2.484.
  const unclear = meanOverSeeds([1, 2, 3]);

  test.each<[Expected, string, string, string]>([
    ["more", "holds", "does not hold", "undecided"],
    ["less", "does not hold", "holds", "undecided"],
  ])("of %s is judged by the side of zero that the interval is on", (expected, up, down, across) => {
    expect([above, below, unclear].map((each) => judgeClaim(expected, each))).toEqual([up, down, across]);
  });

  test("of as much is judged by the margin that the interval is within", () => {
    for (const difference of [above, below]) {
      expect(judgeClaim("as much", difference, 2.25)).toBe("holds");
      expect(judgeClaim("as much", difference, 2.24)).toBe("undecided");
      expect(judgeClaim("as much", difference, 1.76)).toBe("undecided");
      expect(judgeClaim("as much", difference, 1.75)).toBe("does not hold");
    }
    expect(judgeClaim("as much", unclear, 2)).toBe("undecided");
  });

  test("has no verdict with fewer than two seeds", () => {
    expect(judgeClaim("more", undefined)).toBe("not run");
    expect(judgeClaim("as much", meanOverSeeds([1]))).toBe("not run");
  });

  test("is of the differences of seeds that have both numbers", () => {
    expect(paired([1, 2, undefined, 4], [0.5, undefined, 3, 1])).toEqual([0.5, undefined, undefined, 3]);
    const [check] = checkClaim("a claim", "a section", [
      {
        compared: "a less b",
        measure: "c",
        expected: "more",
        difference: paired([1, 2, 3], [0, 0, undefined]),
      },
    ]);
    expect(check).toMatchObject({ difference: { mean: 1.5, n: 2 }, otherFeatures: false, besides: false });
  });
});

describe("the paper's claims", () => {
  const SCALE = { quick: false, seeds: 3 };

  test("are differences of stored results, seed by seed", () => {
    const store = ResultStore.open(join(folder, "differences.jsonl"));
    const put = (task: "census" | "celeba", line: typeof RANDOM, metrics: readonly Metrics[]) =>
      metrics.forEach((each, seed) => {
        const labels = task === "celeba" ? 300 : 400;
        const result = { labelled: [], checkpoints: [{ labels, metrics: each }] };
        store.append(acquireCell(task, line, seed, SCALE), result, 1);
      });
    const parities = (...values: readonly number[]) => values.map((dpRatio) => ({ dpRatio }));
    put("census", fairbed(10), parities(0.5, 0.6, 0.7));
    put("census", RANDOM, parities(0.4, 0.45, 0.65));
    put("census", hfe(10), parities(0.6, 0.7, 0.801));
    put("celeba", fairbed(10), parities(0.5, 0.6, 0.7));
    put("celeba", RANDOM, parities(0.4, 0.5, 0.601));
    const found = (drawingOf(claims, store, SCALE).claims ?? []).filter(
      ({ difference, measure }) => difference !== null && measure === "DP ratio",
    );
    expect(found.map(({ compared, verdict, otherFeatures }) => [compared, verdict, otherFeatures])).toEqual([
      // 0.1, 0.15, 0.05: 0.1 ± 4.302653 x 0.05 / sqrt(3).
      ["Census: FairBED-EPIG, beta 10, less Random", "undecided", false],
      ["Census: FairBED-EPIG, beta 10, less HFE", "does not hold", false],
      ["CelebA: FairBED-EPIG, beta 10, less Random", "holds", true],
    ]);
    expect(found[0].difference?.mean).toBeCloseTo(0.1, 12);
    expect(found[0].difference?.interval?.[0]).toBeCloseTo(0.1 - 0.124207, 5);
  });

  test("of a front are at the accuracy of what it is compared with", () => {
    const store = ResultStore.open(join(folder, "front.jsonl"));
    const put = (line: typeof RANDOM, accuracy: number, sensitiveAccuracy: number) => {
      for (const seed of [0, 1, 2]) {
        const checkpoints = [{ labels: 400, metrics: { accuracy, sensitiveAccuracy } }];
        store.append(acquireCell("students", line, seed, SCALE), { labelled: [], checkpoints }, 1);
      }
    };
    put(RANDOM, 0.8, 0.7);
    put(EPIG, 0.9, 0.72);
    // Halfway between 0.9 and 0.7 there is 0.8, with (0.72 + 0.6) / 2 = 0.66.
    for (const beta of betasOf(SCALE)) put(fairbed(beta), 0.7, 0.6);
    const [front] = (drawingOf(claims, store, SCALE).claims ?? []).filter(
      ({ measure, difference }) => difference !== null && measure === "sensitive accuracy, lower by",
    );
    expect(front.difference?.mean).toBeCloseTo(0.04, 12);
    expect(front.verdict).toBe("holds");
  });

  test("of location finding are shares of what the same seed has without a cost", () => {
    const store = ResultStore.open(join(folder, "location.jsonl"));
    const cells = claims.cells(SCALE).filter((cell): cell is DesignCell => cell.kind === "design");
    const put = (beta: number, target: number, sensitive: number) => {
      for (const cell of cells) {
        const { policy, objective, horizon } = cell;
        if (policy !== "static" || objective !== "conditional" || horizon !== 10 || cell.beta !== beta)
          continue;
        const own = { target: [target, target], sensitive: [sensitive, sensitive] } as const;
        store.append(cell, { ...own, sensitiveGivenTarget: [1, 1], joint: [1, 1] }, 1);
      }
    };
    put(0, 2, 1);
    put(2, 1, 0.03);
    put(10, 0.2, 0.2);
    const of = (measure: string) =>
      (drawingOf(claims, store, SCALE).claims ?? [])
        .filter((each) => each.difference !== null && each.measure === measure)
        .map(({ difference, verdict }) => [difference?.mean.toFixed(3), verdict]);
    expect(of("share left of EIG_phi at beta 0")).toEqual([
      ["0.010", "holds"],
      ["0.180", "does not hold"],
    ]);
    expect(of("share left of EIG_theta at beta 0")).toEqual([
      ["0.250", "holds"],
      ["-0.150", "does not hold"],
    ]);
  });

  test("have all their numbers in the results that ship with fairbed", () => {
    const shipped = ResultStore.read(fileURLToPath(new URL("../../results", import.meta.url)));
    const all = drawingOf(claims, shipped, { quick: false }).claims ?? [];
    expect(all.filter(({ verdict }) => verdict === "not run")).toEqual([]);
    // 5 seeds on CelebA, 8 elsewhere.
    for (const { difference, otherFeatures } of all) expect(difference?.n).toBe(otherFeatures ? 5 : 8);
  });

  test("have no verdict in the quick protocol, nor without results", () => {
    const empty = ResultStore.open(join(folder, "empty.jsonl"));
    for (const quick of [false, true]) {
      const all = drawingOf(claims, empty, { quick }).claims ?? [];
      expect(all.length).toBeGreaterThan(50);
      expect(all.filter(({ verdict }) => verdict !== "not run")).toEqual([]);
    }
  });
});
