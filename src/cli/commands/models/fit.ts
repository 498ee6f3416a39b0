/** `fairbed fit`: a model of the labelled rows of a table, kept in one file. */
import { between, fixed } from "../../../core/number-text.js";
import type { RateName } from "../../../fairness/group-metrics.js";
import { LEARNER_NAMES } from "../../../learners/learner-names.js";
import type { AgainstReference } from "../../../workflows/against-reference.js";
import { FIT_DEFAULTS } from "../../../workflows/fit-defaults.js";
import type {
  HeldOutGroups,
  HeldOutMetrics,
  HeldOutRate,
  ModelRejectOption,
  ModelRule,
} from "../../../workflows/fitted-model.js";
import type { Recipe } from "../../../workflows/recipe.js";
import { defineCommand } from "../../command.js";
import { choice, grouped, integer, optionalArgument, optionalReal, outFile, real } from "../../options.js";
import { withProgress } from "../../run-options.js";
import { rightAligned } from "../../text-table.js";
import { recipeFrom, recipeOption, withRecipe } from "../active/recipe-option.js";
import {
  readingOf,
  readOptions,
  referenceOption,
  roleOptions,
  rolesOf,
  tableOptions,
} from "../sources/table-options.js";
import { mitigationChoiceOptions, mitigationChoicesOf } from "./mitigation-choices.js";

const { target, sensitive, weights, ...otherRoles } = roleOptions;
const D = FIT_DEFAULTS;

export const fit = defineCommand({
  name: "fit",
  group: "Models",
  summary: "fit a model to the labelled rows of a table",
  examples: [
    {
      line: "fit labelled.csv --target hired=yes --sensitive sex --out model.json",
      description: "a forest in one file, judged in every group",
    },
    {
      line: "fit labelled.csv --target grade --learner boosting --test-fraction 0.3 --out model.json",
      description: "several classes, judged on three rows of ten",
    },
    {
      line: "fit labelled.csv --target hired=yes --sensitive sex --reweigh --rule dp --parity 0.8 --unlabelled pool.csv --out model.json",
      description: "decisions with selection rates within four fifths of each other, without the attribute",
    },
  ],
  arguments: { table: optionalArgument("a CSV, Parquet or JSON-lines file; none with --task") },
  options: {
    target,
    sensitive: { ...sensitive, summary: "groups to judge the model by, in the same form; not learnt from" },
    out: outFile("--out <file>", "write the model there, for fairbed predict"),
    recipe: recipeOption,
    learner: choice("--learner <name>", "what learns", LEARNER_NAMES, D.learner),
    weights,
    testFraction: optionalReal(
      "--test-fraction <share>",
      "judge on this share of the rows, held out once, instead of by cross-validation",
      { above: 0, max: 0.95 },
    ),
    seed: integer("--seed <number>", "random seed", D.seed, { min: 0 }),
    ...grouped("Fairness", mitigationChoiceOptions),
    ...grouped("Columns", { ...otherRoles, ...referenceOption, task: tableOptions.task }),
    ...grouped("Reading the table", readOptions),
    ...grouped("Estimates", {
      folds: integer("--folds <number>", "parts that are held out in turn", D.folds, { min: 2, max: 100 }),
      level: real("--level <share>", "of the intervals", D.level, { min: 0.5, max: 0.999 }),
    }),
  },
  reportsProgress: true,
  async run({ arguments: { table: path }, options: own, given: named, context }) {
    const started = performance.now();
    const recipe = await recipeFrom(own.recipe);
    const options = withRecipe(own, named, recipe && fittingOf(recipe, named));
    const { fitModel } = await import("../../../workflows/fit-model.js");
    const { readWithRoles } = await import("../../../sources/read-task.js");
    const choices = mitigationChoicesOf(options);
    const { learner, testFraction, folds, level, seed } = options;
    const given = {
      ...rolesOf(options),
      sensitive: options.sensitive ?? (options.task === undefined ? [] : undefined),
    };
    const { table, roles } = await readWithRoles(path, given, { ...readingOf(options), seed });
    const unlabelled = await readUnlabelled();
    const model = await withProgress(context, "fitting", (run) =>
      fitModel(table, {
        ...roles,
        ...run,
        ...choices,
        unlabelled,
        probability: options.probability,
        learner,
        testFraction,
        folds,
        level,
        seed,
      }),
    );
    if (options.out !== undefined) await context.writeFile(options.out, `${JSON.stringify(model)}\n`);
    const { learner: made, encoder: _, representation, rule, ...shown } = model;
    return {
      ...shown,
      represented: representation === undefined ? undefined : "lfr",
      rule: rule === undefined ? undefined : { ...rule, groupModel: undefined },
      table: table.name,
      learner: made.name,
      written: options.out === undefined ? [] : [options.out],
      seconds: (performance.now() - started) / 1000,
    };

    /** What is text in the labelled table is text here too, though it may look like numbers. */
    async function readUnlabelled() {
      if (options.unlabelled === undefined) return undefined;
      const { readTable } = await import("../../../sources/source.js");
      const asText = table.columns.filter(({ kind }) => kind === "categorical").map((column) => column.name);
      return readTable(options.unlabelled, { ...readingOf(options), asText });
    }
  },
  print: ({
    table,
    target: { name, classes },
    columns,
    learner,
    rows,
    reweighed,
    represented,
    rule,
    rejectOption,
    heldOut,
    notes,
    written,
    seconds,
  }) =>
    [
      `${table}: ${learner} of ${name} (${classes.join(", ")}), fitted on ${rows} rows and ${columns.length} columns`,
      ...(reweighed === true
        ? ["Rows are reweighed: outcome and group are independent in what is learnt from."]
        : []),
      ...(represented === undefined ? [] : ["The columns are replaced by a learned fair representation."]),
      ...(rule === undefined ? [] : ruleInWords(rule)),
      ...(rejectOption === undefined ? [] : rejectOptionInWords(rejectOption)),
      "",
      ...(heldOut === undefined ? [] : heldOutInWords(heldOut)),
      ...notes.map((note) => `Note: ${note.replace(/\.$/, "")}.`),
      ...written.map((file) => `Wrote ${file}; fairbed predict ${file} new.csv uses it.`),
      ...(written.length === 0 ? ["The model was not kept: add --out model.json to use it."] : []),
      `In ${fixed(seconds, 1)} s.`,
    ].join("\n"),
});

/** What a recipe says of the options. Another way to decide that was given takes the place of its rule. */
const fittingOf = ({ fit: { learner, reweigh, rule } }: Recipe, given: ReadonlySet<string>) => ({
  learner,
  reweigh,
  ...(rule === undefined || given.has("rule") || given.has("decide")
    ? {}
    : { rule: rule.metric, parity: rule.level }),
});

const RATES = [
  ["accuracy", "accuracy"],
  ["selectionRate", "predicted"],
  ["truePositiveRate", "TPR"],
  ["falsePositiveRate", "FPR"],
  ["precision", "precision"],
] as const;

const shareInWords = ({ value, interval }: HeldOutRate): string => {
  if (value === undefined) return "none";
  const ends = interval === undefined ? "" : ` (${between(interval, 2)})`;
  return `${fixed(value, 3)}${ends}`;
};

const heldOutInWords = (heldOut: HeldOutMetrics): string[] => {
  const { method, folds, testFraction, rows, level, overall, groups } = heldOut;
  const how =
    method === "cross-validation"
      ? `cross-validation with ${folds} folds: every row by a model that has not seen it`
      : `${rows} rows (a share of ${testFraction}) by a model that has not seen them`;
  return [
    `Held out: ${how}; ${100 * level} % intervals.`,
    ...overall.flatMap(({ positive, rates }) => {
      const own = groups.filter((each) => each.positive === positive);
      return [
        "",
        ...rightAligned([
          [positive, "rows", ...RATES.map(([, heading]) => heading)],
          ["all rows", String(rows), ...RATES.map(([key]) => shareInWords(rates[key]))],
          ...own.flatMap((each) => groupRows(each)),
        ]),
        ...own.flatMap(({ against }) => (against === undefined ? [] : againstInWords(against))),
        ...own.map(
          ({ sensitive, gaps }) =>
            `${sensitive}: demographic parity difference ${shareInWords(gaps.demographicParity.difference)}, equalised odds difference ${shareInWords(gaps.equalisedOdds.difference)}`,
        ),
      ];
    }),
    "",
  ];
};

const RATE_WORDS: Readonly<Partial<Record<RateName, string>>> = {
  selectionRate: "predicted",
  truePositiveRate: "TPR",
  falsePositiveRate: "FPR",
};

const againstInWords = ({ reference, groups }: AgainstReference): string[] =>
  groups.map(
    ({ group, rate, difference, ratio }) =>
      `${group} against ${reference}, ${RATE_WORDS[rate] ?? rate}: difference ${shareInWords(difference)}, ratio ${shareInWords(ratio)}`,
  );

const RULE_RATES = { dp: "selection rates", eopp: "true positive rates" } as const;

const ruleInWords = ({
  metric,
  attribute,
  level,
  chosenOn,
  heldOut,
  warnings,
}: Omit<ModelRule, "groupModel">): string[] => {
  const { by, labelled, unlabelled, ratio, interval } = chosenOn;
  const on = [
    ...(unlabelled === 0 ? [] : [`${unlabelled} rows without labels`]),
    ...(labelled === 0 ? [] : [`${labelled} labelled rows, by models that had not seen them`]),
  ].join(" and ");
  return [
    `Decides by a rule for a ratio of ${level} between the ${RULE_RATES[metric]} of ${attribute}, which reads no attribute.`,
    `  chosen (${by}) on ${on}: ratio ${shareInWords({ value: ratio, interval })}`,
    `  on rows that no such rule was chosen on: ${heldOut === undefined ? "none were held out" : `ratio ${shareInWords(heldOut)}`}`,
    ...warnings.map((warning) => `Warning: ${warning}.`),
  ];
};

const rejectOptionInWords = ({
  threshold,
  margin,
  attribute,
  privileged,
  rows,
}: ModelRejectOption): string[] => [
  `Decides by the reject option: of ${attribute.classes[privileged]} above ${fixed(threshold + margin, 3)}, of others above ${fixed(threshold - margin, 3)}; chosen on ${rows} rows by models that had not seen them.`,
  "fairbed predict needs the group of every row.",
];

const groupRows = ({ groups }: HeldOutGroups): string[][] =>
  groups.map(({ name, rows, rates }) => [
    name,
    String(rows),
    ...RATES.map(([key]) => shareInWords(rates[key])),
  ]);
