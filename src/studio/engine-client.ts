/** The page's side of its workers: one for each kind of work, started when it is first needed. */
import type { FromWorker, TaskFailure, TaskRun, Tasks, ToWorker } from "./worker/task.js";

export type EngineName =
  | "data"
  | "charts"
  | "audit"
  | "plan"
  | "collect"
  | "design"
  | "design-search"
  | "export";

/** Those that have no use for a table: they go on whatever is opened. */
const WITHOUT_TABLE: readonly EngineName[] = ["charts", "design", "design-search"];

export interface CallOptions {
  readonly signal?: AbortSignal | undefined;
  readonly onPartial?: ((partial: never) => void) | undefined;
}

/** A failure of a task, with the sentence that a person is shown. */
export class EngineError extends Error {
  readonly code: string | undefined;
  constructor({ name, message, code }: TaskFailure) {
    super(message);
    this.name = name;
    this.code = code;
  }
}

export const isStopped = (error: unknown): boolean => error instanceof Error && error.name === "AbortError";

type InputOf<Task> = Task extends (input: infer Input, run: TaskRun) => unknown ? Input : never;
type OutputOf<Task> = Task extends (...given: never[]) => infer Output ? Awaited<Output> : never;

export interface Engine<Own extends Tasks> {
  call<Name extends keyof Own & string>(
    task: Name,
    input: InputOf<Own[Name]>,
    options?: CallOptions,
  ): Promise<OutputOf<Own[Name]>>;
}

interface Waiting {
  readonly resolve: (value: never) => void;
  readonly reject: (error: unknown) => void;
  readonly onPartial: ((partial: never) => void) | undefined;
}

class WorkerEngine {
  readonly name: EngineName;
  #worker: Worker | undefined;
  #next = 0;
  readonly #waiting = new Map<number, Waiting>();

  constructor(name: EngineName) {
    this.name = name;
  }

  get isRunning(): boolean {
    return this.#worker !== undefined;
  }

  post(message: ToWorker, transfer: Transferable[] = []): void {
    this.#start().postMessage(message, transfer);
  }

  /** Ends it with all that it does; the next call starts it anew. */
  restart(): void {
    this.#worker?.terminate();
    this.#worker = undefined;
    this.#failAll(new DOMException("stopped", "AbortError"));
  }

  call(task: string, input: unknown, { signal, onPartial }: CallOptions = {}): Promise<never> {
    return new Promise((resolve, reject) => {
      if (signal?.aborted) return reject(signal.reason);
      const id = this.#next++;
      this.#waiting.set(id, { resolve, reject, onPartial });
      signal?.addEventListener("abort", () => this.post({ kind: "stop", id }), { once: true });
      this.post({ kind: "call", id, task, input });
    });
  }

  #start(): Worker {
    if (this.#worker !== undefined) return this.#worker;
    const worker = new Worker(new URL("./worker/engine.ts", import.meta.url), { type: "module" });
    this.#worker = worker;
    worker.onmessage = ({ data }: MessageEvent<FromWorker>) => this.#hear(data);
    worker.onerror = ({ message }) => {
      this.#worker = undefined;
      this.#failAll(new EngineError({ name: "Error", message: engineTexts.ended(message) }));
    };
    worker.postMessage({ kind: "start", name: this.name } satisfies ToWorker);
    if (this.name !== "data") linkTable(this);
    return worker;
  }

  #hear(message: FromWorker): void {
    const waiting = this.#waiting.get(message.id);
    if (waiting === undefined) return;
    if (message.kind === "partial") {
      waiting.onPartial?.(message.value as never);
      return;
    }
    this.#waiting.delete(message.id);
    if (message.kind === "done") waiting.resolve(message.value as never);
    else waiting.reject(new EngineError(message.failure));
  }

  #failAll(error: unknown): void {
    for (const { reject } of this.#waiting.values()) reject(error);
    this.#waiting.clear();
  }
}

export const engineTexts = {
  ended: (reason: string) =>
    `The computation ended unexpectedly (${reason || "no reason was given"}). What was saved is kept: reload the page and try again.`,
};

const engines = new Map<EngineName, WorkerEngine>();

const engineNamed = (name: EngineName): WorkerEngine => {
  const own = engines.get(name) ?? new WorkerEngine(name);
  engines.set(name, own);
  return own;
};

/** Lets a worker have the table that is open, straight from the one that read it. */
const linkTable = (to: WorkerEngine): void => {
  if (WITHOUT_TABLE.includes(to.name)) return;
  const { port1, port2 } = new MessageChannel();
  engineNamed("data").post({ kind: "give", port: port1 }, [port1]);
  to.post({ kind: "take", port: port2 }, [port2]);
};

/** After another table was opened: whatever ran on the old one ends, and workers get the new one when they start. */
export const tableChanged = (): void => {
  for (const each of engines.values()) {
    if (each.name !== "data" && !WITHOUT_TABLE.includes(each.name)) each.restart();
  }
};

/** The worker of a name, with the types of its tasks: `engine<typeof auditTasks>("audit")`. */
export const engine = <Own extends Tasks>(name: EngineName): Engine<Own> =>
  engineNamed(name) as unknown as Engine<Own>;
