/** A clock on which every piece of work takes long, so that all of them are reported, however fast the machine is. */
import { vi } from "vitest";

export const onSlowClock = async <Result>(work: () => Promise<Result>): Promise<Result> => {
  let time = 0;
  const clock = vi.spyOn(performance, "now").mockImplementation(() => {
    time += 50;
    return time;
  });
  try {
    return await work();
  } finally {
    clock.mockRestore();
  }
};
