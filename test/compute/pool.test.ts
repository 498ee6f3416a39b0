import { describe, expect, test } from "vitest";
import { threadPool } from "../../src/compute/pool.js";
import { I32, ModuleWriter } from "../../src/compute/wasm/encoder.js";
import { type Kernels, Workspace } from "../../src/compute/workspace.js";
import { FairbedError } from "../../src/core/errors.js";
import { needsDist } from "../setup/dist.js";
import { runChild } from "./child.js";

/** A kernel that adds `factor` times its task's number to the word of the task, and marks the thread beside it. */
const load = (workspace: Workspace, factor: number): Kernels => {
  const module = new ModuleWriter();
  module.function("step", [I32, I32, I32], [], (writer) => {
    const at = writer.local(I32);
    writer.get(0).get(2).i32(3).op("i32.shl").op("i32.add").set(at);
    writer.get(at).get(at).memory("i32.load");
    writer.get(2).i32(factor).op("i32.mul").op("i32.add").memory("i32.store");
    writer.get(at).get(1).memory("i32.store", 4);
  });
  module.function("fail", [I32, I32, I32], [], (writer) => {
    // Only helpers fail: the caller's own error would come first.
    writer.get(1).when(() => writer.op("unreachable"));
  });
  return workspace.load(module, ["step", "fail"]);
};

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

describe("many short jobs in a row", () => {
  test("20,000 with three threads give the right results", async () => {
    // In turn for two programs, so that a helper that comes late for one would work for the other.
    const jobs = [3, 5].map((factor) => {
      const workspace = new Workspace({ threads: 3 });
      const expected = new Array<number>(16).fill(0);
      return {
        factor,
        workspace,
        expected,
        kernels: load(workspace, factor),
        address: workspace.allocate(128),
      };
    });
    const threads = new Set<number>();
    for (let k = 0; k < 20_000; k++) {
      const { factor, workspace, expected, kernels, address } = jobs[k % 2];
      const tasks = 2 + (k % 15);
      // Whether helpers that sleep are woken or not, every task is done once.
      kernels.run("step", address, tasks, k % 3 > 0);
      const words = workspace.words(address, 32);
      for (let task = 0; task < 16; task++) {
        if (task < tasks) expected[task] += factor * task;
        if (words[2 * task] !== expected[task])
          expect(words[2 * task], `job ${k}, task ${task}`).toBe(expected[task]);
        threads.add(words[2 * task + 1]);
      }
      // Helpers start meanwhile, and read their mail.
      if (k % 2000 === 0) await pause(5);
    }
    for (const thread of threads) expect([0, 1, 2]).toContain(thread);
    for (const { workspace } of jobs) workspace.dispose();
  });

  test("of several programs in turn, on shared helpers", () => {
    const workspaces = [2, 3, 4].map((threads) => new Workspace({ threads }));
    const jobs = workspaces.map((workspace, i) => ({
      workspace,
      factor: i + 1,
      kernels: load(workspace, i + 1),
      address: workspace.allocate(8 * 8),
    }));
    for (let round = 0; round < 1000; round++) {
      for (const { kernels, address } of jobs) kernels.run("step", address, 8);
    }
    for (const { workspace, factor, address } of jobs) {
      const words = workspace.words(address, 16);
      for (let task = 0; task < 8; task++) expect(words[2 * task]).toBe(1000 * factor * task);
      workspace.dispose();
    }
  });

  test("helpers do take part", async () => {
    const workspace = new Workspace({ threads: 2 });
    const module = new ModuleWriter();
    module.function("work", [I32, I32, I32], [], (writer) => {
      const i = writer.local(I32);
      const sum = writer.local(I32);
      writer.loop(
        i,
        () => writer.i32(0),
        () => writer.i32(2_000_000),
        1,
        () => writer.get(sum).get(i).op("i32.xor").set(sum),
      );
      writer.get(0).get(2).i32(3).op("i32.shl").op("i32.add").get(sum).memory("i32.store");
      writer.get(0).get(2).i32(3).op("i32.shl").op("i32.add").get(1).memory("i32.store", 4);
    });
    const kernels = workspace.load(module, ["work"]);
    const address = workspace.allocate(8 * 20);
    const threads = new Set<number>();
    for (let wait = 0; wait < 200 && threads.size < 2; wait++) {
      kernels.run("work", address, 20);
      const words = workspace.words(address, 40);
      for (let task = 0; task < 20; task++) threads.add(words[2 * task + 1]);
      await pause(5);
    }
    expect([...threads].sort()).toEqual([0, 1]);
    workspace.dispose();
  });
});

describe("programs come and go", () => {
  test("while workers sleep, and while others run", async () => {
    const lasting = new Workspace({ threads: 3 });
    const kernels = load(lasting, 1);
    const address = lasting.allocate(8 * 8);
    for (let round = 0; round < 100; round++) {
      const passing = new Workspace({ threads: 3 });
      const own = load(passing, 5);
      const place = passing.allocate(8 * 8);
      own.run("step", place, 8);
      kernels.run("step", address, 8);
      expect(passing.words(place, 16)[14]).toBe(35);
      // Sometimes the helpers have long gone to sleep when the program goes.
      if (round % 10 === 0) await pause(3);
      passing.dispose();
      kernels.run("step", address, 8);
    }
    expect(lasting.words(address, 16)[14]).toBe(200 * 7);
    lasting.dispose();
  });

  test("a program whose memory has grown runs in all of it", () => {
    const workspace = new Workspace({ threads: 3 });
    const kernels = load(workspace, 2);
    for (let round = 0; round < 10; round++) {
      const address = workspace.allocate(300_000);
      kernels.run("step", address + 299_000 - (299_000 % 8), 16);
      expect(workspace.words(address + 299_000 - (299_000 % 8), 32)[30]).toBe(30);
    }
    workspace.dispose();
  });

  test("a kernel that fails on a helper is an error, and the next job runs", async () => {
    const workspace = new Workspace({ threads: 3 });
    const kernels = load(workspace, 1);
    const address = workspace.allocate(8 * 64);
    let failure: unknown;
    for (let wait = 0; wait < 500 && failure === undefined; wait++) {
      try {
        kernels.run("fail", address, 2000);
      } catch (error) {
        failure = error;
      }
      if (wait % 10 === 0) await pause(2);
    }
    expect(failure).toBeInstanceOf(FairbedError);
    expect((failure as FairbedError).code).toBe("kernel");
    kernels.run("step", address, 8);
    expect(workspace.words(address, 16)[14]).toBe(7);
    workspace.dispose();
  });

  test("there is one pool", () => {
    expect(threadPool()).toBe(threadPool());
  });
});

describe("a process with sleeping workers", () => {
  needsDist();
  const make = `
    const program = compile(({ x }) => ops.exp(x), { inputs: { x: ["b"] }, threads: 4 });
    program.resize({ b: 100_000 });
    program.run();`;

  test.each([
    ["at once", ""],
    ["when they have started", "await new Promise((resolve) => setTimeout(resolve, 200)); program.run();"],
    ["with the program disposed of", "program.dispose();"],
  ])("ends by itself %s", async (_, then) => {
    const { code, signal, stdout, stderr } = await runChild(`${make} ${then} console.log("done");`, {
      seconds: 60,
    });
    expect({ code, signal, stdout, stderr }).toEqual({ code: 0, signal: null, stdout: "done\n", stderr: "" });
  });

  test("is not slow to end with process.exit", async () => {
    const { code, signal } = await runChild(`${make} process.exit(3);`, { seconds: 60 });
    expect({ code, signal }).toEqual({ code: 3, signal: null });
  });
});
