/** Waiting that ends early. */

/**
 * Resolves after so many milliseconds, or at once when the signal says so. It keeps the process alive: of a command that
 * does a round now and then there is nothing else between two rounds.
 */
export const pause = (milliseconds: number, signal?: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    if (signal?.aborted === true) return resolve();
    const done = () => {
      clearTimeout(timer);
      signal?.removeEventListener("abort", done);
      resolve();
    };
    const timer = setTimeout(done, milliseconds);
    signal?.addEventListener("abort", done);
  });

export type Pause = typeof pause;

/** Milliseconds before the next try: twice as long each time, from `first` to at most `longest`. */
export const backOff = (failures: number, first: number, longest: number): number =>
  Math.min(longest, first * 2 ** Math.min(failures - 1, 40));
