/** `fairbed mitigate rule`: decisions that treat groups alike and do not see the attribute. */
import { between, fixed } from "../../../core/number-text.js";
import { LEARNER_NAMES } from "../../../learners/learner-names.js";
import { MITIGATION_DEFAULTS } from "../../../workflows/mitigation-defaults.js";
import { defineCommand } from "../../command.js";
import { choice, flag, optionalArgument, optionalReal, real, text } from "../../options.js";
import { withProgress } from "../../run-options.js";
import { capital, MEASURES_LEGEND, measuresTable } from "./measures-table.js";
import { mitigationOptions, readMitigation } from "./mitigation-options.js";
import { rowsCsv } from "./rows-csv.js";

const D = MITIGATION_DEFAULTS;
const METRICS = { dp: "selection rates", eopp: "true positive rates" } as const;

export const rule = defineCommand({
  name: "mitigate rule",
  group: "Mitigation",
  summary: "decide fairly without seeing the attribute",
  examples: [
    {
      line: "mitigate rule people.csv --target income=high --sensitive sex --level 0.8",
      description: "selection rates within four fifths of each other",
    },
    {
      line: "mitigate rule people.csv --target income=high --sensitive sex --metric eopp --reweigh",
      description: "true positive rates, and a model of reweighed rows",
    },
  ],
  arguments: { table: optionalArgument("a CSV, Parquet or JSON-lines file; none with --task") },
  options: {
    ...mitigationOptions,
    metric: choice<"dp" | "eopp">(
      "--metric <name>",
      "what is to be equal: selection rates (dp) or true positive rates (eopp)",
      ["dp", "eopp"],
      D.fairRule.metric,
    ),
    level: real("--level <ratio>", "the least ratio of the lowest to the highest rate", D.fairRule.level, {
      above: 0,
      max: 1,
    }),
    selectionRate: optionalReal(
      "--selection-rate <share>",
      "how many are selected; as many as is most accurate unless given",
      { above: 0, max: 1 },
    ),
    soft: flag("--soft", "choose the rule by predicted groups instead of the sensitive column"),
    reweigh: flag("--reweigh", "learn the outcome from reweighed rows"),
    learner: choice("--learner <name>", "what learns the outcome and the groups", LEARNER_NAMES, D.learner),
    scores: text(
      "--scores <column>",
      "probabilities of the favourable outcome; those of the learner unless given",
    ),
    validationFraction: real(
      "--validation-fraction <number>",
      "the share of the other rows that the rule is fitted on, and no model is",
      D.validationFraction,
      { above: 0, max: 0.95 },
    ),
  },
  reportsProgress: true,
  async run({ arguments: { table: path }, options, context }) {
    const started = performance.now();
    const { fairRuleTable } = await import("../../../workflows/mitigate-rule.js");
    const { table, name, settings } = await readMitigation(path, options);
    const { metric, level, selectionRate, soft, reweigh: reweighed, learner, validationFraction } = options;
    const { test, scores, before, after, ...shown } = await withProgress(context, "fitting", (run) =>
      fairRuleTable(table, {
        ...settings,
        ...run,
        metric,
        level,
        selectionRate,
        soft,
        reweighed,
        learner,
        scores: options.scores,
        validationFraction,
      }),
    );
    if (options.out !== undefined) {
      const lines = rowsCsv(table, settings.id, test, ["score", "before", "after"], (i) => [
        scores[i],
        before[i],
        after[i],
      ]);
      await context.writeFile(options.out, lines);
    }
    return { table: name, ...shown, seconds: (performance.now() - started) / 1000 };
  },
  print: ({
    table,
    band,
    target,
    sensitive,
    rows,
    groups,
    rule,
    reached,
    metrics,
    notes,
    warnings,
    seconds,
  }) =>
    [
      ...(band.outside === true ? [`NOT MET: ${band.sentence}.`] : []),
      `${table}: target ${target}, sensitive ${sensitive}; ${rows.train} rows to learn from, ${rows.validation} to fit the rule on, ${rows.test} to test on`,
      ...notes.map((note) => `Note: ${note}.`),
      `threshold ${fixed(rule.threshold, 4)}, multipliers ${groups.map((group, g) => `${fixed(rule.multipliers[g], 4)} (${group})`).join(", ")}`,
      `ratio of ${METRICS[rule.metric]}, ${rule.level} asked for: ${withInterval(rule)} on the rows it was fitted on, ${withInterval(reached)} on the test rows`,
      "",
      ...measuresTable([
        ["threshold 0.5", metrics.before],
        ["fair rule", metrics.after],
      ]),
      "",
      ...(band.outside === true ? [] : [`${capital(band.sentence)}.`]),
      ...MEASURES_LEGEND,
      "The rule does not see the attribute of the rows that it decides.",
      ...warnings.filter((each) => each !== band.sentence).flatMap((warning) => ["", `Warning: ${warning}.`]),
      "",
      `In ${fixed(seconds, 1)} s.`,
    ].join("\n"),
});

const withInterval = ({
  ratio,
  interval: [low, high],
}: {
  ratio: number;
  interval: readonly [number, number];
}) => `${fixed(ratio, 3)} (${between([low, high])})`;
