/**
 * A GPU: the browser's, or in Node the one that the package `webgpu` finds. Buffers, compiled pipelines (each text is
 * compiled once), submissions, and what is read back.
 */
import { EnvironmentError } from "../../core/errors.js";
import {
  type Adapter,
  type BindGroup,
  type Buffer,
  type CommandEncoder,
  type Device,
  type Limits,
  MAP_READ,
  type Pipeline,
  USAGE,
  type WebGpu,
} from "./api.js";
import { type GpuHost, thisHost } from "./host.js";
import { gpuTexts } from "./texts.js";
import { kernelText } from "./wgsl/module.js";

/** What is known of a GPU, as plain data. */
export interface GpuInfo {
  readonly vendor: string;
  readonly name: string;
  /** Lanes that work in step; undefined where the adapter does not tell, and reductions go through shared memory. */
  readonly subgroups: { readonly least: number; readonly most: number } | undefined;
  /** Whether it is a program that stands in for a GPU, on the processor. */
  readonly software: boolean;
}

/** One kernel of a submission, on so many workgroups. */
export interface Dispatch {
  readonly kernel: Kernel;
  readonly workgroups: readonly [number, number?, number?];
}

/** A pipeline with its buffers. */
export interface Kernel {
  readonly pipeline: Pipeline;
  readonly bindings: BindGroup;
}

/** Kernels that are handed over together. */
const PIECE = 48;

const ORDER_THREADS = 256;
const ORDER_KERNEL = kernelText({
  buffers: [{ name: "order", type: "array<vec2u>", write: true }],
  workgroup: ORDER_THREADS,
  subgroups: true,
  declarations: "",
  body: "order[lane] = vec2u(subgroup_size, subgroup_lane);",
});

type Words = Float32Array | Uint32Array;

const MEGABYTE = 2 ** 20;
const megabytes = (bytes: number): number => Math.ceil(bytes / MEGABYTE);

const requireAtMost = (most: number, bytes: number): void => {
  if (bytes <= most) return;
  throw new EnvironmentError("gpu-memory", gpuTexts.tooLarge(megabytes(bytes), megabytes(most)));
};

/** Limits that are asked for as far as the adapter has them. */
const WANTED: readonly (keyof Limits)[] = [
  "maxBufferSize",
  "maxStorageBufferBindingSize",
  "maxComputeWorkgroupStorageSize",
  "maxComputeInvocationsPerWorkgroup",
  "maxComputeWorkgroupSizeX",
  "maxStorageBuffersPerShaderStage",
];

/** A GPU that is open, until it is given back. */
export class Gpu {
  readonly info: GpuInfo;
  readonly #device: Device;
  readonly #pipelines = new Map<string, Promise<Pipeline>>();
  readonly #failure: Promise<never>;
  #ordered: Promise<number | undefined> | undefined;
  #lost: EnvironmentError | undefined;
  #disposed = false;

  /** @internal */
  constructor(device: Device, info: GpuInfo) {
    this.#device = device;
    this.info = info;
    this.#failure = device.lost.then(({ reason, message }) => {
      this.#lost = new EnvironmentError("gpu-lost", gpuTexts.lost(message || reason));
      // One that was given back is not missed.
      return this.#disposed ? new Promise<never>(() => {}) : Promise.reject(this.#lost);
    });
    this.#failure.catch(() => {});
  }

  /** @internal Whether it was lost or given back, so that another has to be opened. */
  get isGone(): boolean {
    return this.#disposed || this.#lost !== undefined;
  }

  /** @internal */
  get limits(): Limits {
    return this.#device.limits;
  }

  /**
   * @internal
   *
   * The fewest lanes of a subgroup where threads are in subgroups in their order, which is tried out and not assumed; else
   * undefined, and reductions go through shared memory.
   */
  orderedSubgroup(): Promise<number | undefined> {
    this.#ordered ??= this.#tryOrder().catch((error: unknown) => {
      // What failed once, for want of room, may be found out the next time.
      this.#ordered = undefined;
      throw error;
    });
    return this.#ordered;
  }

  async #tryOrder(): Promise<number | undefined> {
    const { subgroups } = this.info;
    if (subgroups === undefined || subgroups.most > ORDER_THREADS) return undefined;
    const buffers = await this.allocate({ order: 2 * ORDER_THREADS });
    try {
      const kernel = await this.kernel(ORDER_KERNEL, [buffers.order]);
      await this.submit([{ kernel, workgroups: [1] }]);
      const [bytes] = await this.read({ buffer: buffers.order, words: 2 * ORDER_THREADS });
      const words = new Uint32Array(bytes);
      for (let lane = 0; lane < ORDER_THREADS; lane++) {
        const [size, inside] = [words[2 * lane], words[2 * lane + 1]];
        if (size < subgroups.least || inside !== lane % size) return undefined;
      }
      return subgroups.least;
    } finally {
      buffers.order.destroy();
    }
  }

  /**
   * @internal
   *
   * Buffers of so many 32-bit words each, all zero.
   */
  async allocate<Name extends string>(words: Readonly<Record<Name, number>>): Promise<Record<Name, Buffer>> {
    this.#requirePresent();
    const { maxBufferSize, maxStorageBufferBindingSize } = this.limits;
    const most = Math.min(maxBufferSize, maxStorageBufferBindingSize);
    const sizes = Object.entries<number>(words).map(
      ([name, count]) => [name, 4 * Math.max(4, count)] as const,
    );
    for (const [, size] of sizes) requireAtMost(most, size);
    const usage = USAGE.storage | USAGE.copySource | USAGE.copyTarget;
    const made: [string, Buffer][] = [];
    try {
      await this.#withRoom(
        sizes.reduce((sum, [, size]) => sum + size, 0),
        () => {
          for (const [name, size] of sizes) made.push([name, this.#device.createBuffer({ size, usage })]);
        },
      );
    } catch (error) {
      for (const [, buffer] of made) buffer.destroy();
      throw error;
    }
    return Object.fromEntries(made) as Record<Name, Buffer>;
  }

  /** What is made of so many bytes, or a sentence where there is no room for them. */
  async #withRoom<T>(bytes: number, make: () => T): Promise<T> {
    this.#device.pushErrorScope("out-of-memory");
    const made = make();
    const error = await this.#answer(this.#device.popErrorScope());
    if (error !== null) throw new EnvironmentError("gpu-memory", gpuTexts.memory(megabytes(bytes)));
    return made;
  }

  /** @internal */
  write(buffer: Buffer, data: Words, at = 0): void {
    this.#requirePresent();
    if (data.length > 0) this.#device.queue.writeBuffer(buffer, 4 * at, data);
  }

  /**
   * @internal
   *
   * The kernel of a text whose bindings 0, 1, ... are these buffers.
   */
  async kernel(code: string, buffers: readonly Buffer[]): Promise<Kernel> {
    this.#requirePresent();
    const known = this.#pipelines.get(code);
    const compiled = known ?? this.#compile(code);
    if (known === undefined) this.#pipelines.set(code, compiled);
    const pipeline = await this.#orLost(compiled);
    const entries = buffers.map((buffer, binding) => ({ binding, resource: { buffer } }));
    const bindings = await this.#validated(() =>
      this.#device.createBindGroup({ layout: pipeline.getBindGroupLayout(0), entries }),
    );
    return { pipeline, bindings };
  }

  async #compile(code: string): Promise<Pipeline> {
    const module = await this.#validated(() => this.#device.createShaderModule({ code }));
    try {
      return await this.#device.createComputePipelineAsync({
        layout: "auto",
        compute: { module, entryPoint: "main" },
      });
    } catch (error) {
      throw new EnvironmentError("gpu-failed", gpuTexts.failed(messageOf(error)), { cause: error });
    }
  }

  async #validated<T>(make: () => T): Promise<T> {
    this.#device.pushErrorScope("validation");
    const made = make();
    const error = await this.#answer(this.#device.popErrorScope());
    if (error !== null) throw new EnvironmentError("gpu-failed", gpuTexts.failed(error.message));
    return made;
  }

  /**
   * @internal
   *
   * Runs kernels one after the other; each sees what those before have written.
   */
  async submit(dispatches: readonly Dispatch[]): Promise<void> {
    this.#requirePresent();
    await this.#validated(() => {
      // In pieces, so that the GPU begins while the rest is still being written down.
      for (let from = 0; from < dispatches.length; from += PIECE) {
        const encoder = this.#device.createCommandEncoder();
        const pass = encoder.beginComputePass();
        for (const { kernel, workgroups } of dispatches.slice(from, from + PIECE)) {
          pass.setPipeline(kernel.pipeline);
          pass.setBindGroup(0, kernel.bindings);
          pass.dispatchWorkgroups(...workgroups);
        }
        pass.end();
        this.#device.queue.submit([encoder.finish()]);
      }
    });
  }

  /**
   * @internal
   *
   * What is in the first `words` words of each buffer, once everything that was submitted is done.
   */
  async read(
    ...wanted: readonly { readonly buffer: Buffer; readonly words: number }[]
  ): Promise<ArrayBuffer[]> {
    this.#requirePresent();
    const total = wanted.reduce((sum, { words }) => sum + 4 * words, 0);
    const size = Math.max(16, total);
    requireAtMost(this.limits.maxBufferSize, size);
    const room = await this.#withRoom(size, () =>
      this.#device.createBuffer({ size, usage: USAGE.mapRead | USAGE.copyTarget }),
    );
    try {
      const encoder: CommandEncoder = this.#device.createCommandEncoder();
      let at = 0;
      for (const { buffer, words } of wanted) {
        encoder.copyBufferToBuffer(buffer, 0, room, at, 4 * words);
        at += 4 * words;
      }
      this.#device.queue.submit([encoder.finish()]);
      await this.#answer(room.mapAsync(MAP_READ));
      const all = room.getMappedRange();
      at = 0;
      return wanted.map(({ words }) => {
        const part = all.slice(at, at + 4 * words);
        at += 4 * words;
        return part;
      });
    } finally {
      room.destroy();
    }
  }

  /** @internal */
  async readFloats(buffer: Buffer, words: number): Promise<Float32Array> {
    const [bytes] = await this.read({ buffer, words });
    return new Float32Array(bytes);
  }

  #orLost<T>(promise: Promise<T>): Promise<T> {
    return Promise.race([promise, this.#failure]);
  }

  /** What only a device that is there gives: one that is lost may refuse it before it says that it is lost. */
  #answer<T>(promise: Promise<T>): Promise<T> {
    return this.#orLost(promise).catch((error: unknown) => {
      throw error instanceof EnvironmentError
        ? error
        : new EnvironmentError("gpu-lost", gpuTexts.lost(messageOf(error)), { cause: error });
    });
  }

  #requirePresent(): void {
    if (this.#lost !== undefined) throw this.#lost;
  }

  /** Gives it back. */
  dispose(): void {
    this.#disposed = true;
    this.#device.destroy();
  }
}

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

const webGpuOf = async ({ page, load }: GpuHost): Promise<WebGpu> => {
  if (page !== undefined) return page;
  if (load === undefined) throw new EnvironmentError("gpu-browser", gpuTexts.browser);
  try {
    return await load();
  } catch (error) {
    // Where this program lies says nothing about the package.
    const reason = messageOf(error)
      .split("\n")[0]
      .replace(/ imported from .*$/, "");
    throw new EnvironmentError("gpu-package", gpuTexts.package(reason), { cause: error });
  }
};

/** WARP, the one of Windows, calls itself "Microsoft Basic Render Driver". */
const SOFTWARE = /swiftshader|llvmpipe|lavapipe|software|basic render|warp/i;

const infoOf = (adapter: Adapter, subgroups: boolean): GpuInfo => {
  // Getters of a prototype in a browser: they can be read, and not copied.
  const { vendor = "", architecture = "", device = "", description = "", isFallbackAdapter } = adapter.info;
  const { subgroupMinSize: least, subgroupMaxSize: most } = adapter.info;
  const name = description || device || architecture || "unnamed";
  return {
    vendor,
    name,
    subgroups: subgroups && least !== undefined && most !== undefined ? { least, most } : undefined,
    software: isFallbackAdapter === true || SOFTWARE.test(`${name} ${architecture} ${vendor}`),
  };
};

/**
 * The GPU of this machine: that of the browser, or in Node the one that the package `webgpu` finds. Where there is none,
 * an error says what is missing and what to do.
 */
export const openGpu = (): Promise<Gpu> => openGpuOf(thisHost());

/** The same of any host. */
export const openGpuOf = async (host: GpuHost): Promise<Gpu> => {
  const webGpu = await webGpuOf(host);
  const adapter = await webGpu.requestAdapter({ powerPreference: "high-performance" });
  if (adapter === null) {
    const device = host.present();
    throw device === undefined
      ? new EnvironmentError("gpu-adapter", gpuTexts.noAdapter)
      : new EnvironmentError("gpu-hidden", gpuTexts.hidden(device));
  }
  const subgroups = adapter.features.has("subgroups");
  try {
    const device = await adapter.requestDevice({
      requiredFeatures: subgroups ? ["subgroups"] : [],
      requiredLimits: Object.fromEntries(WANTED.map((name) => [name, adapter.limits[name]])),
    });
    return new Gpu(device, infoOf(adapter, subgroups));
  } catch (error) {
    throw new EnvironmentError("gpu-refused", gpuTexts.refused(messageOf(error)), { cause: error });
  }
};
