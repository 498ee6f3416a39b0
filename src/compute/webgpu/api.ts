/**
 * What of WebGPU is used, as a browser's `navigator.gpu` and the package `webgpu` both have it. Written out here, so that
 * the types of this package need neither a browser's declarations nor another package's.
 */

export interface WebGpu {
  requestAdapter(options?: { readonly powerPreference?: "high-performance" }): Promise<Adapter | null>;
}

export interface AdapterInfo {
  readonly vendor?: string;
  readonly architecture?: string;
  readonly device?: string;
  readonly description?: string;
  readonly subgroupMinSize?: number;
  readonly subgroupMaxSize?: number;
  readonly isFallbackAdapter?: boolean;
}

export interface Limits {
  readonly maxBufferSize: number;
  readonly maxStorageBufferBindingSize: number;
  readonly maxComputeWorkgroupStorageSize: number;
  readonly maxComputeInvocationsPerWorkgroup: number;
  readonly maxComputeWorkgroupSizeX: number;
  readonly maxComputeWorkgroupsPerDimension: number;
  readonly maxStorageBuffersPerShaderStage: number;
}

export interface Adapter {
  readonly info: AdapterInfo;
  readonly features: { has(name: string): boolean };
  readonly limits: Limits;
  requestDevice(options: {
    readonly requiredFeatures: readonly string[];
    readonly requiredLimits: Readonly<Partial<Record<keyof Limits, number>>>;
  }): Promise<Device>;
}

export interface Device {
  readonly queue: Queue;
  readonly limits: Limits;
  readonly lost: Promise<{ readonly reason: string; readonly message: string }>;
  createBuffer(options: { readonly size: number; readonly usage: number }): Buffer;
  createShaderModule(options: { readonly code: string }): unknown;
  createComputePipelineAsync(options: {
    readonly layout: "auto";
    readonly compute: { readonly module: unknown; readonly entryPoint: string };
  }): Promise<Pipeline>;
  createBindGroup(options: {
    readonly layout: unknown;
    readonly entries: readonly { readonly binding: number; readonly resource: { readonly buffer: Buffer } }[];
  }): BindGroup;
  createCommandEncoder(): CommandEncoder;
  pushErrorScope(filter: "out-of-memory" | "validation" | "internal"): void;
  popErrorScope(): Promise<{ readonly message: string } | null>;
  destroy(): void;
}

/** Opaque: made by a device and given back to it. */
export interface BindGroup {
  readonly label: string;
}

export interface Buffer {
  readonly size: number;
  mapAsync(mode: number): Promise<void>;
  getMappedRange(): ArrayBuffer;
  unmap(): void;
  destroy(): void;
}

export interface Pipeline {
  getBindGroupLayout(group: number): unknown;
}

export interface CommandEncoder {
  beginComputePass(): ComputePass;
  copyBufferToBuffer(from: Buffer, at: number, to: Buffer, start: number, size: number): void;
  finish(): unknown;
}

export interface ComputePass {
  setPipeline(pipeline: Pipeline): void;
  setBindGroup(group: number, bindings: BindGroup): void;
  dispatchWorkgroups(x: number, y?: number, z?: number): void;
  end(): void;
}

export interface Queue {
  writeBuffer(buffer: Buffer, at: number, data: ArrayBufferView): void;
  submit(commands: readonly unknown[]): void;
  onSubmittedWorkDone(): Promise<void>;
}

/** Bits of `GPUBufferUsage` and `GPUMapMode`, which are the same everywhere. */
export const USAGE = { mapRead: 0x1, copySource: 0x4, copyTarget: 0x8, storage: 0x80 } as const;
export const MAP_READ = 1;
