/** Ctrl-C and a polite kill, as an abort signal and an exit code. */
import { constants } from "node:os";

const SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP"] as const;
/** How long a command may take to stop by itself before the process ends under it. */
const GRACE_MS = 2000;

export interface Interruption {
  readonly signal: AbortSignal;
  /** 128 + the signal's number (130 for Ctrl-C) once one came, as shells expect. */
  exitCode(): number | undefined;
  /** Hands the signals back to the platform. */
  stop(): void;
}

/** The first signal aborts, so that the command can stop cleanly; a second one ends the process at once. */
export const watchForInterruption = (): Interruption => {
  const controller = new AbortController();
  let exitCode: number | undefined;
  let timer: NodeJS.Timeout | undefined;
  const onSignal = (name: NodeJS.Signals) => {
    const code = 128 + constants.signals[name];
    if (exitCode !== undefined) process.exit(exitCode);
    exitCode = code;
    timer = setTimeout(() => process.exit(code), GRACE_MS);
    timer.unref();
    controller.abort();
  };
  for (const name of SIGNALS) process.on(name, onSignal);
  return {
    signal: controller.signal,
    exitCode: () => exitCode,
    stop() {
      clearTimeout(timer);
      for (const name of SIGNALS) process.off(name, onSignal);
    },
  };
};
