/** What a request is answered with that cannot be served: a status, a code that never changes, and one sentence. */

import { StoreUnavailable } from "../campaign/store.js";
import { EnvironmentError, InputError } from "../core/errors.js";

/** All statuses that a problem may have. */
export const PROBLEM_STATUSES = [
  400, 401, 403, 404, 406, 408, 409, 412, 413, 415, 422, 428, 429, 500, 501, 503,
] as const;
export type ProblemStatus = (typeof PROBLEM_STATUSES)[number];

export const problemTexts = {
  unexpected: "something went wrong here that should not have: the log of the server says what",
  away: "the store does not answer now: nothing was acknowledged that is not stored; try again in a few seconds",
  notFound: "there is nothing at this address: see /docs for all there is",
  json: "the body is not JSON: send valid JSON",
  mediaType: (expected: string) => `the body is of another kind: send it with Content-Type ${expected}`,
  field: (path: string, reason: string) =>
    `${path === "" ? "the request" : path} is wrong: ${reason}; see /docs for what is expected`,
};

/** Thrown by whatever serves a request; answered as `{ error: { code, message } }`. */
export class Problem extends Error {
  readonly status: ProblemStatus;
  readonly code: string;
  readonly headers: Readonly<Record<string, string>>;

  constructor(
    status: ProblemStatus,
    code: string,
    message: string,
    headers: Readonly<Record<string, string>> = {},
  ) {
    super(message);
    this.name = "Problem";
    this.status = status;
    this.code = code;
    this.headers = headers;
  }
}

/** Seconds after which a store or a thread may be back. */
const RETRY_SECONDS = 5;

/** Codes of mistakes that are more than a body that cannot work. */
const STATUS_OF_CODE: Readonly<Record<string, ProblemStatus>> = {
  "no-campaign": 404,
  "no-token": 404,
  "no-webhook": 404,
  // A name that no campaign can have.
  name: 422,
  "name-taken": 409,
  event: 409,
  request: 409,
  "head-changed": 412,
  log: 409,
  format: 409,
  cursor: 400,
};

/** What a failure is answered with; undefined where nobody outside should know more. */
const knownProblem = (error: unknown): Problem | undefined => {
  if (error instanceof Problem) return error;
  if (error instanceof InputError) {
    return new Problem(STATUS_OF_CODE[error.code] ?? 422, error.code, error.message);
  }
  const retry = { "Retry-After": String(RETRY_SECONDS) };
  // The store's own words name the database.
  if (error instanceof StoreUnavailable) return new Problem(503, "store", problemTexts.away, retry);
  if (!(error instanceof EnvironmentError)) return undefined;
  if (error.code === "no-package") return new Problem(501, error.code, error.message);
  return error.code === "thread" ? new Problem(503, error.code, error.message, retry) : undefined;
};

export const problemOf = (error: unknown): Problem =>
  knownProblem(error) ?? new Problem(500, "unexpected", problemTexts.unexpected);

/** Longer sentences are cut: parts of them may have been sent by whoever asks. */
const LONGEST_MESSAGE = 600;

export const problemBody = ({ code, message }: Problem) => ({
  error: {
    code,
    message:
      message.length > LONGEST_MESSAGE
        ? `${Array.from(message).slice(0, LONGEST_MESSAGE).join("")}…`
        : message,
  },
});
