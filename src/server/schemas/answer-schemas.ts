/** Questions and answers. */
import { z } from "@hono/zod-openapi";
import { rankingAgeSchema } from "./campaign-schemas.js";

const LONGEST = 10_000;

export const idSchema = z
  .union([z.string().max(LONGEST), z.number()])
  .openapi({ description: "The id of an item, or of a participant." });

const text = z.string().max(LONGEST);
const annotator = text
  .optional()
  .openapi({ description: "Who asks or answers; the token's annotator unless given." });
const event = text.optional().openapi({
  description: "What this is called: sent again under the same name, it counts once.",
});
const label = z.union([text, z.number(), z.boolean()]);
const numbers = z.union([z.number(), z.array(z.number()).max(1000), z.record(z.string(), z.number())]);
const namedNumbers = z.record(z.string(), z.number());
const values = z.record(z.string(), z.union([z.string(), z.number(), z.null()]));

export const askSchema = z
  .strictObject({
    count: z.int().min(1).max(10_000).optional().openapi({ description: "How many at most (1)." }),
    annotator,
    participant: text
      .optional()
      .openapi({ description: "Of a campaign of designs: whose next design it is." }),
    again: z
      .boolean()
      .optional()
      .openapi({ description: "Items that the annotator has seen may come again." }),
    adjudicate: z.boolean().optional().openapi({ description: "Only items on which annotators disagree." }),
    request: text.optional().openapi({
      description: "What this request is called: made again under the same name, it gets the same questions.",
    }),
  })
  .openapi("Ask");

const annotatorFields = {
  question: z.string(),
  id: z.string(),
  until: z.string().openapi({ description: "When it may be asked of others again, as ISO 8601." }),
  values: values
    .optional()
    .openapi({ description: "The features by column; sensitive columns are never among them." }),
  step: z.int().optional(),
  design: namedNumbers.optional(),
};

export const annotatorQuestionSchema = z.strictObject(annotatorFields).openapi("AnnotatorQuestion");

export const questionSchema = z
  .strictObject({
    ...annotatorFields,
    annotator: z.string(),
    reason: z.enum(["score", "random", "no-ranking", "second-opinion", "adjudication", "policy"]),
    why: z.string(),
    score: z.number().nullable(),
    target: z.number().nullable(),
    leakage: z.number().nullable(),
    share: z.string().nullable(),
    cost: z.number(),
    probability: z.number().nullable(),
  })
  .openapi("Question");

const notes = z
  .array(z.string())
  .openapi({ description: "Why there are fewer than were asked for; one sentence each." });

export const askedSchema = z
  .union([
    z.strictObject({
      questions: z.array(questionSchema),
      ranking: z.union([rankingAgeSchema, z.null()]),
      notes,
    }),
    z.strictObject({ questions: z.array(annotatorQuestionSchema), notes }),
  ])
  .openapi("Asked", {
    description: "With a token for label, questions have what an annotator may see and no more.",
  });

export const answerSchema = z
  .strictObject({
    id: idSchema,
    label: label.optional().openapi({ description: "As it stands in the column." }),
    refused: z.boolean().optional().openapi({ description: "No answer will come." }),
    sensitive: z
      .union([label, z.record(z.string(), label)])
      .optional()
      .openapi({
        description: "One value, or by column. With a token for label only where the token says so.",
      }),
    annotator,
    event,
    outcome: numbers.optional().openapi({ description: "Of a campaign of designs." }),
    design: numbers.optional(),
    step: z.int().min(0).max(1e9).optional(),
  })
  .openapi("Answer");

export const tellSchema = z
  .strictObject({ answers: z.array(answerSchema).min(1).max(10_000) })
  .openapi("Tell", { description: "All of them are taken, or none and the reason." });

export const takenSchema = z
  .strictObject({
    event: z.string(),
    id: z.string(),
    status: z.enum(["answer", "correction", "same", "duplicate", "sensitive"]),
    unasked: z.boolean(),
  })
  .openapi("TakenAnswer");

export const skipSchema = z.strictObject({ id: idSchema, annotator, event }).openapi("Skip");
export const retractionSchema = z.strictObject({ id: idSchema, annotator, event }).openapi("Retraction");
export const adjudicationSchema = z
  .strictObject({ id: idSchema, label, annotator, event })
  .openapi("Adjudication");
export const withdrawalSchema = z.strictObject({ id: idSchema }).openapi("Withdrawal");
export const withdrawnSchema = z
  .strictObject({ events: z.int().openapi({ description: "Events whose content was erased." }) })
  .openapi("Withdrawn");

/** One event of a log that says something of an item or a participant. */
export const loggedAnswerSchema = z
  .strictObject({
    seq: z.int(),
    at: z.string(),
    kind: z.enum(["told", "corrected", "skipped", "retracted", "adjudicated"]),
    event: z.string(),
    id: z.string(),
    annotator: z.string(),
    label: label.optional(),
    refused: z.boolean().optional(),
    sensitive: z.record(z.string(), label).optional(),
    unasked: z.boolean().optional(),
    step: z.int().optional(),
    design: namedNumbers.optional(),
    outcome: namedNumbers.optional(),
  })
  .openapi("LoggedAnswer");

/** An item on which annotators disagree. */
export const disputeSchema = z
  .strictObject({
    id: z.string(),
    values: values.openapi({
      description: "The features by column; sensitive columns are never among them.",
    }),
    opinions: z.array(
      z.strictObject({
        annotator: z.string().openapi({ description: "Empty for whoever gave no name." }),
        label: z
          .union([z.string(), z.number(), z.boolean(), z.null()])
          .openapi({ description: "Null where it was refused." }),
      }),
    ),
  })
  .openapi("Dispute");
