import { describe, expect, test } from "vitest";
import { Campaign, campaignTexts } from "../../src/campaign/campaign.js";
import { memoryStore } from "../../src/campaign/memory-store.js";
import { answerTexts } from "../../src/campaign/pool-answers.js";
import { forAnnotator } from "../../src/campaign/question.js";
import { modelsInThread } from "../../src/campaign/ranking-schedule.js";
import { replayCampaign } from "../../src/campaign/replay.js";
import { InputError } from "../../src/core/errors.js";
import { tableOf } from "../../src/tables/table-of.js";
import { answerOf, begin, collect, handClock, people, ROLES, sexOf } from "./people.js";

const replayed = async (campaign: Campaign) => {
  const { decisions, agreeing, differing, erased } = await replayCampaign(campaign.store, campaign.name);
  return { agree: agreeing === decisions - erased && differing.length === 0, decisions, differing, erased };
};

describe("asking", () => {
  test("gives reasons: information, leakage, share and cost, or that it was drawn at random", async () => {
    const campaign = await begin({ costPerLabel: 2 });
    await campaign.settle();
    const { questions } = await campaign.ask(8);
    const scored = questions.filter(({ reason }) => reason === "score");
    const drawn = questions.filter(({ reason }) => reason === "random");
    // A quarter of all places.
    expect([scored.length, drawn.length]).toEqual([6, 2]);
    for (const { score, target, leakage, share, cost, probability, why } of scored) {
      expect(score).toBeCloseTo((target ?? 0) - 10 * (leakage ?? 0), 12);
      expect([share === "f" || share === "m", cost, probability]).toEqual([true, 2, null]);
      expect(why).toMatch(/nats about the target/);
    }
    // The fourth place was drawn from the 112 in the pool less the three asked before it.
    expect(drawn[0].probability).toBeCloseTo(1 / 109, 15);
    expect(drawn[0].why).toMatch(/drawn at random/);
    expect(new Set(questions.map(({ id }) => id)).size).toBe(8);
    expect(Object.keys(questions[0].values ?? {})).toEqual(["skill", "city"]);
  });

  test("what is outstanding is not asked again until its lease is over, and counts as pending", async () => {
    const clock = handClock();
    const campaign = await begin({ lease: 60 }, { clock: clock.now });
    await campaign.settle();
    const first = (await campaign.ask(5)).questions.map(({ id }) => id);
    const second = (await campaign.ask(5)).questions.map(({ id }) => id);
    expect(new Set([...first, ...second]).size).toBe(10);
    expect(campaign.status().counts).toMatchObject({ pending: 10, expired: 0, open: 102 });
    clock.pass(61);
    expect(campaign.status().counts).toMatchObject({ pending: 0, expired: 10, open: 112 });
    await campaign.settle();
    const later = (await campaign.ask(112)).questions.map(({ id }) => id);
    expect(later).toEqual(expect.arrayContaining([...first, ...second]));
    expect(new Set(later).size).toBe(112);
    expect((await campaign.ask(1)).notes).toEqual([answerTexts.nobody]);
    expect((await replayed(campaign)).agree).toBe(true);
  });

  test("the same request gets the same questions", async () => {
    const campaign = await begin();
    const once = await campaign.ask(3, { request: "r1" });
    const again = await campaign.ask(3, { request: "r1" });
    expect(again.questions).toEqual(once.questions);
    expect(campaign.status().counts.pending).toBe(3);
  });

  test("never waits for a fit: it serves the last ranking and says how old it is, or draws", async () => {
    const quick = modelsInThread();
    let release: (() => void) | undefined;
    const held = new Promise<void>((resolve) => {
      release = resolve;
    });
    let calls = 0;
    const models = {
      ...quick,
      rank: async (...given: Parameters<typeof quick.rank>) => {
        if (calls++ > 0) await held;
        return quick.rank(...given);
      },
    };
    const campaign = await begin({}, { models });
    await campaign.settle();
    await campaign.tell({ id: "p50", label: "yes" });
    const asked = performance.now();
    const { questions, ranking } = await campaign.ask(4);
    // Far more than the 100 ms, since the machine may be busy; the fit would never end.
    expect(performance.now() - asked).toBeLessThan(1000);
    expect(ranking).toMatchObject({ basis: 1, answersSince: 1 });
    expect(questions.map(({ reason }) => reason)).toEqual(["score", "score", "score", "random"]);
    // Until it has nobody left.
    const more = await campaign.ask(100);
    expect(more.questions.some(({ reason }) => reason === "no-ranking")).toBe(true);
    release?.();
    await campaign.settle();
    expect((await campaign.ask(1)).questions[0].reason).not.toBe("no-ranking");
    expect((await replayed(campaign)).agree).toBe(true);
  });

  test("stops at the budget of labels and of costs; refusals cost nothing", async () => {
    const campaign = await begin({ budget: 5 });
    const { questions, notes } = await campaign.ask(8);
    expect([questions.length, notes]).toEqual([5, [answerTexts.budget(5, 5)]]);
    await campaign.tell({ id: questions[0].id, refused: true });
    expect((await campaign.ask(8)).questions).toHaveLength(1);
    await campaign.configure({ budget: null });
    expect((await campaign.ask(8)).questions).toHaveLength(8);

    const priced = await begin({ acquisition: { ...ROLES, costs: "price", exclude: [] }, costBudget: 12 });
    await collect(priced, 30);
    expect(priced.status().cost).toBeGreaterThan(8);
    expect(priced.status().cost).toBeLessThanOrEqual(12);
  });

  test("a draw has the same chance for everybody who is left", async () => {
    const counts = new Map<string, number>();
    for (let seed = 0; seed < 400; seed++) {
      const campaign = await Campaign.create(memoryStore(), "x", {
        table: people({ rows: 13, labelled: 3 }),
        acquisition: { ...ROLES, method: "random" },
        seed,
      });
      await campaign.tell({ id: "p7", label: "yes" });
      const [{ id, probability }] = (await campaign.ask(1)).questions;
      expect(probability).toBeCloseTo(1 / 9, 12);
      counts.set(id, (counts.get(id) ?? 0) + 1);
    }
    expect([...counts.keys()].sort()).toEqual(["p10", "p11", "p12", "p3", "p4", "p5", "p6", "p8", "p9"]);
    const expected = 400 / 9;
    const chi2 = [...counts.values()].reduce((sum, n) => sum + (n - expected) ** 2 / expected, 0);
    // The 0.999 quantile of chi-square with 8 degrees of freedom.
    expect(chi2).toBeLessThan(26.12);
  });

  test("an annotator sees neither scores, shares, reasons nor sensitive values", async () => {
    const campaign = await begin({ acquisition: { ...ROLES, features: ["skill", "city", "sex"] } });
    await campaign.settle();
    const [question] = (await campaign.ask(1)).questions;
    expect(Object.keys(forAnnotator(question)).sort()).toEqual(["id", "question", "until", "values"]);
    expect(Object.keys(question.values ?? {})).toEqual(["skill", "city"]);
  });
});

describe("telling", () => {
  test("is idempotent by event id, and refuses an id that is another answer's", async () => {
    const campaign = await begin();
    const tell = (label: string, id = "p20") => campaign.tell({ id, label, event: "e1" });
    expect(await tell("yes")).toEqual([{ event: "e1", id: "p20", status: "answer", unasked: true }]);
    expect((await tell("yes"))[0].status).toBe("duplicate");
    await expect(tell("no")).rejects.toThrow(answerTexts.eventTaken);
    await expect(tell("yes", "p21")).rejects.toThrow(answerTexts.eventTaken);
    expect(campaign.status()).toMatchObject({ events: 2, counts: { labelled: 1, unasked: 1 } });
  });

  test("a changed answer is a correction, and the first one stays in the log", async () => {
    const campaign = await begin();
    const [{ id }] = (await campaign.ask(1)).questions;
    expect((await campaign.tell({ id, label: "yes" }))[0]).toMatchObject({
      status: "answer",
      unasked: false,
    });
    expect((await campaign.tell({ id, label: "yes" }))[0].status).toBe("same");
    expect((await campaign.tell({ id, label: "no" }))[0].status).toBe("correction");
    const kinds = (await campaign.store.read("hiring", 0)).map(({ kind }) => kind);
    expect(kinds).toEqual(["created", "asked", "told", "corrected"]);
    expect(campaign.status().counts).toMatchObject({ labelled: 1, corrections: 1 });
    const row = Number(id.slice(1));
    const hired = campaign.table().columns.find(({ name }) => name === "hired");
    expect(hired?.kind === "categorical" && hired.levels[hired.codes[row]]).toBe("no");
  });

  test("late answers count for the question that they answer", async () => {
    const clock = handClock();
    const campaign = await begin(
      { lease: 10, acquisition: { ...ROLES, method: "random" } },
      { clock: clock.now },
    );
    const [{ id }] = (await campaign.ask(1)).questions;
    clock.pass(3600);
    expect((await campaign.tell({ id, label: "yes" }))[0]).toMatchObject({
      status: "answer",
      unasked: false,
    });
    expect(campaign.status().counts).toMatchObject({ labelled: 1, expired: 0, pending: 0, unasked: 0 });
  });

  test("all or nothing, with the number of the one that is wrong", async () => {
    const campaign = await begin();
    const answers = [
      { id: "p30", label: "yes" },
      { id: "nobody", label: "yes" },
    ];
    await expect(campaign.tell(answers)).rejects.toThrow(answerTexts.atIndex(1, answerTexts.noItem));
    await expect(campaign.tell({ id: "p30", label: "maybe" })).rejects.toThrow(/no value of the column/);
    await expect(campaign.tell({ id: "p30" })).rejects.toThrow(InputError);
    const open = tableOf(
      Array.from({ length: 9 }, (_, i) => ({
        id: `p${i}`,
        skill: i,
        sex: i % 2 === 0 ? "f" : "m",
        hired: i === 0 ? "yes" : null,
      })),
    );
    const first = await Campaign.create(memoryStore(), "x", {
      table: open,
      acquisition: ROLES_WITHOUT_PRICE,
    });
    await expect(first.tell({ id: "p3", label: "NaN" })).rejects.toThrow(/missing value/);
    await first.tell({ id: "p3", label: "no" });
    await expect(campaign.tell({ id: "p30", label: "yes", refused: true })).rejects.toThrow(answerTexts.two);
    await expect(campaign.tell([])).rejects.toThrow(campaignTexts.noAnswers);
    expect(campaign.head.seq).toBe(1);
  });

  test("sensitive labels come with the answer, separately, or never", async () => {
    const campaign = await begin({ table: people({ sexKnown: false }) });
    await campaign.tell([
      { id: "p20", label: "yes", sensitive: sexOf("p20") },
      { id: "p21", label: "no" },
      { id: "p22", sensitive: { sex: "m" } },
    ]);
    expect((await campaign.tell({ id: "p21", sensitive: "f" }))[0].status).toBe("sensitive");
    const sex = campaign.table().columns.find(({ name }) => name === "sex");
    const of = (row: number) => (sex?.kind === "categorical" ? sex.levels[sex.codes[row]] : undefined);
    expect([20, 21, 22, 23].map(of)).toEqual([sexOf("p20"), "f", "m", undefined]);
    // Whoever told only the attribute has no label and can be asked.
    expect(campaign.status().counts).toMatchObject({ labelled: 2, open: 110 });
  });

  test("refused ones are not asked again, and a later answer counts", async () => {
    const campaign = await begin({ table: people({ rows: 12 }) });
    const [{ id }] = (await campaign.ask(1)).questions;
    await campaign.tell({ id, refused: true });
    expect(campaign.status().counts).toMatchObject({ refused: 1, labelled: 0, open: 3 });
    expect((await campaign.ask(4)).questions.map((each) => each.id)).not.toContain(id);
    await campaign.tell({ id, label: "yes" });
    expect(campaign.status().counts).toMatchObject({ refused: 0, labelled: 1 });
  });
});

describe("many annotators", () => {
  const two = () => begin({ opinions: 2 });

  test("nobody gets an item twice, and every item gets its opinions", async () => {
    const campaign = await begin({ table: people({ rows: 14 }), opinions: 2 });
    const got = new Map<string, string[]>();
    for (let round = 0; round < 12; round++) {
      for (const annotator of ["ann", "bob", "cy"]) {
        for (const { id } of (await campaign.ask(1, { annotator })).questions) {
          got.set(annotator, [...(got.get(annotator) ?? []), id]);
          await campaign.tell({ id, label: answerOf(id), annotator });
        }
      }
    }
    for (const ids of got.values()) expect(new Set(ids).size).toBe(ids.length);
    const all = [...got.values()].flat();
    const counts = [...new Set(all)].map((id) => all.filter((each) => each === id).length);
    expect(counts).toEqual([2, 2, 2, 2, 2, 2]);
    expect((await replayed(campaign)).agree).toBe(true);
  });

  test("disagreement is settled by a third opinion's majority, or by adjudication", async () => {
    const campaign = await two();
    const [{ id }] = (await campaign.ask(1, { annotator: "ann" })).questions;
    const second = (await campaign.ask(1, { annotator: "bob" })).questions[0];
    expect([second.id, second.reason]).toEqual([id, "second-opinion"]);
    await campaign.tell({ id, label: "yes", annotator: "ann" });
    await campaign.tell({ id, label: "no", annotator: "bob" });
    expect(campaign.status().counts).toMatchObject({ disputed: 1, labelled: 0, annotators: 2 });
    const [disputed] = (await campaign.ask(1, { annotator: "chief", adjudicate: true })).questions;
    expect([disputed.id, disputed.reason]).toEqual([id, "adjudication"]);
    await campaign.adjudicate(id, "no", "chief");
    expect(campaign.status().counts).toMatchObject({ disputed: 0, labelled: 1 });
    expect((await campaign.ask(1, { adjudicate: true })).notes).toEqual([answerTexts.nothingDisputed]);

    await campaign.tell({ id: "p90", label: "yes", annotator: "ann" });
    await campaign.tell({ id: "p90", label: "no", annotator: "bob" });
    await campaign.tell({ id: "p90", label: "no", annotator: "cy" });
    expect(campaign.status().counts).toMatchObject({ disputed: 0, labelled: 2 });
    expect((await replayed(campaign)).agree).toBe(true);
  });

  test("who passes a question on does not get it again unless asked; others do at once", async () => {
    const campaign = await begin({ table: people({ rows: 9 }) });
    const [{ id }] = (await campaign.ask(1, { annotator: "ann" })).questions;
    await campaign.skip(id, "ann");
    expect((await campaign.ask(1, { annotator: "ann" })).questions).toEqual([]);
    expect((await campaign.ask(1, { annotator: "ann", again: true })).questions[0]?.id).toBe(id);
    await campaign.skip(id, "ann");
    expect((await campaign.ask(1, { annotator: "bob" })).questions[0]?.id).toBe(id);
    expect((await replayed(campaign)).agree).toBe(true);
  });

  test("an answer can be taken back", async () => {
    const campaign = await begin();
    await campaign.tell({ id: "p40", label: "yes", annotator: "ann" });
    await expect(campaign.retract("p40", "bob")).rejects.toThrow(answerTexts.notAnswered);
    await campaign.retract("p40", "ann");
    expect(campaign.status().counts).toMatchObject({ labelled: 0, open: 112 });
  });

  test("only a part of the items gets several opinions where that is asked for", async () => {
    const campaign = await begin({ table: people({ rows: 108 }), opinions: 2, opinionsPart: 0.3 });
    let seconds = 0;
    for (let i = 0; i < 130; i++) {
      const { questions } = await campaign.ask(1, { annotator: i % 2 === 0 ? "ann" : "bob", wait: 0 });
      for (const { id, reason, annotator } of questions) {
        seconds += Number(reason === "second-opinion");
        await campaign.tell({ id, label: answerOf(id), annotator });
      }
    }
    // Of 100 items, 30 within four standard errors.
    expect(Math.abs(seconds - 30)).toBeLessThan(18);
    expect(seconds).toBeGreaterThan(0);
  });
});

describe("withdrawal", () => {
  test("erases everything about a person and keeps the count", async () => {
    const marker = "marker-7f3a";
    const store = memoryStore();
    const table = tableOf(
      Array.from({ length: 40 }, (_, i) => ({
        id: i === 20 ? marker : `p${i}`,
        skill: i % 7,
        note: i === 20 ? `${marker}-note` : `n${i % 3}`,
        sex: i % 2 === 0 ? "f" : "m",
        hired: i < 6 ? (i % 2 === 0 ? "yes" : "no") : null,
      })),
    );
    const campaign = await Campaign.create(store, "hiring", { table, acquisition: ROLES_WITHOUT_PRICE });
    await campaign.tell({ id: marker, label: "yes", annotator: "ann", event: `event-${marker}` });
    await campaign.tell({ id: marker, label: "no", annotator: "ann" });
    const before = campaign.status().counts;
    expect(await campaign.withdraw(marker)).toEqual({ events: 2 });
    const everything = JSON.stringify([await store.read("hiring", 0), await store.items("hiring")]);
    expect(everything).not.toContain(marker);
    expect(campaign.status().counts).toMatchObject({
      withdrawn: 1,
      subjects: before.subjects - 1,
      labelled: 0,
      corrections: 0,
    });
    expect(campaign.table().rows).toBe(39);
    await expect(campaign.tell({ id: marker, label: "yes" })).rejects.toThrow(answerTexts.noItem);
    await expect(campaign.withdraw(marker)).rejects.toThrow(campaignTexts.nobody);
    const tombstone = (await store.read("hiring", 0)).find(({ kind }) => kind === "withdrawn");
    expect(JSON.parse(tombstone?.body ?? "")).toEqual({ events: 2, answered: true });
    // The rest goes on, and is replayed.
    await campaign.ask(5);
    const { agree, erased, decisions } = await replayed(campaign);
    expect([agree, erased, decisions]).toEqual([true, 0, 5]);
  });

  test("another handle of the same campaign forgets the person too", async () => {
    const store = memoryStore();
    const one = await begin({}, { store });
    const other = await Campaign.open(store, "hiring");
    await other.tell({ id: "p33", label: "yes" });
    await one.withdraw("p33");
    await expect(other.tell({ id: "p33", label: "no" })).rejects.toThrow(answerTexts.noItem);
    expect(other.status().counts).toMatchObject({ withdrawn: 1, labelled: 0 });
    expect(other.head).toEqual(one.head);
  });

  test("decisions that rest on erased data are said to be out of reach, not to agree", async () => {
    const campaign = await begin();
    await collect(campaign, 6);
    const asked = (await campaign.ask(1)).questions[0];
    await campaign.withdraw(asked.id);
    await collect(campaign, 3);
    const { agree, erased, decisions } = await replayed(campaign);
    expect([agree, erased, decisions]).toEqual([true, 7, 10]);
  });
});

const { exclude: _, ...ROLES_WITHOUT_PRICE } = ROLES;

describe("settings", () => {
  test("changes count from then on, and a replay follows them", async () => {
    const campaign = await begin();
    await collect(campaign, 4, 2);
    await campaign.configure({ acquisition: { method: "random" } });
    const { questions } = await campaign.ask(3);
    expect(questions.map(({ reason }) => reason)).toEqual(["random", "random", "random"]);
    await campaign.configure({ acquisition: { method: "epig", randomPart: 0 } });
    await campaign.settle();
    const [{ leakage, target }] = (await campaign.ask(1)).questions;
    expect([leakage, typeof target]).toEqual([null, "number"]);
    expect((await replayed(campaign)).agree).toBe(true);
  });

  test("what cannot work is refused, and nothing is stored", async () => {
    const store = memoryStore();
    await expect(begin({ lease: 0 }, { store })).rejects.toThrow(InputError);
    await expect(begin({ opinions: 0 }, { store })).rejects.toThrow(InputError);
    await expect(begin({ acquisition: { ...ROLES, target: "hird=yes" } }, { store })).rejects.toThrow(/hird/);
    await expect(begin({ acquisition: { ...ROLES, id: "city" } }, { store })).rejects.toThrow(/twice/);
    await expect(Campaign.create(store, "../x", { table: people(), acquisition: ROLES })).rejects.toThrow(
      InputError,
    );
    expect(await store.list()).toEqual([]);
    const campaign = await begin({}, { store });
    await expect(campaign.configure({ acquisition: { randomPart: 2 } })).rejects.toThrow(InputError);
    await expect(campaign.ask(0)).rejects.toThrow(campaignTexts.count(0));
    await expect(begin({}, { store })).rejects.toThrow(/already/);
    expect(campaign.head.seq).toBe(1);
  });

  test("a recipe is where settings come from, and options win", async () => {
    const recipe = {
      format: "fairbed-recipe-1",
      version: "0",
      description: "",
      requirement: { metric: "dp", level: 0.8, labels: 30, target: "hired=yes", sensitive: "sex" },
      acquisition: { method: "epig", shares: "population", randomPart: 0.5, reweigh: false, batch: 2 },
      fit: { learner: "forest", reweigh: false },
      chosenOn: {
        table: "",
        rows: 1,
        seeds: [],
        labels: 1,
        accuracy: { mean: 1, interval: null },
        parity: { mean: 1, interval: null },
        verdict: "met",
      },
    } as const;
    const campaign = await begin({ recipe, acquisition: { ...ROLES, randomPart: 0.25 } });
    expect(campaign.settings).toMatchObject({
      budget: 30,
      requirement: { metric: "dp", level: 0.8 },
      acquisition: { method: "epig", randomPart: 0.25, batch: 2 },
    });
  });
});

describe("going on elsewhere", () => {
  test("a second handle has the same state, and the two never ask the same", async () => {
    const store = memoryStore();
    const one = await begin({}, { store });
    const other = await Campaign.open(store, "hiring");
    const asked = (
      await Promise.all(Array.from({ length: 20 }, (_, i) => (i % 2 === 0 ? one : other).ask(2, { wait: 0 })))
    ).flatMap(({ questions }) => questions.map(({ id }) => id));
    expect(new Set(asked).size).toBe(40);
    await Promise.all(asked.map((id, i) => (i % 2 === 0 ? one : other).tell({ id, label: answerOf(id) })));
    await Promise.all([one.sync(), other.sync()]);
    expect(one.head).toEqual(other.head);
    const { ranking: _one, ...left } = one.status();
    const { ranking: _other, ...right } = other.status();
    expect(left).toEqual(right);
    expect(left.counts.labelled).toBe(40);
    expect((await replayed(one)).agree).toBe(true);
  });

  test("time never goes back in the log, whatever the clock does", async () => {
    const clock = handClock();
    const campaign = await begin({ lease: 60 }, { clock: clock.now });
    await campaign.ask(1);
    clock.pass(-86_400);
    const [{ until }] = (await campaign.ask(1)).questions;
    const times = (await campaign.store.read("hiring", 0)).map(({ at }) => at);
    expect(times).toEqual([...times].sort((a, b) => a - b));
    expect(Date.parse(until)).toBe(times[2] + 60_000);
    expect((await replayed(campaign)).agree).toBe(true);
  });

  test("a replay finds a decision that was not computed by the rules", async () => {
    const campaign = await begin();
    await collect(campaign, 4);
    const { store } = campaign;
    const { sealEvent } = await import("../../src/campaign/chain.js");
    const open = Array.from({ length: 112 }, (_, i) => i + 8).find(
      (item) =>
        campaign.now.content.kind === "pool" && campaign.now.content.state.isOpen(item, campaign.head.at),
    );
    await store.transact("hiring", campaign.head.seq, ({ head }) => ({
      append: [
        sealEvent(
          head,
          {
            kind: "asked",
            id: "by-hand",
            subject: String(open),
            body: {
              annotator: "",
              reason: "random",
              place: 4,
              until: head.at + 86_400_000,
              drawn: true,
              probability: 0.5,
              cost: 0,
            },
          },
          head.at,
        ),
      ],
    }));
    const { agree, differing } = await replayed(campaign);
    expect(agree).toBe(false);
    expect(differing).toHaveLength(1);
    expect(differing[0]).toMatchObject({ seq: campaign.head.seq + 1 });
  });
});

test("a label is the same whether it is told as a number, a text or a truth value", async () => {
  const table = tableOf(
    Array.from({ length: 30 }, (_, i) => ({
      id: `p${i}`,
      skill: i,
      sex: i % 2 === 0 ? "f" : "m",
      ok: i < 4 ? (i < 2 ? "true" : "false") : null,
      level: null,
    })),
  );
  const text = await Campaign.create(memoryStore(), "x", {
    table,
    acquisition: { id: "id", target: "ok=true", sensitive: ["sex"], exclude: ["level"] },
    opinions: 2,
  });
  await text.tell({ id: "p9", label: true, annotator: "ann" });
  await text.tell({ id: "p9", label: "true", annotator: "bob" });
  const empty = await Campaign.create(memoryStore(), "x", {
    table,
    acquisition: { id: "id", target: "level=1", sensitive: ["sex"], exclude: ["ok"] },
    opinions: 2,
  });
  await empty.tell({ id: "p9", label: 1, annotator: "ann" });
  await empty.tell({ id: "p9", label: "1", annotator: "bob" });
  for (const campaign of [text, empty]) {
    expect(campaign.status().counts).toMatchObject({ labelled: 1, disputed: 0 });
  }
});

describe("quotas and goals", () => {
  test("quotas are kept to, by score and at random, and a replay agrees", async () => {
    const quotas = {
      column: "city",
      quotas: [
        { value: "0", atMost: 4 },
        { value: "1", atLeast: 6 },
      ],
    };
    const campaign = await begin({
      table: people({ rows: 200, labelled: 8 }),
      acquisition: { ...ROLES, quotas },
      budget: 18,
    });
    const cities: (string | number | null)[] = [];
    for (let i = 0; i < 9; i++) {
      // Every other time no ranking is waited for.
      const { questions } = await campaign.ask(2, { wait: i % 2 === 0 ? 1000 : 0 });
      cities.push(...questions.map(({ values }) => values?.city ?? null));
      await campaign.tell(questions.map(({ id }) => ({ id, label: answerOf(id) })));
    }
    expect(cities).toHaveLength(18);
    expect(cities.filter((city) => city === 0).length).toBeLessThanOrEqual(4);
    expect(cities.filter((city) => city === 1).length).toBeGreaterThanOrEqual(6);
    expect((await replayed(campaign)).agree).toBe(true);
  });

  test("go on where the last one with a value withdraws", async () => {
    const table = tableOf(
      Array.from({ length: 60 }, (_, i) => ({
        id: `p${i}`,
        skill: (i * 7) % 17,
        city: i === 40 ? "rare" : `c${i % 3}`,
        sex: sexOf(`p${i}`),
        hired: i < 8 ? answerOf(`p${i}`) : null,
      })),
    );
    const quotas = {
      column: "city",
      quotas: [
        { value: "rare", atMost: 1 },
        { value: "c1", atMost: 2 },
      ],
    };
    const campaign = await begin({ table, acquisition: { ...ROLES_WITHOUT_PRICE, quotas }, budget: 20 });
    await campaign.withdraw("p40");
    await campaign.settle();
    const { questions } = await campaign.ask(12);
    expect(questions.filter(({ reason }) => reason === "score").length).toBe(12);
    expect(questions.filter(({ values }) => values?.city === "c1").length).toBeLessThanOrEqual(2);
  });

  test("without quotas nobody keeps to them", async () => {
    const campaign = await begin({
      table: people({ rows: 200, labelled: 8 }),
      acquisition: { ...ROLES, method: "random" },
    });
    const { questions } = await campaign.ask(60);
    expect(questions.filter(({ values }) => values?.city === 0).length).toBeGreaterThan(4);
  });

  test.each([{ goal: { leakageBudget: 0.05 } }, { goal: { parityAtLeast: 0.9 } }])(
    "beta follows the goal %o, from what was asked so far, and a replay agrees",
    async ({ goal }) => {
      const campaign = await begin({ acquisition: { ...ROLES, goal }, budget: 30 });
      const betas = new Set<number>();
      for (let i = 0; i < 10; i++) {
        await campaign.settle();
        const { questions } = await campaign.ask(2);
        for (const { score, target, leakage } of questions) {
          if (score !== null && target !== null && leakage) betas.add((target - score) / leakage);
        }
        await campaign.tell(questions.map(({ id }) => ({ id, label: answerOf(id) })));
      }
      expect(betas.size).toBeGreaterThan(2);
      expect((await replayed(campaign)).agree).toBe(true);
    },
  );
});
