/** Processes of this machine that a test has started, and all that those have started. */
import { readdirSync, readFileSync } from "node:fs";

/** With this value of FAIRBED_TEST_MARK in their environment, once there are none or some seconds have passed. */
export const processesMarked = async (mark: string, seconds = 20): Promise<readonly string[]> => {
  const until = performance.now() + 1000 * seconds;
  for (;;) {
    const found = readdirSync("/proc").filter((pid) => /^\d+$/.test(pid) && has(pid, mark));
    if (found.length === 0 || performance.now() > until) return found;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
};

const has = (pid: string, mark: string): boolean => {
  try {
    return readFileSync(`/proc/${pid}/environ`, "latin1").includes(`FAIRBED_TEST_MARK=${mark}`);
  } catch {
    return false;
  }
};
