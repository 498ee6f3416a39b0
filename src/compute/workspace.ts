/**
 * Memory for compiled programs: one WebAssembly memory, an allocator over it, and the kernels that run in it.
 *
 * Programs that exchange arrays (a policy's layers and the objective they are trained on) share a workspace, and
 * then nothing is copied between them.
 */
import { EnvironmentError, InputError } from "../core/errors.js";
import { detectFeatures } from "./features.js";
import { type Kernel, threadPool } from "./pool.js";
import { compileModule } from "./wasm/compile-module.js";
import { MAX_PAGES, type ModuleWriter } from "./wasm/encoder.js";

const PAGE = 65_536;
/** Addresses are multiples of a cache line, so that threads do not write to the same one. */
const ALIGNMENT = 64;

export const workspaceTexts = {
  noSimd: 'this platform has no WebAssembly SIMD: use the backend "js", or a newer Node or browser',
  outOfMemory: (bytes: number, left: number) =>
    `the arrays need ${Math.ceil(bytes / 2 ** 20)} MiB, and ${Math.floor(left / 2 ** 20)} MiB of the 4 GiB a program can address are left: use fewer samples at a time`,
  refused: (bytes: number) =>
    `the arrays need ${Math.ceil(bytes / 2 ** 20)} MiB more, and this machine has no such memory to give: use fewer samples at a time, or end other programs`,
  threads: (given: unknown) => `threads was ${String(given)}: give a whole number of at least 1`,
  disposed: "this workspace was disposed of: make a new one",
};

export interface WorkspaceOptions {
  /** How many threads a kernel may use, the caller included; all cores unless given. Results do not depend on it. */
  readonly threads?: number | undefined;
  /** Fused multiply-add where the platform has it; `false` gives the same bits on every machine. */
  readonly relaxed?: boolean | undefined;
}

/** What 32 bits address. */
const MOST_BYTES = MAX_PAGES * PAGE;

/** A vector may be loaded across the end of an array: 16 bytes of slack keep that inside its block. */
const blockSize = (bytes: number): number => Math.ceil((bytes + 16) / ALIGNMENT) * ALIGNMENT;

interface Block {
  address: number;
  bytes: number;
}

/** Awaited between pieces of work of some milliseconds: lets go of the thread now and then, or throws to stop. */
export type Pause = () => Promise<void>;

/** About how long a piece of a job takes, so that whoever waits between them can keep to 50 ms. */
const PIECE_MS = 15;

/** A module's kernels, ready to run on all threads of the workspace. */
export interface Kernels {
  /** Where `wake` is false, for small jobs, only threads that are awake take part; it is true unless given. */
  run(name: string, descriptor: number, tasks: number, wake?: boolean): void;
  /** The same, of the tasks from `first` up to, and without, `end`. */
  runTasks(name: string, descriptor: number, first: number, end: number): void;
  /** The same, some tasks at a time, with `pause` awaited after every few of them. */
  runInPieces(name: string, descriptor: number, tasks: number, pause: Pause): Promise<void>;
  /** Lets all threads forget the module. */
  dispose(): void;
}

/**
 * Shared memories that were disposed of, to be used again: engines do not count shared memory when they decide
 * whether to collect garbage, so what is let go of may stay for long. Large ones are let go of all the same.
 */
const spare: WebAssembly.Memory[] = [];
const MOST_SPARE = 8;
const LARGEST_SPARE = 2 ** 26;

/** The memory and the threads that compiled kernels work with; give them back with `dispose`. */
export class Workspace {
  readonly threads: number;
  /** Whether kernels use fused multiply-add. */
  readonly fma: boolean;
  readonly #shared: boolean;
  #memory: WebAssembly.Memory | undefined;
  readonly #free: Block[] = [];
  readonly #taken = new Map<number, number>();
  readonly #programs = new Set<number>();

  constructor({ threads = detectFeatures().cores, relaxed = true }: WorkspaceOptions = {}) {
    if (!Number.isInteger(threads) || threads < 1) {
      throw new InputError("threads", workspaceTexts.threads(threads));
    }
    const features = detectFeatures();
    if (!features.simd) throw new EnvironmentError("no-simd", workspaceTexts.noSimd);
    this.#shared = features.threads && threads > 1;
    this.threads = this.#shared ? threads : 1;
    this.fma = relaxed && features.relaxedSimd;
    const memory =
      (this.#shared ? spare.pop() : undefined) ??
      new WebAssembly.Memory(
        this.#shared ? { initial: 1, maximum: MAX_PAGES, shared: true } : { initial: 1 },
      );
    this.#memory = memory;
    // Address 0 stays unused: it means "no array".
    this.#free.push({ address: ALIGNMENT, bytes: memory.buffer.byteLength - ALIGNMENT });
    if (this.#shared) threadPool()?.grow(threads);
  }

  #requireMemory(): WebAssembly.Memory {
    if (this.#memory === undefined) throw new InputError("disposed", workspaceTexts.disposed);
    return this.#memory;
  }

  /** All of its bytes; stale once the memory has grown, so take it anew after allocating. */
  get buffer(): ArrayBuffer {
    return this.#requireMemory().buffer;
  }

  /** Bytes of memory that belong to the workspace now. */
  get bytes(): number {
    return this.#memory?.buffer.byteLength ?? 0;
  }

  /** The addresses of several zeroed arrays, given their bytes: all of them, or an error and none. */
  allocateAll(bytes: readonly number[]): number[] {
    const wanted = bytes.reduce((sum, each) => sum + blockSize(each), 0);
    const free = this.#free.reduce((sum, block) => sum + block.bytes, 0);
    this.#requireRoom(wanted, free + MOST_BYTES - this.buffer.byteLength);
    const addresses: number[] = [];
    try {
      for (const each of bytes) addresses.push(this.allocate(each));
    } catch (error) {
      for (const address of addresses) this.release(address);
      throw error;
    }
    return addresses;
  }

  /** The address of `bytes` zeroed bytes. */
  allocate(bytes: number): number {
    const size = blockSize(bytes);
    let index = this.#free.findIndex((block) => block.bytes >= size);
    if (index < 0) {
      this.#grow(size);
      index = this.#free.findIndex((block) => block.bytes >= size);
    }
    const block = this.#free[index];
    const { address } = block;
    block.address += size;
    block.bytes -= size;
    if (block.bytes === 0) this.#free.splice(index, 1);
    this.#taken.set(address, size);
    // Eight bytes at a time: engines fill shared memory element by element, since other threads may look on.
    new BigInt64Array(this.buffer, address, size / BigInt64Array.BYTES_PER_ELEMENT).fill(0n);
    return address;
  }

  #requireRoom(bytes: number, left: number): void {
    if (!(bytes <= left)) throw new EnvironmentError("memory", workspaceTexts.outOfMemory(bytes, left));
  }

  /** Makes the block at the memory's end `bytes` large. */
  #grow(bytes: number): void {
    const memory = this.#requireMemory();
    const before = memory.buffer.byteLength;
    const last = this.#free.at(-1);
    const atEnd = last !== undefined && last.address + last.bytes === before ? last.bytes : 0;
    this.#requireRoom(bytes, atEnd + MOST_BYTES - before);
    const needed = Math.ceil((bytes - atEnd) / PAGE);
    // Half as much again where that is to be had, so that many small requests do not grow it one by one.
    const wanted = Math.min(Math.max(needed, Math.ceil(before / PAGE / 2)), MAX_PAGES - before / PAGE);
    try {
      memory.grow(wanted);
    } catch {
      try {
        memory.grow(needed);
      } catch (cause) {
        throw new EnvironmentError("memory", workspaceTexts.refused(bytes), { cause });
      }
    }
    this.#release({ address: before, bytes: memory.buffer.byteLength - before });
  }

  /** Gives an array's memory back. */
  release(address: number): void {
    const bytes = this.#taken.get(address);
    if (bytes === undefined) return;
    this.#taken.delete(address);
    this.#release({ address, bytes });
  }

  #release(block: Block): void {
    const free = this.#free;
    const at = free.findIndex((other) => other.address > block.address);
    const index = at < 0 ? free.length : at;
    free.splice(index, 0, block);
    // Join with the next and the previous block where they touch.
    for (const i of [index, index - 1]) {
      const next = free[i + 1];
      if (i < 0 || next === undefined || free[i].address + free[i].bytes !== next.address) continue;
      free[i].bytes += next.bytes;
      free.splice(i + 1, 1);
    }
  }

  /** A view of `length` floats; it is stale once the memory has grown, so take a new one after allocating. */
  floats(address: number, length: number): Float32Array<ArrayBuffer> {
    return new Float32Array(this.buffer, address, length);
  }

  words(address: number, length: number): Int32Array<ArrayBuffer> {
    return new Int32Array(this.buffer, address, length);
  }

  /**
   * Compiles a module into this workspace. Every exported function must be a `Kernel`.
   *
   * @internal
   */
  load(module: ModuleWriter, names: readonly string[]): Kernels {
    const memory = this.#requireMemory();
    const { threads } = this;
    const compiled = compileModule(module.bytes({ shared: this.#shared }));
    const { exports } = new WebAssembly.Instance(compiled, { env: { memory } });
    const kernels = names.map((name) => exports[name] as Kernel);
    const pool = this.#shared ? threadPool() : undefined;
    const program = pool?.add(compiled, memory, names);
    if (program !== undefined) this.#programs.add(program);
    const runTasks = (name: string, descriptor: number, first: number, end: number, wake = true): void => {
      // Once disposed of, the memory may be another workspace's.
      if (this.#memory !== memory) throw new InputError("disposed", workspaceTexts.disposed);
      const index = names.indexOf(name);
      const kernel = kernels[index];
      if (pool !== undefined && program !== undefined && end - first > 1) {
        pool.run(program, index, kernel, descriptor, first, end, threads, wake);
      } else {
        for (let task = first; task < end; task++) kernel(descriptor, 0, task);
      }
    };
    return {
      run: (name, descriptor, tasks, wake) => runTasks(name, descriptor, 0, tasks, wake),
      runTasks,
      runInPieces: async (name, descriptor, tasks, pause) => {
        // Tasks write to places of their own, so that how many make a piece does not change a bit.
        for (let first = 0, size = threads; first < tasks; ) {
          const end = Math.min(tasks, first + size);
          const started = performance.now();
          runTasks(name, descriptor, first, end);
          const taken = performance.now() - started;
          if (taken < PIECE_MS / 2) size *= 2;
          else if (taken > PIECE_MS) size = Math.max(threads, Math.floor(size / 2));
          first = end;
          await pause();
        }
      },
      dispose: () => {
        if (program !== undefined && this.#programs.delete(program)) pool?.remove(program, 0);
      },
    };
  }

  /** Lets go of the memory, on all threads. Using the workspace afterwards is an error. */
  dispose(): void {
    const memory = this.#memory;
    if (memory === undefined) return;
    const bytes = memory.buffer.byteLength;
    const keep = this.#shared && bytes <= LARGEST_SPARE && spare.length < MOST_SPARE;
    if (keep) spare.push(memory);
    const programs = [...this.#programs];
    for (const [i, program] of programs.entries()) {
      threadPool()?.remove(program, !keep && i === programs.length - 1 ? bytes : 0);
    }
    this.#programs.clear();
    this.#memory = undefined;
    this.#free.length = 0;
    this.#taken.clear();
  }
}
