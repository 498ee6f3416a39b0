/** Settings as command lines that give the same result, for a shell and for whoever wants to see what was done. */

import type { ModelOptions } from "../design/model-catalogue.js";
import { defaultFolds, SVM_ROWS } from "../fairness/leakage/defaults.js";
import { ADVERSARY_NAMES, AUDIT_DEFAULTS } from "../workflows/audit-defaults.js";
import type { TableAudit } from "../workflows/audit-table.js";
import { EVALUATION_DEFAULTS, type EvaluationSizes } from "../workflows/evaluation-defaults.js";
import { FIT_DEFAULTS } from "../workflows/fit-defaults.js";
import type { ParityPlan } from "../workflows/parity-plan.js";
import { PLAN_DEFAULTS } from "../workflows/plan-defaults.js";
import type { PlanOptions } from "../workflows/plan-settings.js";
import { TRAIN_POLICY_DEFAULTS } from "../workflows/policy-defaults.js";
import type { FullSettings } from "../workflows/policy-settings.js";
import type { RecipeFit } from "../workflows/recipe.js";

/** A table as a command is told of it. */
export interface CommandTable {
  /** The file, from where the command runs. */
  readonly file: string;
  /** As `hired=yes`. */
  readonly target: string;
  readonly sensitive: readonly string[];
  readonly exclude?: readonly string[] | undefined;
  readonly id?: string | undefined;
}

export interface CommandLine {
  /** What is run, word by word, from `fairbed` on. */
  readonly words: readonly string[];
  /** What it does, in a sentence. */
  readonly description: string;
}

export const commandLineTexts = {
  audit: "What the table gives away, as a report with its certificate.",
  plan: "Which recipe reaches the parity that is wanted, as a report and as a recipe.",
  planCut:
    "Which recipe reaches the parity that is wanted; a limit of time cut this plan short, so that another machine may come further.",
  fit: "The model, with what it is worth in every group; fairbed predict model.json new.csv uses it.",
  restore: "The campaign back from its backup, with the same log.",
  export: "What was acquired, with its data card.",
  optimize: "The designs, as a policy with the bounds that it reaches.",
  sweep: "The frontier of information against leakage, as tables and figures.",
  script: "Gives the files beside it again. It needs fairbed, which needs Node: npm install -g fairbed",
};

export type Shell = "sh" | "powershell";

const PLAIN: Readonly<Record<Shell, RegExp>> = {
  sh: /^[\w@%+=:,./-]+$/,
  // A comma makes a list there, and an at sign may stand for a variable.
  powershell: /^[\w+=:./-]+$/,
};
const QUOTE: Readonly<Record<Shell, string>> = { sh: "'\\''", powershell: "''" };

/** A text as a shell reads it as one word. */
export const shellWord = (text: string, shell: Shell = "sh"): string =>
  PLAIN[shell].test(text) ? text : `'${text.replaceAll("'", QUOTE[shell])}'`;

/** One line for a shell. */
export const shellLine = ({ words }: CommandLine, shell: Shell = "sh"): string =>
  words.map((word) => shellWord(word, shell)).join(" ");

/** Names with commas between them, those inside a name written twice. */
export const listWord = (names: readonly string[]): string =>
  names.map((name) => name.replaceAll(",", ",,")).join(",");

/** A file is no option, whatever it is called. */
const fileWord = (file: string): string => (file.startsWith("-") ? `./${file}` : file);

type OptionValue = string | number | boolean | undefined;

/** Those that are said: a switch by its name alone. */
const optionWords = (options: readonly (readonly [flag: string, value: OptionValue])[]): string[] =>
  options.flatMap(([flag, value]) => {
    if (value === undefined || value === false) return [];
    return value === true ? [flag] : [flag, String(value)];
  });

const listOption = (names: readonly string[] | undefined): string | undefined =>
  names === undefined || names.length === 0 ? undefined : listWord(names);

const tableWords = ({ file, target, sensitive, exclude, id }: CommandTable): string[] => [
  fileWord(file),
  ...optionWords([
    ["--target", target],
    ["--sensitive", listOption(sensitive)],
    ["--exclude", listOption(exclude)],
    ["--id", id],
  ]),
];

const unless = <Value>(value: Value, usual: Value): Value | undefined =>
  value === usual ? undefined : value;

/** Those that look for a leak in so many rows unless some are named. */
const usualAdversaries = (rows: number): readonly string[] =>
  rows > SVM_ROWS ? ADVERSARY_NAMES.filter((name) => name !== "svm") : ADVERSARY_NAMES;

/** `out` is where the report goes; its certificate is written beside it. */
export const auditCommand = (
  table: CommandTable,
  { rows, settings }: Pick<TableAudit, "rows" | "settings">,
  out?: string | undefined,
): CommandLine => {
  const { bins, folds, level, permutations, plants, mostRows, seed, adversaries } = settings;
  const isUsual = adversaries.join() === usualAdversaries(rows).join();
  return {
    words: [
      "fairbed",
      "audit",
      ...tableWords(table),
      ...optionWords([
        ["--adversaries", isUsual ? undefined : listWord(adversaries)],
        ["--bins", unless(bins, AUDIT_DEFAULTS.bins)],
        ["--folds", unless(folds, defaultFolds(rows))],
        ["--level", unless(level, AUDIT_DEFAULTS.level)],
        ["--permutations", unless(permutations, AUDIT_DEFAULTS.permutations)],
        ["--plants", unless(plants, AUDIT_DEFAULTS.plants)],
        ["--most-rows", mostRows],
        ["--seed", seed],
        ["--out", out],
      ]),
    ],
    description: commandLineTexts.audit,
  };
};

/** What a plan itself says of how it was made; what else decided it has to be known from elsewhere. */
export const planOptionsOf = ({
  requirement: { level, metric, labels },
  seeds,
}: ParityPlan): PlanOptions => ({
  parity: level,
  metric,
  labels,
  // Every simulation has a number of its own within the hundred of its seed.
  seed: Math.floor((seeds[0] ?? 0) / 100),
});

export const planCommand = (
  table: CommandTable,
  options: PlanOptions,
  {
    out,
    recipe,
    cut = false,
  }: { readonly out?: string; readonly recipe?: string; readonly cut?: boolean } = {},
): CommandLine => {
  const { parity, metric, labels, minutes, methods, learners, batch, pool, trees } = options;
  return {
    words: [
      "fairbed",
      "plan",
      ...tableWords(table),
      ...optionWords([
        ["--parity", parity],
        ["--metric", metric],
        ["--labels", labels],
        ["--method", listOption(methods)],
        ["--learner", learners?.join() === PLAN_DEFAULTS.learners.join() ? undefined : listOption(learners)],
        ["--batch", batch],
        ["--pool", unless(pool, PLAN_DEFAULTS.pool)],
        ["--trees", unless(trees, PLAN_DEFAULTS.trees)],
        ["--minutes", cut ? minutes : undefined],
        ["--seed", options.seed ?? PLAN_DEFAULTS.seed],
        ["--out", out],
        ["--recipe", recipe],
      ]),
    ],
    description: cut ? commandLineTexts.planCut : commandLineTexts.plan,
  };
};

/** How a model is fitted: as a recipe in a file says, or by options of its own. */
export type FitChoice = { readonly recipe: string } | Partial<RecipeFit>;

export const fitCommand = (
  table: CommandTable,
  choice: FitChoice,
  { seed = FIT_DEFAULTS.seed, out }: { readonly seed?: number; readonly out?: string } = {},
): CommandLine => {
  const how =
    "recipe" in choice
      ? [["--recipe", choice.recipe] as const]
      : [
          ["--learner", choice.learner] as const,
          ["--reweigh", choice.reweigh] as const,
          ["--rule", choice.rule?.metric] as const,
          ["--parity", choice.rule?.level] as const,
        ];
  return {
    words: [
      "fairbed",
      "fit",
      ...tableWords(table),
      ...optionWords([...how, ["--seed", seed], ["--out", out]]),
    ],
    description: commandLineTexts.fit,
  };
};

/** The files of a campaign from its backup alone; `backup` is undefined where there is none. */
export const campaignCommands = (
  name: string,
  {
    backup,
    data,
    card,
  }: { readonly backup?: string | undefined; readonly data: string; readonly card: string },
): readonly CommandLine[] => [
  ...(backup === undefined
    ? []
    : [
        {
          words: ["fairbed", "campaign", "restore", fileWord(backup)],
          description: commandLineTexts.restore,
        },
      ]),
  {
    words: ["fairbed", "campaign", "export", name, "--out", fileWord(data), "--card", fileWord(card)],
    description: commandLineTexts.export,
  },
];

/** A shipped model, and what is looked for. */
export interface CommandDesign
  extends Pick<FullSettings, "objective" | "beta" | "horizon" | "seed" | "steps" | "starts"> {
  readonly model: string;
  readonly options: ModelOptions;
  readonly evaluation: EvaluationSizes;
}

const designOptions = ({ model, options, objective, steps, starts }: CommandDesign) =>
  [
    ["--model", model],
    ["--model-options", Object.keys(options).length === 0 ? undefined : JSON.stringify(options)],
    ["--objective", unless(objective, TRAIN_POLICY_DEFAULTS.objective)],
    ["--steps", unless(steps, TRAIN_POLICY_DEFAULTS.static.steps)],
    ["--starts", unless(starts, TRAIN_POLICY_DEFAULTS.static.starts)],
  ] as const;

const evaluationWords = ({ outer, inner, batches }: EvaluationSizes) =>
  [
    ["--outer", unless(outer, EVALUATION_DEFAULTS.usual.outer)],
    ["--inner", unless(inner, EVALUATION_DEFAULTS.usual.inner)],
    ["--batches", unless(batches, EVALUATION_DEFAULTS.usual.batches)],
  ] as const;

/** Static designs for one beta. */
export const optimizeCommand = (design: CommandDesign, out?: string | undefined): CommandLine => ({
  words: [
    "fairbed",
    "design",
    "optimize",
    ...optionWords([
      ...designOptions(design),
      ["--beta", design.beta],
      ["--horizon", design.horizon],
      ...evaluationWords(design.evaluation),
      ["--seed", design.seed],
      ["--out", out],
    ]),
  ],
  description: commandLineTexts.optimize,
});

/** Static designs for every beta of a frontier. A sweep counts its seeds from 0, so that of one seed is that of seed 0. */
export const sweepCommand = (
  design: Omit<CommandDesign, "beta" | "seed">,
  { betas, out }: { readonly betas: readonly number[]; readonly out?: string | undefined },
): CommandLine => ({
  words: [
    "fairbed",
    "design",
    "sweep",
    ...optionWords([
      ...designOptions({ ...design, beta: 0, seed: 0 }),
      ["--betas", betas.join()],
      ["--horizons", design.horizon],
      ...evaluationWords(design.evaluation),
      ["--out", out],
    ]),
  ],
  description: commandLineTexts.sweep,
});

const COMMENT = "#";

/** All of them as a file that a shell runs, each under what it does. */
export const shellScript = (commands: readonly CommandLine[], shell: Shell = "sh"): string =>
  [
    ...(shell === "sh" ? ["#!/bin/sh"] : []),
    `${COMMENT} ${commandLineTexts.script}`,
    ...(shell === "sh" ? ["set -eu"] : []),
    ...commands.flatMap((command) => ["", `${COMMENT} ${command.description}`, shellLine(command, shell)]),
    "",
  ].join("\n");
