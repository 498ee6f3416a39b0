/** `fairbed rank`: which unlabelled rows to label next, and why. */
import { InputError } from "../../../core/errors.js";
import type { CategoryEncoding } from "../../../data/encoder.js";
import { withoutPassword } from "../../../data/without-password.js";
import type { RankSettings } from "../../../experiments/rank-pool.js";
import { defineCommand } from "../../command.js";
import { argument, choice, integer, optionalReal, text } from "../../options.js";
import { readSettings, tableOptions, taskSettings } from "../data/table-options.js";
import { rightAligned } from "../design/words.js";
import { methodOptions, sensitiveForestOf } from "./method-options.js";
import { groupsOf, parseQuotas, quotaOption, quotasByGroup } from "./quota-option.js";

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
      says: "whom to ask next",
    },
    {
      line: "rank pool.csv --labelled old.csv --target y --sensitive sex --sensitive-table survey.csv",
      says: "the sensitive model learns from another table, so labels need no sensitive column",
    },
  ],
  arguments: { pool: argument("the table of candidates; read in parts, so it may be large") },
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
    out: text("--out <file>", "write the candidates to this CSV file too"),
    seed: integer("--seed <number>", "where the random streams start", 0, { min: 0 }),
  },
  reportsProgress: true,
  async run({ arguments: { pool: path }, options, context }) {
    const started = performance.now();
    const quota = parseQuotas(options.quota);
    if (options.labelled === undefined) throw new InputError("no-labelled", rankCommandTexts.noLabelled);
    const { readTable, streamTable } = await import("../../../data/source.js");
    const { defineTask } = await import("../../../data/task.js");
    const { rankPool } = await import("../../../experiments/rank-pool.js");
    const { RECOMMENDED } = await import("../../../experiments/simulation.js");
    const reading = readSettings(options);
    // What stays out of the features by its role is known before the tables are read.
    const described = taskSettings({ ...options, task: undefined, id: undefined });
    const { id, costs, costWeight } = options;
    const aside = [id, costs].filter((name) => name !== undefined);
    const table = await readTable(options.labelled, reading);
    const present = aside.filter((name) => table.columns.some((column) => column.name === name));
    const labelled = defineTask(table, { ...described, exclude: [...(described.exclude ?? []), ...present] });
    const other = async (file: string | undefined) =>
      file === undefined ? undefined : await readTable(file, reading);
    const [targets, sensitive] = [await other(options.targetsTable), await other(options.sensitiveTable)];
    const { method, beta, combine, top, categories, trees, correction, seed } = options;
    const settings: RankSettings = {
      method,
      beta,
      combine,
      top,
      targets: options.targets,
      categories,
      forest: { trees },
      sensitiveForest: sensitiveForestOf(options, RECOMMENDED.sensitiveForest),
      correction,
      seed,
      ...(costs === undefined ? {} : { costs, costWeight: costWeight ?? 1 }),
      ...(id === undefined ? {} : { id }),
      ...(quota === undefined ? {} : { quotas: quotasByGroup(quota) }),
    };
    let progress: ReturnType<typeof context.progress> | undefined;
    const ranking = await rankPool(
      {
        labelled,
        pool: () => streamTable(path, reading),
        ...(targets === undefined ? {} : { targets }),
        ...(sensitive === undefined ? {} : { sensitive }),
        ...(quota === undefined ? {} : { groupsOf: (part) => groupsOf(part, quota) }),
        async onPart(rows) {
          progress ??= context.progress("scoring", Math.max(1, rows));
          progress.update(rows);
          await context.checkpoint();
        },
      },
      settings,
    );
    progress?.end();
    if (options.out !== undefined) await context.writeFile(options.out, csvOf(ranking.candidates));
    return {
      pool: withoutPassword(path),
      target: labelled.target.name,
      sensitive: labelled.sensitive.map(({ name }) => name),
      settings,
      ...ranking,
      notes: [...labelled.notes, ...ranking.notes],
      seconds: (performance.now() - started) / 1000,
    };
  },
  print: ({ pool, candidates, rows, labelled, targets, settings, notes, seconds }) =>
    [
      `${pool}: ${rows} candidates, ${labelled} rows are labelled, predictions are wanted for ${targets}`,
      `${settings.method}, beta = ${settings.beta}; nats`,
      ...notes.map((note) => `Note: ${note}.`),
      "",
      ...rightAligned([
        ["rank", "row", ...(hasIds(candidates) ? ["id"] : []), "score", "target", "leakage", "cost"],
        ...candidates
          .slice(0, SHOWN)
          .map(({ rank: place, row, id, score, target, leakage, cost }) => [
            String(place),
            String(row),
            ...(hasIds(candidates) ? [String(id ?? "")] : []),
            score.toFixed(4),
            target.toFixed(4),
            leakage.toFixed(4),
            String(cost),
          ]),
      ]),
      ...(candidates.length > SHOWN ? [`and ${candidates.length - SHOWN} more`] : []),
      "",
      "score = target - beta x leakage: what the label tells about the target, less what it gives away.",
      `Rows are counted from 0. In ${seconds.toFixed(1)} s.`,
    ].join("\n"),
});

interface Row {
  readonly rank: number;
  readonly row: number;
  readonly id?: string | number;
  readonly score: number;
  readonly target: number;
  readonly leakage: number;
  readonly cost: number;
}

const hasIds = (candidates: readonly Row[]): boolean => candidates.some(({ id }) => id !== undefined);

const cell = (value: string | number): string => {
  const written = String(value);
  return /[",\n\r]/.test(written) ? `"${written.replaceAll('"', '""')}"` : written;
};

const csvOf = (candidates: readonly Row[]): string => {
  const ids = hasIds(candidates);
  return [
    ["rank", "row", ...(ids ? ["id"] : []), "score", "target", "leakage", "cost"].join(","),
    ...candidates.map((each) =>
      [
        each.rank,
        each.row,
        ...(ids ? [cell(each.id ?? "")] : []),
        each.score,
        each.target,
        each.leakage,
        each.cost,
      ].join(","),
    ),
    "",
  ].join("\n");
};
