/** `fairbed design optimize`: finds a policy and writes it to a file with the bounds it reached. */
import { stat } from "node:fs/promises";
import { dirname } from "node:path";
import { InputError } from "../../../core/errors.js";
import { writeText } from "../../atomic-write.js";
import { type CommandContext, defineCommand } from "../../command.js";
import { choice, flag, integer, optionalInteger, optionalReal, real, text } from "../../options.js";
import type { CheckpointFile } from "./checkpoint.js";
import { PAPER_EVALUATION, reportOn, tableOf } from "./evaluate.js";
import { modelOptions } from "./model-options.js";
import { OBJECTIVES, optimise, POLICIES, settingsOf, type TrainingStep, withBounds } from "./optimise.js";
import { rightAligned } from "./words.js";

/** Every tenth of a second: often enough for Ctrl-C and the bar, too rarely to cost anything. */
const YIELD_MS = 100;

export const optimize = defineCommand({
  name: "design optimize",
  group: "Design",
  summary: "find a policy for a model and write it to a file",
  examples: [
    {
      line: "design optimize --model location",
      says: "ten places to listen, into policy.json",
    },
    {
      line: "design optimize --model ./my-model.ts --policy dad --out policy.json",
      says: "a network that adapts, for a model of your own",
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
      min: 0,
    }),
    steps: optionalInteger("--steps <number>", "steps of the optimiser (static 6000, dad 10000)", { min: 1 }),
    starts: optionalInteger("--starts <number>", "starts of a static design (24)", { min: 1 }),
    rate: optionalReal("--rate <number>", "how far a step goes (static 0.05, dad 5e-5)", {
      min: Number.MIN_VALUE,
    }),
    designMean: real("--design-mean <number>", "where random designs are drawn around", 0),
    designSd: real("--design-sd <number>", "how far random designs are spread", 1, { min: Number.MIN_VALUE }),
    seed: integer("--seed <number>", "where the random streams start", 0, { min: 0 }),
    out: text("--out <file>", "where the policy goes", "policy.json"),
    resume: flag("--resume", "go on from the checkpoint that a killed run left beside the file"),
  },
  reportsProgress: true,
  async run({ options, context }) {
    const { out, resume } = options;
    await requireFolder(out);
    const { namedModel } = await import("./named-model.js");
    const { encodePolicy, policyOf } = await import("../../../design/policy-file.js");
    const { checkpointFile, checkpointPath, readCheckpoint } = await import("./checkpoint.js");
    const loaded = await namedModel(options);
    const settings = settingsOf(options);
    const started = performance.now();
    // A budget is part of what a run is; the fingerprint is what makes it a run of this very model.
    const identity = { ...settings, model: loaded.identity.name, "model hash": loaded.identity.fingerprint };
    const path = checkpointPath(out);
    const state = resume ? await readCheckpoint(path, identity) : undefined;
    const checkpoint = checkpointFile(path, identity, context.writeFile);
    const file = await optimise(loaded, settings, {
      onProgress: progressReporter(context, checkpoint),
      ...(state === undefined ? {} : { resume: state }),
    });
    const trained = performance.now();
    const progress = context.progress("evaluating", PAPER_EVALUATION.batches);
    await context.checkpoint();
    const report = await reportOn(
      loaded,
      policyOf(file, loaded.model),
      { ...PAPER_EVALUATION, seed: settings.seed, beta: settings.beta, exact: false },
      (done) => progress.update(done),
    );
    await context.writeFile(out, encodePolicy(withBounds(file, report, settings.objective)));
    await checkpoint.remove();
    return {
      out,
      model: { name: loaded.identity.name, options: loaded.identity.options },
      settings,
      variables: loaded.model.design.map(({ name }) => name),
      ...(file.kind === "static" ? { designs: file.designs } : {}),
      resumed: state !== undefined,
      seconds: { training: (trained - started) / 1000, evaluation: (performance.now() - trained) / 1000 },
      ...report,
    };
  },
  print: ({ out, model, settings, designs, variables, seconds, resumed, ...report }) =>
    [
      `${settings.policy} policy of ${settings.horizon} observations for ${model.name}, ${settings.objective}, beta = ${settings.beta}`,
      "",
      ...tableOf(report),
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

/** Looked at before the work and not after it. */
const requireFolder = async (out: string): Promise<void> => {
  const folder = await stat(dirname(out)).catch(() => undefined);
  if (!folder?.isDirectory()) throw new InputError("no-folder", writeText.noFolder(out));
  const file = await stat(out).catch(() => undefined);
  if (file?.isDirectory()) throw new InputError("file-is-folder", writeText.isFolder(out));
};

/** The bar, Ctrl-C and the checkpoint, ten times a second. */
const progressReporter = (
  context: CommandContext,
  checkpoint: CheckpointFile<unknown>,
): ((step: TrainingStep) => Promise<void>) => {
  let progress: ReturnType<CommandContext["progress"]> | undefined;
  let yielded = performance.now();
  return async ({ step, steps, checkpoint: state }) => {
    if (performance.now() - yielded < YIELD_MS) return;
    progress ??= context.progress("training", steps);
    progress.update(step);
    await checkpoint.offer(state);
    await context.checkpoint();
    yielded = performance.now();
  };
};
