/** Runs what a store lacks on the workers of a queue, and brings their results home as they come. */
import { type Order, orderInWords } from "../work/order.js";
import { patiently, pause } from "../work/patience.js";
import type { KnownResult, WorkerState, WorkQueue, WorkRow } from "../work/queue.js";
import { acquisitionOf, type Cell, type CellResult, cellKey } from "./cell.js";
import { estimateSeconds } from "./describe-cell.js";
import { pendingCells } from "./run-cells.js";
import type { ResultStore } from "./store.js";

export const queueCellsTexts = {
  noWorker: (queue: string) =>
    `no worker is at the queue: start one or more, on any machine, with fairbed worker --queue ${queue}`,
  failed: (words: string, others: number, message: string) =>
    `${words}${others === 0 ? "" : ` and ${others} more`} failed: ${message}`,
  before: "what it starts from failed",
  lacking: (cells: number, why: string) =>
    `${cells} cell${cells === 1 ? " is" : "s are"} still in the queue, because no worker there can run ${cells === 1 ? "it" : "them"}: ${why}`,
};

export interface QueueRunOptions {
  readonly signal: AbortSignal;
  /** In estimated seconds of work. */
  readonly onProgress: (done: number) => void;
  /** A sentence that cannot wait for the end. */
  readonly say: (line: string) => void;
  /** So many seconds nobody may be there, or nobody who can do what is left. */
  readonly patience?: number;
}

export interface QueueRun {
  /** How many results came now. */
  readonly ran: number;
  /** What a reader should know. */
  readonly notes: readonly string[];
}

interface Failure {
  readonly cell: Cell;
  readonly message: string;
}

const POLL_MS = 500;

export const runCellsOnQueue = async (
  cells: readonly Cell[],
  store: ResultStore,
  queue: WorkQueue,
  { signal, onProgress, say, patience = 10 }: QueueRunOptions,
): Promise<QueueRun> => {
  const left = new Map(pendingCells(cells, store).map((cell) => [cellKey(cell), cell]));
  const orders = [...left.values()].map((cell): Order => ({ cell }));
  const persist = <Result>(action: () => Promise<Result>) => patiently(action, signal);
  await persist(() => queue.ask(orders, knownBefore([...left.values()], store)));
  const failures = new Map<string, Failure>();
  let [ran, done] = [0, 0];
  const drop = (key: string, cell: Cell): void => {
    left.delete(key);
    done += estimateSeconds(cell);
  };
  const collect = (row: WorkRow): void => {
    const cell = left.get(row.key);
    if (cell === undefined) return;
    if (row.result !== null) {
      store.append(cell, JSON.parse(row.result) as CellResult, row.seconds ?? 0);
      ran += 1;
      drop(row.key, cell);
    } else if (row.failed || (row.before !== null && failures.has(row.before))) {
      failures.set(row.key, { cell, message: row.failed ? (row.trouble ?? "") : queueCellsTexts.before });
      drop(row.key, cell);
    }
  };
  let seen = performance.now();
  let possible = performance.now();
  let told = false;
  for (;;) {
    signal.throwIfAborted();
    const rows = await persist(() => queue.rows([...left.keys()]));
    for (const row of rows) collect(row);
    const running = rows
      .filter(({ key, worker }) => left.has(key) && worker !== null)
      .reduce((sum, { key, share }) => sum + share * estimateSeconds(left.get(key) as Cell), 0);
    onProgress(done + running);
    if (left.size === 0) return { ran, notes: failureNotes(failures) };
    const workers = await persist(() => queue.workers());
    const now = performance.now();
    if (workers.length > 0) {
      seen = now;
      told = false;
    } else if (now - seen > 1000 * patience && !told) {
      say(queueCellsTexts.noWorker(queue.shown));
      told = true;
    }
    const lacking = lackingOf(
      rows.filter(({ key }) => left.has(key)),
      workers,
    );
    if (lacking === undefined) possible = now;
    else if (now - possible > 1000 * patience) {
      return { ran, notes: [...failureNotes(failures), queueCellsTexts.lacking(left.size, lacking)] };
    }
    await persist(() => queue.freeLost());
    await persist(() => queue.sendReady());
    await pause(POLL_MS, signal);
  }
};

/** Acquisitions that are here already: whoever judges them need not run them. */
const knownBefore = (cells: readonly Cell[], store: ResultStore): readonly KnownResult[] => {
  const found = new Map<string, KnownResult>();
  for (const cell of cells) {
    const before = acquisitionOf(cell);
    const stored = before === undefined ? undefined : store.find(before);
    if (stored === undefined) continue;
    found.set(stored.key, { order: { cell: stored.cell }, result: stored.result, seconds: stored.seconds });
  }
  return [...found.values()];
};

/** Why no worker can do anything of what is left; undefined where one may. */
const lackingOf = (rows: readonly WorkRow[], workers: readonly WorkerState[]): string | undefined => {
  const left = new Set(rows.map(({ key }) => key));
  // What waits for another one here is as possible as that one.
  const first = rows.filter(({ before }) => before === null || !left.has(before));
  const isPossible = ({ worker, queue }: WorkRow) =>
    worker !== null || workers.some(({ lacks }) => lacks[queue] === undefined);
  if (workers.length === 0 || first.some(isPossible)) return undefined;
  return [...new Set(first.map(({ queue }) => workers[0].lacks[queue]))].join("; ");
};

/** One note for each way to fail. */
const failureNotes = (failures: ReadonlyMap<string, Failure>): readonly string[] => {
  const byMessage = new Map<string, Failure[]>();
  for (const failure of failures.values()) {
    byMessage.set(failure.message, [...(byMessage.get(failure.message) ?? []), failure]);
  }
  return [...byMessage].map(([message, all]) =>
    queueCellsTexts.failed(orderInWords({ cell: all[0].cell }), all.length - 1, message),
  );
};
