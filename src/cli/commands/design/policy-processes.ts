/** What a command computes in processes of their own. */
import { encodePolicy, type PolicyFile } from "../../../design/policy-file.js";
import { type Subprocess, withSubprocesses } from "../../../jobs/subprocess.js";
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

type Helper = Subprocess<HelperOrder, HelperResult>;

const withHelpers = <Outcome>(
  signal: AbortSignal,
  work: (start: () => Helper) => Promise<Outcome>,
): Promise<Outcome> =>
  withSubprocesses(
    signal,
    {
      url: new URL("./policy-process.js", import.meta.url),
      serialization: "advanced",
      died: helperTexts.died,
    },
    work,
  );

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
    return (await start().run(order, onBatch)) as PolicyReport;
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
      const helper = start();
      for (let order = left.shift(); order !== undefined; order = left.shift()) {
        // By hand: the order may hold more than a cell needs to be told.
        const { source, settings, evaluation, threads } = order;
        const told = { task: "cell", source, settings, evaluation, threads } as const;
        await onResult(order, (await helper.run(told)) as CellResult);
      }
    };
    await Promise.all(Array.from({ length: Math.min(jobs, orders.length) }, work));
  });
