/** `--queue`, the same in every command that has it. */
import type { WorkQueue } from "../../../experiments/orders/queue.js";
import type { CommandContext } from "../../command.js";
import { text } from "../../options.js";

export const queueOption = text(
  "--queue <address>",
  "postgres://… of a queue; FAIRBED_QUEUE unless given, which does not show a password to others",
);

/** Asks a queue for something; who is interrupted is told that it goes on without them. */
export const withQueue = async <Result>(
  address: string,
  context: CommandContext,
  use: (queue: WorkQueue) => Promise<Result>,
): Promise<Result> => {
  const { openQueue } = await import("../../../experiments/orders/queue.js");
  const { collectTexts } = await import("../../../experiments/orders/collect.js");
  const queue = await openQueue(address);
  try {
    return await use(queue);
  } finally {
    if (context.signal.aborted) context.say(collectTexts.left(queue.shown));
    await queue.close();
  }
};
