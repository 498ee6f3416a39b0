/** Whether a process of this machine is still the one that it was. */
import { readFileSync } from "node:fs";

/** What Linux tells of a process; undefined where there is none, and on other platforms. */
const statOf = (pid: number): { readonly state: string; readonly start: string } | undefined => {
  try {
    // The name of the program, in parentheses, may hold anything; what is told comes after it.
    const fields = readFileSync(`/proc/${pid}/stat`, "latin1")
      .replace(/^.*\) /s, "")
      .split(" ");
    return { state: fields[0], start: fields[19] ?? "0" };
  } catch {
    return undefined;
  }
};

/** Whether there is a process of this number; one that has ended and that nobody has asked about yet is none. */
export const isRunning = (pid: number): boolean => {
  try {
    process.kill(pid, 0);
    return statOf(pid)?.state !== "Z";
  } catch (error) {
    // It is there, and someone else's.
    return error instanceof Error && "code" in error && error.code === "EPERM";
  }
};

/** When it was started, in the platform's own count; "0" where the platform does not tell. */
export const startOf = (pid: number): string => statOf(pid)?.start ?? "0";
