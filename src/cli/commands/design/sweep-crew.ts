/** Cells in parallel: one process for each job, so that a cell has a machine's core and memory to itself. */
import { type ChildProcess, fork } from "node:child_process";
import { EnvironmentError, InputError } from "../../../core/errors.js";
import type { CellOrder, CellResult } from "./sweep-cell.js";
import type { CellAnswer } from "./sweep-process.js";

export const crewTexts = {
  died: (how: string) =>
    `a process of the sweep ended by itself (${how}): run the same command again to go on, with fewer --jobs if memory was short`,
};

/** Runs every order, `jobs` at a time, and gives each result as it comes. The first failure ends it all. */
export const runCells = async <Order extends CellOrder>(
  orders: readonly Order[],
  jobs: number,
  signal: AbortSignal,
  onResult: (order: Order, result: CellResult) => Promise<void>,
): Promise<void> => {
  const left = [...orders];
  const children: ChildProcess[] = [];
  const work = async (): Promise<void> => {
    if (left.length === 0) return;
    const child = fork(new URL("./sweep-process.js", import.meta.url), {
      serialization: "advanced",
      stdio: ["ignore", "ignore", "inherit", "ipc"],
    });
    children.push(child);
    for (let order = left.shift(); order !== undefined; order = left.shift()) {
      await onResult(order, await ask(child, order));
    }
    child.disconnect();
  };
  const stop = () => {
    left.length = 0;
    for (const child of children) child.kill("SIGKILL");
  };
  signal.addEventListener("abort", stop);
  try {
    await Promise.all(Array.from({ length: Math.min(jobs, orders.length) }, work));
  } catch (error) {
    stop();
    signal.throwIfAborted();
    throw error;
  } finally {
    signal.removeEventListener("abort", stop);
  }
};

const ask = (child: ChildProcess, order: CellOrder): Promise<CellResult> =>
  new Promise((resolve, reject) => {
    const settle = () => {
      child.off("message", onMessage);
      child.off("exit", onExit);
    };
    const onMessage = (message: unknown) => {
      settle();
      const answer = message as CellAnswer;
      if ("result" in answer) return resolve(answer.result);
      const { code, message: text, input } = answer.failed;
      reject(input ? new InputError(code, text) : new EnvironmentError(code, text));
    };
    const onExit = (code: number | null, name: string | null) => {
      settle();
      reject(new EnvironmentError("sweep-process", crewTexts.died(name ?? `exit code ${code}`)));
    };
    child.on("message", onMessage);
    child.on("exit", onExit);
    // By hand: the order may hold more than a cell needs to be told.
    const { source, settings, evaluation, threads } = order;
    child.send({ source, settings, evaluation, threads });
  });
