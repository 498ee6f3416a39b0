/** The entry of every worker: told which tasks are its own, it runs those that the page calls. */
import type { Table } from "../../tables/table.js";
import type { FromWorker, TaskFailure, TaskRun, Tasks, ToWorker } from "./task.js";

const MODULES: Readonly<Record<string, () => Promise<Tasks>>> = {
  data: async () => (await import("./data-tasks.js")).dataTasks,
  charts: async () => (await import("./chart-tasks.js")).chartTasks,
  audit: async () => (await import("./audit-tasks.js")).auditTasks,
  plan: async () => (await import("./plan-tasks.js")).planTasks,
  collect: async () => (await import("./collect-tasks.js")).collectTasks,
  design: async () => (await import("./design-tasks.js")).designTasks,
  "design-search": async () => (await import("./design-search-tasks.js")).designSearchTasks,
  export: async () => (await import("./export-tasks.js")).exportTasks,
};

let tasks: Promise<Tasks> | undefined;
let table: Table | undefined;
let waiting: ((table: Table) => void)[] = [];
const running = new Map<number, AbortController>();

const open = (opened: Table): void => {
  table = opened;
  for (const resolve of waiting) resolve(opened);
  waiting = [];
};
const whenOpen = (): Promise<Table> =>
  table === undefined ? new Promise((resolve) => waiting.push(resolve)) : Promise.resolve(table);

const answer = (message: FromWorker): void => self.postMessage(message);

const failureOf = (error: unknown): TaskFailure => {
  if (!(error instanceof Error)) return { name: "Error", message: String(error) };
  const { code } = error as { readonly code?: unknown };
  return { name: error.name, message: error.message, ...(typeof code === "string" ? { code } : {}) };
};

const run = async (id: number, name: string, input: unknown): Promise<void> => {
  const stop = new AbortController();
  running.set(id, stop);
  const own: TaskRun = {
    signal: stop.signal,
    emit: (value) => answer({ kind: "partial", id, value }),
    table: whenOpen,
    open,
  };
  try {
    const task = (await tasks)?.[name];
    if (task === undefined) throw new Error(`the page asked for ${name}, which this worker does not do`);
    answer({ kind: "done", id, value: await task(input, own) });
  } catch (error) {
    answer({ kind: "failed", id, failure: failureOf(error) });
  } finally {
    running.delete(id);
  }
};

self.onmessage = ({ data }: MessageEvent<ToWorker>) => {
  if (data.kind === "start") tasks = MODULES[data.name]();
  else if (data.kind === "call") void run(data.id, data.task, data.input);
  else if (data.kind === "stop") running.get(data.id)?.abort(new DOMException("stopped", "AbortError"));
  else if (data.kind === "give") void whenOpen().then((own) => data.port.postMessage(own));
  else
    data.port.onmessage = ({ data: given }: MessageEvent<Table>) => {
      open(given);
      data.port.close();
    };
};
