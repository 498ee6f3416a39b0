/** What takes long lets go of the thread, can be stopped, says how far it is, and gives the same answer as without. */
import { describe, expect, test } from "vitest";
import type { Progress, RunOptions } from "../../src/core/options.js";
import { seededStream } from "../../src/core/random.js";
import { estimatePolicy, exactInformation } from "../../src/design/estimate.js";
import { fairness } from "../../src/design/fairness-measures.js";
import { greedyPolicy } from "../../src/design/greedy.js";
import { locationFinding } from "../../src/design/models/location.js";
import { pharmacokinetics } from "../../src/design/models/pharmacokinetics.js";
import { psychometric } from "../../src/design/models/psychometric.js";
import { checkParity } from "../../src/design/parity.js";
import { type History, type Policy, randomPolicy, staticPolicy } from "../../src/design/policy.js";
import { posteriorGiven } from "../../src/design/posterior.js";

const location = locationFinding();
const answers = psychometric();
const HORIZON = 10;
const places = staticPolicy(
  Float64Array.from({ length: 2 * HORIZON }, (_, i) => 3 + 2 * Math.sin(i)),
  2,
);
const asked: Policy = {
  kind: "dad",
  horizon: HORIZON,
  next: ({ outer, steps }) =>
    Float64Array.from({ length: 2 * outer }, (_, i) => (i % 2 === 0 ? Math.sin(steps) : 0.5)),
};
const history: History = {
  outer: 1,
  steps: 8,
  designs: Float64Array.from({ length: 16 }, (_, i) => 3 + 2 * Math.sin(i)),
  outcomes: Float64Array.from({ length: 8 }, (_, i) => Math.cos(i)),
};

/** Each takes a second or more of one core, and would hold the thread for it. */
const LONG: Readonly<Record<string, (run: RunOptions) => Promise<unknown>>> = {
  "nested sampling": (run) =>
    estimatePolicy(location, places, { stream: seededStream(1), threads: 1, batches: 1, ...run }),
  "nested sampling of designs that differ": (run) =>
    estimatePolicy(location, randomPolicy(location, HORIZON), {
      stream: seededStream(1),
      threads: 1,
      batches: 1,
      contrastive: 50_000,
      marginal: 50_000,
      ...run,
    }),
  quadrature: (run) =>
    exactInformation(pharmacokinetics(), [[1], [6]], {
      stream: seededStream(1),
      threads: 1,
      batches: 1,
      ...run,
    }),
  enumeration: (run) =>
    exactInformation(answers, asked, { stream: seededStream(1), threads: 1, exact: "enumeration", ...run }),
  "fairness under two models": (run) =>
    fairness({
      models: { one: location, other: locationFinding({ noise: 0.3 }) },
      policy: places,
      kind: "conditional",
      stream: seededStream(1),
      threads: 1,
      batches: 1,
      ...run,
    }),
  "a check of parity": (run) =>
    checkParity(location, places, { outer: 100, inner: 20_000, particles: 20_000, ...run }),
  "a posterior": (run) =>
    posteriorGiven(location, history, { particles: 30_000, stream: seededStream(1), ...run }),
  "a greedy policy": async (run) =>
    greedyPolicy(location, { horizon: HORIZON, particles: 1024 }).next(history, seededStream(1), run),
};

/** CPU time of this process in milliseconds: what others do on the machine does not count. */
const cpu = (): number => {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
};

/** The most CPU time between two turns of the event loop, and all of it, while this runs. */
const longestHold = async (work: () => Promise<unknown>): Promise<{ longest: number; total: number }> => {
  const started = cpu();
  let last = started;
  let longest = 0;
  let running = true;
  const turn = () => {
    const now = cpu();
    longest = Math.max(longest, now - last);
    last = now;
    if (running) setImmediate(turn);
  };
  setImmediate(turn);
  await work();
  running = false;
  return { longest: Math.max(longest, cpu() - last), total: cpu() - started };
};

/**
 * Far above the 50 ms that are kept to, so that the collection of garbage breaks nothing; half of all the time is allowed
 * too, since a slow machine stretches both. What does not let go at all holds the thread for nearly all of it.
 */
const MOST_MS = 250;

const plain = (value: unknown): unknown =>
  JSON.parse(
    JSON.stringify(value, (_, each) => (ArrayBuffer.isView(each) ? Array.from(each as Float64Array) : each)),
  );

describe.each(Object.keys(LONG))("%s", (name) => {
  test("never holds the thread for long, says how far it is, and gives the same with and without", async () => {
    const alone = await LONG[name]({});
    const seen: Progress[] = [];
    const watched: { answer?: unknown } = {};
    const { longest, total } = await longestHold(async () => {
      watched.answer = await LONG[name]({
        signal: new AbortController().signal,
        onProgress: (progress) => seen.push(progress),
      });
    });
    expect(plain(watched.answer)).toEqual(plain(alone));
    expect(total).toBeGreaterThan(1.2 * MOST_MS);
    expect(longest).toBeLessThan(Math.max(MOST_MS, total / 2));
    expect(seen.length).toBeGreaterThan(0);
    for (const { done, total: all } of seen) expect(done / all).toBeLessThanOrEqual(1);
  }, 60_000);

  test("stops when it is told to", async () => {
    const controller = new AbortController();
    const stopped = LONG[name]({
      signal: controller.signal,
      onProgress: () => controller.abort(new Error("enough")),
    });
    await expect(stopped).rejects.toThrow("enough");
    const before = AbortSignal.abort(new Error("before"));
    await expect(LONG[name]({ signal: before })).rejects.toThrow("before");
  }, 60_000);
});
