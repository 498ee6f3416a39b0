/** What a campaign exports: weights by hand, unbiased sums, the same table in every format, nobody who withdrew. */
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { Campaign } from "../../src/campaign/campaign.js";
import { type ExportFormat, exportTable, exportText, exportTexts } from "../../src/campaign/export.js";
import { memoryStore } from "../../src/campaign/memory-store.js";
import { PROVENANCE_COLUMNS } from "../../src/campaign/pool-export.js";
import type { PoolModels } from "../../src/campaign/ranking-schedule.js";
import { identityOf } from "../../src/design/model-catalogue.js";
import { linearGaussian } from "../../src/design/models/linear-gaussian.js";
import type { PolicyFile } from "../../src/design/policy-file.js";
import { readTable } from "../../src/sources/source.js";
import { parquetBytes } from "../../src/sources/write-parquet.js";
import { columnNames, type Table } from "../../src/tables/table.js";
import { tableOf, toRecords } from "../../src/tables/table-of.js";
import { fitModel } from "../../src/workflows/fit-model.js";
import { begin, collect, handClock, people } from "./people.js";

const folder = await mkdtemp(join(tmpdir(), "fairbed-export-"));
afterAll(() => rm(folder, { recursive: true, force: true }));

type Row = Record<string, string | number | Date | null>;
const rowsOf = (table: Table): Row[] => toRecords(table);
const byId = (table: Table): Map<string, Row> => new Map(rowsOf(table).map((row) => [String(row.id), row]));

const HOW = { id: "id", target: "y=yes", sensitive: ["g"] } as const;

/** Six to ask about, all drawn at random, and two with labels. */
const six = (
  cells: (i: number) => Record<string, string | number | null> = () => ({}),
  ids: (i: number) => string = (i) => `i${i}`,
): Table =>
  tableOf(
    Array.from({ length: 8 }, (_, i) => ({
      id: ids(i),
      x: i,
      g: i % 2 === 0 ? "a" : "b",
      y: i === 0 ? "yes" : i === 1 ? "no" : null,
      ...cells(i),
    })),
  );

const atRandom = (table: Table, given: object = {}, options: object = {}) =>
  Campaign.create(
    memoryStore(),
    "tiny",
    { table, acquisition: { ...HOW, method: "random" }, ...given },
    options,
  );

/** Always the one with the largest x of those that are open: far from a random sample. */
const largestFirst = (): PoolModels => {
  let table: Table | undefined;
  return {
    prepare: (given) => {
      table = given;
    },
    rank: async (soFar) => {
      const told = new Set([...soFar.told, ...soFar.asked].map(({ row }) => row));
      const rows = Array.from({ length: table?.rows ?? 0 }, (_, row) => row)
        .filter((row) => !told.has(row))
        .reverse()
        .map((row) => ({ row, score: row, target: null, leakage: null, cost: 0 }));
      return { rows, beta: 1, cold: false, leastLeakage: 0, parity: undefined };
    },
    estimate: () => Promise.reject(new Error("not here")),
    forecast: () => Promise.reject(new Error("not here")),
    audit: () => Promise.reject(new Error("not here")),
    close: async () => {},
  };
};

describe("a tiny campaign, by hand", () => {
  test("three of six are drawn: probabilities 1/6, 1/5, 1/4 and weights 8/3, 2, 4/3", async () => {
    const clock = handClock(Date.UTC(2026, 0, 5, 12));
    const campaign = await atRandom(six(), {}, { clock: clock.now });
    for (let i = 0; i < 3; i++) {
      clock.pass(60);
      const [{ id }] = (await campaign.ask(1)).questions;
      clock.pass(30);
      await campaign.tell({ id, label: i === 1 ? "no" : "yes" });
    }
    const table = exportTable(campaign);
    const drawn = rowsOf(table)
      .filter(({ fairbed_reason }) => fairbed_reason === "random")
      .sort((a, b) => Number(a.fairbed_order) - Number(b.fairbed_order));
    expect(table.rows).toBe(5);
    expect(drawn.map((row) => row.fairbed_order)).toEqual([1, 2, 3]);
    expect(drawn.map((row) => row.fairbed_probability)).toEqual([1 / 6, 1 / 5, 1 / 4]);
    for (const [i, weight] of [8 / 3, 2, 4 / 3].entries())
      expect(drawn[i].fairbed_weight).toBeCloseTo(weight, 12);
    expect(drawn.map((row) => row.y)).toEqual(["yes", "no", "yes"]);
    expect(drawn[1].fairbed_asked_at).toEqual(new Date("2026-01-05T12:02:30.000Z"));
    expect(drawn[1].fairbed_answered_at).toEqual(new Date("2026-01-05T12:03:00.000Z"));
    const initial = rowsOf(table).filter(({ fairbed_status }) => fairbed_status === "initial");
    expect(initial.map(({ id }) => id)).toEqual(["i0", "i1"]);
    for (const row of initial) {
      expect(row).toMatchObject({
        fairbed_reason: "initial",
        fairbed_weight: null,
        fairbed_probability: null,
        fairbed_order: null,
        fairbed_answered_at: null,
        fairbed_opinions: 0,
      });
    }
  });

  test("refused, unasked, expired, waiting and corrected", async () => {
    const clock = handClock();
    const campaign = await atRandom(six(), { lease: 100 }, { clock: clock.now });
    const ids: string[] = [];
    for (let i = 0; i < 4; i++) ids.push((await campaign.ask(1)).questions[0].id);
    const [first, gone, third, late] = ids;
    await campaign.tell({ id: first, label: "yes" });
    await campaign.tell({ id: first, label: "no" });
    await campaign.tell({ id: gone, refused: true });
    await campaign.tell({ id: third, label: "yes", sensitive: "b" });
    clock.pass(200);
    const [{ id: waiting }] = (await campaign.ask(1)).questions;
    const left = rowsOf(exportTable(campaign, { rows: "all" })).find(
      ({ id, fairbed_status }) => fairbed_status === "open" && id !== waiting,
    );
    await campaign.tell({ id: String(left?.id), label: "yes" });
    const all = byId(exportTable(campaign, { rows: "all" }));
    expect(all.size).toBe(8);
    const statuses = [...all.values()].map(({ fairbed_status }) => fairbed_status);
    const lateStatus = late === waiting ? "waiting" : "expired";
    expect(all.get(late)?.fairbed_status).toBe(lateStatus);
    expect(all.get(waiting)).toMatchObject({ fairbed_status: "waiting", y: null });
    expect(statuses.filter((status) => status === "labelled").length).toBe(3);
    expect(all.get(gone)).toMatchObject({ fairbed_status: "refused", fairbed_reason: "random", y: null });
    expect(all.get(gone)?.fairbed_weight).toBeNull();
    expect(all.get(first)).toMatchObject({ y: "no", fairbed_corrections: 1 });
    expect(all.get(third)?.g).toBe("b");
    expect(all.get(String(left?.id))).toMatchObject({
      fairbed_reason: "unasked",
      fairbed_order: null,
      fairbed_weight: null,
      fairbed_asked_at: null,
    });
    // Two draws count: one of six, and one of the four that were left.
    expect(all.get(first)?.fairbed_weight).toBeCloseTo((1 + 6) / 2, 12);
    expect(all.get(third)?.fairbed_weight).toBeCloseTo(4 / 2, 12);
    const acquired = exportTable(campaign);
    expect(acquired.rows).toBe(5);
    expect(byId(acquired).has(gone)).toBe(false);
  });

  test("several opinions: how many, and how far they agree", async () => {
    const campaign = await atRandom(six(), { opinions: 3 });
    const say = async (annotator: string, id: string, label: string) =>
      campaign.tell({ id, annotator, label });
    const [{ id }] = (await campaign.ask(1, { annotator: "ann" })).questions;
    await say("ann", id, "yes");
    expect((await campaign.ask(1, { annotator: "bob" })).questions[0]).toMatchObject({
      id,
      reason: "second-opinion",
    });
    await say("bob", id, "no");
    const disputed = () => byId(exportTable(campaign, { rows: "all" })).get(id);
    expect(disputed()).toMatchObject({ fairbed_status: "disputed", fairbed_agreement: 0.5, y: null });
    await say("cyd", id, "no");
    expect(disputed()).toMatchObject({ fairbed_status: "labelled", fairbed_opinions: 3, y: "no" });
    expect(disputed()?.fairbed_agreement).toBeCloseTo(2 / 3, 12);
    expect(disputed()?.fairbed_reason).toBe("random");
    await campaign.adjudicate(id, "yes", "boss");
    expect(disputed()?.fairbed_agreement).toBeCloseTo(1 / 3, 12);
    expect(disputed()?.y).toBe("yes");
  });

  test("without a draw there are no weights", async () => {
    const campaign = await Campaign.create(
      memoryStore(),
      "chosen",
      { table: six(), acquisition: { ...HOW, method: "fairbed", randomPart: 0, shares: "none" } },
      { models: largestFirst() },
    );
    for (let i = 0; i < 2; i++) {
      await campaign.settle();
      const [{ id }] = (await campaign.ask(1)).questions;
      await campaign.tell({ id, label: "yes" });
    }
    const collected = rowsOf(exportTable(campaign)).filter((row) => row.fairbed_status === "labelled");
    expect(collected.map(({ id }) => id)).toEqual(["i6", "i7"]);
    for (const row of collected)
      expect(row).toMatchObject({ fairbed_reason: "score", fairbed_weight: null, fairbed_probability: null });
  });
});

test("weighted means over many seeds are the pool's mean, though the largest are chosen", async () => {
  const table = six();
  const pool = [2, 3, 4, 5, 6, 7];
  const truth = pool.reduce((sum, x) => sum + x, 0);
  const [totals, plain]: number[][] = [[], []];
  for (let seed = 0; seed < 400; seed++) {
    const campaign = await Campaign.create(
      memoryStore(),
      "many",
      { table, seed, acquisition: { ...HOW, method: "fairbed", randomPart: 0.5, shares: "none" } },
      { models: largestFirst() },
    );
    for (let i = 0; i < 4; i++) {
      await campaign.settle();
      const [{ id }] = (await campaign.ask(1)).questions;
      await campaign.tell({ id, label: "yes" });
    }
    const rows = rowsOf(exportTable(campaign)).filter((row) => row.fairbed_status === "labelled");
    expect(new Set(rows.map((row) => row.fairbed_reason))).toEqual(new Set(["score", "random"]));
    totals.push(rows.reduce((sum, row) => sum + Number(row.x) * Number(row.fairbed_weight), 0));
    plain.push(rows.reduce((sum, row) => sum + Number(row.x), 0) / rows.length);
  }
  const mean = (values: number[]) => values.reduce((sum, value) => sum + value, 0) / values.length;
  const error = Math.sqrt(mean(totals.map((total) => (total - mean(totals)) ** 2)) / totals.length);
  expect(error).toBeGreaterThan(0);
  expect(Math.abs(mean(totals) - truth)).toBeLessThan(4 * error);
  // Without the weights it would be another number.
  expect(Math.abs(pool.length * mean(plain) - truth)).toBeGreaterThan(10 * error);
}, 60_000);

describe("formats", () => {
  const roundTrip = async (table: Table, format: ExportFormat | "parquet"): Promise<Table> => {
    const path = join(folder, `table.${format}`);
    await writeFile(path, format === "parquet" ? await parquetBytes(table) : exportText(table, format));
    return readTable(path, { asText: ["id"], name: table.name });
  };

  test("CSV, JSON lines and Parquet give the same table back", async () => {
    const campaign = await begin();
    await campaign.settle();
    await collect(campaign, 12);
    const { questions } = await campaign.ask(3);
    await campaign.tell({ id: questions[0].id, refused: true });
    for (const rows of ["acquired", "all"] as const) {
      const table = exportTable(campaign, { rows });
      for (const format of ["csv", "jsonl", "parquet"] as const) {
        const back = await roundTrip(table, format);
        expect(columnNames(back)).toEqual(columnNames(table));
        expect(toRecords(back), format).toEqual(toRecords(table));
        // A column without a value has no type in a text.
        const kinds = (of: Table) =>
          of.columns
            .filter(({ name }) => name !== "fairbed_agreement")
            .map((each) => [each.kind, each.kind === "numeric" ? each.unit : undefined]);
        expect(kinds(back)).toEqual(kinds(table));
      }
    }
  }, 30_000);

  test("odd ids and values come back, and a spreadsheet runs none of them", async () => {
    const odd = [
      "007",
      "=1+1",
      "@SUM(A1)",
      '"quoted", id',
      "line\nbreak",
      "-cmd|' /C calc'!A0",
      "é漢 \u{1f600}",
      "7",
    ];
    const campaign = await atRandom(
      six(
        (i) => ({ note: `=HYPERLINK("x${i}")` }),
        (i) => odd[i],
      ),
    );
    for (const { id } of (await campaign.ask(6)).questions) await campaign.tell({ id, label: "yes" });
    const table = exportTable(campaign);
    expect(rowsOf(table).map(({ id }) => id)).toEqual(odd);
    const csv = exportText(table, "csv");
    for (const cell of csv.split(/[\n,]/)) expect(cell).not.toMatch(/^"?[=@]/);
    expect(csv).toContain("'=1+1");
    for (const format of ["jsonl", "parquet"] as const)
      expect(rowsOf(await roundTrip(table, format)).map(({ id }) => id)).toEqual(odd);
  });

  test("an unknown format or choice of rows is refused", async () => {
    const campaign = await atRandom(six());
    expect(() => exportText(exportTable(campaign), "xml" as ExportFormat)).toThrow(exportTexts.format("xml"));
    expect(() => exportTable(campaign, { rows: "some" as "all" })).toThrow(exportTexts.rows("some"));
  });
});

test("whoever withdrew is in no export", async () => {
  const marker = "Zaphod-secret";
  const campaign = await atRandom(six((i) => ({ name: i === 3 ? marker : `n${i}` })));
  const { questions } = await campaign.ask(6);
  for (const { id } of questions) await campaign.tell({ id, label: "yes" });
  expect(exportText(exportTable(campaign), "csv")).toContain(marker);
  await campaign.withdraw("i3");
  for (const rows of ["acquired", "all"] as const) {
    const table = exportTable(campaign, { rows });
    expect(table.rows).toBe(7);
    const whole = [
      exportText(table, "csv"),
      exportText(table, "jsonl"),
      JSON.stringify(table),
      Buffer.from(await parquetBytes(table)).toString("latin1"),
    ];
    for (const text of whole) expect(text.includes(marker) || text.includes('"i3"')).toBe(false);
  }
});

test("values of rows that are not exported are not in the table either", async () => {
  const campaign = await atRandom(six((i) => ({ name: `name-${i}` })));
  expect(JSON.stringify(exportTable(campaign))).not.toContain("name-5");
});

test("sensitive columns can be left out", async () => {
  const campaign = await atRandom(six());
  expect(columnNames(exportTable(campaign, { withoutSensitive: true }))).toEqual([
    "id",
    "x",
    "y",
    ...PROVENANCE_COLUMNS.map((name) => `fairbed_${name}`),
  ]);
});

test("a pool that is an export itself keeps its columns, and the new ones are called otherwise", async () => {
  const first = await atRandom(six());
  const pool = exportTable(first, { rows: "all" });
  const second = await atRandom(pool, { acquisition: { ...HOW, method: "random", features: ["x"] } });
  const names = columnNames(exportTable(second));
  expect(names).toContain("fairbed_weight");
  expect(names).toContain("fairbed2_weight");
  expect(new Set(names).size).toBe(names.length);
});

test("the probability column is one that a model can be fitted with", async () => {
  const campaign = await begin({
    acquisition: { ...HOW, target: "hired=yes", sensitive: ["sex"], method: "random" },
  });
  await collect(campaign, 6, 10);
  const table = exportTable(campaign);
  const added = columnNames(table).filter((name) => name.startsWith("fairbed_"));
  const model = await fitModel(table, {
    target: "hired=yes",
    sensitive: ["sex"],
    id: "id",
    exclude: added,
    probability: "fairbed_probability",
    learner: "logistic",
    rule: { metric: "dp", level: 0.8 },
  });
  expect(model.rows).toBe(68);
  expect(columnNames(people()).length + PROVENANCE_COLUMNS.length).toBe(columnNames(table).length);
}, 60_000);

describe("designs", () => {
  const model = linearGaussian();
  const policy: PolicyFile = {
    kind: "static",
    designNames: model.design.map(({ name }) => name),
    horizon: 2,
    designs: [1, 2].map((value) => model.design.map(() => value)),
    model: identityOf(model),
  } as unknown as PolicyFile;

  test("one row for each observation, with the design that was asked for where it differs", async () => {
    const clock = handClock(Date.UTC(2026, 0, 5));
    const campaign = await Campaign.create(memoryStore(), "dose", { policy }, { model, clock: clock.now });
    const [design] = model.design.map(({ name }) => name);
    const [outcome] = model.outcomes;
    const all = (value: number) => Object.fromEntries(model.design.map(({ name }) => [name, value]));
    const asked = (await campaign.ask(1, { participant: "eve" })).questions[0].design ?? {};
    clock.pass(5);
    await campaign.tell({ id: "eve", outcome: 0.5 });
    await campaign.ask(1, { participant: "eve" });
    await campaign.tell({ id: "eve", outcome: 0.7, design: all(1.5) });
    await campaign.tell({ id: "eve", step: 0, outcome: 0.6 });
    await campaign.tell({ id: "dan", outcome: 0.1, design: all(3) });
    await campaign.tell({ id: "gone-marker", outcome: 0.9, design: all(3) });
    await campaign.withdraw("gone-marker");
    const rows = rowsOf(exportTable(campaign));
    expect(rows.length).toBe(3);
    const [first, second, third] = rows;
    expect(first).toMatchObject({
      participant: "eve",
      step: 0,
      [`design_${design}`]: asked[design],
      [`outcome_${outcome}`]: 0.6,
      [`asked_design_${design}`]: null,
      corrections: 1,
      reason: "policy",
      asked_at: new Date("2026-01-05T00:00:00.000Z"),
      answered_at: new Date("2026-01-05T00:00:05.000Z"),
    });
    expect(second).toMatchObject({ step: 1, [`design_${design}`]: 1.5 });
    expect(second[`asked_design_${design}`]).not.toBeNull();
    expect(third).toMatchObject({ participant: "dan", reason: "unasked", asked_at: null });
    expect(exportText(exportTable(campaign), "jsonl")).not.toContain("gone-marker");
  });
});
