/** Labels of a split, asked for by rows and read from the labels that are there. */
import type { Split } from "../../src/active/split.js";
import { createRowSession, type RowSessionOptions } from "../../src/workflows/row-session.js";
import { type AcquisitionStep, acquireFromTable } from "../../src/workflows/simulation.js";

export interface AcquireOptions extends Omit<RowSessionOptions, "initial" | "pool" | "targets" | "budget"> {
  readonly split: Split;
  readonly budget: number;
  readonly batch?: number | undefined;
  readonly onStep?: ((step: AcquisitionStep) => unknown) | undefined;
}

export const acquire = async ({ split, batch = 1, onStep, ...options }: AcquireOptions) => {
  const { target, budget } = options;
  const known = new Set(split.initial);
  const session = createRowSession({
    ...options,
    ...split,
    target: { ...target, labels: target.labels.map((label, row) => (known.has(row) ? label : -1)) },
  });
  const warnings = await acquireFromTable(session, target, {
    budget,
    batch,
    onStep: async (step) => onStep?.(step),
  });
  return { acquired: session.asked, beta: session.beta, met: session.met, warnings };
};
