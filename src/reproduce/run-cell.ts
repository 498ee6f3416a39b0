/** A cell to its result: the same numbers on any machine, with any number of threads. */

import { InputError } from "../core/errors.js";
import type { RunOptions } from "../core/options.js";
import type { AcquireResult, Cell, ResultOf } from "./cell.js";

export interface CellRun {
  /** What the cell's acquisition gave, where it is known; it is run first unless given. */
  readonly acquired?: AcquireResult | undefined;
  /** All cores unless given. */
  readonly threads?: number | undefined;
  /** Where the data is; the usual folder unless given. */
  readonly root?: string | undefined;
  readonly signal?: RunOptions["signal"];
  /** Called often with the share that is done; the cell waits for it. */
  readonly onProgress?: ((done: number) => unknown) | undefined;
}

export const runCellTexts = {
  kind: (given: unknown) =>
    `there is no kind of cell "${String(given)}": use the version of fairbed that made these cells`,
};

const run = async (cell: Cell, options: CellRun) => {
  switch (cell.kind) {
    case "acquire":
      return (await import("./acquire-cell.js")).runAcquire(cell, options);
    case "design":
      return (await import("./design-cell.js")).runDesign(cell, options);
    case "generalize":
    case "reject-option":
    case "representation":
    case "parity": {
      const { runAcquire } = await import("./acquire-cell.js");
      const acquired = options.acquired ?? (await runAcquire(cell.acquisition, options));
      return cell.kind === "parity"
        ? (await import("./parity-cell.js")).runParity(cell, acquired, options)
        : (await import("./judge-cell.js")).runJudge(cell, acquired, options);
    }
    default:
      throw new InputError("cell-kind", runCellTexts.kind((cell as { kind?: unknown }).kind));
  }
};

export const runCell = async <C extends Cell>(cell: C, options: CellRun = {}): Promise<ResultOf<C>> =>
  (await run(cell, options)) as ResultOf<C>;
