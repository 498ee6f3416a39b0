import { describe, expect, it } from "vitest";
import { pacer } from "../../src/core/options.js";

/** Holds the thread, as a computation does. */
const busy = (ms: number): void => {
  const end = performance.now() + ms;
  while (performance.now() < end);
};

describe("pacer", () => {
  it("lets go of the thread so that timers run, and waits for what is told of progress", async () => {
    let heard = 0;
    const timer = setInterval(() => heard++, 1);
    const told: number[] = [];
    const pace = pacer({
      onProgress: async ({ done }) => {
        await Promise.resolve();
        told.push(done);
      },
    });
    for (let done = 1; done <= 6; done++) {
      busy(45);
      await pace.step({ done, total: 6 });
    }
    clearInterval(timer);
    expect(told).toEqual([1, 2, 3, 4, 5, 6]);
    expect(heard).toBeGreaterThan(0);
  });

  it("stops with the signal's reason, before and in the middle", async () => {
    const reason = new Error("enough");
    const aborted = AbortSignal.abort(reason);
    expect(() => pacer({ signal: aborted })).toThrow(reason);
    const controller = new AbortController();
    const pace = pacer({ signal: controller.signal });
    await pace.pause();
    controller.abort(reason);
    await expect(pace.pause()).rejects.toThrow(reason);
  });
});
