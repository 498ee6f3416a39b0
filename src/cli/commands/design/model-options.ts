/** The options that name a model, the same on every design command. What they mean is in `named-model.ts`. */
import { reals, text } from "../../options.js";

export const modelOptions = {
  model: text(
    "--model <name>",
    "location, linear-gaussian, psychometric, pharmacokinetics, or a file such as ./my-model.ts",
  ),
  priorMean: reals("--prior-mean <numbers>", "where the prior expects the parameters: 3,3", undefined),
  modelOptions: text("--model-options <json>", "other options of the model: '{\"noise\": 0.3}'"),
};

/** Further models that the data must not leak under. */
export const againstOption = text(
  "--against <json>",
  "other options of the model, leakage the worst of all: '[{\"noise\": 0.3}]'",
);

/** What they come to. */
export interface ModelChoice {
  readonly model: string | undefined;
  readonly priorMean: readonly number[] | undefined;
  readonly modelOptions: string | undefined;
}
