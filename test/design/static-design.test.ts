import { expect, test } from "vitest";
import { optimiseStaticDesign, staticDesignTexts } from "../../src/design/static-design.js";

test("finds a design that leaks less and is worth more than its start, by more than chance", async () => {
  const { designs, start, found } = await optimiseStaticDesign({
    horizon: 5,
    steps: 250,
    evaluations: 10,
    seed: 3,
  });
  expect(designs).toHaveLength(5);
  const error = Math.hypot(start.objective.standardError, found.objective.standardError);
  expect(found.objective.mean - start.objective.mean).toBeGreaterThan(4 * error);
  expect(found.objective.mean).toBeCloseTo(found.target.mean - 0.8 * found.leakage.mean, 6);
});

test("a seed gives the same design on any number of threads", async () => {
  const run = (threads: number, seed: number) =>
    optimiseStaticDesign({ horizon: 3, steps: 20, evaluations: 2, seed, threads });
  const [one, two, other] = [await run(1, 5), await run(2, 5), await run(2, 6)];
  expect(two).toEqual(one);
  expect(other.designs).not.toEqual(one.designs);
});

test("mistakes are named", async () => {
  await expect(optimiseStaticDesign({ horizon: 0 })).rejects.toThrow(staticDesignTexts.whole("horizon", 0));
  await expect(optimiseStaticDesign({ beta: -1 })).rejects.toThrow(staticDesignTexts.beta(-1));
});
