/** Cells of policies that are trained together on a GPU: each gets what it would get by itself, but for rounding. */
import { expect, test } from "vitest";
import type { DesignCell, DesignResult } from "../../src/reproduce/cell.js";
import { runDesign } from "../../src/reproduce/design-cell.js";
import { runDesignsOnGpu } from "../../src/reproduce/designs-on-gpu.js";
import { describeOnGpu } from "../setup/gpu.js";

const SIZES = { outer: 5, contrastive: 12, marginal: 9 };
const COMMON = {
  kind: "design",
  objective: "conditional",
  beta: 0.8,
  horizon: 2,
  seed: 0,
  device: "gpu",
  evaluation: { outer: 8, batches: 2, inner: 50 },
} as const;

const CELLS: readonly DesignCell[] = [
  { ...COMMON, policy: "static", training: { ...SIZES, steps: 6 } },
  {
    ...COMMON,
    policy: "dad",
    widths: { encoder: [4], encoding: 3, emitter: [5] },
    bestStatic: { starts: 2, steps: 4 },
    training: { ...SIZES, steps: 3, rate: 0.01 },
  },
];

describeOnGpu("cells on a GPU", () => {
  test("are trained together, designs first and networks from them, to what each would be by itself but for rounding", async () => {
    const found = new Map<DesignCell, DesignResult>();
    const shares: number[] = [];
    await runDesignsOnGpu(CELLS, {
      threads: 1,
      onProgress: (share) => shares.push(share),
      onResult: (cell, result) => found.set(cell, result),
    });
    expect(shares.at(-1)).toBe(1);
    const [designs, network] = CELLS.map((cell) => found.get(cell));
    const cpu = await runDesign({ ...CELLS[0], device: undefined }, { threads: 1 });
    expect(designs?.steps).toBe(cpu.steps);
    expect(cpu.designs).toHaveLength(2);
    cpu.designs?.flat().forEach((value, i) => {
      expect(designs?.designs?.flat()[i]).toBeCloseTo(value, 3);
    });
    // Judged on other samples than on the processor.
    const alone = await runDesign(CELLS[1], { threads: 1 });
    expect(network?.objective).toBeCloseTo(alone.objective ?? Number.NaN, 4);
  }, 180_000);

  test("of which one breaks are run all the same, but for that one", async () => {
    // Too large for a float32.
    const beta = 1e39;
    const broken = CELLS.map((cell) => ({ ...cell, beta }));
    const found: DesignCell[] = [];
    const running = runDesignsOnGpu([broken[0], ...CELLS, broken[1]], {
      threads: 1,
      onResult: (cell) => found.push(cell),
    });
    await expect(running).rejects.toThrow("with beta 1e+39 and seed 0, training stopped");
    expect(found).toEqual(CELLS);
  }, 180_000);
});
