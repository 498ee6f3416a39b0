/** What static designs and networks have in common: checkpoints, stopping, warnings, and letting go of the thread. */
import { describe, expect, test } from "vitest";
import { add, log, mul, sub } from "../../src/compute/index.js";
import { trainDad } from "../../src/design/dad.js";
import { normal } from "../../src/design/distribution.js";
import { defineModel, type Model, real, sensitive, target } from "../../src/design/model.js";
import { identityOf } from "../../src/design/model-catalogue.js";
import { linearGaussian } from "../../src/design/models/linear-gaussian.js";
import { locationFinding } from "../../src/design/models/location.js";
import { type StaticCheckpoint, trainStatic } from "../../src/design/train-static.js";
import { TrainingError, trainTexts } from "../../src/design/training.js";

const SMALL = { horizon: 2, sizes: { outer: 10, contrastive: 10, marginal: 10 }, seed: 3 };
const NETWORK = { widths: { encoder: [4], encoding: 3, emitter: [4] } };
const parameters = { theta: target(normal(0, 1)), phi: sensitive(normal(0, 1)) };

interface Options {
  readonly [name: string]: unknown;
  readonly steps: number;
}

/** Both kinds of training, as one thing. */
const kinds = {
  static: (model: Model, options: Options) => trainStatic(model, { ...SMALL, starts: 2, ...options }),
  dad: (model: Model, options: Options) => trainDad(model, { ...SMALL, ...NETWORK, ...options }),
} as const;

const checkpointOf = async (
  train: (typeof kinds)["static" | "dad"],
  model: Model,
  steps = 6,
): Promise<unknown> => {
  let saved: unknown;
  await train(model, {
    steps,
    onProgress({ done, checkpoint }: { readonly done: number; checkpoint(): unknown }) {
      if (done === 2) saved = checkpoint();
    },
  });
  return saved;
};

describe.each(Object.entries(kinds))("%s", (kind, train) => {
  test("a checkpoint is JSON as it stands", async () => {
    const saved = await checkpointOf(train, linearGaussian());
    expect(JSON.parse(JSON.stringify(saved))).toEqual(saved);
    // Nothing that JSON would turn into null.
    expect(JSON.stringify(saved).replaceAll('"history":null', "")).not.toContain("null");
  });

  test("a checkpoint of another run is refused by what differs", async () => {
    const model = linearGaussian();
    const resume = await checkpointOf(train, model);
    const sizes = { outer: 11, contrastive: 10, marginal: 10 };
    const changes: readonly (readonly [string, Options, unknown, unknown])[] = [
      ["horizon", { steps: 6, horizon: 3 }, 2, 3],
      ["beta", { steps: 6, beta: 0.1 }, 0.8, 0.1],
      ["objective", { steps: 6, objective: "unconditional" }, "conditional", "unconditional"],
      ["seed", { steps: 6, seed: 4 }, 3, 4],
      ["sizes", { steps: 6, sizes }, SMALL.sizes, sizes],
    ];
    for (const [what, options, made, given] of changes) {
      await expect(train(model, { ...options, resume }), what).rejects.toThrow(
        trainTexts.otherSettings(what, made, given),
      );
    }
    await expect(train(linearGaussian({ noise: 2 }), { steps: 6, resume })).rejects.toThrow(
      /^the checkpoint was made with model "linear-gaussian/,
    );
    await expect(train(model, { steps: 6, resume, against: [model] })).rejects.toThrow(
      /^the checkpoint was made with against \[\] and not/,
    );
    const other = await checkpointOf(kinds[kind === "dad" ? "static" : "dad"], model);
    await expect(train(model, { steps: 6, resume: other })).rejects.toThrow(trainTexts.otherDevice("cpu"));
  });

  test("an objective that is no number stops training with the last good state", async () => {
    // Tells more the larger x is, until log(1.2 - x) is none: training walks there.
    const cliff = defineModel({
      name: "cliff",
      parameters,
      design: { x: real() },
      outcome: ({ theta, phi }, { x }) => normal(add(mul(theta, sub(3, log(sub(1.2, x)))), mul(0.1, phi)), 1),
    });
    expect(() => identityOf(cliff)).not.toThrow();
    const started = { from: undefined, start: { mean: 0, sd: 0.1 }, starts: 1 };
    const error = await train(cliff, { ...started, steps: 400, rate: 0.05, decay: false, beta: 0 }).then(
      () => undefined,
      (reason: unknown) => reason,
    );
    expect(error).toBeInstanceOf(TrainingError);
    const { message, checkpoint } = error as TrainingError<unknown>;
    expect(message).toMatch(/^training stopped at step \d+, where the (objective|gradient('s norm)?) was /);
    const text = JSON.stringify(checkpoint);
    expect(text).not.toContain("NaN");
    expect(JSON.parse(text)).toEqual(checkpoint);
    // The state can be used: training goes on from it and ends in the same way, or takes another rate.
    await expect(
      train(cliff, { ...started, steps: 400, rate: 0.05, decay: false, beta: 0, resume: checkpoint }),
    ).rejects.toThrow(message);
  });

  test("stops when it is told to, which it hears only if it lets go of the thread", async () => {
    const stop = new AbortController();
    const timer = setTimeout(() => stop.abort(new Error("enough")), 30);
    try {
      await expect(train(linearGaussian(), { steps: 1e7, starts: 1, signal: stop.signal })).rejects.toThrow(
        "enough",
      );
    } finally {
      clearTimeout(timer);
    }
  });

  test("mistakes are named before anything is computed", async () => {
    await expect(train(linearGaussian(), { steps: 0 })).rejects.toThrow(trainTexts.whole("steps", 0));
    await expect(train(linearGaussian(), { steps: 1, beta: -1 })).rejects.toThrow(trainTexts.beta(-1));
  });
});

test("static designs that are worth nothing come with a warning, others do not", async () => {
  const sizes = { outer: 40, contrastive: 100, marginal: 100 };
  const blind = defineModel({
    name: "blind",
    parameters,
    design: { x: real({ low: 0, high: 1 }) },
    outcome: ({ phi }, { x }) => normal(mul(phi, x), 1),
  });
  const nothing = await trainStatic(blind, { ...SMALL, sizes, steps: 20, starts: 1 });
  expect(nothing.warnings).toEqual([
    trainTexts.nothingReached(nothing.objective.mean, nothing.objective.standardError),
  ]);
  const found = await trainStatic(locationFinding(), { ...SMALL, sizes, steps: 40, starts: 3, beta: 0 });
  expect(found.warnings).toEqual([]);
});

test("a network that learns nothing says so, one that learns does not", async () => {
  const sizes = { outer: 40, contrastive: 100, marginal: 100 };
  const bounded = defineModel({
    name: "bounded",
    parameters,
    design: { x: real({ low: 0, high: 4 }) },
    outcome: ({ theta }, { x }) => normal(mul(theta, x), 1),
  });
  const options = { ...SMALL, ...NETWORK, sizes, steps: 100 };
  const idle = await trainDad(bounded, { ...options, rate: 1e-9 });
  expect(idle.warnings).toHaveLength(1);
  expect(idle.warnings[0]).toMatch(/^training gained -?0\.\d+ nats in 100 steps/);
  const busy = await trainDad(bounded, { ...options, rate: 0.02 });
  expect(busy.warnings).toEqual([]);
});

test("interrupted and resumed through JSON, every result is that of the whole run", async () => {
  const model = locationFinding();
  const whole = await kinds.dad(model, { steps: 12, threads: 1 });
  const resumed = await kinds.dad(model, {
    steps: 12,
    threads: 2,
    resume: JSON.parse(JSON.stringify(await checkpointOf(kinds.dad, model, 5))),
  });
  expect("network" in resumed && resumed.network).toEqual("network" in whole && whole.network);
  expect(resumed.warnings).toEqual(whole.warnings);
  // The numbers of rounds that were over before are kept too.
  let late: StaticCheckpoint | undefined;
  const options = { ...SMALL, starts: 5, steps: 12 };
  const rounds = await trainStatic(model, {
    ...options,
    onProgress({ checkpoint }) {
      late = checkpoint();
    },
  });
  expect(late?.round).toBeGreaterThan(0);
  const again = await trainStatic(model, {
    ...options,
    resume: JSON.parse(JSON.stringify(late)) as StaticCheckpoint,
  });
  expect(again).toEqual(rounds);
});
