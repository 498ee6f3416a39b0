/** A process that computes for its parent, one order at a time, until the parent lets go. */
import { FairbedError, InputError } from "../../../core/errors.js";
import { decodePolicy, policyOf } from "../../../design/policy-file.js";
import { reportOn } from "./evaluate.js";
import type { HelperAnswer, HelperOrder, HelperResult } from "./helper.js";
import { loadModel } from "./load-model.js";
import { runCell } from "./sweep-cell.js";

const answer = (message: HelperAnswer): void => {
  process.send?.(message);
};

const obey = async (order: HelperOrder): Promise<HelperResult> => {
  if (order.task === "cell") return runCell(order);
  const loaded = await loadModel(order.source);
  const policy = policyOf(decodePolicy(order.policy), loaded.model);
  return reportOn(loaded, policy, order.settings, (done) => answer({ progress: done }));
};

// Ctrl-C reaches the whole group of processes; the parent decides what happens.
process.on("SIGINT", () => {});
process.on("disconnect", () => process.exit(0));

process.on("message", (order: HelperOrder) => {
  obey(order).then(
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
