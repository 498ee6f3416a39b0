/** `fairbed design optimize`: finds a policy and writes it to a file with the bounds it reached. */

import { existsSync } from "node:fs";
import { type InformationUnit, unitOf } from "../../../core/information-unit.js";
import { fixed, withError } from "../../../core/number-text.js";
import { budgetOutcome, budgetOutcomeTexts } from "../../../workflows/budget-outcome.js";
import { deviceTexts, trainedOn } from "../../../workflows/device.js";
import { OBJECTIVE_KINDS, POLICY_KINDS, TRAIN_POLICY_DEFAULTS } from "../../../workflows/policy-defaults.js";
import type { TrainPolicySettings } from "../../../workflows/policy-settings.js";
import type { TrainPolicyProgress } from "../../../workflows/train-policy.js";
import type { BudgetPoint } from "../../../workflows/train-within-budget.js";
import { bitsOption } from "../../bits-option.js";
import { type CommandContext, defineCommand } from "../../command.js";
import { deviceOption } from "../../device-option.js";
import {
  choice,
  flag,
  grouped,
  integer,
  optionalInteger,
  optionalReal,
  outFile,
  real,
  text,
} from "../../options.js";
import { rightAligned, short } from "../../text-table.js";
import type { CheckpointFile } from "./checkpoint.js";
import { checkpointPath } from "./checkpoint-path.js";
import { evaluationOptions } from "./evaluation-options.js";
import { againstOption, modelOptions } from "./model-options.js";
import { reportTable } from "./report-table.js";
import { widthsOption } from "./widths-option.js";

const usual = TRAIN_POLICY_DEFAULTS;

/** What decides a policy, beside beta, the horizon and the seed, of which a sweep has several. */
export const trainingOptions = {
  policy: choice("--policy <kind>", "the kind of policy", POLICY_KINDS, usual.kind),
  objective: choice(
    "--objective <name>",
    "leakage given the target, or by itself",
    OBJECTIVE_KINDS,
    usual.objective,
  ),
  ...grouped("Training", {
    steps: optionalInteger(
      "--steps <number>",
      `steps of the optimiser (static ${usual.static.steps}, dad ${usual.dad.steps})`,
      { min: 1 },
    ),
    starts: optionalInteger("--starts <number>", `starts of a static design (${usual.static.starts})`, {
      min: 1,
    }),
    rate: optionalReal(
      "--rate <number>",
      `how far a step goes (static ${usual.static.rate}, dad ${usual.dad.rate}, with a start ${usual.dadFromStatic.rate})`,
      { above: 0 },
    ),
    start: text(
      "--start <where>",
      "dad: from the best static designs (static), or from those in a policy's file",
    ),
    widths: widthsOption,
    designMean: optionalReal(
      "--design-mean <number>",
      "normal random designs around it, not all over the bounds (0)",
    ),
    designSd: optionalReal("--design-sd <number>", "their standard deviation (1)", { above: 0 }),
  }),
};

/** What random designs are drawn from, where it was said. */
export const normalDesigns = ({
  designMean: mean,
  designSd: sd,
}: Readonly<Record<"designMean" | "designSd", number | undefined>>): TrainPolicySettings["distribution"] =>
  mean === undefined && sd === undefined ? undefined : { mean: mean ?? 0, sd: sd ?? 1 };

export const optimize = defineCommand({
  name: "design optimize",
  group: "Design",
  summary: "find a policy for a model and write it to a file",
  examples: [
    {
      line: "design optimize --model location",
      description: "ten places to listen, into policy.json",
    },
    {
      line: "design optimize --model ./my-model.ts --policy dad --out policy.json",
      description: "a network that adapts, for a model of your own",
    },
    {
      line: "design optimize --model location --device gpu",
      description: "the same on a GPU, in seconds",
    },
    {
      line: "design optimize --model location --policy dad --start static --out policy.json",
      description: "a network that starts from the best static designs",
    },
  ],
  arguments: {},
  options: {
    ...modelOptions,
    ...trainingOptions,
    beta: real("--beta <number>", "price of one nat of leakage", usual.beta, { min: 0 }),
    horizon: integer("--horizon <number>", "how many observations", usual.horizon, { min: 1, max: 10_000 }),
    budgetNats: optionalReal("--budget-nats <number>", "at most so much leakage, instead of beta", {
      above: 0,
    }),
    against: againstOption,
    ...grouped("Evaluation", evaluationOptions),
    seed: integer("--seed <number>", "random seed", usual.seed, { min: 0 }),
    device: deviceOption,
    bits: bitsOption,
    out: outFile("--out <file>", "where the policy goes", {
      fallback: "policy.json",
      beside: (path) => [checkpointPath(path)],
    }),
    resume: flag("--resume", "go on from the checkpoint that a killed run left beside the file"),
  },
  reportsProgress: true,
  async run({ options, context }) {
    const { out, budgetNats: leakageBudget, policy: kind, device } = options;
    const { objective, beta, horizon, steps, starts, rate, seed, outer, inner, batches, widths } = options;
    const { modelsAgainst, namedModel, optionsAgainst, sourceFrom } = await import("./named-model.js");
    const { encodePolicy } = await import("../../../design/policy-file.js");
    const { evaluateFound, findPolicy } = await import("../../../workflows/train-policy.js");
    const { withBounds } = await import("../../../workflows/evaluate-policy.js");
    const { designRounder } = await import("../../../report/rounded-design.js");
    const { LeakageBudgetError } = await import("../../../workflows/train-within-budget.js");
    const { checkpointFile, checkpointTexts, readCheckpoint } = await import("./checkpoint.js");
    const { model, source, identity } = await namedModel(options);
    const against = await modelsAgainst(source, optionsAgainst(options.against));
    const { signal } = context;
    const started = performance.now();
    const path = checkpointPath(out);
    const { startFrom } = await import("./read-policy.js");
    const start = await startFrom(options.start, model);
    const resume = options.resume ? await readCheckpoint(path) : undefined;
    if (resume !== undefined) context.saysHowToGoOn(checkpointTexts.goOn(path));
    else if (options.resume) context.say(checkpointTexts.none(path));
    else if (existsSync(path)) context.say(checkpointTexts.left(path));
    const checkpoint = checkpointFile(path, context, resume);
    const found = await findPolicy(model, {
      kind,
      ...{ objective, beta, leakageBudget, horizon, steps, starts, rate, seed, start, widths },
      distribution: normalDesigns(options),
      against,
      source: sourceFrom(source, out),
      device,
      signal,
      onProgress: progressReporter(context, checkpoint),
      resume,
    })
      .catch((error: unknown) => {
        if (error instanceof LeakageBudgetError && leakageBudget !== undefined) {
          const lines = frontierLines(error.frontier, leakageBudget, unitOf(options.bits));
          for (const line of lines) context.say(line);
        }
        throw error;
      })
      .catch(checkpoint.rescue);
    const { policy } = found;
    const used = trainedOn(policy);
    const trained = performance.now();
    const bar = context.progress("evaluating", 100);
    const report = await evaluateFound(model, found, {
      ...{ outer, inner, batches, seed, against, device, signal },
      onProgress: ({ done, total }) => bar.update(Math.round((100 * done) / total)),
    }).catch(checkpoint.rescue);
    await context.writeFile(out, encodePolicy(withBounds(policy, report, objective)));
    await checkpoint.remove(used?.used ?? "cpu");
    return {
      unit: "nats",
      out,
      model: { name: identity.name, options: identity.options },
      settings: policy.settings,
      kind,
      objective,
      horizon,
      ...(leakageBudget === undefined
        ? {}
        : {
            budgetNats: leakageBudget,
            budget: budgetOutcome(report, objective, leakageBudget),
            frontier: frontierOf(policy.settings),
          }),
      variables: model.design.map(({ name }) => name),
      ...(policy.kind === "static"
        ? { designs: policy.designs, rounded: policy.designs.map(designRounder(model)) }
        : {}),
      resumed: found.resumed,
      ...(used === undefined ? {} : { trainedOn: used }),
      trainingWarnings: policy.warnings ?? [],
      seconds: { training: (trained - started) / 1000, evaluation: (performance.now() - trained) / 1000 },
      ...report,
    };
  },
  print: (
    {
      out,
      model,
      rounded,
      variables,
      seconds,
      resumed,
      frontier,
      budgetNats,
      budget,
      trainedOn: used,
      ...found
    },
    { bits },
  ) =>
    [
      ...(budget === undefined || budget.met ? [] : [budgetOutcomeTexts.unmet(budget)]),
      `${found.kind} policy of ${found.horizon} observations for ${model.name}, ${found.objective}, beta = ${short(found.beta)}`,
      "",
      ...reportTable(found, unitOf(bits)),
      ...found.trainingWarnings.flatMap((warning) => ["", `Note: ${warning}`]),
      ...(frontier === undefined || budgetNats === undefined
        ? []
        : ["", ...frontierLines(frontier, budgetNats, unitOf(bits))]),
      ...(rounded === undefined ? [] : ["", "The designs:", ...designTable(rounded, variables)]),
      "",
      ...(used === undefined ? [] : [deviceTexts.used(used)]),
      `${resumed ? "Resumed and found" : "Found"} in ${fixed(seconds.training, 1)} s; written to ${out}.`,
    ].join("\n"),
});

const designTable = (designs: readonly (readonly number[])[], variables: readonly string[]): string[] =>
  rightAligned([["", ...variables], ...designs.map((row, t) => [`  ${t + 1}`, ...row.map(String)])]);

const frontierOf = (settings: Readonly<Record<string, unknown>> | undefined): readonly BudgetPoint[] =>
  (settings?.frontier ?? []) as readonly BudgetPoint[];

const frontierLines = (
  frontier: readonly BudgetPoint[],
  budgetNats: number,
  { of, name }: InformationUnit,
): readonly string[] => [
  `The frontier in ${name}, for a budget of ${budgetNats} nats of leakage:`,
  ...rightAligned([
    ["  beta", "target, at least", "leakage, at most", "within"],
    ...frontier.map(({ beta, target, leakage, standardError, within }) => [
      `  ${fixed(beta, 3)}`,
      fixed(of(target), 3),
      withError(of(leakage), of(standardError)),
      within ? "yes" : "no",
    ]),
  ]),
];

/** The bar and the checkpoint. */
const progressReporter = (
  context: CommandContext,
  checkpoint: CheckpointFile,
): ((progress: TrainPolicyProgress) => Promise<void>) => {
  let bar: ReturnType<CommandContext["progress"]> | undefined;
  return async ({ done, total, checkpoint: state }) => {
    bar ??= context.progress("training", total);
    bar.update(done);
    if (state !== undefined) await checkpoint.offer(state);
  };
};
