import { expect, test } from "vitest";
import { budgetTexts, withinLeakageBudget } from "../../src/design/leakage-budget.js";

/**
 * A toy with a closed form: a policy x >= 0 tells log(1 + x) nats and leaks x / 2. The best x for beta is
 * max(0, 2 / beta - 1), so a budget of eps is met with equality at x = 2 eps.
 */
const toy = (budget: number) =>
  withinLeakageBudget<number>({
    budget,
    rounds: 30,
    train: async (beta) => Math.max(0, 2 / beta - 1),
    measure: (x) => ({ target: Math.log1p(x), leakage: x / 2, standardError: 0 }),
  });

test.each([0.1, 0.5, 2])("a budget of %d nats is used up and not exceeded", async (budget) => {
  const { best, frontier } = await toy(budget);
  expect(best?.leakage).toBeLessThanOrEqual(budget);
  expect(best?.leakage).toBeGreaterThan(0.93 * budget);
  expect(frontier).toHaveLength(30);
  // Along the frontier, more weight on leakage means less of both.
  for (let i = 1; i < frontier.length; i++) {
    expect(frontier[i].leakage).toBeLessThanOrEqual(frontier[i - 1].leakage);
    expect(frontier[i].target).toBeLessThanOrEqual(frontier[i - 1].target);
  }
});

test("says when nothing keeps within the budget", async () => {
  const { best } = await withinLeakageBudget<number>({
    budget: 0.1,
    rounds: 3,
    train: async () => 1,
    measure: () => ({ target: 1, leakage: 1, standardError: 0.01 }),
  });
  expect(best).toBeUndefined();
});

test("stops between policies when it is told to", async () => {
  const stop = new AbortController();
  const trained: number[] = [];
  const search = withinLeakageBudget<number>({
    budget: 1,
    signal: stop.signal,
    train: async (_beta, _warm, round) => {
      trained.push(round);
      if (round === 2) stop.abort(new Error("enough"));
      return 1;
    },
    measure: () => ({ target: 1, leakage: 1, standardError: 0 }),
  });
  await expect(search).rejects.toThrow("enough");
  expect(trained).toEqual([0, 1, 2]);
});

test("a budget must be positive", async () => {
  await expect(toy(0)).rejects.toThrow(budgetTexts.budget(0));
});

test("what is measured within the budget is marked so, whatever its error", async () => {
  const { best, frontier } = await withinLeakageBudget<number>({
    budget: 0.3,
    rounds: 6,
    train: async (beta) => Math.max(0, 2 / beta - 1),
    // 0.29 with an error of 0.02: within, but by less than two errors.
    measure: (x) => ({ target: Math.log1p(x), leakage: Math.min(x / 2, 0.29), standardError: 0.02 }),
  });
  for (const { leakage, within } of frontier) expect({ leakage, within }).toEqual({ leakage, within: true });
  // The one that is kept is within by more than its error, where there is one.
  expect(best?.leakage).toBeLessThanOrEqual(0.26);
});

test("a policy that is within by less than its error is better than none", async () => {
  const { best } = await withinLeakageBudget<number>({
    budget: 0.3,
    rounds: 3,
    train: async (beta) => beta,
    measure: () => ({ target: 1, leakage: 0.29, standardError: 0.02 }),
  });
  expect(best).toMatchObject({ leakage: 0.29, within: true });
});
