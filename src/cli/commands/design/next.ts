/** `fairbed design next`: a policy used for real. */
import { InputError } from "../../../core/errors.js";
import { defineCommand } from "../../command.js";
import { argument, integer, text } from "../../options.js";
import { modelOptions } from "./model-options.js";

export const next = defineCommand({
  name: "design next",
  group: "Design",
  summary: "the next design, from what was measured so far",
  examples: [
    {
      line: "design next policy.json",
      description: "from what is in history.json",
    },
  ],
  arguments: { policy: argument("a policy file") },
  options: {
    history: text(
      "--history <file>",
      'what was measured so far: [{"design": [1, 2], "outcome": 0.3}, ...]',
      "history.json",
    ),
    ...modelOptions,
    seed: integer("--seed <number>", "for a policy that draws its designs", 0, { min: 0 }),
  },
  async run({ arguments: { policy: path }, options }) {
    const { readPolicy } = await import("./read-policy.js");
    const { readJson } = await import("./files.js");
    const { historyTexts, readHistory } = await import("../../../design/history-file.js");
    const { randomStream } = await import("../../../core/random.js");
    const { policy, loaded } = await readPolicy(path, options);
    const { model } = loaded;
    const history = readHistory(await readJson(options.history), model, options.history);
    const { steps } = history;
    if (steps >= policy.horizon) {
      throw new InputError("history", historyTexts.full(options.history, steps, policy.horizon));
    }
    const values = await policy.next(history, randomStream(options.seed).split("next").split(steps));
    return {
      observation: steps + 1,
      horizon: policy.horizon,
      design: Object.fromEntries(model.design.map(({ name }, d) => [name, values[d]])),
      outcomes: Object.entries(model.distributions(ones(model), ones(model))).map(([name, { logged }]) => ({
        name,
        recordedAs: logged === true ? "its natural logarithm" : "it is",
      })),
    };
  },
  print: ({ observation, horizon, design, outcomes }) =>
    [
      `Observation ${observation} of ${horizon}:`,
      ...Object.entries(design).map(([name, value]) => `  ${name} = ${value}`),
      ...outcomes.map(({ name, recordedAs }) => `Then record "${name}" as ${recordedAs}.`),
    ].join("\n"),
});

/** Any numbers do: how an outcome is recorded does not depend on them. */
const ones = (model: {
  readonly parameters: readonly { readonly name: string }[];
  readonly design: readonly { readonly name: string }[];
}): Readonly<Record<string, number>> =>
  Object.fromEntries([...model.parameters, ...model.design].map(({ name }) => [name, 1]));
