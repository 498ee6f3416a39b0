/** Ctrl-C and a polite kill, as an abort signal and an exit code. */
import { constants } from "node:os";
import { GRACE_MS, linkToSupervisor, tellSupervisor } from "./supervisor-link.js";

export const STOP_SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

/** What a queue is told at the end may take a while on its way. */
const QUEUE_GRACE_MS = 3000;

export interface Interruption {
  readonly signal: AbortSignal;
  /** 128 + the signal's number (130 for Ctrl-C) once one came, as shells expect. */
  exitCode(): number | undefined;
  /** How the command can be gone on with, where something of it is kept. */
  goOn: string | undefined;
  /** Whether the command only waits for the signal, which is its end and no interruption. */
  isAwaited: boolean;
  /** Hands the signals back to the platform. */
  stop(): void;
}

/** 128 + the signal's number, as shells have it. */
export const signalExitCode = (name: NodeJS.Signals): number => 128 + constants.signals[name];

let grace = GRACE_MS;

/** From now on a command may take longer to stop, because it has to take leave of a queue. */
export const allowTimeForQueue = (): void => {
  grace = QUEUE_GRACE_MS;
};

/**
 * The first signal aborts, so that the command can stop cleanly; a second one ends the process at once. Ctrl-C reaches
 * this process and the one that watches over it, which passes it on: it comes twice, and counts once. `onLate` is called
 * where the command has not stopped in time, and ends the process.
 */
export const watchForInterruption = (onLate: () => unknown): Interruption => {
  const controller = new AbortController();
  const came = { here: 0, relayed: 0 };
  let exitCode: number | undefined;
  let timer: NodeJS.Timeout | undefined;
  const hear = (name: NodeJS.Signals) => {
    if (Math.max(came.here, came.relayed) > 1 && exitCode !== undefined) process.exit(exitCode);
    if (exitCode !== undefined) return;
    exitCode = signalExitCode(name);
    tellSupervisor({ heard: grace });
    timer = setTimeout(onLate, grace);
    timer.unref();
    controller.abort();
  };
  const onSignal = (name: NodeJS.Signals) => {
    came.here += 1;
    hear(name);
  };
  for (const name of STOP_SIGNALS) process.on(name, onSignal);
  linkToSupervisor((name) => {
    came.relayed += 1;
    hear(name);
  });
  return {
    signal: controller.signal,
    exitCode: () => exitCode,
    goOn: undefined,
    isAwaited: false,
    stop() {
      clearTimeout(timer);
      for (const name of STOP_SIGNALS) process.off(name, onSignal);
    },
  };
};
