/** `fairbed design next`: a policy used for real. */
import { InputError } from "../../../core/errors.js";
import { posteriorTexts } from "../../../report/digits.js";
import type { RunPolicyOptions, SessionPosterior } from "../../../workflows/run-policy.js";
import { defineCommand } from "../../command.js";
import { argument, integer, text } from "../../options.js";
import { rightAligned } from "../../text-table.js";
import { modelOptions } from "./model-options.js";

export const next = defineCommand({
  name: "design next",
  group: "Design",
  summary: "the next design, and what is known so far",
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
    seed: integer("--seed <number>", "for a policy that draws its designs, and the posterior", 0, { min: 0 }),
  },
  async run({ arguments: { policy: path }, options }) {
    const { readPolicy } = await import("./read-policy.js");
    const { readJson } = await import("./files.js");
    const { historyTexts, readHistory } = await import("../../../design/history-file.js");
    const { runPolicy } = await import("../../../workflows/run-policy.js");
    const { policy, loaded } = await readPolicy(path, options);
    const { model } = loaded;
    const history = await readJson(options.history);
    // Here and not by the session, whose messages do not know the file's name.
    const { steps } = readHistory(history, model, options.history);
    if (steps > policy.horizon) {
      throw new InputError("history", historyTexts.full(options.history, steps, policy.horizon));
    }
    const session = runPolicy(model, policy, {
      history: history as RunPolicyOptions["history"],
      seed: options.seed,
    });
    const { designRounder } = await import("../../../report/rounded-design.js");
    const design = session.done ? undefined : await session.next();
    const rounded = (given: Readonly<Record<string, number>>) => {
      const values = designRounder(model)(Object.values(given));
      return Object.fromEntries(Object.keys(given).map((name, d) => [name, values[d]]));
    };
    return {
      done: session.done,
      observations: steps,
      horizon: session.horizon,
      ...(design === undefined ? {} : { observation: steps + 1, design, rounded: rounded(design) }),
      outcomes: session.outcomes.map(({ name, isLogarithm, isYesNo }) => ({
        name,
        recordedAs: isLogarithm ? "its natural logarithm" : isYesNo ? "1 for yes, 0 for no" : "it is",
      })),
      posterior: (await session.posterior()).parameters,
    };
  },
  print: ({ observation, observations, horizon, rounded, outcomes, posterior }) =>
    [
      ...(rounded === undefined
        ? [`All ${horizon} observations are made: there is no next design.`]
        : [
            `Observation ${observation} of ${horizon}:`,
            ...Object.entries(rounded).map(([name, value]) => `  ${name} = ${value}`),
            ...outcomes.map(({ name, recordedAs }) => `Then record "${name}" as ${recordedAs}.`),
          ]),
      "",
      observations === 0 ? "What is known before the first:" : `What is known after ${observations}:`,
      ...posteriorTable(posterior),
    ].join("\n"),
});

const posteriorTable = (parameters: SessionPosterior["parameters"]): string[] =>
  rightAligned([
    ["", "role", "mean", "sd", "95 % interval"],
    ...Object.entries(parameters).map(([name, parameter]) => {
      const { mean, sd, interval } = posteriorTexts(parameter);
      return [`  ${name}`, parameter.role, mean, sd, interval];
    }),
  ]);
