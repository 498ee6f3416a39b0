/** A process that runs cells for its parent, one at a time, until the parent lets go. */
import { FairbedError, InputError } from "../../core/errors.js";
import type { CellAnswer, CellOrder } from "./cell-helpers.js";
import { runCell } from "./run-cell.js";

const answer = (message: CellAnswer): void => {
  // A parent that is gone wants no result.
  process.send?.(message, undefined, {}, (error) => {
    if (error !== null) process.exit(0);
  });
};

// Ctrl-C reaches the whole group of processes; the parent decides what happens.
process.on("SIGINT", () => {});
process.on("disconnect", () => process.exit(0));

/** So often the parent is told how far a cell is, and its end is heard. */
const REPORT_MS = 250;

const reporter = (): ((done: number) => Promise<void>) => {
  let last = performance.now();
  return async (done) => {
    if (performance.now() - last < REPORT_MS) return;
    answer({ progress: done });
    await new Promise((resolve) => setImmediate(resolve));
    last = performance.now();
  };
};

process.on("message", ({ cell, run }: CellOrder) => {
  runCell(cell, { ...run, onProgress: reporter() }).then(
    (result) => answer({ result }),
    (error: unknown) =>
      answer({
        failed: {
          code: error instanceof FairbedError ? error.code : "unexpected",
          message: error instanceof FairbedError ? error.message : String(error),
          input: error instanceof InputError,
        },
      }),
  );
});
