import { describe, expect, test } from "vitest";
import { seededStream } from "../../src/core/random.js";
import { forest } from "../../src/learners/forest.js";
import { fitEncoder } from "../../src/tables/encoder.js";
import { syntheticPool } from "../../src/tables/synthetic.js";
import { columnNamed, selectRows, type Table } from "../../src/tables/table.js";
import { tableOf, toRecords } from "../../src/tables/table-of.js";
import {
  type AcquisitionOptions,
  type AcquisitionSession,
  acquisition,
  acquisitionTexts,
  type SavedAcquisition,
} from "../../src/workflows/acquisition.js";
import { candidateTexts } from "../../src/workflows/acquisition-candidates.js";
import { planTexts } from "../../src/workflows/acquisition-plan.js";
import { predict } from "../../src/workflows/predict.js";
import { rowSessionTexts } from "../../src/workflows/row-session.js";
import { toldLogTexts } from "../../src/workflows/told-log.js";
import { toldTexts } from "../../src/workflows/told-values.js";

/** All labels, and the same table with those of the first rows only. */
const truth = toRecords(syntheticPool({ rows: 240, seed: 3, bias: 1 }).table);
const KNOWN = 12;
const hidden = (known = KNOWN, change: (record: (typeof truth)[number], i: number) => object = () => ({})) =>
  tableOf(
    truth.map((record, i) => ({
      ...record,
      outcome: i < known ? record.outcome : null,
      person: `p${i}`,
      ...change(record, i),
    })),
  );
const table = hidden();
const quick = { forest: { trees: 15, threads: 1 }, sensitiveForest: { trees: 15, threads: 1, minLeaf: 3 } };
const options: AcquisitionOptions = {
  ...quick,
  target: "outcome=yes",
  sensitive: ["group=B"],
  id: "person",
  seed: 4,
};
const outcomeOf = (row: number) => String(truth[row].outcome);
const labelOf = ({ row }: { row: number }) => outcomeOf(row);
const again = (session: AcquisitionSession): SavedAcquisition => JSON.parse(JSON.stringify(session));
const rowsOf = (given: readonly { row: number }[]) => given.map(({ row }) => row);

describe("a live acquisition", () => {
  test("asks rows without a label, with their ids, their features and why", async () => {
    const session = acquisition(table, options);
    expect([session.labelled, session.pending, session.pool]).toEqual([KNOWN, 0, 240 - KNOWN]);
    const asked = await session.ask(3);
    expect(new Set(rowsOf(asked)).size).toBe(3);
    for (const [i, { id, row, score, target, leakage, cost, rank, values }] of asked.entries()) {
      expect(id).toBe(`p${row}`);
      expect(row).toBeGreaterThanOrEqual(KNOWN);
      expect(score).toBeCloseTo(Number(target) - 10 * Number(leakage), 12);
      expect([cost, rank]).toEqual([0, i + 1]);
      expect(values.merit_1).toBe(truth[row].merit_1);
      expect(Object.keys(values)).not.toContain("group");
      expect(Object.keys(values)).not.toContain("outcome");
    }
    expect([session.labelled, session.pending, session.pool]).toEqual([KNOWN, 3, 240 - KNOWN - 3]);
    expect(session.questions).toEqual(asked);
    // Pending ones are not asked again.
    expect(rowsOf(await session.ask(3))).not.toEqual(expect.arrayContaining(rowsOf(asked)));
  });

  test("takes answers by candidate, id or row, in any order, and corrects them", async () => {
    const session = acquisition(table, options);
    const [first, second, third] = await session.ask(3);
    session.tell(third.id, labelOf(third));
    session.tell(second, "refused");
    session.tell(first, "no");
    expect([session.labelled, session.pending]).toEqual([KNOWN + 2, 0]);
    session.tell(first, "yes");
    expect(session.labelled).toBe(KNOWN + 2);
    const column = columnNamed(session.table(), "outcome");
    const cell = (row: number) =>
      column.kind === "categorical" ? column.levels[column.codes[row]] : undefined;
    expect([cell(first.row), cell(second.row), cell(third.row)]).toEqual(["yes", undefined, labelOf(third)]);
    // A label that nobody asked for, and one that is taken back.
    session.tell("p200", outcomeOf(200));
    session.tell("p0", "refused");
    expect(session.labelled).toBe(KNOWN + 2);
    session.tell(second, "yes");
    expect(session.labelled).toBe(KNOWN + 3);
    const numbered = acquisition(table, { ...options, id: undefined, exclude: ["person"] });
    const [one] = await numbered.ask(1);
    expect(one.id).toBe(one.row);
    numbered.tell(String(one.id), "yes");
    expect(numbered.pending).toBe(0);
  });

  test("a correction changes what is asked next", async () => {
    const next = async (label: string) => {
      const session = acquisition(table, options);
      for (const each of await session.ask(4)) session.tell(each, "no");
      for (const row of [0, 1, 2, 3]) session.tell(`p${row}`, label);
      return rowsOf(await session.ask(4));
    };
    expect(await next("yes")).not.toEqual(await next("no"));
  });

  test("whoever refused is never asked again, however long it goes on", async () => {
    const small = selectRows(
      table,
      Array.from({ length: 40 }, (_, i) => i),
    );
    const session = acquisition(small, options);
    const refused = rowsOf(await session.ask(5));
    for (const row of refused) session.tell(`p${row}`, "refused");
    const asked: number[] = [];
    while (session.pool > 0) {
      for (const each of await session.ask(4)) {
        asked.push(each.row);
        session.tell(each, labelOf(each));
      }
    }
    expect(asked.filter((row) => refused.includes(row))).toEqual([]);
    expect(session.labelled).toBe(35);
    await expect(session.ask(1)).rejects.toThrow(rowSessionTexts.none(35, 5));
  });

  test("with all that is left pending there is nobody to ask, and that is no error", async () => {
    const small = selectRows(
      table,
      Array.from({ length: 16 }, (_, i) => i),
    );
    const session = acquisition(small, options);
    expect(await session.ask(99)).toHaveLength(4);
    expect(await session.ask(1)).toEqual([]);
  });

  test("two questions at once are about different people, and answers meanwhile do not change them", async () => {
    const session = acquisition(table, options);
    const [a, b] = [session.ask(3), session.ask(3)];
    session.tell("p100", outcomeOf(100));
    const rows = [...rowsOf(await a), ...rowsOf(await b)];
    expect(new Set(rows).size).toBe(6);
  });

  test("the seed decides, and nothing else", async () => {
    const ask = async (seed: number) => rowsOf(await acquisition(table, { ...options, seed }).ask(6));
    expect(await ask(4)).toEqual(await ask(4));
    expect(await ask(4)).not.toEqual(await ask(5));
  });
});

describe("a session that is saved and resumed", () => {
  /** Questions, late answers, refusals, corrections and sensitive labels, with a chance to restart after each. */
  const drive = async (
    restart: (session: AcquisitionSession) => AcquisitionSession,
    given: AcquisitionOptions,
  ) => {
    let session = restart(acquisition(table, given));
    const asked: number[] = [];
    for (let step = 0; step < 4; step++) {
      const batch = await session.ask(3);
      asked.push(...rowsOf(batch));
      session = restart(session);
      session.tell(batch[1].id, step === 1 ? "refused" : labelOf(batch[1]), {
        sensitive: step % 2 ? "A" : "B",
      });
      session = restart(session);
      session.tell(batch[0].id, labelOf(batch[0]));
      if (step > 1) session.tellSensitive(batch[2].id, "B");
      if (step === 2) session.tell("p0", "no");
      session = restart(session); // with one pending question
    }
    return { asked, state: again(session) };
  };

  test.each([
    ["fairbed", {}],
    ["fairbed-set", {}],
    ["fairbed-conditional", {}],
    ["random", {}],
    ["epig", { batchKind: "joint" as const }],
    ["fairbed", { batchKind: "softmax" as const, temperature: 0.05 }],
    ["fairbed", { goal: { leakageBudget: 0.5 }, budget: 30 }],
    ["fairbed", { goal: { parityAtLeast: 0.9 } }],
  ] as const)("goes on with the same bits: %s %j", async (method, more) => {
    const given = { ...options, method, ...more };
    const whole = await drive((session) => session, given);
    const pieces = await drive((session) => acquisition.resume(table, again(session)), given);
    expect(pieces).toEqual(whole);
  });

  test("refuses another table, whatever differs, and takes the same one from elsewhere", async () => {
    const saved = again(acquisition(table, options));
    const other = tableOf(
      toRecords(table).map((record, i) => ({ ...record, merit_1: i === 7 ? 9 : record.merit_1 })),
    );
    expect(() => acquisition.resume(other, saved)).toThrow(acquisitionTexts.otherTable("the table"));
    expect(() => acquisition.resume(hidden(KNOWN + 1), saved)).toThrow(
      acquisitionTexts.otherTable("the table"),
    );
    const same = { ...tableOf(toRecords(table)), name: "another name" };
    expect(acquisition.resume(same, saved).labelled).toBe(KNOWN);
    expect(() => acquisition.resume(table, { ...saved, format: "x" as SavedAcquisition["format"] })).toThrow(
      acquisitionTexts.format("its format"),
    );
  });

  test("holds no value of the table beyond what was told", () => {
    const session = acquisition(table, options);
    session.tell("p20", "yes");
    expect(JSON.stringify(session)).not.toContain("p20");
    expect(again(session).told).toEqual([{ row: 20, label: "yes" }]);
  });
});

describe("few labels or none", () => {
  test.each([
    ["no row has a label", 0, acquisitionTexts.cold(0)],
    ["all labels are of one class", 2, acquisitionTexts.cold(1)],
  ])("%s: drawn at random, which is said, until both classes are there", async (_, known, note) => {
    const yes = truth.findIndex(({ outcome }) => outcome === "yes");
    const cold = hidden(0, (record, i) => (known > 0 && i === yes ? { outcome: record.outcome } : {}));
    const session = acquisition(cold, options);
    const drawn = await session.ask(8);
    expect(session.notes).toContain(note);
    expect(drawn.every(({ target, leakage }) => target === null && leakage === null)).toBe(true);
    expect(rowsOf(drawn)).not.toEqual(rowsOf(drawn).toSorted((a, b) => a - b));
    expect(acquisition.resume(cold, again(session)).questions).toEqual(drawn);
    for (const each of drawn) session.tell(each, each.rank % 2 === 0 ? "yes" : "no");
    const [learnt] = await session.ask(1);
    expect(typeof learnt.target).toBe("number");
  });

  test("a column of numbers, a threshold, several classes", async () => {
    const scored = (known: number) =>
      hidden(KNOWN, (record, i) => ({
        score: i < known ? Number(record.merit_1) * 10 + (i % 3) : null,
        grade: i < KNOWN ? ["a", "b", "c"][i % 3] : null,
      }));
    const session = acquisition(scored(KNOWN), {
      ...options,
      target: "score>=10",
      exclude: ["outcome", "grade"],
    });
    const [one] = await session.ask(1);
    session.tell(one, 25);
    expect(() => session.tell(one, "high")).toThrow(toldTexts.number("score"));
    const column = columnNamed(session.table(), "score");
    expect(column.kind === "numeric" && column.values[one.row]).toBe(25);
    const classes = acquisition(scored(0), { ...options, target: "grade", exclude: ["outcome", "score"] });
    const [two] = await classes.ask(1);
    classes.tell(two, "c");
    expect(() => classes.tell(two, "d")).toThrow(toldTexts.value("grade", undefined, ["a", "b", "c"]));
    expect(classes.labelled).toBe(KNOWN + 1);
  });

  test("a slip of the pen is no class of its own", async () => {
    const session = acquisition(table, options);
    const [one] = await session.ask(1);
    expect(() => session.tell(one, "Yes")).toThrow(toldTexts.value("outcome", "yes", ["no", "yes"]));
    expect(() => session.tell(one, "perhaps")).toThrow(toldTexts.value("outcome", undefined, ["no", "yes"]));
    const cold = acquisition(hidden(0), options);
    expect(() => cold.tell("p3", "Yes")).toThrow(toldTexts.value("outcome", "yes", ["yes"]));
    expect(() => cold.tell("p3", "")).toThrow(/is no value/);
    cold.tell("p3", "no");
    expect(() => session.tell("nobody", "yes")).toThrow(candidateTexts.id);
    expect(() => session.tell(one, undefined)).toThrow(toldLogTexts.nothing);
  });
});

describe("the sensitive label", () => {
  test("comes with the answer, later or never", async () => {
    const unknown = hidden(KNOWN, (_, i) => ({ group: i < 4 ? ["A", "B"][i % 2] : null }));
    const session = acquisition(unknown, options);
    const [first, second, third] = await session.ask(3);
    session.tell(first, labelOf(first), { sensitive: "B" });
    session.tell(second, labelOf(second));
    session.tellSensitive(second, "A");
    session.tellSensitive(third.id, { group: "B" });
    expect(session.pending).toBe(1);
    const column = columnNamed(session.table(), "group");
    const cell = ({ row }: { row: number }) =>
      column.kind === "categorical" ? column.levels[column.codes[row]] : undefined;
    expect([first, second, third].map(cell)).toEqual(["B", "A", "B"]);
    expect(() => session.tellSensitive(first, { sex: "f" })).toThrow(toldTexts.columns(["group"]));
    expect(() => session.tellSensitive(first, "b")).toThrow(toldTexts.value("group", "B", ["A", "B"]));
    // It is learnt from: another answer, another question.
    const other = acquisition.resume(unknown, again(session));
    for (const row of [1, 3]) other.tellSensitive(`p${row}`, "A");
    const [a, b] = [await session.ask(5), await other.ask(5)];
    expect(a.map(({ leakage }) => leakage)).not.toEqual(b.map(({ leakage }) => leakage));
  });

  test("is not needed with a model from another table, which is given again to resume", async () => {
    const survey = tableOf(truth.map(({ outcome: _, ...record }) => record));
    const bare = tableOf(toRecords(table).map(({ group: _, ...record }) => record));
    const given = { ...options, sensitiveModel: { pretrained: survey } };
    const session = acquisition(bare, given);
    const [one] = await session.ask(1);
    expect(Number(one.leakage)).not.toBe(0);
    session.tell(one, labelOf(one));
    const saved = again(session);
    expect(() => acquisition.resume(bare, saved)).toThrow(/learns from: give it again/);
    const resumed = acquisition.resume(bare, saved, { sensitiveModel: { pretrained: survey } });
    expect(await resumed.ask(3)).toEqual(await session.ask(3));
    // As supplied members of the same model.
    const encoder = fitEncoder({ table, features: ["merit_1", "proxy_1", "proxy_2"] });
    const features = encoder.encode(table);
    const labels = Int32Array.from(truth, ({ group }) => (group === "B" ? 1 : 0));
    const members = forest(quick.sensitiveForest)
      .fit({ features, labels, classes: 2 }, seededStream(1))
      .predictMembers(features);
    const supplied = acquisition(table, { ...options, sensitiveModel: { supplied: [members] } });
    expect(Number((await supplied.ask(1))[0].leakage)).not.toBe(0);
    const short = { ...members, rows: 3 } as typeof members;
    expect(() => acquisition(table, { ...options, sensitiveModel: { supplied: [short] } })).toThrow(
      planTexts.supplied(3, 240),
    );
  });

  test("may be left out where the method does not look at it, and else not", async () => {
    const session = acquisition(table, { ...options, method: "epig", sensitive: undefined });
    expect((await session.ask(2)).every(({ leakage }) => leakage === null)).toBe(true);
    expect(() => acquisition(table, { ...options, sensitive: [] })).toThrow(/no sensitive column is given/);
  });
});

describe("options", () => {
  const ask = async (more: Partial<AcquisitionOptions>, given: Table = table) =>
    rowsOf(await acquisition(given, { ...options, ...more }).ask(6));

  test("costs keep the dear ones out and are no feature; weights are learnt with; quotas hold over the budget", async () => {
    const priced = hidden(KNOWN, (_, i) => ({ price: i % 2 === 0 ? 100 : 0, weight: i < 6 ? 50 : 1 }));
    const session = acquisition(priced, { ...options, exclude: ["weight"], costs: "price", costWeight: 1 });
    const asked = await session.ask(6);
    // Without a weight costs are no feature either, and decide nothing.
    const unweighed = acquisition(priced, { ...options, exclude: ["weight"], costs: "price" });
    const free = acquisition(priced, { ...options, exclude: ["weight", "price"] });
    const rows = async (of: typeof free) => (await of.ask(6)).map(({ row }) => row);
    expect(await rows(unweighed)).toEqual(await rows(free));
    // Whoever is drawn at random is drawn whatever the cost.
    expect(asked.map(({ reason }) => reason)).toContain("random");
    expect(asked.every(({ row, reason }) => reason === "random" || row % 2 === 1)).toBe(true);
    expect(Object.keys(asked[0].values)).not.toContain("price");
    const weighted = { exclude: ["price"], weights: "weight" };
    expect(await ask(weighted, priced)).not.toEqual(await ask({ exclude: ["price", "weight"] }, priced));
    const quotas = { column: "group", quotas: [{ value: "A", atLeast: 3, atMost: 3 }] };
    const guarded = acquisition(table, { ...options, budget: 12, quotas });
    await guarded.run({ oracle: labelOf, batch: 5 });
    const told = again(guarded).told.map(({ row }) => truth[row].group);
    expect(told).toHaveLength(12);
    expect(told.filter((group) => group === "A")).toHaveLength(3);
    expect(() => acquisition(table, { ...options, quotas })).toThrow(rowSessionTexts.goalBudget);
  });

  test("a beta, another method and other targets change the questions", async () => {
    const usual = await ask({});
    const targets = selectRows(table, [0, 1, 2, 3, 4, 5]);
    for (const more of [
      { beta: 0 },
      { method: "bald" as const },
      { targets },
      { method: "fairbed-conditional" as const },
    ]) {
      expect(await ask(more)).not.toEqual(usual);
    }
    expect(await ask({ beta: 10 })).toEqual(usual);
    expect(() => acquisition(table, { ...options, beta: 1, goal: { beta: 2 } })).toThrow(planTexts.twoGoals);
    expect(() => acquisition(hidden(240), options)).toThrow(planTexts.noneLeft);
  });
});

describe("what comes of it", () => {
  test("an async oracle, slow answers and all, gives what asking by hand gives", async () => {
    const byHand = acquisition(table, options);
    for (let step = 0; step < 3; step++) {
      for (const each of await byHand.ask(4)) byHand.tell(each, labelOf(each));
    }
    const session = acquisition(table, options);
    const seen: number[] = [];
    await session.run({
      batch: 4,
      budget: 12,
      oracle: async (candidate) => {
        await new Promise((resolve) => setTimeout(resolve, 4 - (candidate.rank % 4)));
        return labelOf(candidate);
      },
      onProgress: ({ done, total }) => {
        seen.push(done);
        expect(total).toBe(12);
      },
    });
    expect(again(session)).toEqual(again(byHand));
    expect(session.labelled).toBe(KNOWN + 12);
  });

  test("refusals do not count, sensitive labels may come along, and a budget is needed", async () => {
    const session = acquisition(table, options);
    let asked = 0;
    await session.run({
      budget: 6,
      batch: 2,
      oracle: (candidate) => (asked++ % 3 === 0 ? "refused" : { label: labelOf(candidate), sensitive: "A" }),
    });
    expect(session.labelled).toBe(KNOWN + 6);
    expect(asked).toBeGreaterThan(6);
    await expect(session.run({ oracle: labelOf })).rejects.toThrow(acquisitionTexts.budget);
  });

  test("a failure or a stop leaves the questions pending, and the next run asks them first", async () => {
    const session = acquisition(table, options);
    let calls = 0;
    const failing = session.run({
      budget: 6,
      batch: 3,
      oracle: (candidate) => {
        if (++calls === 5) throw new Error("the line is dead");
        return labelOf(candidate);
      },
    });
    await expect(failing).rejects.toThrow("the line is dead");
    expect([session.labelled, session.pending]).toEqual([KNOWN + 5, 1]);
    const stop = new AbortController();
    const stopped = session.run({
      budget: 9,
      signal: stop.signal,
      oracle: () => {
        stop.abort(new Error("enough"));
        return new Promise<string>(() => undefined);
      },
    });
    await expect(stopped).rejects.toThrow("enough");
    const first: number[] = [];
    const before = rowsOf(session.questions);
    await session.run({
      budget: 2,
      oracle: (candidate) => {
        first.push(candidate.row);
        return labelOf(candidate);
      },
    });
    expect(first.slice(0, before.length)).toEqual(before);
    expect(session.pending).toBe(0);
  });

  test("the model is that of the labels so far", async () => {
    const session = acquisition(table, { ...options, method: "random" });
    await session.run({ oracle: labelOf, budget: 150, batch: 150 });
    const model = await session.model();
    expect(model.rows).toBe(KNOWN + 150);
    expect(model.sensitive).toEqual(["group=B"]);
    const { predicted } = await predict(model, table);
    const right = predicted.filter((label, row) => label === outcomeOf(row)).length / 240;
    expect(right).toBeGreaterThan(0.7);
  });
});
