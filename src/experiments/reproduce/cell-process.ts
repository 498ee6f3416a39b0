/** A process that runs cells for its parent, one at a time, until the parent lets go. */
import { FairbedError, InputError } from "../../core/errors.js";
import type { CellAnswer, CellOrder } from "./cell-helpers.js";
import { runCell } from "./run-cell.js";

const answer = (message: CellAnswer): void => {
  process.send?.(message);
};

// Ctrl-C reaches the whole group of processes; the parent decides what happens.
process.on("SIGINT", () => {});
process.on("disconnect", () => process.exit(0));

process.on("message", ({ cell, run }: CellOrder) => {
  runCell(cell, run).then(
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
