/** Problems and lists in parts, as every route documents them. */
import { z } from "@hono/zod-openapi";
import { MOST_PER_PAGE, PAGE_LIMIT } from "../cursor.js";
import type { ProblemStatus } from "../problem.js";

export const problemSchema = z
  .strictObject({
    error: z.strictObject({
      code: z.string().openapi({ description: "Never changes with the wording." }),
      message: z
        .string()
        .openapi({ description: "One sentence: what was given, what was expected, what to do." }),
    }),
  })
  .openapi("Problem");

const DESCRIPTIONS: Readonly<Record<ProblemStatus, string>> = {
  400: "The request is not what the route takes.",
  401: "A token is needed, or the one that was sent is not good.",
  403: "The token is not for this, or the request comes from an address that is not allowed.",
  404: "There is no such thing.",
  406: "It cannot be had in this form.",
  408: "The body took too long.",
  409: "It does not go together with what is there.",
  412: "The campaign has changed since it was looked at.",
  413: "The body is too long.",
  415: "The body is of another kind.",
  422: "The request can be read, and cannot work.",
  428: "If-Match is needed.",
  429: "Too many requests: see Retry-After.",
  500: "Something went wrong here that should not have.",
  501: "A package is missing here: the message names it.",
  503: "The store or a thread does not answer now: see Retry-After.",
};

interface ProblemResponse {
  readonly description: string;
  /** Always there; optional, so that handlers may answer with any response: what they really answer is tested. */
  readonly content?: { readonly "application/json": { readonly schema: typeof problemSchema } };
}

/** What every route under /api may be answered with, whatever it does. */
const EVERYWHERE = [400, 401, 403, 404, 429, 500, 503] as const;

export const problems = (...more: readonly ProblemStatus[]): { readonly 500: ProblemResponse } =>
  Object.fromEntries(
    [...new Set<ProblemStatus>([...EVERYWHERE, ...more])].map((status) => [
      status,
      { description: DESCRIPTIONS[status], content: { "application/json": { schema: problemSchema } } },
    ]),
  ) as unknown as { readonly 500: ProblemResponse };

/** Of every route that takes a body. */
export const BODY_PROBLEMS = [408, 409, 413, 415, 422] as const;

export const pageQuery = z.object({
  limit: z.coerce.number().int().min(1).max(MOST_PER_PAGE).default(PAGE_LIMIT).openapi({
    description: "How many at most.",
  }),
  cursor: z
    .string()
    .max(1000)
    .optional()
    .openapi({ description: "`next` of the part before; the first part without." }),
});

export const nextSchema = z
  .string()
  .nullable()
  .openapi({ description: "The cursor of the next part; null where this is the last one." });
