/**
 * What the process that works and the one that watches over it say to each other. The watcher hears signals whatever
 * the other one does, and ends it where it does not answer.
 */
import { childEnvironment, endWithParent } from "../jobs/end-with-parent.js";

/** How long a command may take to stop by itself before the process ends under it. */
export const GRACE_MS = 700;

/** To the one that works. */
export interface Relayed {
  readonly signal: NodeJS.Signals;
}

/** To the one that watches. */
export type Told =
  /** A signal was heard; it will stop within so long. */
  | { readonly heard: number }
  /** Temporary files that are to be taken away should this process not come to it, and those that need not. */
  | { readonly unfinished: string }
  | { readonly finished: string };

/** Environment for a process that is watched. */
export const supervisedEnvironment = (): NodeJS.ProcessEnv => ({
  ...childEnvironment(),
  FAIRBED_SUPERVISED: "1",
});

let supervised = false;

/** Whether someone watches over this process; `onSignal` is told what reaches that one. */
export const linkToSupervisor = (onSignal: (name: NodeJS.Signals) => void): boolean => {
  supervised = process.env.FAIRBED_SUPERVISED === "1" && process.send !== undefined;
  delete process.env.FAIRBED_SUPERVISED;
  if (!supervised) return false;
  endWithParent();
  process.on("disconnect", () => process.exit(1));
  process.on("message", (message) => onSignal((message as Relayed).signal));
  // Listening is no work: a command that has nothing left to wait for is to be found out.
  process.channel?.unref();
  return true;
};

/** Nothing where nobody watches. */
export const tellSupervisor = (told: Told): void => {
  if (supervised && process.connected) process.send?.(told, undefined, {}, () => {});
};
