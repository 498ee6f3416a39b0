/**
 * Long computations in processes of their own. The command's own process stays free to hear Ctrl-C, and several
 * helpers use all cores.
 */
import { type ChildProcess, fork } from "node:child_process";
import { EnvironmentError, InputError } from "../../../core/errors.js";
import { encodePolicy, type PolicyFile } from "../../../design/policy-file.js";
import type { EvaluateSettings, PolicyReport } from "./evaluate.js";
import type { LoadedModel, ModelSource } from "./load-model.js";
import type { CellOrder, CellResult } from "./sweep-cell.js";

export const helperTexts = {
  died: (how: string) =>
    `a process that computes ended by itself (${how}): run the command again, with fewer samples or --jobs if memory was short`,
};

interface ReportOrder {
  readonly source: ModelSource;
  /** The policy's file. */
  readonly policy: Uint8Array;
  readonly settings: EvaluateSettings;
}

export type HelperOrder =
  | (CellOrder & { readonly task: "cell" })
  | (ReportOrder & { readonly task: "report" });
export type HelperResult = CellResult | PolicyReport;
export type HelperAnswer =
  | { readonly progress: number }
  | { readonly result: HelperResult }
  | { readonly failed: { readonly code: string; readonly message: string; readonly input: boolean } };

const startHelper = (): ChildProcess =>
  fork(new URL("./helper-process.js", import.meta.url), {
    serialization: "advanced",
    stdio: ["ignore", "ignore", "inherit", "ipc"],
  });

/** One order and its result. */
const ask = (child: ChildProcess, order: HelperOrder, onProgress: (done: number) => void) =>
  new Promise<HelperResult>((resolve, reject) => {
    const settle = () => {
      child.off("message", onMessage);
      child.off("exit", onExit);
    };
    const onMessage = (message: unknown) => {
      const answer = message as HelperAnswer;
      if ("progress" in answer) return onProgress(answer.progress);
      settle();
      if ("result" in answer) return resolve(answer.result);
      const { code, message: text, input } = answer.failed;
      reject(input ? new InputError(code, text) : new EnvironmentError(code, text));
    };
    const onExit = (code: number | null, name: string | null) => {
      settle();
      reject(new EnvironmentError("helper", helperTexts.died(name ?? `exit code ${code}`)));
    };
    child.on("message", onMessage);
    child.on("exit", onExit);
    child.send(order);
  });

/** Runs the work with helpers that do not outlive it, whatever ends it. */
const withHelpers = async <Result>(
  signal: AbortSignal,
  work: (start: () => ChildProcess) => Promise<Result>,
): Promise<Result> => {
  const children: ChildProcess[] = [];
  const stop = () => {
    for (const child of children) child.kill("SIGKILL");
  };
  signal.throwIfAborted();
  signal.addEventListener("abort", stop);
  try {
    return await work(() => {
      const child = startHelper();
      children.push(child);
      return child;
    });
  } catch (error) {
    signal.throwIfAborted();
    throw error;
  } finally {
    signal.removeEventListener("abort", stop);
    stop();
  }
};

/** `reportOn` in a helper. */
export const reportByHelper = (
  { source }: LoadedModel,
  file: PolicyFile,
  settings: EvaluateSettings,
  signal: AbortSignal,
  onBatch: (done: number) => void = () => {},
): Promise<PolicyReport> =>
  withHelpers(signal, async (start) => {
    const order = { task: "report", source, policy: encodePolicy(file), settings } as const;
    return (await ask(start(), order, onBatch)) as PolicyReport;
  });

/** Runs every cell, `jobs` at a time, and gives each result as it comes. The first failure ends it all. */
export const cellsByHelpers = <Order extends CellOrder>(
  orders: readonly Order[],
  jobs: number,
  signal: AbortSignal,
  onResult: (order: Order, result: CellResult) => Promise<void>,
): Promise<void> =>
  withHelpers(signal, async (start) => {
    const left = [...orders];
    const work = async (): Promise<void> => {
      const child = start();
      for (let order = left.shift(); order !== undefined; order = left.shift()) {
        // By hand: the order may hold more than a cell needs to be told.
        const { source, settings, evaluation, threads } = order;
        const told = { task: "cell", source, settings, evaluation, threads } as const;
        await onResult(order, (await ask(child, told, () => {})) as CellResult);
      }
    };
    await Promise.all(Array.from({ length: Math.min(jobs, orders.length) }, work));
  });
