/** How much a policy is evaluated, the same on every command that does. */
import { EVALUATION_DEFAULTS } from "../../../workflows/evaluation-defaults.js";
import { optionalInteger } from "../../options.js";

const { usual, greedy } = EVALUATION_DEFAULTS;

export const evaluationOptions = {
  outer: optionalInteger(
    "--outer <number>",
    `simulated experiments in a batch (${usual.outer}, greedy ${greedy.outer})`,
    { min: 2, max: 1_000_000 },
  ),
  inner: optionalInteger(
    "--inner <number>",
    `inner samples of every bound (${usual.inner}, greedy ${greedy.inner})`,
    { min: 1, max: 10_000_000 },
  ),
  batches: optionalInteger("--batches <number>", `batches, each with fresh samples (${usual.batches})`, {
    min: 1,
    max: 100_000,
  }),
};
