/** `--queue`, the same in every command that has it. */
import type { WorkQueue } from "../../../jobs/queue.js";
import { text } from "../../options.js";

export const queueOption = text(
  "--queue <address>",
  "postgres://… of a queue; FAIRBED_QUEUE unless given, which does not show a password to others",
);

/** Asks a queue for something. */
export const withQueue = async <Result>(
  address: string,
  use: (queue: WorkQueue) => Promise<Result>,
): Promise<Result> => {
  const { openQueue } = await import("../../../jobs/queue.js");
  const queue = await openQueue(address);
  try {
    return await use(queue);
  } finally {
    await queue.close();
  }
};
