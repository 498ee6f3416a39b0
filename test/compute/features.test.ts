import { availableParallelism } from "node:os";
import { describe, expect, test, vi } from "vitest";
import { builtin, detectFeatures } from "../../src/compute/features.js";

const fresh = async () => {
  vi.resetModules();
  return (await import("../../src/compute/features.js")).detectFeatures();
};

describe("features", () => {
  test("of Node 20.19 and newer", () => {
    expect(detectFeatures()).toEqual({
      simd: true,
      relaxedSimd: true,
      threads: true,
      cores: availableParallelism(),
    });
  });

  test("are looked for once", () => {
    expect(detectFeatures()).toBe(detectFeatures());
  });

  test("without WebAssembly there is none", async () => {
    vi.stubGlobal("WebAssembly", undefined);
    expect(await fresh()).toMatchObject({ simd: false, relaxedSimd: false, threads: false });
    vi.unstubAllGlobals();
  });

  test("threads need shared memory", async () => {
    vi.stubGlobal("SharedArrayBuffer", undefined);
    expect(await fresh()).toMatchObject({ simd: true, threads: false });
    vi.unstubAllGlobals();
  });

  test("relaxed SIMD is what `WebAssembly.validate` says", async () => {
    const { validate } = WebAssembly;
    vi.stubGlobal("WebAssembly", {
      ...WebAssembly,
      // f32x4.relaxed_madd is 0xfd 0x85 0x02.
      validate: (bytes: Uint8Array<ArrayBuffer>) => !bytes.join().includes("253,133,2") && validate(bytes),
    });
    expect(await fresh()).toMatchObject({ simd: true, relaxedSimd: false, threads: true });
    vi.unstubAllGlobals();
  });

  test("outside Node: a page that is not isolated has no threads", async () => {
    const without = vi.spyOn(process, "getBuiltinModule").mockReturnValue(undefined as never);
    vi.stubGlobal("crossOriginIsolated", false);
    vi.stubGlobal("navigator", { hardwareConcurrency: 7 });
    expect(builtin("node:os")).toBeUndefined();
    expect(await fresh()).toMatchObject({ simd: true, threads: false, cores: 7 });
    vi.stubGlobal("crossOriginIsolated", true);
    expect(await fresh()).toMatchObject({ simd: true, threads: true, cores: 7 });
    vi.stubGlobal("navigator", undefined);
    expect(await fresh()).toMatchObject({ cores: 1 });
    without.mockRestore();
    vi.unstubAllGlobals();
  });
});
