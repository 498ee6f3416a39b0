/** A process of a sweep: takes cells from its parent, one at a time, until the parent lets go. */
import { FairbedError, InputError } from "../../../core/errors.js";
import { type CellOrder, type CellResult, runCell } from "./sweep-cell.js";

export type CellAnswer =
  | { readonly result: CellResult }
  | { readonly failed: { readonly code: string; readonly message: string; readonly input: boolean } };

// Ctrl-C reaches the whole group of processes; the parent decides what happens.
process.on("SIGINT", () => {});
process.on("disconnect", () => process.exit(0));

process.on("message", async (order: CellOrder) => {
  const answer: CellAnswer = await runCell(order).then(
    (result) => ({ result }),
    (error: unknown) => ({
      failed: {
        code: error instanceof FairbedError ? error.code : "unexpected",
        message: error instanceof FairbedError ? error.message : String(error),
        input: error instanceof InputError,
      },
    }),
  );
  process.send?.(answer);
});
