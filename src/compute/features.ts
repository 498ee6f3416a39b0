/**
 * What this platform can run, found by asking `WebAssembly.validate` and never by its name.
 *
 * Node's own modules are reached through `process.getBuiltinModule`, so that this file has no import that a
 * browser or a bundler would trip over.
 */
import { I32, ModuleWriter } from "./wasm/encoder.js";

export interface Features {
  /** WebAssembly with 128-bit SIMD: without it only the `js` backend runs. */
  readonly simd: boolean;
  /** Fused multiply-add in kernels (relaxed SIMD). */
  readonly relaxedSimd: boolean;
  /** Shared memory between threads: Node, or a cross-origin-isolated page. */
  readonly threads: boolean;
  /** Processors that may be used, at least 1. */
  readonly cores: number;
}

type Builtin = <T>(name: string) => T | undefined;

/** A module of Node's own, or undefined outside Node. */
export const builtin: Builtin = <T>(name: string): T | undefined => {
  const host = (
    globalThis as { process?: { getBuiltinModule?: ((name: string) => T) | undefined } | undefined }
  ).process;
  return host?.getBuiltinModule?.(name);
};

const validates = (write: (module: ModuleWriter) => void, shared = false): boolean => {
  if (typeof WebAssembly === "undefined") return false;
  const module = new ModuleWriter();
  write(module);
  return WebAssembly.validate(module.bytes({ shared }));
};

const hasSimd = (): boolean =>
  validates((module) => {
    module.function("probe", [], [], (writer) => writer.splat32(0).simd("f32x4.sqrt").op("drop"));
  });

const hasRelaxedSimd = (): boolean =>
  validates((module) => {
    module.function("probe", [], [], (writer) => {
      writer.splat32(0).splat32(0).splat32(0).simd("f32x4.relaxed_madd").op("drop");
    });
  });

const hasThreads = (): boolean => {
  if (typeof SharedArrayBuffer === "undefined" || typeof Atomics === "undefined") return false;
  const isolated = (globalThis as { crossOriginIsolated?: boolean | undefined }).crossOriginIsolated;
  if (isolated === false && builtin("node:worker_threads") === undefined) return false;
  return validates((module) => {
    module.function("probe", [I32], [], () => {});
  }, true);
};

/** Node 20 has relaxed SIMD behind a flag that can be set while it runs; newer ones have it on. */
const enableRelaxedSimd = (): void => {
  const v8 = builtin<{ setFlagsFromString(flag: string): void }>("node:v8");
  v8?.setFlagsFromString("--experimental-wasm-relaxed-simd");
};

const countCores = (): number => {
  const os = builtin<{ availableParallelism(): number }>("node:os");
  if (os !== undefined) return os.availableParallelism();
  return Math.max(
    1,
    (globalThis as { navigator?: Navigator | undefined }).navigator?.hardwareConcurrency ?? 1,
  );
};

let detected: Features | undefined;

/** Looks once and remembers. */
export const detectFeatures = (): Features => {
  if (detected !== undefined) return detected;
  const simd = hasSimd();
  if (simd && !hasRelaxedSimd()) enableRelaxedSimd();
  detected = { simd, relaxedSimd: simd && hasRelaxedSimd(), threads: hasThreads(), cores: countCores() };
  return detected;
};
