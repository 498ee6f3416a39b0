/** Estimates, forecasts, and whether a log is what was written. */
import { z } from "@hono/zod-openapi";

const interval = z.tuple([z.number(), z.number()]);
const estimated = z.strictObject({ value: z.number(), interval }).openapi("EstimatedValue");
const whole = z.int();
/** A schema with a name cannot be null itself: the document would lose one of the two. */
const orNull = <Schema extends z.ZodType>(schema: Schema) => z.union([schema, z.null()]);

export const estimateSchema = z
  .strictObject({
    accuracy: estimated,
    dpRatio: orNull(estimated),
    leakageAuc: orNull(estimated),
    leakage: orNull(estimated),
    rows: z.strictObject({
      drawn: whole,
      refused: whole,
      chosen: whole,
      unanswered: whole,
      unasked: whole,
      pool: whole,
    }),
  })
  .openapi("PoolEstimate");

const measure = z
  .strictObject({
    shape: z.enum(["rising", "falling", "level"]),
    today: estimated,
    at: z.array(z.strictObject({ labels: z.number(), further: z.number(), value: z.number(), interval })),
    curve: z.array(z.strictObject({ labels: z.number(), value: z.number() })),
  })
  .openapi("MeasureForecast");

const gain = z.strictObject({
  further: z.number(),
  value: z.number(),
  interval,
  cost: z.number().nullable(),
});

export const forecastSchema = z
  .strictObject({
    labels: z.strictObject({ known: whole, drawn: whole, left: whole }),
    estimate: orNull(estimateSchema),
    accuracy: orNull(measure),
    dpRatio: orNull(measure),
    leakage: orNull(measure),
    leakageAuc: orNull(measure),
    advice: z.strictObject({
      action: z.enum(["go-on", "stop", "too-early"]),
      reason: z.string(),
      worthwhile: z.number(),
      gain: gain.nullable(),
    }),
    requirement: z
      .strictObject({
        metric: z.literal("dp"),
        level: z.number(),
        verdict: z.enum(["met", "open", "unlikely", "out-of-reach"]),
        reason: z.string(),
      })
      .nullable(),
  })
  .openapi("Forecast");

export const forecastChoiceSchema = z
  .strictObject({
    budget: z.int().min(1).max(1e9).optional(),
    at: z
      .array(z.int().min(1).max(1e9))
      .max(100)
      .optional()
      .openapi({ description: "Numbers of further labels." }),
    requirement: z.strictObject({ metric: z.literal("dp"), level: z.number() }).optional(),
    worthwhile: z.number().min(0).max(1).optional(),
    costPerLabel: z.number().min(0).max(1e15).optional(),
  })
  .openapi("ForecastChoice", { description: "What is left out is the campaign's own." });

export const agreementSchema = z
  .strictObject({
    alpha: z.number().nullable().openapi({
      description: "Krippendorff's alpha: 1 is perfect agreement, 0 what chance gives; null where undefined.",
    }),
    interval: interval.nullable(),
    reason: z
      .enum(["few-units", "no-variation"])
      .nullable()
      .openapi({ description: "Why alpha is undefined: too few items, or nobody could have disagreed." }),
    units: whole.openapi({ description: "Items that two or more answered." }),
    values: whole,
    annotators: z.array(
      z.strictObject({
        annotator: z.string().openapi({ description: "Empty for whoever gave no name." }),
        answers: whole,
        refused: whole,
        compared: whole,
        disagreed: whole,
      }),
    ),
  })
  .openapi("Agreement");

const verificationFields = {
  events: whole,
  items: whole,
  erased: whole,
  hash: z.string(),
  fault: z
    .strictObject({
      where: z.union([z.literal("items"), z.strictObject({ seq: whole }), z.strictObject({ item: whole })]),
      problem: z.string(),
    })
    .nullable(),
  reason: z.string().nullable(),
};

export const verificationSchema = z.strictObject(verificationFields).openapi("Verification");
export const restoredSchema = z.strictObject({ ...verificationFields, name: z.string() }).openapi("Restored");

export const replaySchema = z
  .strictObject({
    decisions: whole,
    agreeing: whole,
    differing: z.array(z.strictObject({ seq: whole, what: z.array(z.string()) })),
    erased: whole,
    rankings: whole,
  })
  .openapi("Replay");
