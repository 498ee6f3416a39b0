import fc from "fast-check";
import { describe, expect, test, vi } from "vitest";
import { detectFeatures } from "../../src/compute/features.js";
import { I32, ModuleWriter } from "../../src/compute/wasm/encoder.js";
import { Workspace, workspaceTexts } from "../../src/compute/workspace.js";
import { EnvironmentError, InputError } from "../../src/core/errors.js";
import { needsDist } from "../setup/dist.js";
import { runChild } from "./child.js";

const MIB = 2 ** 20;

type Step =
  | { readonly kind: "take"; readonly bytes: number }
  | { readonly kind: "give"; readonly which: number };
const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.integer({ min: 0, max: 3000 }).map((bytes) => ({ kind: "take" as const, bytes })),
  },
  {
    weight: 1,
    arbitrary: fc.integer({ min: 0, max: 400_000 }).map((bytes) => ({ kind: "take" as const, bytes })),
  },
  { weight: 3, arbitrary: fc.nat().map((which) => ({ kind: "give" as const, which })) },
);

describe("allocation", () => {
  test("never overlaps, is zeroed and aligned, and keeps what others hold", () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), fc.constantFrom(1, 2), (steps, threads) => {
        const workspace = new Workspace({ threads });
        const taken: { address: number; bytes: number; mark: number }[] = [];
        const bytesAt = (address: number, bytes: number) => new Uint8Array(workspace.buffer, address, bytes);
        steps.forEach((each, k) => {
          if (each.kind === "give") {
            const [block] = taken.splice(each.which % (taken.length || 1), 1);
            if (block !== undefined) workspace.release(block.address);
          } else {
            const { bytes } = each;
            const address = workspace.allocate(bytes);
            expect(address).toBeGreaterThan(0);
            expect(address % 64).toBe(0);
            // A vector may be read across the end.
            expect(address + bytes + 16).toBeLessThanOrEqual(workspace.bytes);
            for (const other of taken) {
              expect(
                address + bytes + 16 <= other.address || other.address + other.bytes + 16 <= address,
              ).toBe(true);
            }
            expect(bytesAt(address, bytes).every((byte) => byte === 0)).toBe(true);
            const mark = 1 + (k % 250);
            bytesAt(address, bytes).fill(mark);
            taken.push({ address, bytes, mark });
          }
        });
        for (const { address, bytes, mark } of taken) {
          expect(bytesAt(address, bytes).every((byte) => byte === mark)).toBe(true);
        }
        workspace.dispose();
      }),
      { numRuns: 60 },
    );
  });

  test("what is released is joined, so that the same amount fits again in one piece", () => {
    fc.assert(
      fc.property(
        fc.array(fc.integer({ min: 1, max: 5000 }), { minLength: 2, maxLength: 20 }),
        fc.nat(),
        (sizes, turn) => {
          const workspace = new Workspace({ threads: 1 });
          const addresses = sizes.map((bytes) => workspace.allocate(bytes));
          const total = workspace.bytes;
          // In some other order than they were taken.
          const order = addresses.map((address, i) => ({ address, key: (i * 7919 + turn) % 101 }));
          for (const { address } of order.sort((a, b) => a.key - b.key)) workspace.release(address);
          expect(workspace.allocate(total - 64 - 16)).toBe(64);
          expect(workspace.bytes).toBe(total);
          workspace.dispose();
        },
      ),
      { numRuns: 60 },
    );
  });

  test("grows by need, and by half as much again when requests are small", () => {
    const workspace = new Workspace({ threads: 1 });
    expect(workspace.bytes).toBe(65_536);
    workspace.allocate(10 * MIB);
    expect(workspace.bytes).toBeLessThan(10.2 * MIB);
    const before = workspace.bytes;
    for (let k = 0; k < 300; k++) workspace.allocate(1000);
    expect(workspace.bytes).toBeGreaterThanOrEqual(before * 1.49);
    expect(workspace.bytes).toBeLessThan(before * 1.6);
  });

  test("a release of what is not taken changes nothing", () => {
    const workspace = new Workspace({ threads: 1 });
    const first = workspace.allocate(100);
    workspace.release(0);
    workspace.release(first + 64);
    workspace.release(first);
    workspace.release(first);
    const [second, third] = [workspace.allocate(100), workspace.allocate(100)];
    expect(second).toBe(first);
    expect(third).not.toBe(second);
  });

  test("more than can be addressed is refused, and what was there is kept", () => {
    for (const threads of [1, 2]) {
      const workspace = new Workspace({ threads });
      const address = workspace.allocate(400);
      workspace.floats(address, 100).fill(3);
      const before = workspace.bytes;
      expect(() => workspace.allocate(5000 * MIB)).toThrow(EnvironmentError);
      expect(() => workspace.allocate(5000 * MIB)).toThrow(
        /^the arrays need 5001 MiB, and 4095 MiB of the 4 GiB a program can address are left: /,
      );
      // Each would fit, but not all of them.
      expect(() => workspace.allocateAll([2000 * MIB, 3000 * MIB])).toThrow(/the arrays need 5001 MiB/);
      expect(workspace.bytes).toBe(before);
      expect(workspace.floats(address, 100).every((value) => value === 3)).toBe(true);
      expect(workspace.allocate(100)).toBeGreaterThan(address);
      workspace.dispose();
    }
  });

  test("several at once: all of them, or an error and none", () => {
    const workspace = new Workspace({ threads: 1 });
    const taken = workspace.allocateAll([100, 0, 5000, 400_000]);
    expect(new Set(taken).size).toBe(4);
    for (const address of taken) workspace.release(address);
    const { bytes } = workspace;
    const grow = vi.spyOn(WebAssembly.Memory.prototype, "grow").mockImplementation(() => {
      throw new RangeError("no more");
    });
    expect(() => workspace.allocateAll([100, 5000, 800_000])).toThrow(workspaceTexts.refused(800_064));
    grow.mockRestore();
    // Nothing stayed taken.
    expect(workspace.allocate(bytes - 64 - 16)).toBe(64);
    workspace.dispose();
  });

  test("where half as much again is not to be had, what is needed suffices", () => {
    const workspace = new Workspace({ threads: 1 });
    workspace.allocate(10 * MIB);
    const { grow } = WebAssembly.Memory.prototype;
    const spy = vi.spyOn(WebAssembly.Memory.prototype, "grow").mockImplementation(function (
      this: WebAssembly.Memory,
      pages,
    ) {
      if (pages > 2) throw new RangeError("no more");
      return grow.call(this, pages);
    });
    const before = workspace.bytes;
    workspace.allocate(100_000);
    spy.mockRestore();
    expect(workspace.bytes).toBeLessThanOrEqual(before + 2 * 65_536);
    workspace.dispose();
  });

  test("floats and words are views of the same memory", () => {
    const workspace = new Workspace({ threads: 1 });
    const address = workspace.allocate(16);
    workspace.floats(address, 4).set([1, -2, 0, 0.5]);
    expect([...workspace.words(address, 4)]).toEqual([0x3f800000, 0xc0000000 | 0, 0, 0x3f000000]);
  });
});

describe("a workspace", () => {
  test("refuses a number of threads that is none", () => {
    for (const threads of [0, -1, 1.5, Number.NaN, Infinity, "2" as unknown as number]) {
      expect(() => new Workspace({ threads })).toThrow(workspaceTexts.threads(threads));
      expect(() => new Workspace({ threads })).toThrow(InputError);
    }
  });

  test("shares its memory where there is more than one thread", () => {
    const shared = new Workspace({ threads: 3 });
    expect(shared.threads).toBe(3);
    expect(shared.buffer).toBeInstanceOf(SharedArrayBuffer);
    shared.dispose();
    expect(new Workspace({ threads: 1 }).buffer).toBeInstanceOf(ArrayBuffer);
    expect(new Workspace().threads).toBe(detectFeatures().cores);
  });

  test("uses fused multiply-add unless told not to", () => {
    expect(new Workspace({ threads: 1 }).fma).toBe(detectFeatures().relaxedSimd);
    expect(new Workspace({ threads: 1, relaxed: false }).fma).toBe(false);
  });

  test("is of no use once disposed of", () => {
    const workspace = new Workspace({ threads: 1 });
    const address = workspace.allocate(100);
    workspace.dispose();
    expect(workspace.bytes).toBe(0);
    for (const use of [
      () => workspace.buffer,
      () => workspace.allocate(10),
      () => workspace.floats(address, 1),
      () => workspace.words(address, 1),
      () => workspace.load(new ModuleWriter(), []),
    ]) {
      expect(use).toThrow(workspaceTexts.disposed);
    }
    expect(() => workspace.release(address)).not.toThrow();
    expect(() => workspace.dispose()).not.toThrow();
  });

  test("says that a module is too large for the engine", () => {
    const module = new ModuleWriter();
    module.function("run", [I32, I32, I32], [], (writer) => {
      for (let k = 0; k < 60_000; k++) writer.local(I32);
    });
    const workspace = new Workspace({ threads: 1 });
    expect(() => workspace.load(module, ["run"])).toThrow(EnvironmentError);
    expect(() => workspace.load(module, ["run"])).toThrow(/too large for one WebAssembly function/);
    workspace.dispose();
  });

  test("runs kernels on one thread and on several", () => {
    for (const threads of [1, 2, 3]) {
      const workspace = new Workspace({ threads });
      const address = workspace.allocate(4 * 50);
      const module = new ModuleWriter();
      // words[task] = 7 * task
      module.function("fill", [I32, I32, I32], [], (writer) => {
        writer.get(0).get(2).i32(2).op("i32.shl").op("i32.add");
        writer.get(2).i32(7).op("i32.mul").memory("i32.store");
      });
      const kernels = workspace.load(module, ["fill"]);
      kernels.run("fill", address, 50);
      expect([...workspace.words(address, 50)]).toEqual(Array.from({ length: 50 }, (_, k) => 7 * k));
      kernels.run("fill", address, 0);
      workspace.dispose();
      expect(() => kernels.run("fill", address, 50)).toThrow(
        new InputError("disposed", workspaceTexts.disposed),
      );
    }
  });
});

describe("memory of a process", () => {
  needsDist();
  const RESIDENT = `
    const resident = () => { for (let k = 0; k < 3; k++) globalThis.gc(); return process.memoryUsage().rss / 2 ** 20; };
    const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));`;

  test.each([1, 2])(
    "300 programs of 4 MB, made and disposed of, leave it bounded (%d threads)",
    async (threads) => {
      const { stdout, stderr } = await runChild(
        `${RESIDENT}
      const sizes = [];
      for (let k = 0; k < 300; k++) {
        const program = compile(({ x }) => ops.exp(x), { inputs: { x: ["b"] }, threads: ${threads} });
        program.resize({ b: 500_000 });
        program.input("x").fill(k);
        program.run();
        program.dispose();
        if (k % 20 === 19) { await pause(1); sizes.push(resident()); }
      }
      await pause(50);
      console.log(JSON.stringify({ sizes, after: resident() }));`,
        { flags: ["--expose-gc"] },
      );
      expect(stderr).toBe("");
      const { sizes, after } = JSON.parse(stdout) as { sizes: number[]; after: number };
      // 1200 MB were allocated in all; a leak of one in ten shows.
      expect(Math.max(...sizes), sizes.map(Math.round).join()).toBeLessThan(sizes[0] + 120);
      expect(after).toBeLessThan(sizes[0] + 120);
    },
  );

  // Nobody collects by hand in real life, and V8 does not count shared memory: this holds once disposed memories are
  // used again for new workspaces. Make it a plain test then.
  test("the same without collecting garbage by hand (2 threads)", async () => {
    const { stdout } = await runChild(
      `const sizes = [];
      for (let k = 0; k < 100; k++) {
        const program = compile(({ x }) => ops.exp(x), { inputs: { x: ["b"] }, threads: 2 });
        program.resize({ b: 500_000 });
        program.input("x").fill(k);
        program.run();
        program.dispose();
        if (k % 20 === 19) {
          await new Promise((resolve) => setTimeout(resolve, 1));
          sizes.push(process.memoryUsage().rss / 2 ** 20);
        }
      }
      console.log(JSON.stringify(sizes));`,
    );
    const sizes = JSON.parse(stdout) as number[];
    expect(Math.max(...sizes), sizes.map(Math.round).join()).toBeLessThan(sizes[0] + 120);
  });

  test("10,000 steps leave it within 20 MB of step 100", async () => {
    const { stdout, stderr } = await runChild(
      `${RESIDENT}
      const program = compile(({ x, y }) => ops.sum("t", ops.logsumexp("b", ops.mul(x, ops.tanh(y)))),
        { inputs: { x: ["b", "t"], y: ["t"] }, gradients: ["x", "y"], threads: 2 });
      program.resize({ b: 300, t: 20 });
      let at100 = 0;
      for (let step = 1; step <= 10_000; step++) {
        program.input("x")[step % 6000] = step % 7;
        program.run();
        program.gradient("x")[0] + program.output()[0];
        if (step === 100) at100 = process.memoryUsage().rss;
      }
      console.log((process.memoryUsage().rss - at100) / 2 ** 20);`,
      { flags: ["--expose-gc"] },
    );
    expect(stderr).toBe("");
    expect(Number(stdout)).toBeLessThan(20);
  });
});
