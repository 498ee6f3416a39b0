/** `fairbed rank`: which unlabelled rows to label next, and why. */

import { InputError } from "../../../core/errors.js";
import { unitOf } from "../../../core/information-unit.js";
import { fixed, percent } from "../../../core/number-text.js";
import type { AttributeComposition } from "../../../fairness/composition.js";
import { withoutPassword } from "../../../sources/without-password.js";
import { csvText } from "../../../tables/csv.js";
import type { CategoryEncoding } from "../../../tables/encoder.js";
import { correctionOf, recommendedFor, sensitiveForestOf } from "../../../workflows/acquisition-settings.js";
import { deviceTexts } from "../../../workflows/device.js";
import type { RankComposition } from "../../../workflows/rank-composition.js";
import type { RankedCandidate, RankOptions } from "../../../workflows/rank-pool.js";
import { RANK_BATCH_KINDS, RANK_DEFAULTS, type RankBatchKind } from "../../../workflows/rank-settings.js";
import { bitsOption } from "../../bits-option.js";
import { defineCommand } from "../../command.js";
import { deviceOption } from "../../device-option.js";
import { queueOption } from "../../job-place.js";
import { argument, choice, grouped, integer, outFile, text } from "../../options.js";
import { byGroups, cut, rightAligned } from "../../text-table.js";
import { readingOf, readOptions, roleOptions, rolesOf } from "../sources/table-options.js";
import {
  compositionOptions,
  costsInWords,
  costWeightOption,
  methodOptions,
  parseShares,
  scoreInWords,
} from "./method-options.js";
import { parseQuotas, quotaOption } from "./quota-option.js";
import { rankCandidates } from "./rank-candidates.js";
import { askingOf, recipeFrom, recipeOption, withRecipe } from "./recipe-option.js";

export const rankCommandTexts = {
  noLabelled:
    "name the table of rows that are labelled already with --labelled, such as --labelled labelled.csv",
};

/** More rows than this are not printed: --json and --out have them all. */
const SHOWN = 25;

const { target, sensitive, id, ...otherRoles } = roleOptions;
const { method, beta, ...otherMethod } = methodOptions;

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
      line: "rank features/ --labelled labels.csv --target hired=yes --sensitive sex",
      description: "which images to label next, of a folder that data embed wrote",
    },
    {
      line: "rank shards/ --labelled old.csv --target y --sensitive sex --queue postgres://host",
      description: "a pool in many Parquet files, each scored by whichever machine is free",
    },
  ],
  arguments: {
    pool: argument(
      "the table of candidates, read in parts, so it may be large; or a folder of Parquet files, which count as one table in the order of their names; or a folder of features of images, whose labels name them by a column image",
    ),
  },
  options: {
    labelled: text("--labelled <table>", "the rows that are labelled already"),
    target,
    sensitive,
    top: integer("--top <number>", "how many candidates", RANK_DEFAULTS.top, { min: 1 }),
    id,
    method,
    beta,
    costs: text("--costs <column>", "what the label of each row costs"),
    ...grouped("Who may be asked", {
      batchKind: choice<RankBatchKind | "auto">(
        "--batch-kind <how>",
        "joint: no two that say the same thing; top: by the scores alone; auto is joint, or top with --paper",
        ["auto", ...RANK_BATCH_KINDS],
        "auto",
      ),
      ...compositionOptions,
      quota: quotaOption,
    }),
    out: outFile("--out <file>", "write the candidates to this CSV file too"),
    bits: bitsOption,
    recipe: recipeOption,
    ...grouped("Columns", otherRoles),
    ...grouped("Other tables", {
      sensitiveTable: text("--sensitive-table <table>", "other rows whose sensitive attribute is known"),
      predictFor: text("--predict-for <table>", "rows that predictions are wanted for; a sample of the pool"),
      predictSample: integer(
        "--predict-sample <number>",
        "how many rows of the pool that sample has",
        RANK_DEFAULTS.predictSample,
        { min: 1 },
      ),
    }),
    ...grouped("Scores", {
      ...otherMethod,
      categories: choice<CategoryEncoding>(
        "--categories <how>",
        "how categories become numbers",
        ["one-hot", "ordinal"],
        recommendedFor(RANK_DEFAULTS.method).categories,
      ),
      costWeight: costWeightOption,
      seed: integer("--seed <number>", "random seed", RANK_DEFAULTS.seed, { min: 0 }),
    }),
    ...grouped("Reading tables", readOptions),
    ...grouped("Machines", {
      device: deviceOption,
      jobs: integer("--jobs <number>", "processes that score the shards of a folder", 1, {
        min: 1,
        max: 256,
      }),
      queue: queueOption,
    }),
  },
  reportsProgress: true,
  async run({ arguments: { pool: path }, options: own, given, context }) {
    const started = performance.now();
    const recipe = await recipeFrom(own.recipe);
    const options = withRecipe(
      own,
      given,
      recipe && { ...askingOf(recipe, given), method: recipe.acquisition.method },
    );
    const quotas = parseQuotas(options.quota);
    if (options.labelled === undefined) throw new InputError("no-labelled", rankCommandTexts.noLabelled);
    const { readTableWithIds, requireRoles } = await import("../../../sources/read-task.js");
    const { isEmbedding } = await import("../../../sources/images/embedded-table.js");
    const { readImagePool } = await import("../../../sources/images/image-pool.js");
    const reading = readingOf(options);
    const images = (await isEmbedding(path))
      ? await readImagePool(path, options.labelled, reading)
      : undefined;
    const roles = requireRoles(rolesOf({ ...options, id: options.id ?? images?.id }));
    const read = images?.read ?? ((table: string) => readTableWithIds(table, options.id, reading));
    const other = (table: string | undefined) => (table === undefined ? undefined : read(table));
    const recommended = recommendedFor(options.method);
    const ranking: RankOptions = {
      ...roles,
      labelled: images?.labelled ?? (await read(options.labelled)),
      sensitiveTable: await other(options.sensitiveTable),
      predictFor: await other(options.predictFor),
      predictSample: options.predictSample,
      method: options.method,
      beta: options.beta,
      combine: options.combine,
      top: options.top,
      batchKind: options.batchKind === "auto" ? undefined : options.batchKind,
      categories: options.categories,
      forest: { trees: options.trees },
      sensitiveForest: sensitiveForestOf(options, recommended.sensitiveForest),
      correction: correctionOf(options, recommended.sensitiveCorrection),
      costs: options.costs,
      costWeight: options.costWeight,
      quotas,
      shares: parseShares(options.shares),
      randomPart: options.randomPart,
      reweigh: options.reweigh,
      paper: options.paper,
      seed: options.seed,
      device: options.device,
    };
    const answer = {
      unit: "nats",
      pool: withoutPassword(path),
      ...(await rankCandidates(
        { path, images: images?.pool, reading, queue: options.queue, jobs: options.jobs },
        ranking,
        context,
      )),
      seconds: (performance.now() - started) / 1000,
    };
    if (options.out !== undefined) await context.writeFile(options.out, csvOf(answer.candidates));
    return answer;
  },
  print: (
    { pool, candidates, rows, labelled, predictFor, settings, composition, device, notes, seconds },
    { bits },
  ) => {
    const unit = unitOf(bits && settings.method !== "random");
    return [
      `${pool}: ${rows} candidates, ${labelled} rows are labelled, predictions are wanted for ${predictFor}`,
      `${settings.method}, beta = ${settings.beta}; ${unit.name}`,
      ...notes.map((note) => `Note: ${note}.`),
      "",
      ...rightAligned([
        headOf(candidates, { costs: settings.costs !== undefined, probability: false }),
        ...candidates
          .slice(0, SHOWN)
          .map((each) => [
            String(each.rank),
            String(each.row),
            ...(hasIds(candidates) ? [each.id ?? ""] : []),
            ...[each.reason === "random" ? null : each.score, each.target, each.leakage].map((value) =>
              value === null ? "-" : fixed(unit.of(value), 4),
            ),
            ...(settings.costs === undefined
              ? []
              : [String(each.cost), each.reason === "random" ? "-" : fixed(unit.of(each.net), 4)]),
            each.reason === "random" ? "drawn at random" : "score",
          ]),
      ]),
      ...(candidates.length > SHOWN ? [`and ${candidates.length - SHOWN} more`] : []),
      "",
      ...composition.flatMap(compositionInWords),
      scoreInWords(settings.method, unit),
      ...(settings.batchKind === "joint"
        ? [
            "Each is chosen by what it adds to those before it, and its score is that: scores of different places cannot be compared (--batch-kind top: by the scores alone).",
          ]
        : []),
      ...(settings.costs === undefined ? [] : [costsInWords(settings.costWeight)]),
      ...(settings.quotas === undefined ? [] : ["The quotas keep some better candidates out."]),
      ...(settings.shares === "none"
        ? []
        : [
            `Groups are kept to ${typeof settings.shares === "string" ? `${settings.shares} shares` : "the shares given"} (--shares).`,
          ]),
      ...(device === undefined ? [] : [deviceTexts.used(device)]),
      `Rows are counted from 0. In ${fixed(seconds, 1)} s.`,
    ].join("\n");
  },
});

/** Who is labelled and recommended, beside the pool where it says; nothing where no table says. */
const compositionInWords = ({ attribute, labelled, recommended }: RankComposition): readonly string[] => {
  const known = recommended ?? labelled;
  if (known === null) return [];
  const share = (value: number | null): string => (value === null ? "-" : percent(value));
  const row = (name: string, groups: AttributeComposition["groups"], of: "share" | "population") => [
    name,
    ...groups.map((each) => share(each[of])),
  ];
  return [
    ...byGroups([
      [`by ${attribute}`, ...known.groups.map(({ group }) => cut(group))],
      ...(recommended === null ? [] : [row("the pool", recommended.groups, "population")]),
      ...(labelled === null ? [] : [row("labelled", labelled.groups, "share")]),
      ...(recommended === null ? [] : [row("recommended", recommended.groups, "share")]),
    ]),
    "",
  ];
};

const headOf = (
  candidates: readonly RankedCandidate[],
  { costs, probability }: { readonly costs: boolean; readonly probability: boolean },
): readonly string[] => [
  ...["rank", "row", ...(hasIds(candidates) ? ["id"] : [])],
  ...["score", "target", "leakage", ...(costs ? ["cost", "net"] : []), "reason"],
  ...(probability ? ["probability"] : []),
];

const hasIds = (candidates: readonly RankedCandidate[]): boolean =>
  candidates.some(({ id }) => id !== undefined);

const csvOf = (candidates: readonly RankedCandidate[]): string => {
  const ids = hasIds(candidates);
  return csvText([
    headOf(candidates, { costs: true, probability: true }),
    ...candidates.map(({ rank, row, id, score, target, leakage, cost, net, reason, probability }) => [
      rank,
      row,
      ...(ids ? [id] : []),
      score,
      target,
      leakage,
      cost,
      net,
      reason,
      probability,
    ]),
  ]);
};
