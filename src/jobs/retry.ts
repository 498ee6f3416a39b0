/** Waiting that ends early, for those who work with a queue. */
import { UnreachableQueue } from "./queue-connection.js";

/** A queue that cannot be reached for longer than this is given up. */
const GIVE_UP_MS = 600_000;
const LONGEST_PAUSE_MS = 10_000;

/** Resolves after so long, or at once when the signal says so. */
export const pause = (milliseconds: number, signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    if (signal.aborted) return resolve();
    const done = () => {
      clearTimeout(timer);
      signal.removeEventListener("abort", done);
      resolve();
    };
    const timer = setTimeout(done, milliseconds);
    signal.addEventListener("abort", done);
  });

/** Does it again, later each time, while the queue cannot be reached: what was computed is not lost to a restart. */
export const retry = async <Result>(
  action: () => Promise<Result>,
  signal: AbortSignal,
  onTrouble: (message: string) => void = () => {},
): Promise<Result> => {
  const started = performance.now();
  for (let wait = 500; ; wait = Math.min(2 * wait, LONGEST_PAUSE_MS)) {
    try {
      return await action();
    } catch (error) {
      const passes = error instanceof UnreachableQueue && performance.now() - started < GIVE_UP_MS;
      if (!passes || signal.aborted) throw error;
      onTrouble(error.message);
      await pause(wait, signal);
    }
  }
};
