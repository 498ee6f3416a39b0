/** Where candidates are scored: the processor's answers on a GPU, what `auto` takes, and what is said of it. */
import { describe, expect, test } from "vitest";
import { syntheticPool } from "../../src/tables/synthetic.js";
import { dropColumns, selectRows, type Table } from "../../src/tables/table.js";
import { acquisition } from "../../src/workflows/acquisition.js";
import { deviceTexts, sharedGpu, shareGpu } from "../../src/workflows/device.js";
import { rankPool } from "../../src/workflows/rank-pool.js";
import { openScores, type ScoreWork } from "../../src/workflows/score-device.js";
import { scoreDeviceTexts, worthGpu } from "../../src/workflows/score-on-gpu.js";
import { simulate } from "../../src/workflows/simulate.js";
import { describeOnGpu, openAsHardware } from "../setup/gpu.js";

const WORK: ScoreWork = { method: "fairbed", candidates: 1e6, targets: 1000, members: 100, times: 2 };

describe("auto", () => {
  test("takes the GPU where the products last longer than opening it and copying the members", () => {
    expect(worthGpu(WORK, 2)).toBe(true);
    // Two seconds of products on one core, and half a second to open a GPU.
    expect(worthGpu({ ...WORK, candidates: 2e5, times: 1 }, 1)).toBe(true);
    expect(worthGpu({ ...WORK, candidates: 2e5, times: 1 }, 16)).toBe(false);
    expect(worthGpu({ ...WORK, candidates: 5000, targets: 200 }, 1)).toBe(false);
  });

  test("says why it is the processor, and a method without EPIG is refused", async () => {
    const small = await openScores("auto", { ...WORK, candidates: 10 });
    expect(small.elsewhere).toBeUndefined();
    expect(small.used()).toEqual({ asked: "auto", used: "cpu", note: scoreDeviceTexts.small });
    const text = scoreDeviceTexts.method("random");
    expect((await openScores("auto", { ...WORK, method: "random" })).used().note).toBe(text);
    await expect(openScores("gpu", { ...WORK, method: "random" })).rejects.toThrow(text);
    await expect(openScores("tpu" as "gpu", WORK)).rejects.toThrow(deviceTexts.unknown("tpu"));
    expect((await openScores("cpu", WORK)).elsewhere).toBeUndefined();
  });
});

test("a session that is refused its device says so at every question, and ends nothing else", async () => {
  const { table, settings: roles } = syntheticPool({ rows: 120, seed: 3 });
  const stray: unknown[] = [];
  const onStray = (reason: unknown) => stray.push(reason);
  process.on("unhandledRejection", onStray);
  try {
    const session = acquisition(withoutLabels(table), { ...roles, method: "bald", device: "gpu" });
    for (let i = 0; i < 2; i++) {
      await expect(session.ask(1)).rejects.toThrow(scoreDeviceTexts.method("bald"));
    }
    await new Promise((resolve) => setTimeout(resolve, 0));
    expect(stray).toEqual([]);
  } finally {
    process.off("unhandledRejection", onStray);
  }
});

/** The labels of all but the first forty rows taken away. */
const withoutLabels = (table: Table): Table => ({
  ...table,
  columns: table.columns.map((column) =>
    column.name === "outcome" && column.kind === "categorical"
      ? { ...column, codes: column.codes.map((code, row) => (row < 40 ? code : -1)) }
      : column,
  ),
});

describeOnGpu("candidates scored on a GPU", (gpu) => {
  const { table, settings: roles } = syntheticPool({ rows: 260, seed: 3 });
  const labelled = selectRows(
    table,
    Array.from({ length: 60 }, (_, i) => i),
  );
  const rest = Array.from({ length: 200 }, (_, i) => 60 + i);
  const pool = dropColumns(selectRows(table, rest), ["outcome"]);

  test("a ranking is the processor's, and says where it comes from", async () => {
    const options = { ...roles, labelled, top: 5, predictSample: 40, batchKind: "top" } as const;
    const here = await rankPool(pool, options);
    const there = await rankPool(pool, { ...options, device: "gpu" });
    expect(here.device).toBeUndefined();
    expect(there.device).toMatchObject({ asked: "gpu", used: "gpu", name: gpu().info.name });
    expect(there.candidates.map(({ row }) => row)).toEqual(here.candidates.map(({ row }) => row));
    there.candidates.forEach(({ score, leakage }, i) => {
      expect(Math.abs(score - here.candidates[i].score)).toBeLessThan(2e-5);
      expect(Math.abs((leakage ?? 0) - (here.candidates[i].leakage ?? 0))).toBeLessThan(2e-6);
    });
  });

  test("a session and a simulation ask for the same people", async () => {
    const run = { budget: 4, batch: 2, seed: 1 } as const;
    const here = await simulate(table, { ...roles, ...run });
    const there = await simulate(table, { ...roles, ...run, device: "gpu" });
    expect(there.methods[0].acquired).toEqual(here.methods[0].acquired);
    expect(there.device).toMatchObject({ asked: "gpu", used: "gpu" });
    expect(here.device).toBeUndefined();
    const unknown = withoutLabels(table);
    const session = (device: "cpu" | "gpu") => acquisition(unknown, { ...roles, seed: 2, device });
    const [one, other] = [session("cpu"), session("gpu")];
    const rowsOf = async (asked: typeof one) => (await asked.ask(2)).map(({ row }) => row);
    expect(await rowsOf(other)).toEqual(await rowsOf(one));
    expect(other.notes.some((note) => note.startsWith("On the GPU"))).toBe(true);
  });

  test("auto goes on here when the GPU is lost", async () => {
    const shared = await openAsHardware();
    shareGpu(shared);
    const [scores, auto, late] = [
      await openScores("gpu", WORK),
      await openScores("auto", WORK),
      await openScores("auto", WORK),
    ];
    const members = (rows: number) => ({
      kind: "dense" as const,
      rows,
      members: 2,
      classes: 2,
      values: new Float32Array(4 * rows).fill(0.5),
    });
    const part = [members(2), members(3), new Float64Array(3).fill(1 / 3)] as const;
    expect(late.used()).toEqual({ asked: "auto", used: "cpu", note: scoreDeviceTexts.nothing });
    expect(await late.elsewhere?.(...part)).toBeDefined();
    expect(late.used().used).toBe("gpu");
    shared.dispose();
    await expect(scores.elsewhere?.(...part)).rejects.toMatchObject({ code: "gpu-lost" });
    expect(await auto.elsewhere?.(...part)).toBeUndefined();
    expect(auto.used()).toMatchObject({
      used: "cpu",
      note: expect.stringMatching(/^the GPU was lost \(.*\)$/),
    });
    // A part of the scores had come from it by then.
    expect(await late.elsewhere?.(...part)).toBeUndefined();
    const { note: reason = "" } = auto.used();
    expect(late.used()).toMatchObject({ used: "gpu", note: scoreDeviceTexts.rest(reason) });
  });

  test("a session whose GPU was lost has another at the next question", async () => {
    const session = acquisition(withoutLabels(table), { ...roles, seed: 2, device: "gpu" });
    const shared = await sharedGpu();
    await session.ask(1);
    shared.dispose();
    await expect(session.ask(1)).rejects.toMatchObject({ code: "gpu-lost" });
    expect(await session.ask(1)).toHaveLength(1);
  });
});
