/** A sweep on a GPU: all cells together, with the processor's numbers but for rounding, and never on a queue. */
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { loadModel } from "../../src/cli/commands/design/load-model.js";
import { sweepTexts } from "../../src/cli/commands/design/sweep.js";
import { sweepJob, sweepJobs } from "../../src/cli/commands/design/sweep-jobs.js";
import type { Device } from "../../src/compute/webgpu/api.js";
import { policySettings } from "../../src/workflows/policy-settings.js";
import { needsDist } from "../setup/dist.js";
import { describeOnGpu, lostAfter, openAsHardware, watchSubmissions } from "../setup/gpu.js";
import { openInDist, runInProcess, shareInDist } from "./in-process.js";

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
  }, 600_000);
});

describeOnGpu("a sweep on a GPU of which one cell breaks", () => {
  test("keeps the others, and names the broken one every time", async () => {
    // Too large for a float32.
    const line = words("broken", "--device", "gpu", "--betas", "0,1e39", "--seeds", "1");
    for (let time = 0; time < 2; time++) {
      const { failure } = await runInProcess(line);
      expect(failure).toContain("with beta 1e+39 and seed 0, training stopped at step 1");
    }
    const { result } = await runInProcess(words("broken", "--device", "gpu", "--betas", "0", "--seeds", "1"));
    expect(result).toMatchObject({ cells: { found: 1, computed: 0 } });
  }, 120_000);
});

describeOnGpu("a cell of a GPU", () => {
  test("runs on one wherever it is run", async () => {
    const loaded = await loadModel({ model: "linear-gaussian", options: {} });
    const settings = policySettings({ horizon: 1, steps: 2, starts: 1 });
    const { input } = sweepJob(loaded, {
      settings,
      evaluation: { outer: 8, inner: 40, batches: 2 },
      device: "gpu",
    });
    const { report } = await sweepJobs.run(input, {});
    expect(report.device).toMatchObject({ used: "gpu" });
  }, 120_000);
});

describeOnGpu("auto", () => {
  test("leaves the cells to the processor where that is faster, as if it had been asked for", async () => {
    const { result, failure } = await runInProcess(words("auto", "--device", "auto"));
    expect(failure).toBeUndefined();
    const note = expect.stringContaining("is a program on the processor");
    expect(result).toMatchObject({ device: { asked: "auto", used: "cpu", note }, cells: { computed: 4 } });
    const again = await runInProcess(words("auto"));
    expect(again.result).toMatchObject({ cells: { found: 4, computed: 0 } });
  }, 600_000);
});

describeOnGpu("auto, where the GPU is lost", () => {
  test("leaves the cells that are not finished to the processor, and takes all for found the next time", async () => {
    const more = ["--seeds", "1", "--horizons", "1,2"];
    let submissions = 0;
    const counted = (device: Device): Device => watchSubmissions(device, () => submissions++);
    await shareInDist(await openAsHardware({ as: counted, open: await openInDist() }));
    expect((await runInProcess(words("whole", "--device", "gpu", ...more))).failure).toBeUndefined();
    // Two horizons, one after the other: in the second, the first is stored.
    const as = lostAfter(Math.round(0.8 * submissions));
    await shareInDist(await openAsHardware({ as, open: await openInDist() }));
    const { result, failure } = await runInProcess(words("lost", "--device", "auto", ...more));
    expect(failure).toBeUndefined();
    const note = sweepTexts.left(2, 4);
    expect(result).toMatchObject({ device: { asked: "auto", used: "gpu", note }, cells: { computed: 4 } });
    // The processor's are its own, to the last bit, and count as such.
    expect((await runInProcess(words("alone", ...more))).failure).toBeUndefined();
    const [lost, alone] = [numbersIn("lost"), numbersIn("alone")];
    expect(lost.map((row, i) => JSON.stringify(row) === JSON.stringify(alone[i]))).toEqual([
      ...[false, false],
      ...[true, true],
    ]);
    const again = await runInProcess(words("lost", "--device", "auto", ...more));
    expect(again.result).toMatchObject({ cells: { found: 4, computed: 0 } });
    const cpu = await runInProcess(words("lost", ...more));
    expect(cpu.result).toMatchObject({ cells: { found: 2, computed: 2 } });
  }, 600_000);
});

describeOnGpu("figures of the paper on a GPU", () => {
  test("with auto, the processor takes over where the GPU is lost", async () => {
    await shareInDist(await openAsHardware({ as: lostAfter(3), open: await openInDist() }));
    const out = join(folder, "reproduced");
    const { result, failure } = await runInProcess([
      ...["reproduce", "fig-static-designs", "--quick", "--seeds", "1", "--device", "auto", "--out", out],
    ]);
    expect(failure).toBeUndefined();
    const notes = [expect.stringMatching(/^On the CPU, because the GPU was lost/)];
    expect(result).toMatchObject({ cells: { wanted: 1, ran: 1, stored: 1 }, notes });
  }, 600_000);
});

test("is not put on a queue", async () => {
  const { failure } = await runInProcess(words("queue", "--device", "gpu", "--queue", "postgres://nowhere"));
  expect(JSON.stringify(failure)).toContain(sweepTexts.queue);
});
