/** Long computations that several ask for at once are made once; where nobody waits any more, they are stopped. */
import type { RunOptions } from "../core/options.js";

interface Running {
  readonly promise: Promise<unknown>;
  readonly controller: AbortController;
  waiting: number;
}

export interface SharedComputations {
  /** `key` says what it is about and as of when. */
  run<Result>(
    key: string,
    left: AbortSignal,
    compute: (run: Pick<RunOptions, "signal">) => Promise<Result>,
  ): Promise<Result>;
}

export const sharedComputations = (): SharedComputations => {
  const running = new Map<string, Running>();
  const begin = (key: string, compute: (run: Pick<RunOptions, "signal">) => Promise<unknown>): Running => {
    const controller = new AbortController();
    const promise = compute({ signal: controller.signal });
    const own: Running = { promise, controller, waiting: 0 };
    running.set(key, own);
    const forget = () => {
      if (running.get(key) === own) running.delete(key);
    };
    promise.then(forget, forget);
    return own;
  };
  return {
    async run<Result>(
      key: string,
      left: AbortSignal,
      compute: (run: Pick<RunOptions, "signal">) => Promise<Result>,
    ) {
      const own = running.get(key) ?? begin(key, compute);
      own.waiting += 1;
      const leave = () => {
        own.waiting -= 1;
        if (own.waiting > 0) return;
        running.delete(key);
        own.controller.abort();
      };
      left.addEventListener("abort", leave, { once: true });
      try {
        return (await own.promise) as Result;
      } finally {
        left.removeEventListener("abort", leave);
      }
    },
  };
};
