/** `fairbed rank`: which unlabelled rows to label next, and why. */
import { InputError } from "../../../core/errors.js";
import { withoutPassword } from "../../../sources/without-password.js";
import type { CategoryEncoding } from "../../../tables/encoder.js";
import { chooseLabel, columnsOfRule, combineLabels, type Label } from "../../../tables/label.js";
import type { Table } from "../../../tables/table.js";
import type { TaskSettings } from "../../../tables/task.js";
import type { RankSettings } from "../../../workflows/rank-pool.js";
import { defineCommand } from "../../command.js";
import { queueOption } from "../../job-place.js";
import { argument, choice, integer, optionalReal, text } from "../../options.js";
import { rightAligned } from "../../text-table.js";
import { readSettings, tableOptions, taskSettings } from "../sources/table-options.js";
import { correctionOf, methodOptions, partsOf, scoreInWords, sensitiveForestOf } from "./method-options.js";
import { parseQuotas, quotaOption, quotasByGroup, requireRoom } from "./quota-option.js";
import { rankCandidates } from "./rank-candidates.js";

export const rankCommandTexts = {
  noLabelled:
    "name the table of rows that are labelled already with --labelled, such as --labelled labelled.csv",
};

/** More rows than this are not printed: --json and --out have them all. */
const SHOWN = 25;

const { task: _, ...ownTableOptions } = tableOptions;

export const rank = defineCommand({
  name: "rank",
  group: "Active learning",
  summary: "say which unlabelled rows to label next, and why",
  examples: [
    {
      line: "rank pool.csv --labelled old.csv --target y --sensitive sex",
      description: "whom to ask next",
    },
    {
      line: "rank pool.csv --labelled old.csv --target y --sensitive sex --sensitive-table survey.csv",
      description: "the sensitive model learns from another table, so labels need no sensitive column",
    },
    {
      line: "rank shards/ --labelled old.csv --target y --sensitive sex --queue postgres://host",
      description: "a pool in many Parquet files, each scored by whichever machine is free",
    },
  ],
  arguments: {
    pool: argument(
      "the table of candidates, read in parts, so it may be large; or a folder of Parquet files, which count as one table in the order of their names",
    ),
  },
  options: {
    labelled: text("--labelled <table>", "the rows that are labelled already"),
    ...ownTableOptions,
    ...methodOptions,
    top: integer("--top <number>", "how many candidates", 20, { min: 1 }),
    targetsTable: text(
      "--targets-table <table>",
      "rows that predictions are wanted for; a sample of the pool",
    ),
    targets: integer("--targets <number>", "how many rows of the pool that sample has", 200, { min: 1 }),
    sensitiveTable: text("--sensitive-table <table>", "other rows whose sensitive attribute is known"),
    quota: quotaOption,
    costs: text("--costs <column>", "what the label of each row costs"),
    costWeight: optionalReal("--cost-weight <number>", "what a unit of cost is worth, in nats (1)", {
      min: 0,
    }),
    categories: choice<CategoryEncoding>(
      "--categories <how>",
      "how categories become numbers",
      ["one-hot", "ordinal"],
      "one-hot",
    ),
    queue: queueOption,
    out: text("--out <file>", "write the candidates to this CSV file too"),
    seed: integer("--seed <number>", "where the random streams start", 0, { min: 0 }),
  },
  reportsProgress: true,
  async run({ arguments: { pool: path }, options, context }) {
    const started = performance.now();
    const quota = parseQuotas(options.quota);
    if (options.labelled === undefined) throw new InputError("no-labelled", rankCommandTexts.noLabelled);
    const { readTable } = await import("../../../sources/source.js");
    const { defineTask } = await import("../../../tables/task.js");
    const { recommendedFor } = await import("../../../workflows/simulation.js");
    const reading = readSettings(options);
    // What stays out of the features by its role is known before the tables are read.
    const described = taskSettings({ ...options, task: undefined, id: undefined });
    const { id, costs, costWeight } = options;
    const aside = [id, costs].filter((name) => name !== undefined);
    const table = await readTable(options.labelled, reading);
    const present = aside.filter((name) => table.columns.some((column) => column.name === name));
    const other = async (file: string | undefined) =>
      file === undefined ? undefined : await readTable(file, reading);
    const [targets, survey] = [await other(options.targetsTable), await other(options.sensitiveTable)];
    const sensitive =
      survey === undefined ? undefined : { table: survey, labels: sensitiveLabels(survey, described) };
    const hidden = (sensitive?.labels ?? [])
      .flatMap(({ rule }) => columnsOfRule(rule))
      .filter((name) => table.columns.some((column) => column.name === name));
    const labelled = defineTask(
      table,
      {
        ...described,
        ...(sensitive === undefined ? {} : { sensitive: [] }),
        exclude: [...(described.exclude ?? []), ...present, ...hidden],
      },
      { sensitiveElsewhere: sensitive !== undefined },
    );
    if (quota !== undefined) requireRoom(quota, options.top);
    const { method, combine, top, categories, trees, seed } = options;
    const recommended = recommendedFor(method);
    const settings: RankSettings = {
      method,
      beta: options.beta ?? recommended.goal.beta,
      combine,
      top,
      targets: options.targets,
      categories,
      forest: { trees },
      sensitiveForest: sensitiveForestOf(options, recommended.sensitiveForest),
      correction: correctionOf(options, recommended.sensitiveCorrection),
      seed,
      ...(costs === undefined ? {} : { costs, costWeight: costWeight ?? 1 }),
      id,
      ...(quota === undefined ? {} : { quotas: quotasByGroup(quota) }),
    };
    const ranking = await rankCandidates(
      { path, reading, quota, queue: options.queue },
      {
        labelled,
        targets,
        sensitive,
      },
      settings,
      context,
    );
    const answer = {
      pool: withoutPassword(path),
      target: labelled.target.name,
      sensitive: (sensitive?.labels ?? labelled.sensitive).map(({ name }) => name),
      settings,
      ...ranking,
      candidates: ranking.candidates.map(({ score, cost, ...each }) => ({
        ...each,
        ...partsOf(method, each),
        score,
        cost,
        // What candidates compete by.
        net: score - (settings.costWeight ?? 0) * cost,
      })),
      notes: [...labelled.notes, ...ranking.notes],
      seconds: (performance.now() - started) / 1000,
    };
    if (options.out !== undefined) await context.writeFile(options.out, csvOf(answer.candidates));
    return answer;
  },
  print: ({ pool, candidates, rows, labelled, targets, settings, notes, seconds }) =>
    [
      `${pool}: ${rows} candidates, ${labelled} rows are labelled, predictions are wanted for ${targets}`,
      `${settings.method}, beta = ${settings.beta}; nats`,
      ...notes.map((note) => `Note: ${note}.`),
      "",
      ...rightAligned([
        [...headOf(candidates)],
        ...candidates
          .slice(0, SHOWN)
          .map((each) => [
            String(each.rank),
            String(each.row),
            ...(hasIds(candidates) ? [String(each.id ?? "")] : []),
            ...[each.score, each.target, each.leakage].map((value) =>
              value === null ? "-" : value.toFixed(4),
            ),
            String(each.cost),
            each.net.toFixed(4),
          ]),
      ]),
      ...(candidates.length > SHOWN ? [`and ${candidates.length - SHOWN} more`] : []),
      "",
      scoreInWords(settings.method),
      ...(settings.costs === undefined ? [] : ["Candidates compete by net = score - cost weight x cost."]),
      ...(settings.quotas === undefined ? [] : ["The quotas keep some better candidates out."]),
      `Rows are counted from 0. In ${seconds.toFixed(1)} s.`,
    ].join("\n"),
});

interface Row {
  readonly rank: number;
  readonly row: number;
  readonly id?: string | number | undefined;
  readonly score: number;
  readonly target: number | null;
  readonly leakage: number | null;
  readonly cost: number;
  readonly net: number;
}

/** The sensitive labels of another table. */
const sensitiveLabels = (
  table: Table,
  { sensitive, combineSensitive }: Pick<TaskSettings, "sensitive" | "combineSensitive">,
): readonly Label[] => {
  const labels = sensitive.map((choice) => chooseLabel(table, choice));
  return combineSensitive && labels.length > 1 ? [combineLabels(table, labels)] : labels;
};

const headOf = (candidates: readonly Row[]): readonly string[] => [
  "rank",
  "row",
  ...(hasIds(candidates) ? ["id"] : []),
  "score",
  "target",
  "leakage",
  "cost",
  "net",
];

const hasIds = (candidates: readonly Row[]): boolean => candidates.some(({ id }) => id !== undefined);

const cell = (value: string | number): string => {
  const written = String(value);
  return /[",\n\r]/.test(written) ? `"${written.replaceAll('"', '""')}"` : written;
};

const csvOf = (candidates: readonly Row[]): string => {
  const ids = hasIds(candidates);
  return [
    headOf(candidates).join(","),
    ...candidates.map((each) =>
      [
        each.rank,
        each.row,
        ...(ids ? [cell(each.id ?? "")] : []),
        each.score,
        each.target ?? "",
        each.leakage ?? "",
        each.cost,
        each.net,
      ].join(","),
    ),
    "",
  ].join("\n");
};
