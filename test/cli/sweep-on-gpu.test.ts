/** A sweep on a GPU: all cells together, with the processor's numbers but for rounding, and never on a queue. */
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { sweepTexts } from "../../src/cli/commands/design/sweep.js";
import { needsDist } from "../setup/dist.js";
import { describeOnGpu } from "../setup/gpu.js";
import { runInProcess } from "./in-process.js";

needsDist();
const folder = mkdtempSync(join(tmpdir(), "fairbed-sweep-gpu-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const words = (out: string, ...more: string[]) => [
  ...["design", "sweep", "--model", "linear-gaussian", "--betas", "0,0.8", "--horizons", "1", "--seeds", "2"],
  ...[
    "--steps",
    "4",
    "--starts",
    "2",
    "--outer",
    "8",
    "--inner",
    "40",
    "--batches",
    "2",
    "--figures",
    "none",
  ],
  ...["--out", join(folder, out), ...more],
];
const numbersIn = (out: string): number[][] =>
  readFileSync(join(folder, out, "results.csv"), "utf8")
    .trim()
    .split("\n")
    .slice(1)
    .map((line) => line.split(",").slice(0, -1).map(Number));

describeOnGpu("a sweep on a GPU", () => {
  test("has the processor's numbers, says what it used, and goes on where it stopped", async () => {
    expect((await runInProcess(words("cpu"))).failure).toBeUndefined();
    const { result, failure } = await runInProcess(words("gpu", "--device", "gpu"));
    expect(failure).toBeUndefined();
    expect(result).toMatchObject({ device: { used: "gpu" }, cells: { total: 4, computed: 4 } });
    const [cpu, gpu] = [numbersIn("cpu"), numbersIn("gpu")];
    expect(gpu.length).toBe(4);
    gpu.forEach((row, i) => {
      row.forEach((value, k) => {
        if (Number.isFinite(cpu[i][k])) expect(Math.abs(value - cpu[i][k])).toBeLessThan(0.005);
      });
    });
    const again = await runInProcess(words("gpu", "--device", "gpu"));
    expect(again.result).toMatchObject({ cells: { found: 4, computed: 0 } });
  }, 120_000);
});

test("is not put on a queue", async () => {
  const { failure } = await runInProcess(words("queue", "--device", "gpu", "--queue", "postgres://nowhere"));
  expect(JSON.stringify(failure)).toContain(sweepTexts.queue);
});
