/** Doing it again while a database is busy or away. */
import { randomInt } from "node:crypto";
import { setTimeout } from "node:timers/promises";
import type { Failure } from "./sql-dialect.js";

const FIRST_PAUSE_MS = 2;
const LONGEST_PAUSE_MS = 250;

/** What a caller's own function threw: handed on as it is, and no reason to try again. */
export class CallersError extends Error {
  readonly thrown: unknown;

  constructor(thrown: unknown) {
    super("not for people");
    this.thrown = thrown;
  }
}

/** Lets others have their turn: pauses grow, and no two who wait keep meeting. */
export const retry = async <Result>(
  explain: (error: unknown) => Failure,
  action: (attempt: number) => Promise<Result>,
): Promise<Result> => {
  const started = performance.now();
  let longest = FIRST_PAUSE_MS;
  for (let attempt = 0; ; attempt++) {
    try {
      return await action(attempt);
    } catch (error) {
      if (error instanceof CallersError) throw error.thrown;
      const failure = explain(error);
      const left = 1000 * failure.retrySeconds - (performance.now() - started);
      if (left <= 0) throw failure.error;
      await setTimeout(Math.min(left, randomInt(1, longest + 1)));
      longest = Math.min(2 * longest, LONGEST_PAUSE_MS);
    }
  }
};
