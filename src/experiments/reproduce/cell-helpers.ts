/** Processes that run cells, so that several cores are used; they do not outlive the work. */
import { type ChildProcess, fork } from "node:child_process";
import { EnvironmentError, InputError } from "../../core/errors.js";
import type { Cell, CellResult, ResultOf } from "./cell.js";
import type { CellRun } from "./run-cell.js";

export type CellOrder = { readonly cell: Cell; readonly run: Omit<CellRun, "onProgress"> };
export type CellAnswer =
  | { readonly progress: number }
  | { readonly result: CellResult }
  | { readonly failed: { readonly code: string; readonly message: string; readonly input: boolean } };

export const cellHelperTexts = {
  died: (how: string) =>
    `a process that computes ended by itself (${how}): run the command again, which goes on from here, with fewer --jobs if memory was short`,
};

export interface CellHelper {
  run<C extends Cell>(
    cell: C,
    run: CellOrder["run"],
    onProgress: (done: number) => void,
  ): Promise<ResultOf<C>>;
}

const ask = (
  child: ChildProcess,
  order: CellOrder,
  onProgress: (done: number) => void,
): Promise<CellResult> =>
  new Promise((resolve, reject) => {
    const died = (how: string) => reject(new EnvironmentError("helper", cellHelperTexts.died(how)));
    if (child.exitCode !== null || child.signalCode !== null) {
      died(child.signalCode ?? `exit code ${child.exitCode}`);
      return;
    }
    const settle = () => {
      child.off("message", onMessage);
      child.off("exit", onExit);
    };
    const onMessage = (message: unknown) => {
      const answer = message as CellAnswer;
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
    child.send(order);
  });

export const withHelpers = async (
  signal: AbortSignal,
  count: number,
  work: (helpers: readonly CellHelper[]) => Promise<void>,
): Promise<void> => {
  signal.throwIfAborted();
  const children = Array.from({ length: count }, () =>
    fork(new URL("./cell-process.js", import.meta.url), {
      serialization: "json",
      stdio: ["ignore", "ignore", "inherit", "ipc"],
    }),
  );
  const stop = () => {
    for (const child of children) child.kill("SIGKILL");
  };
  signal.addEventListener("abort", stop);
  try {
    await work(
      children.map((child) => ({
        run: async <C extends Cell>(cell: C, run: CellOrder["run"], onProgress: (done: number) => void) =>
          (await ask(child, { cell, run }, onProgress)) as ResultOf<C>,
      })),
    );
  } catch (error) {
    signal.throwIfAborted();
    throw error;
  } finally {
    signal.removeEventListener("abort", stop);
    stop();
  }
};
