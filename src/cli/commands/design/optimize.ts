/** `fairbed design optimize`: finds a policy and writes it to a file with the bounds it reached. */
import type { PolicyFile } from "../../../design/policy-file.js";
import { type CommandContext, defineCommand } from "../../command.js";
import { choice, flag, integer, optionalInteger, optionalReal, real, text } from "../../options.js";
import { requireFolder } from "../../out-folder.js";
import { rightAligned, short } from "../../text-table.js";
import type { BudgetPoint } from "./budget.js";
import type { CheckpointFile } from "./checkpoint.js";
import { betaOf, evaluationOf, evaluationOptions, tableOf } from "./evaluate.js";
import type { LoadedModel } from "./load-model.js";
import { againstOption, modelOptions } from "./model-options.js";
import {
  OBJECTIVES,
  type OptimiseRun,
  type OptimiseSettings,
  optimise,
  POLICIES,
  settingsOf,
  type TrainingStep,
  withBounds,
} from "./train-policy.js";

/** Every tenth of a second: often enough for Ctrl-C and the bar, too rarely to cost anything. */
const YIELD_MS = 100;

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
  ],
  arguments: {},
  options: {
    ...modelOptions,
    policy: choice("--policy <kind>", "the kind of policy", POLICIES, "static"),
    objective: choice(
      "--objective <name>",
      "leakage given the target, or by itself",
      OBJECTIVES,
      "conditional",
    ),
    beta: real("--beta <number>", "what a nat of leakage costs", 0.8, { min: 0 }),
    horizon: integer("--horizon <number>", "how many observations", 10, { min: 1 }),
    budgetNats: optionalReal("--budget-nats <number>", "at most so much leakage, instead of beta", {
      above: 0,
    }),
    steps: optionalInteger("--steps <number>", "steps of the optimiser (static 6000, dad 10000)", { min: 1 }),
    starts: optionalInteger("--starts <number>", "starts of a static design (24)", { min: 1 }),
    rate: optionalReal("--rate <number>", "how far a step goes (static 0.05, dad 5e-5)", { above: 0 }),
    designMean: optionalReal("--design-mean <number>", "where random designs are drawn around (0)"),
    designSd: optionalReal("--design-sd <number>", "how far random designs are spread (1)", { above: 0 }),
    against: againstOption,
    ...evaluationOptions,
    seed: integer("--seed <number>", "where the random streams start", 0, { min: 0 }),
    out: text("--out <file>", "where the policy goes", "policy.json"),
    resume: flag("--resume", "go on from the checkpoint that a killed run left beside the file"),
  },
  reportsProgress: true,
  async run({ options, context }) {
    const { out, resume, budgetNats } = options;
    await requireFolder(out);
    const { namedModel, optionsAgainst } = await import("./named-model.js");
    const { encodePolicy } = await import("../../../design/policy-file.js");
    const { reportByHelper } = await import("./policy-processes.js");
    const { checkpointFile, checkpointPath, readCheckpoint } = await import("./checkpoint.js");
    const loaded = await namedModel(options);
    const against = optionsAgainst(options.against);
    const settings = settingsOf({ ...options, against });
    const started = performance.now();
    const identity = {
      ...settings,
      budget: budgetNats ?? null,
      model: loaded.identity.name,
      // What the model does, so that a prior that was changed meanwhile is noticed.
      "the model's hash": loaded.identity.fingerprint,
    };
    const path = checkpointPath(out);
    const state = resume ? await readCheckpoint(path, identity) : undefined;
    const checkpoint = checkpointFile(path, identity, context.writeFile);
    const run = {
      signal: context.signal,
      onProgress: progressReporter(context, checkpoint),
      resume: state,
    };
    const { file, frontier } = await findPolicy(loaded, settings, budgetNats, run);
    const beta = betaOf(file.settings) ?? settings.beta;
    const trained = performance.now();
    const evaluation = {
      ...evaluationOf(file.kind, options),
      seed: settings.seed,
      beta,
      exact: false,
      against,
    };
    const progress = context.progress("evaluating", evaluation.batches);
    const report = await reportByHelper(loaded, file, evaluation, context.signal, (done) =>
      progress.update(done),
    );
    await context.writeFile(out, encodePolicy(withBounds(file, report, settings.objective)));
    await checkpoint.remove();
    return {
      out,
      model: { name: loaded.identity.name, options: loaded.identity.options },
      settings: { ...settings, beta },
      ...(frontier === undefined ? {} : { budgetNats, frontier }),
      variables: loaded.model.design.map(({ name }) => name),
      ...(file.kind === "static" ? { designs: file.designs } : {}),
      resumed: state !== undefined,
      seconds: { training: (trained - started) / 1000, evaluation: (performance.now() - trained) / 1000 },
      ...report,
    };
  },
  print: ({ out, model, settings, designs, variables, seconds, resumed, frontier, budgetNats, ...report }) =>
    [
      `${settings.policy} policy of ${settings.horizon} observations for ${model.name}, ${settings.objective}, beta = ${short(settings.beta)}`,
      "",
      ...tableOf(report),
      ...(frontier === undefined
        ? []
        : ["", `The frontier, for a budget of ${budgetNats} nats of leakage:`, ...frontierTable(frontier)]),
      ...(designs === undefined ? [] : ["", "The designs:", ...designTable(designs, variables)]),
      "",
      `${resumed ? "Resumed and found" : "Found"} in ${seconds.training.toFixed(1)} s; written to ${out}.`,
    ].join("\n"),
});

export const designTable = (
  designs: readonly (readonly number[])[],
  variables: readonly string[],
): string[] =>
  rightAligned([
    ["", ...variables],
    ...designs.map((row, t) => [`  ${t + 1}`, ...row.map((value) => value.toFixed(3))]),
  ]);

/** By a given beta, or by the beta that keeps within a budget. */
const findPolicy = async (
  loaded: LoadedModel,
  settings: OptimiseSettings,
  budget: number | undefined,
  run: OptimiseRun,
): Promise<{ readonly file: PolicyFile; readonly frontier?: readonly BudgetPoint[] | undefined }> => {
  if (budget === undefined) return { file: await optimise(loaded, settings, run) };
  const { optimiseWithinBudget } = await import("./budget.js");
  const { file, frontier } = await optimiseWithinBudget(loaded, settings, budget, run);
  return { file: { ...file, settings: { ...file.settings, budgetNats: budget, frontier } }, frontier };
};

const frontierTable = (frontier: readonly BudgetPoint[]): string[] =>
  rightAligned([
    ["  beta", "target, at least", "leakage, at most", "within"],
    ...frontier.map(({ beta, target, leakage, within }) => [
      `  ${beta.toFixed(3)}`,
      target.toFixed(3),
      leakage.toFixed(3),
      within ? "yes" : "no",
    ]),
  ]);

/** The bar, Ctrl-C and the checkpoint, ten times a second. */
const progressReporter = (
  context: CommandContext,
  checkpoint: CheckpointFile<unknown>,
): ((step: TrainingStep) => Promise<void>) => {
  let progress: ReturnType<CommandContext["progress"]> | undefined;
  let yielded = performance.now();
  return async ({ done, total, checkpoint: state }) => {
    if (performance.now() - yielded < YIELD_MS) return;
    progress ??= context.progress("training", total);
    progress.update(done);
    await checkpoint.offer(state);
    await context.checkpoint();
    yielded = performance.now();
  };
};
