/** Campaigns as they are asked for, created and changed. */
import { z } from "@hono/zod-openapi";
import { strategyNames } from "../../active/strategy-names.js";

const LONGEST_NAME = 1000;
const MOST_COLUMNS = 10_000;

export const campaignParams = z.object({
  name: z
    .string()
    .min(1)
    .max(200)
    .openapi({ param: { name: "name", in: "path" }, description: "The campaign's name.", example: "clinic" }),
});

export const nameSchema = z.string().max(200).openapi({
  description: "Letters, digits, - and _, at most 64, beginning with a letter or a digit.",
  example: "clinic",
});

const column = z.string().max(LONGEST_NAME);
const columns = z.array(column).max(MOST_COLUMNS);
const count = z.int().min(1).max(1e9);
const share = z.number().min(0).max(1);
const amount = z.number().min(0).max(1e15);

const labelChoice = z.union([
  column,
  z.strictObject({ column, positive: z.union([z.string().max(LONGEST_NAME), z.number()]).optional() }),
]);

const sharesChoice = z.union([
  z.enum(["population", "equal", "none"]),
  z.record(z.string().max(LONGEST_NAME), share),
]);

const methodSchema = z.enum(
  strategyNames as [string, ...string[]] as unknown as typeof strategyNames & [string],
);
const requirement = z.strictObject({ metric: z.enum(["dp", "eopp"]), level: z.number() });
const sensitiveModel = z.enum(["revealed", "balanced", "logistic"]);

const firstBeta = z.number().min(0).max(1e9).optional();
const goal = z.union([
  z.strictObject({ leakageBudget: amount, firstBeta }),
  z.strictObject({ parityAtLeast: share, firstBeta }),
]);

/** How to ask: options of `acquisition` that can be changed on the way. */
const askingFields = {
  method: methodSchema.optional(),
  beta: z.number().min(0).max(1e9).optional(),
  shares: sharesChoice.optional(),
  randomPart: share.optional(),
  reweigh: z.boolean().optional(),
  batch: count.max(10_000).optional(),
};

const settingFields = {
  seed: z.int().min(0).max(Number.MAX_SAFE_INTEGER).optional(),
  lease: z
    .number()
    .optional()
    .openapi({ description: "Seconds for which a question is not asked again (86400)." }),
  budget: count.optional().openapi({ description: "Labels to collect in all; no limit unless given." }),
  costPerLabel: amount.optional(),
  costBudget: amount.optional(),
  opinions: count.optional().openapi({ description: "How many annotators answer an item (1)." }),
  opinionsPart: share.optional(),
  requirement: requirement.optional(),
};

const cell = z.union([z.string(), z.number(), z.boolean(), z.null()]);

const poolSchema = z.union([
  z.strictObject({ csv: z.string().openapi({ description: "The text of a CSV file with a header." }) }),
  z.strictObject({ records: z.array(z.record(z.string(), cell)).max(1_000_000) }),
]);

export const poolCampaignSchema = z
  .strictObject({
    name: nameSchema,
    pool: poolSchema,
    target: labelChoice.openapi({
      description: 'The column of the labels, as in "hired=yes"; empty cells are asked for.',
    }),
    sensitive: z.array(labelChoice).max(100).optional(),
    id: column
      .optional()
      .openapi({ description: "The column that names the rows; their numbers unless given." }),
    features: columns.optional(),
    exclude: columns.optional(),
    keep: columns.optional(),
    categorical: columns.optional(),
    numeric: columns.optional(),
    minLevel: count.optional(),
    minGroup: count.optional(),
    smallGroups: z.enum(["merge", "leave-out"]).optional(),
    referenceGroup: column.optional(),
    weights: column.optional(),
    combineSensitive: z.boolean().optional(),
    ...askingFields,
    goal: goal.optional(),
    batchKind: z.enum(["top", "softmax", "rank", "joint"]).optional(),
    temperature: z.number().min(0).max(1e9).optional(),
    combine: z.enum(["sum", "worst"]).optional(),
    targetsPerStep: count.max(100_000).optional(),
    categories: z.enum(["one-hot", "ordinal"]).optional(),
    correction: z.enum(["none", "analytic", "permutation"]).optional(),
    sensitiveCorrection: z.enum(["none", "analytic", "permutation"]).optional(),
    sensitiveModel: z.union([sensitiveModel, z.array(sensitiveModel).max(3)]).optional(),
    costs: column.optional().openapi({ description: "A column with what the label of each row costs." }),
    costWeight: amount.optional(),
    quotas: z
      .strictObject({
        column,
        quotas: z
          .array(
            z.strictObject({
              value: z.string().max(LONGEST_NAME),
              atLeast: z.int().min(0).max(1e9).optional(),
              atMost: z.int().min(0).max(1e9).optional(),
            }),
          )
          .max(1000),
      })
      .optional(),
    recipe: z
      .record(z.string(), z.unknown())
      .optional()
      .openapi({ description: "A recipe that fairbed plan --recipe wrote; what is given beside it wins." }),
    ...settingFields,
  })
  .openapi("PoolCampaign");

export const designCampaignSchema = z
  .strictObject({
    name: nameSchema,
    policy: z
      .union([z.string(), z.record(z.string(), z.unknown())])
      .openapi({ description: "A policy file of a shipped model: as JSON, or its bytes as base64." }),
    ...settingFields,
  })
  .openapi("DesignCampaign");

export const newCampaignSchema = z.union([poolCampaignSchema, designCampaignSchema]);

export const settingsChangeSchema = z
  .strictObject({
    lease: z.number().optional(),
    budget: count.nullable().optional(),
    costPerLabel: amount.nullable().optional(),
    costBudget: amount.nullable().optional(),
    opinions: count.optional(),
    opinionsPart: share.optional(),
    requirement: requirement.nullable().optional(),
    acquisition: z.strictObject(askingFields).optional(),
  })
  .openapi("SettingsChange", { description: "What is left out stays as it is; null takes a limit away." });

export const changeableSettingsSchema = z
  .strictObject({
    lease: z.number(),
    budget: z.int().nullable(),
    costPerLabel: z.number().nullable(),
    costBudget: z.number().nullable(),
    opinions: z.int(),
    opinionsPart: z.number(),
    requirement: z.union([requirement, z.null()]),
    acquisition: z
      .strictObject({
        method: methodSchema,
        beta: z.number().nullable().openapi({ description: "Null where it follows a goal." }),
        shares: sharesChoice,
        randomPart: share,
        reweigh: z.boolean(),
        batch: count,
      })
      .nullable()
      .openapi({ description: "Null in a campaign of designs." }),
  })
  .openapi("ChangeableSettings", { description: "What holds now. Null is no limit." });

export const campaignSummarySchema = z
  .strictObject({ name: z.string(), events: z.int(), lastEventAt: z.string(), hash: z.string() })
  .openapi("CampaignSummary");

const whole = z.int().min(0);
const interval = z.tuple([z.number(), z.number()]);
const acquiredShare = {
  count: whole,
  share: z.number().nullable(),
  interval: interval.nullable(),
  population: z.number().nullable(),
};

const compositionSchema = z
  .strictObject({
    attribute: z.string(),
    acquired: whole,
    unknown: whole,
    groups: z.array(z.strictObject({ group: z.string(), ...acquiredShare })),
    cells: z.array(z.strictObject({ outcome: z.string(), group: z.string(), ...acquiredShare })),
  })
  .openapi("Composition");

export const rankingAgeSchema = z
  .strictObject({ basis: whole, answersSince: whole, seconds: z.number() })
  .openapi("RankingAge");

export const statusSchema = z
  .strictObject({
    name: z.string(),
    kind: z.enum(["pool", "design"]),
    createdAt: z.string(),
    lastEventAt: z.string(),
    events: whole,
    hash: z.string(),
    target: z.string().nullable(),
    sensitive: z.array(z.string()),
    method: z.string().nullable(),
    counts: z.strictObject({
      subjects: whole,
      initial: whole,
      labelled: whole,
      refused: whole,
      disputed: whole,
      pending: whole,
      expired: whole,
      open: whole,
      unasked: whole,
      corrections: whole,
      withdrawn: whole,
      annotators: whole,
    }),
    budget: whole.nullable(),
    cost: z.number(),
    costBudget: z.number().nullable(),
    composition: z.array(compositionSchema),
    ranking: z.union([rankingAgeSchema, z.null()]),
  })
  .openapi("CampaignStatus");
