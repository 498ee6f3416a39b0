/**
 * Long computations in processes of their own, one job at a time. The process that asks stays free to hear Ctrl-C,
 * several use all cores, and one that dies takes nothing else with it.
 */
import { type ChildProcess, fork } from "node:child_process";
import { EnvironmentError, FairbedError, InputError } from "../core/errors.js";
import { childEnvironment, endWithParent } from "./end-with-parent.js";

type Answer<Result> =
  | { readonly progress: number }
  | { readonly result: Result }
  | { readonly failed: { readonly code: string; readonly message: string; readonly input: boolean } };

export interface SubprocessProgram {
  /** A module that calls `answerJobs`. */
  readonly url: URL;
  /** "advanced" where jobs hold arrays of numbers. */
  readonly serialization: "json" | "advanced";
  /** The sentence for a process that ended by itself. */
  readonly died: (how: string) => string;
}

export interface Subprocess<Job, Result> {
  readonly isAlive: boolean;
  /** The next job is given when this one is answered. */
  run(job: Job, onProgress?: (done: number) => void): Promise<Result>;
  kill(): void;
}

export const startSubprocess = <Job, Result>(program: SubprocessProgram): Subprocess<Job, Result> => {
  const child = fork(program.url, {
    serialization: program.serialization,
    env: childEnvironment(),
    stdio: ["ignore", "ignore", "inherit", "ipc"],
  });
  const isAlive = () => child.exitCode === null && child.signalCode === null;
  return {
    get isAlive() {
      return isAlive();
    },
    run: (job, onProgress = () => {}) =>
      new Promise<Result>((resolve, reject) => {
        const died = (how: string) => reject(new EnvironmentError("helper", program.died(how)));
        if (!isAlive()) {
          died(child.signalCode ?? `exit code ${child.exitCode}`);
          return;
        }
        listen<Result>(child, { resolve, reject, onProgress, died });
        // A process that is gone says so by its end.
        child.send(job as object, () => {});
      }),
    kill: () => child.kill("SIGKILL"),
  };
};

interface Listener<Result> {
  readonly resolve: (result: Result) => void;
  readonly reject: (error: Error) => void;
  readonly onProgress: (done: number) => void;
  readonly died: (how: string) => void;
}

const listen = <Result>(
  child: ChildProcess,
  { resolve, reject, onProgress, died }: Listener<Result>,
): void => {
  const settle = () => {
    child.off("message", onMessage);
    child.off("exit", onExit);
  };
  const onMessage = (message: unknown) => {
    const answer = message as Answer<Result>;
    if ("progress" in answer) return onProgress(answer.progress);
    settle();
    if ("result" in answer) return resolve(answer.result);
    const { code, message: text, input } = answer.failed;
    reject(input ? new InputError(code, text) : new EnvironmentError(code, text));
  };
  const onExit = (code: number | null, name: string | null) => {
    settle();
    died(name ?? `exit code ${code}`);
  };
  child.on("message", onMessage);
  child.on("exit", onExit);
};

/** Runs the work with processes that do not outlive it, whatever ends it. */
export const withSubprocesses = async <Job, Result, Outcome>(
  signal: AbortSignal,
  program: SubprocessProgram,
  work: (start: () => Subprocess<Job, Result>) => Promise<Outcome>,
): Promise<Outcome> => {
  signal.throwIfAborted();
  const started: Subprocess<Job, Result>[] = [];
  const stop = () => {
    for (const each of started) each.kill();
  };
  signal.addEventListener("abort", stop);
  try {
    return await work(() => {
      const subprocess = startSubprocess<Job, Result>(program);
      started.push(subprocess);
      return subprocess;
    });
  } catch (error) {
    signal.throwIfAborted();
    throw error;
  } finally {
    signal.removeEventListener("abort", stop);
    stop();
  }
};

/** In the process itself: answers jobs until the one who asks lets go. */
export const answerJobs = <Job, Result>(
  handle: (job: Job, progress: (done: number) => void) => Promise<Result>,
): void => {
  const answer = (message: Answer<Result>): void => {
    // Who is gone wants no result.
    process.send?.(message, undefined, {}, (error) => {
      if (error !== null) process.exit(0);
    });
  };
  // Ctrl-C and a polite kill may reach the whole group of processes; the one who asks decides what happens.
  for (const name of ["SIGINT", "SIGTERM", "SIGHUP"]) process.on(name, () => {});
  endWithParent();
  process.on("disconnect", () => process.exit(0));
  process.on("message", (job) => {
    handle(job as Job, (done) => answer({ progress: done })).then(
      (result) => answer({ result }),
      (error: unknown) =>
        answer({
          failed: {
            code: error instanceof FairbedError ? error.code : "unexpected",
            message: error instanceof FairbedError ? error.message : String(error),
            input: error instanceof InputError,
          },
        }),
    );
  });
};
