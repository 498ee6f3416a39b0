/** Shares of groups, the random part, reweighing and the worst of several models, in the loop and in a live session. */
import { describe, expect, test } from "vitest";
import { classBalanced, fit } from "../../src/active/pool-models.js";
import { splitRows } from "../../src/active/split.js";
import { stepTexts } from "../../src/active/step.js";
import { seededStream } from "../../src/core/random.js";
import { forest } from "../../src/learners/forest.js";
import { logistic } from "../../src/learners/logistic.js";
import { tableOf } from "../../src/tables/table-of.js";
import { acquiredShareTexts, sharesOf } from "../../src/workflows/acquired-shares.js";
import { acquisition, acquisitionTexts } from "../../src/workflows/acquisition.js";
import { estimateTexts } from "../../src/workflows/estimate-acquired.js";
import { rowSessionTexts } from "../../src/workflows/row-session.js";
import { type AcquireOptions, acquire } from "./acquire-rows.js";

/** Feature 0 decides the target; features 1 and 2 say something of one of three groups, in shares of 60, 30 and 10 %. */
const ROWS = 900;
const stream = seededStream("who is asked");
const group = Int32Array.from({ length: ROWS }, () => {
  const u = stream.uniform();
  return u < 0.6 ? 0 : u < 0.9 ? 1 : 2;
});
const values = Float32Array.from({ length: ROWS * 3 }, (_, at) => {
  const row = Math.floor(at / 3);
  return stream.normal() + (at % 3 === 0 ? 0 : group[row] === at % 3 ? 1.5 : 0);
});
const target = {
  labels: Int32Array.from(group, (_, row) => Number(values[row * 3] + 0.5 * stream.normal() > 0)),
  classes: 2,
};
const split = splitRows({ ...target, stream: seededStream("rows"), targets: 80 });
const learner = forest({ trees: 20, threads: 1 });
const unknown = new Int32Array(ROWS).fill(-1);
const base: AcquireOptions = {
  features: { values, rows: ROWS, columns: 3 },
  target,
  sensitive: [{ labels: group, classes: 3 }],
  split,
  method: "epig",
  goal: { beta: 10 },
  budget: 60,
  batch: 4,
  learner,
  sensitiveModels: [{ kind: "revealed", learner: forest({ trees: 20, minLeaf: 3, threads: 1 }) }],
  targetsPerStep: 20,
  stream: seededStream(1),
};
const countsOf = (acquired: readonly { readonly row: number }[]): number[] =>
  [0, 1, 2].map((g) => acquired.filter(({ row }) => group[row] === g).length);

describe("shares", () => {
  test.each([
    ["equal", [1, 1, 1], [20, 20, 20]],
    ["given", [0.5, 0.25, 0.25], [30, 15, 15]],
    ["with a group of none", [0.5, 0.5, 0], [30, 30, 0]],
  ])("%s are kept exactly where the groups are known", async (_, of, expected) => {
    const { acquired } = await acquire({ ...base, shares: { of, known: group } });
    expect(countsOf(acquired)).toEqual(expected);
  });

  test("of the population are counted where the groups are known", async () => {
    const shares = countsOf(Array.from(split.pool, (row) => ({ row }))).map(
      (count) => count / split.pool.length,
    );
    const { acquired } = await acquire({ ...base, shares: { of: "population", known: group } });
    countsOf(acquired).forEach((count, g) => {
      expect(Math.abs(count - 60 * shares[g])).toBeLessThan(1.5);
    });
  });

  test("come near where the group is known only afterwards: what was missed is made up for", async () => {
    const wanted = [0.4, 0.4, 0.2];
    const shares = { of: wanted, known: unknown };
    const { acquired } = await acquire({ ...base, budget: 120, shares });
    const free = await acquire({ ...base, budget: 120 });
    const distance = (counts: number[]) =>
      counts.reduce((sum, count, g) => sum + Math.abs(count - 120 * wanted[g]), 0);
    expect(distance(countsOf(acquired))).toBeLessThan(0.4 * distance(countsOf(free.acquired)));
  });

  test("of a population that is not known need a random part, and are estimated from it", async () => {
    const shares = { of: "population", known: unknown } as const;
    await expect(acquire({ ...base, shares })).rejects.toThrow(rowSessionTexts.sharesUnknown);
    const { acquired } = await acquire({ ...base, budget: 120, shares, randomPart: 0.25 });
    const drawn = countsOf(acquired.filter(({ probability }) => probability !== undefined));
    // Four rows of prior knowledge are in the estimate too.
    countsOf(acquired).forEach((count, g) => {
      expect(Math.abs(count / 120 - drawn[g] / 30)).toBeLessThan(0.1);
    });
  });

  test("a group that runs out is made up for by the others", async () => {
    const few = countsOf(Array.from(split.pool, (row) => ({ row })))[2];
    const { acquired } = await acquire({ ...base, budget: 4 * few, shares: { of: [0, 0, 1], known: group } });
    expect(countsOf(acquired)[2]).toBe(few);
    expect(acquired).toHaveLength(4 * few);
  });

  test("by name, with mistakes said", () => {
    const attribute = { name: "sex", classes: ["f", "m"] };
    expect(sharesOf("none", attribute, unknown)).toBeUndefined();
    expect(sharesOf("population", undefined, unknown)).toBeUndefined();
    expect(sharesOf("equal", attribute, unknown)?.of).toEqual([1, 1]);
    expect(sharesOf({ m: 3, f: 1 }, attribute, unknown)?.of).toEqual(Float64Array.of(0.25, 0.75));
    expect(() => sharesOf({ x: 1 }, attribute, unknown)).toThrow(acquiredShareTexts.group("x", "sex"));
    expect(() => sharesOf({ f: -1 }, attribute, unknown)).toThrow(acquiredShareTexts.share(-1));
    expect(() => sharesOf({ f: 0 }, attribute, unknown)).toThrow(acquiredShareTexts.share(0));
  });

  test("and quotas do not go together", async () => {
    const quotas = [{ group: 0, atLeast: 1 }];
    for (const more of [{ randomPart: 0.5 }, { shares: { of: [1, 1, 1], known: group } }]) {
      await expect(acquire({ ...base, groups: group, quotas, ...more })).rejects.toThrow(
        rowSessionTexts.quotas,
      );
    }
    await expect(
      acquire({ ...base, sensitive: [], sensitiveModels: [], shares: { of: [1], known: group } }),
    ).rejects.toThrow(rowSessionTexts.noGroups);
  });
});

describe("the random part", () => {
  test.each([
    [0.25, 1, 15],
    [0.25, 4, 15],
    [0.5, 5, 30],
    [1, 4, 60],
    [0, 4, 0],
  ])("of %f in batches of %i is %i of 60, evenly spread", async (randomPart, batch, expected) => {
    const { acquired } = await acquire({ ...base, batch, randomPart });
    const drawn = acquired.flatMap(({ probability }, i) => (probability === undefined ? [] : [i]));
    expect(drawn).toHaveLength(expected);
    expect(new Set(acquired.map(({ row }) => row)).size).toBe(60);
    acquired.forEach(({ rank }, i) => {
      expect(rank).toBe(i + 1);
    });
    for (const i of drawn) {
      // Each was drawn from all that were left when it was, those of its own batch before it taken off.
      expect(acquired[i].probability).toBe(1 / (split.pool.length - i));
    }
  });

  test("is drawn uniformly: over many seeds every candidate about as often", async () => {
    const few = { ...split, pool: split.pool.slice(0, 20) };
    const times = new Map<number, number>();
    const runs = 600;
    for (let seed = 0; seed < runs; seed++) {
      const { acquired } = await acquire({
        ...base,
        split: few,
        budget: 2,
        batch: 2,
        randomPart: 1,
        stream: seededStream(seed),
      });
      for (const { row } of acquired) times.set(row, (times.get(row) ?? 0) + 1);
    }
    expect(times.size).toBe(20);
    // Two of twenty: a share of 0.1, with four standard errors to each side.
    for (const count of times.values()) {
      expect(Math.abs(count / runs - 0.1)).toBeLessThan(4 * Math.sqrt((0.1 * 0.9) / runs));
    }
  });

  test("random acquisition knows its probabilities too, and a share that is none is refused", async () => {
    const { acquired } = await acquire({ ...base, method: "random", budget: 6 });
    expect(acquired.map(({ probability }) => probability)).toEqual(
      acquired.map((_, i) => 1 / (split.pool.length - i)),
    );
    for (const randomPart of [-0.1, 1.1, Number.NaN]) {
      await expect(acquire({ ...base, randomPart })).rejects.toThrow(rowSessionTexts.randomPart(randomPart));
    }
  });
});

describe("reweighing and the worst of several models", () => {
  test("reweighing changes what is asked", async () => {
    const rows = async (reweigh: boolean) =>
      (await acquire({ ...base, reweigh })).acquired.map(({ row }) => row);
    expect(await rows(true)).not.toEqual(await rows(false));
  });

  test("a class-balanced learner is the learner with rows that weigh the same in every class", () => {
    const rows = Int32Array.from(split.pool.slice(0, 60));
    const own = { features: base.features, labels: group, classes: 3, rows };
    const counts = [0, 1, 2].map((g) => rows.filter((row) => group[row] === g).length);
    const weights = Float64Array.from(group, (g) => 60 / (3 * counts[g]));
    const balanced = fit(classBalanced(learner), own, seededStream(3)).predict(base.features);
    expect(balanced).toEqual(fit(learner, { ...own, weights }, seededStream(3)).predict(base.features));
    expect(balanced).not.toEqual(fit(learner, own, seededStream(3)).predict(base.features));
  });

  test("the leakage is the largest that any model finds", async () => {
    const models = [
      { kind: "revealed", learner } as const,
      { kind: "revealed", learner: classBalanced(learner) } as const,
      { kind: "revealed", learner: logistic({ members: 20 }) } as const,
    ];
    // Enough are labelled for the models to know something, and to differ.
    const [many, rest] = [split.pool.slice(0, 60), split.pool.slice(60)];
    const first = async (sensitiveModels: AcquireOptions["sensitiveModels"], beta = 10) => {
      const { acquired } = await acquire({
        ...base,
        split: { ...split, initial: many, pool: rest },
        method: "fairbed",
        goal: { beta },
        sensitiveModels,
        budget: rest.length,
        batch: rest.length,
      });
      return new Map(acquired.map(({ row, leakage }) => [row, leakage]));
    };
    const worst = await first([{ kind: "worst", models }]);
    const alone = await first([models[0]]);
    let larger = 0;
    for (const [row, leakage] of worst) {
      expect(leakage).toBeGreaterThanOrEqual(alone.get(row) ?? Number.NaN);
      if (leakage > (alone.get(row) ?? 0)) larger += 1;
    }
    expect(larger).toBeGreaterThan(100);
    for (const [method, batchKind, text] of [
      ["hfe", "top", stepTexts.worst("hfe")],
      ["fairbed", "joint", stepTexts.worstJoint],
    ] as const) {
      const wrong = { ...base, method, batchKind, sensitiveModels: [{ kind: "worst" as const, models }] };
      await expect(acquire(wrong)).rejects.toThrow(text);
    }
  });
});

describe("a live session", () => {
  const names = ["a", "b", "c"];
  const truth = Array.from(group, (g, row) => ({
    x: values[row * 3],
    y: values[row * 3 + 1],
    z: values[row * 3 + 2],
    group: names[g],
    label: target.labels[row] === 1 ? "yes" : "no",
  }));
  const hidden = (known: number, attributes: boolean) =>
    tableOf(
      truth.map(({ label, group: own, ...features }, row) => ({
        ...features,
        group: attributes || row < known ? own : null,
        label: row < known ? label : null,
      })),
    );
  const options = {
    target: "label=yes",
    sensitive: ["group"],
    method: "epig",
    forest: { trees: 20 },
    sensitiveForest: { trees: 20, minLeaf: 3 },
    batch: 4,
    seed: 3,
  } as const;
  const answer = (session: ReturnType<typeof acquisition>, budget: number) =>
    session.run({
      budget,
      oracle: ({ row }) => ({ label: truth[row].label, sensitive: truth[row].group }),
    });

  test("keeps to the population's shares and draws a quarter by default; both can be left out", async () => {
    const session = acquisition(hidden(20, true), options);
    const asked = await session.ask(8);
    expect(asked.map(({ reason }) => reason).filter((reason) => reason === "random")).toHaveLength(2);
    expect(asked.every(({ reason, probability }) => (reason === "random") === (probability !== null))).toBe(
      true,
    );
    await answer(session, 72);
    const counts = names.map(
      (name) => session.toJSON().asked.filter(({ row }) => truth[row].group === name).length,
    );
    expect(counts.reduce((sum, count) => sum + count, 0)).toBe(72);
    const pool = names.map((name) => truth.slice(20).filter((each) => each.group === name).length / 880);
    counts.forEach((count, g) => {
      expect(Math.abs(count - 72 * pool[g])).toBeLessThan(2);
    });
    const plain = acquisition(hidden(20, true), { ...options, shares: "none", randomPart: 0 });
    expect((await plain.ask(8)).every(({ reason }) => reason === "score")).toBe(true);
  });

  test("keeps to the shares while answers are pending, and where nobody tells the group", async () => {
    const wanted = [0.6, 0.3, 0.1];
    const pending = acquisition(hidden(20, true), { ...options, batch: 1, randomPart: 0 });
    for (let i = 0; i < 40; i++) await pending.ask(1);
    const asked = pending.questions.map(({ row }) => group[row]);
    wanted.forEach((share, g) => {
      expect(Math.abs(asked.filter((each) => each === g).length - 40 * share)).toBeLessThan(3);
    });
    // The model learns elsewhere and no answer says the group: what rows are taken for is counted.
    const silent = acquisition(
      tableOf(
        truth.map(({ label, group: _, ...rest }, row) => ({ ...rest, label: row < 20 ? label : null })),
      ),
      {
        ...options,
        batch: 1,
        sensitiveModel: { pretrained: tableOf(truth) },
        sensitiveForest: { trees: 20, minLeaf: 1 },
        shares: { a: 0.5, b: 0.25, c: 0.25 },
      },
    );
    await silent.run({ budget: 40, oracle: ({ row }) => truth[row].label });
    const counts = [0, 1, 2].map(
      (g) => silent.toJSON().asked.filter(({ row, drawn }) => !drawn && group[row] === g).length,
    );
    expect(counts[1]).toBeGreaterThan(4);
    expect(counts[2]).toBeGreaterThan(4);
  });

  test("estimates do not depend on who was told unasked, refused or is pending", async () => {
    // The first feature decides, so that every model is right.
    const sure = truth.map((each, row) => ({ ...each, label: values[row * 3] > 0 ? "yes" : "no" }));
    const table = tableOf(
      sure.map(({ label, ...rest }, row) => ({
        x: rest.x > 0 ? 1 : 0,
        group: rest.group,
        label: row < 20 ? label : null,
      })),
    );
    const session = acquisition(table, { ...options, shares: "none" });
    for (let row = 700; row < 800; row++) session.tell(row, sure[row].label);
    for (let i = 0; i < 20; i++) {
      for (const candidate of await session.ask(4)) {
        const mood = candidate.reason === "random" ? 0 : candidate.rank % 3;
        if (mood === 0) session.tell(candidate, sure[candidate.row].label);
        else if (mood === 1) session.tell(candidate, "refused");
      }
    }
    const { accuracy, rows } = await session.estimate();
    expect(accuracy.value).toBe(1);
    expect(rows.unasked).toBe(100);
    expect(rows.unanswered).toBeGreaterThan(10);
  });

  test("sessions of before have neither shares nor a random part, and probabilities are a column", async () => {
    const table = hidden(20, true);
    const session = acquisition(table, options);
    await answer(session, 8);
    const saved = JSON.parse(JSON.stringify(session));
    expect([saved.options.shares, saved.options.randomPart]).toEqual(["population", 0.25]);
    const { shares: _, randomPart: __, ...older } = saved.options;
    const resumed = acquisition.resume(table, { ...saved, options: older });
    expect((await resumed.ask(8)).every(({ reason }) => reason === "score")).toBe(true);
    const column = session.table({ probability: "p" }).columns.find(({ name }) => name === "p");
    const drawn = saved.asked.filter((each: { probability?: number }) => each.probability !== undefined);
    expect(column?.kind === "numeric" && [...column.values].filter((value) => value > 0)).toHaveLength(
      drawn.length,
    );
    expect(() => session.table({ probability: "x" })).toThrow(acquisitionTexts.column("x"));
  });

  test("is resumed with the same bits, named models included", async () => {
    const table = hidden(20, false);
    const named = { ...options, method: "fairbed", sensitiveModel: ["revealed", "balanced"] } as const;
    const whole = acquisition(table, named);
    await answer(whole, 24);
    const half = acquisition(table, named);
    await answer(half, 12);
    const resumed = acquisition.resume(table, JSON.parse(JSON.stringify(half)));
    await answer(resumed, 12);
    expect(JSON.parse(JSON.stringify(resumed)).asked).toEqual(JSON.parse(JSON.stringify(whole)).asked);
  });

  test("estimates accuracy, parity and leakage for the whole pool, from what was drawn at random", async () => {
    const session = acquisition(hidden(20, false), options);
    await expect(session.estimate()).rejects.toThrow(estimateTexts.few(0));
    await answer(session, 160);
    const estimate = await session.estimate();
    expect(estimate.rows).toEqual({
      drawn: 40,
      refused: 0,
      chosen: 120,
      unanswered: 0,
      unasked: 0,
      pool: 880,
    });
    for (const each of [estimate.dpRatio, estimate.leakageAuc, estimate.leakage]) {
      expect(each).not.toBeNull();
      expect(each?.interval[0]).toBeLessThanOrEqual(each?.value ?? Number.NaN);
      expect(each?.interval[1]).toBeGreaterThanOrEqual(each?.value ?? Number.NaN);
    }
    expect(estimate.leakageAuc?.value).toBeGreaterThan(0.6);
    expect(await session.estimate()).toEqual(estimate);
  });

  test("estimates accuracy without bias, though most labels were chosen for being hard", async () => {
    const errors: number[] = [];
    for (let seed = 0; seed < 12; seed++) {
      const session = acquisition(hidden(20, false), { ...options, seed });
      await answer(session, 80);
      const { accuracy } = await session.estimate();
      const labelled = new Set([...Array(20).keys(), ...session.toJSON().asked.map(({ row }) => row)]);
      const others = Int32Array.from({ length: ROWS }, (_, row) => row).filter((row) => !labelled.has(row));
      const rows = Int32Array.from(labelled);
      const said = fit(learner, { features: base.features, ...target, rows }, seededStream(9)).predict(
        base.features,
        others,
      );
      const right = others.filter((row, i) => Number(said[2 * i + 1] > 0.5) === target.labels[row]).length;
      errors.push(accuracy.value - right / others.length);
    }
    const mean = errors.reduce((sum, each) => sum + each, 0) / errors.length;
    const spread = Math.sqrt(errors.reduce((sum, each) => sum + (each - mean) ** 2, 0) / 11 / 12);
    expect(Math.abs(mean)).toBeLessThan(3 * spread + 0.01);
    expect(spread).toBeLessThan(0.05);
  });

  test("shares without a sensitive column are refused", () => {
    expect(() =>
      acquisition(hidden(20, true), { target: "label=yes", method: "epig", shares: "equal" }),
    ).toThrow(rowSessionTexts.noGroups);
  });
});
