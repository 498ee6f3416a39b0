/**
 * Threads that help with one job at a time over shared memory.
 *
 * A job is `tasks` calls of one kernel, in as many shares of neighbouring tasks as there are threads. Every thread, the
 * caller included, takes the next task of its own share until none is left, and then those of the others: jobs that
 * follow each other find their data in the cache of the same thread. Each task writes to places of its own, so the result
 * does not depend on who ran it. A worker that is still starting, or busy with its mail, is simply not there yet: the
 * others do the work.
 *
 * Workers sleep on an atomic and are woken by it, so starting a job costs microseconds. They run the same text in
 * Node and in a browser; it is a string because a bundler must not have to find a second file.
 */
import { FairbedError } from "../core/errors.js";
import { builtin, detectFeatures } from "./features.js";

/** Every kernel: the address of its job's description, the number of the thread, the number of the task. */
export type Kernel = (descriptor: number, thread: number, task: number) => void;

/** Words of the control block. */
const GENERATION = 0;
const OPEN = 1;
const FIRST = 2;
const TASKS = 3;
const ACTIVE = 4;
const PROGRAM = 5;
const KERNEL = 6;
const DESCRIPTOR = 7;
const LIMIT = 8;
const FAILED = 9;
const SHARES = 10;
const MAIL = 16; // and one word for every worker
const MOST_THREADS = 64;
/** The next task of each share, in a cache line of its own. */
const NEXT = MAIL + MOST_THREADS;
const LINE = 16;
const CONTROL_WORDS = NEXT + LINE * MOST_THREADS;

/** How often a worker looks for the next job before it sleeps: some tens of microseconds. */
const LOOKS = 4000;

/*
 * Why a late worker does no harm: it counts itself ACTIVE before it looks whether the job it was woken for is
 * still OPEN, and the caller closes the job before it waits for ACTIVE to reach zero. So either the worker sees
 * the job closed, or the caller waits for it.
 */
const WORKER_SOURCE = `
const serve = (control, index, onMessage) => {
  const programs = new Map();
  let mail = 0;
  let seen = 0;
  const help = () => {
    Atomics.add(control, ${ACTIVE}, 1);
    if (Atomics.load(control, ${OPEN}) === seen && index < Atomics.load(control, ${LIMIT})) {
      const kernels = programs.get(Atomics.load(control, ${PROGRAM}));
      if (kernels !== undefined) {
        const kernel = kernels[Atomics.load(control, ${KERNEL})];
        const descriptor = Atomics.load(control, ${DESCRIPTOR});
        const first = Atomics.load(control, ${FIRST});
        const tasks = Atomics.load(control, ${TASKS});
        const shares = Atomics.load(control, ${SHARES});
        try {
          for (let k = 0; k < shares; k++) {
            const share = (index + k) % shares;
            const next = ${NEXT} + ${LINE} * share;
            const end = first + Math.floor(((share + 1) * (tasks - first)) / shares);
            for (let task = Atomics.add(control, next, 1); task < end; task = Atomics.add(control, next, 1))
              kernel(descriptor, index, task);
          }
        } catch {
          Atomics.store(control, ${FAILED}, 1);
        }
      }
    }
    if (Atomics.sub(control, ${ACTIVE}, 1) === 1) Atomics.notify(control, ${ACTIVE});
  };
  onMessage((message) => {
    mail++;
    if (message.module === undefined) programs.delete(message.program);
    else {
      const { exports } = new WebAssembly.Instance(message.module, { env: { memory: message.memory } });
      programs.set(message.program, message.kernels.map((name) => exports[name]));
    }
    while (Atomics.load(control, ${MAIL} + index) === mail) {
      // Jobs often follow each other at once: a short look-out spares both sides the sleep and the waking.
      for (let looks = 0; looks < ${LOOKS} && Atomics.load(control, ${GENERATION}) === seen; looks++);
      Atomics.wait(control, ${GENERATION}, seen);
      seen = Atomics.load(control, ${GENERATION});
      help();
    }
  });
};
`;

const NODE_SOURCE = `${WORKER_SOURCE}
const { parentPort, workerData } = process.getBuiltinModule("node:worker_threads");
serve(workerData.control, workerData.index, (handle) => parentPort.on("message", handle));`;

const BROWSER_SOURCE = `${WORKER_SOURCE}
self.onmessage = ({ data: { control, index } }) =>
  serve(control, index, (handle) => { self.onmessage = ({ data }) => handle(data); });`;

interface Helper {
  postMessage(message: unknown): void;
  terminate(): unknown;
}

interface NodeWorker extends Helper {
  unref(): void;
}

type NodeWorkerConstructor = new (source: string, options: { eval: true; workerData: unknown }) => NodeWorker;

const startWorker = (control: Int32Array, index: number): Helper => {
  const node = builtin<{ Worker: NodeWorkerConstructor }>("node:worker_threads");
  if (node !== undefined) {
    const worker = new node.Worker(NODE_SOURCE, { eval: true, workerData: { control, index } });
    worker.unref(); // a sleeping helper must not keep the process alive
    return worker;
  }
  const address = URL.createObjectURL(new Blob([BROWSER_SOURCE], { type: "text/javascript" }));
  const worker = new Worker(address);
  worker.postMessage({ control, index });
  return worker;
};

interface Program {
  readonly program: number;
  readonly module: WebAssembly.Module;
  readonly memory: WebAssembly.Memory;
  readonly kernels: readonly string[];
}

/**
 * A worker lets go of a forgotten program's memory only when its engine collects garbage, and it makes too little to
 * do so. When this many bytes have been forgotten, the workers are replaced, and with them everything they hold.
 */
const FORGOTTEN_BYTES = 2 ** 26;

/** Spins this often before it sleeps: a job's last tasks end within microseconds of each other. */
const SPINS = 20_000;

class Pool {
  #control = new Int32Array(new SharedArrayBuffer(4 * CONTROL_WORDS));
  readonly #workers: Helper[] = [];
  readonly #programs = new Map<number, Program>();
  #generation = 0;
  #programCount = 0;
  #forgotten = 0;
  #maySleep = builtin("node:worker_threads") !== undefined || typeof window === "undefined";

  /** Starts workers so that `threads` can take part, the caller included. */
  grow(threads: number): void {
    while (this.#workers.length < Math.min(threads, MOST_THREADS) - 1) {
      const index = this.#workers.length + 1;
      const worker = startWorker(this.#control, index);
      this.#workers.push(worker);
      for (const program of this.#programs.values()) this.#send(index, program);
    }
  }

  #send(index: number, message: Program | { readonly program: number }): void {
    Atomics.add(this.#control, MAIL + index, 1);
    this.#workers[index - 1].postMessage(message);
  }

  #broadcast(message: Program | { readonly program: number }): void {
    this.#workers.forEach((_, i) => {
      this.#send(i + 1, message);
    });
    this.#wake();
  }

  #wake(): void {
    this.#generation = (this.#generation + 1) | 0 || 1; // 0 means closed
    Atomics.store(this.#control, GENERATION, this.#generation);
    Atomics.notify(this.#control, GENERATION);
  }

  /** Makes a module's kernels known to all threads and returns its number. */
  add(module: WebAssembly.Module, memory: WebAssembly.Memory, kernels: readonly string[]): number {
    const program = ++this.#programCount;
    const entry = { program, module, memory, kernels };
    this.#programs.set(program, entry);
    this.#broadcast(entry);
    return program;
  }

  /** Lets all threads forget a program, and with the last one of a memory that nobody keeps, its bytes. */
  remove(program: number, bytes: number): void {
    this.#programs.delete(program);
    this.#forgotten += bytes;
    if (this.#forgotten < FORGOTTEN_BYTES) this.#broadcast({ program });
    else this.#replaceWorkers();
  }

  /** New workers on a control block of their own: what the old ones still write to theirs touches nobody. */
  #replaceWorkers(): void {
    const threads = this.#workers.length + 1;
    for (const worker of this.#workers.splice(0)) worker.terminate();
    this.#control = new Int32Array(new SharedArrayBuffer(this.#control.buffer.byteLength));
    this.#forgotten = 0;
    this.grow(threads);
  }

  /**
   * Runs the tasks from `first` up to, and without, `tasks`. Where `wake` is false, workers that are asleep stay so: for
   * jobs that would be done before they are there.
   */
  run(
    program: number,
    kernelIndex: number,
    kernel: Kernel,
    descriptor: number,
    first: number,
    tasks: number,
    threads: number,
    wake: boolean,
  ): void {
    const control = this.#control;
    control[PROGRAM] = program;
    control[KERNEL] = kernelIndex;
    control[DESCRIPTOR] = descriptor;
    control[LIMIT] = threads;
    control[FIRST] = first;
    control[TASKS] = tasks;
    control[FAILED] = 0;
    const shares = Math.min(threads, tasks - first, MOST_THREADS);
    const startOf = (share: number) => first + Math.floor((share * (tasks - first)) / shares);
    control[SHARES] = shares;
    for (let k = 0; k < shares; k++) Atomics.store(control, NEXT + LINE * k, startOf(k));
    this.#generation = (this.#generation + 1) | 0 || 1;
    Atomics.store(control, OPEN, this.#generation);
    Atomics.store(control, GENERATION, this.#generation);
    if (wake) Atomics.notify(control, GENERATION);
    try {
      for (let k = 0; k < shares; k++) {
        const next = NEXT + LINE * k;
        const end = startOf(k + 1);
        for (let task = Atomics.add(control, next, 1); task < end; task = Atomics.add(control, next, 1))
          kernel(descriptor, 0, task);
      }
    } finally {
      Atomics.store(control, OPEN, 0);
      this.#settle();
    }
    if (control[FAILED] !== 0)
      throw new FairbedError("kernel", "a kernel failed on a worker thread: please report it");
  }

  /** Waits until no worker is inside the job that was just closed. */
  #settle(): void {
    const control = this.#control;
    for (let spins = 0; ; spins++) {
      const active = Atomics.load(control, ACTIVE);
      if (active === 0) return;
      if (spins > SPINS && this.#maySleep) Atomics.wait(control, ACTIVE, active, 1);
    }
  }
}

let shared: Pool | undefined;

/** The pool of this thread, or undefined where memory cannot be shared. */
export const threadPool = (): Pool | undefined => {
  if (!detectFeatures().threads) return undefined;
  shared ??= new Pool();
  return shared;
};
