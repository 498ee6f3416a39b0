/** `fairbed design evaluate`: what a policy's experiments tell, in nats, between bounds. */
import type { InformationEstimate, PolicyEstimate } from "../../../design/estimate.js";
import type { Fairness } from "../../../design/fairness-measures.js";
import type { ModelOptions } from "../../../design/model-catalogue.js";
import type { Policy } from "../../../design/policy.js";
import { INFORMATION_NAMES, type InformationName, type ObjectiveKind } from "../../../design/quantity.js";
import { defineCommand } from "../../command.js";
import { argument, flag, integer, optionalInteger, optionalReal } from "../../options.js";
import { rightAligned, short } from "../../text-table.js";
import type { LoadedModel } from "./load-model.js";
import { againstOption, modelOptions } from "./model-options.js";

/** The paper's: 100 experiments in each of 8 batches, 1e5 inner samples. */
const PAPER_EVALUATION = { outer: 100, inner: 100_000, batches: 8 };

/** A greedy policy takes a good part of a second for every design. */
const GREEDY_EVALUATION = { outer: 10, inner: 10_000, batches: 8 };

export const evaluationOptions = {
  outer: optionalInteger("--outer <number>", "simulated experiments in a batch (100, greedy 10)", { min: 2 }),
  inner: optionalInteger("--inner <number>", "inner samples of every bound (100000, greedy 10000)", {
    min: 1,
  }),
  batches: optionalInteger("--batches <number>", "batches, each with fresh samples (8)", { min: 1 }),
};

/** How much a policy is evaluated, with what was given. */
export const evaluationOf = (
  kind: Policy["kind"],
  { outer, inner, batches }: Readonly<Record<"outer" | "inner" | "batches", number | undefined>>,
): Pick<EvaluateSettings, "outer" | "inner" | "batches"> => {
  const usual = kind === "greedy" ? GREEDY_EVALUATION : PAPER_EVALUATION;
  return { outer: outer ?? usual.outer, inner: inner ?? usual.inner, batches: batches ?? usual.batches };
};

export const evaluateTexts = {
  otherNumbers:
    "the policy was made for this model with other numbers (another prior, say): these are its bounds under the model given here.",
};

export interface EvaluateSettings {
  readonly outer: number;
  readonly inner: number;
  readonly batches: number;
  readonly seed: number;
  readonly beta: number;
  readonly exact: boolean;
  readonly threads?: number | undefined;
  /** Options of further models: the answer then has the fairness over all of them. */
  readonly against?: readonly ModelOptions[] | undefined;
}

/** Information, ratios and objectives as plain data, the same in `evaluate`, in a policy file and in a sweep. */
export type PolicyReport = Readonly<Record<InformationName, InformationEstimate>> &
  Pick<PolicyEstimate, "method" | "ratios" | "diagnostics" | "warnings"> & {
    readonly beta: number;
    readonly objectives: Readonly<Record<ObjectiveKind, InformationEstimate>>;
    /** F_c and F_u over the models, where there are several. */
    readonly fairness?: Readonly<Record<ObjectiveKind, Fairness>> | undefined;
  };

export const reportOn = async (
  { model, source }: Pick<LoadedModel, "model" | "source">,
  policy: Policy,
  { outer, inner, batches, seed, beta, exact, threads, against = [] }: EvaluateSettings,
  onBatch: (done: number, batches: number) => void = () => {},
): Promise<PolicyReport> => {
  const { estimatePolicy } = await import("../../../design/estimate.js");
  const { randomStream } = await import("../../../core/random.js");
  const sampling = {
    outer,
    batches,
    contrastive: inner,
    marginal: inner,
    stream: randomStream(seed).split("evaluate"),
    exact,
    threads,
  };
  const { objective, ...estimate } = await estimatePolicy(model, policy, {
    ...sampling,
    onProgress: ({ done, total }) => onBatch(done, total),
  });
  const worstOf = async () => {
    const { fairness } = await import("../../../design/fairness-measures.js");
    const { modelsAgainst } = await import("./named-model.js");
    const models = { "the model": model, ...(await modelsAgainst(source, against)) };
    const of = (kind: ObjectiveKind) => fairness({ models, policy, kind, ...sampling });
    return { conditional: await of("conditional"), unconditional: await of("unconditional") };
  };
  return {
    ...estimate,
    beta,
    objectives: {
      conditional: objective("conditional", beta),
      unconditional: objective("unconditional", beta),
    },
    ...(against.length === 0 ? {} : { fairness: await worstOf() }),
  };
};

export const evaluate = defineCommand({
  name: "design evaluate",
  group: "Design",
  summary: "bound what a policy tells and gives away",
  examples: [
    {
      line: "design evaluate policy.json",
      description: "how much it tells about the target, and gives away",
    },
    {
      line: "design evaluate designs.json --model location --exact --json",
      description: 'a plain {"designs": [[x, y], ...]}, without sampling error in the bounds',
    },
  ],
  arguments: { policy: argument("a policy file, or a list of designs") },
  options: {
    ...modelOptions,
    ...evaluationOptions,
    exact: flag("--exact", "by closed form, enumeration or quadrature, where the model allows it"),
    beta: optionalReal("--beta <number>", "what leakage costs in the objectives; the policy's, or 0.8", {
      min: 0,
    }),
    against: againstOption,
    seed: integer("--seed <number>", "where the random streams start", 0, { min: 0 }),
  },
  reportsProgress: true,
  async run({ arguments: { policy: path }, options, context }) {
    const { readPolicy } = await import("./read-policy.js");
    const { reportByHelper } = await import("./policy-processes.js");
    const { file, policy, loaded, match } = await readPolicy(path, options);
    const { exact, seed } = options;
    const evaluation = evaluationOf(policy.kind, options);
    const beta = options.beta ?? betaOf(file.settings) ?? DEFAULT_BETA;
    const progress = context.progress("evaluating", evaluation.batches);
    const { optionsAgainst } = await import("./named-model.js");
    const settings = { ...evaluation, exact, seed, beta, against: optionsAgainst(options.against) };
    const report = await reportByHelper(loaded, file, settings, context.signal, (done) =>
      progress.update(done),
    );
    const notes = match === "differs" ? [evaluateTexts.otherNumbers] : [];
    return {
      policy: { file: path, kind: policy.kind, horizon: policy.horizon },
      model: { name: loaded.identity.name, options: loaded.identity.options },
      samples: { ...evaluation, seed },
      ...report,
      warnings: [...notes, ...report.warnings],
    };
  },
  print: ({ policy, model, samples, ...report }) =>
    [
      `${policy.file}: ${policy.kind}, ${policy.horizon} observations, model ${model.name}`,
      report.method === "nested sampling"
        ? `By nested sampling: ${samples.batches} batches of ${samples.outer} experiments, ${samples.inner} inner samples.`
        : `By ${report.method}.`,
      "",
      ...tableOf(report),
    ].join("\n"),
});

const DEFAULT_BETA = 0.8;

/** The beta that a policy was made with. */
export const betaOf = (settings: Readonly<Record<string, unknown>> | undefined): number | undefined =>
  typeof settings?.beta === "number" && settings.beta >= 0 ? settings.beta : undefined;

const LABELS: Readonly<Record<InformationName, string>> = {
  target: "information about the target",
  sensitive: "leakage: about the sensitive part",
  sensitiveGivenTarget: "leakage: the same, given the target",
  joint: "information about both",
};

const fairnessTable = (by: NonNullable<PolicyReport["fairness"]>): string[] => [
  "",
  ...rightAligned([
    [`worst leakage of ${Object.keys(by.conditional.models).length} models`, "at least", "at most", "error"],
    ...(["unconditional", "conditional"] as const).map((kind) => [
      LABELS[kind === "conditional" ? "sensitiveGivenTarget" : "sensitive"].replace("leakage: ", ""),
      ...(["lower", "upper", "standardError"] as const).map((side) => by[kind].leakage[side].toFixed(4)),
    ]),
  ]),
  `The worst: ${by.unconditional.worst}; given the target, ${by.conditional.worst}.`,
];

/** The bounds for a person, in nats. */
export const tableOf = (report: PolicyReport): string[] => {
  const row = (label: string, { lower, upper, standardError }: InformationEstimate) => [
    label,
    lower.toFixed(4),
    upper.toFixed(4),
    standardError.toFixed(4),
  ];
  const { ratios, beta } = report;
  return [
    ...rightAligned([
      ["nats", "at least", "at most", "error"],
      ...INFORMATION_NAMES.map((name) => row(LABELS[name], report[name])),
      row(`objective R_c, beta = ${short(beta)}`, report.objectives.conditional),
      row(`objective R_u, beta = ${short(beta)}`, report.objectives.unconditional),
    ]),
    "",
    ...rightAligned([
      ["leakage / information about the target", "at least", "at most", "paper's form"],
      ...(["sensitive", "sensitiveGivenTarget"] as const).map((name) => [
        LABELS[name].replace("leakage: ", ""),
        ratios[name].interval[0].toFixed(3),
        ratios[name].interval[1].toFixed(3),
        `${ratios[name].paper.toFixed(3)} ± ${ratios[name].paperError.toFixed(3)}`,
      ]),
    ]),
    ...(report.fairness === undefined ? [] : fairnessTable(report.fairness)),
    ...report.warnings.flatMap((warning) => ["", `Note: ${warning}`]),
  ];
};
