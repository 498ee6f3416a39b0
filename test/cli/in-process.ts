/** Runs a command line of what ships in this process, for tests of many: what it gives, without what it printed. */
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import type { Command, CommandContext } from "../../src/cli/command.js";
import type { Gpu } from "../../src/compute/webgpu/device.js";
import { ROOT } from "../setup/dist.js";

const dist = <Module>(path: string): Promise<Module> =>
  import(/* @vite-ignore */ pathToFileURL(join(ROOT, "dist", path)).href) as Promise<Module>;

export const shippedCommands = async (): Promise<readonly Command[]> =>
  (await dist<typeof import("../../src/cli/main.js")>("cli/main.js")).allCommands();

export interface Ran {
  /** What the command returned; undefined where it failed. */
  readonly result?: unknown;
  /** How it words that for a person. */
  readonly printed?: string | undefined;
  /** The one sentence of a failure. */
  readonly failure?: string | undefined;
  readonly code?: string | undefined;
  /** What Ctrl-C would have said at the end. */
  readonly goOn?: string | undefined;
  /** Lines on stderr, progress not included. */
  readonly said: readonly string[];
  /** What was written by `context.writeFile`, by path. */
  readonly files: ReadonlyMap<string, string>;
}

export const runInProcess = async (argv: readonly string[]): Promise<Ran> => {
  const { buildProgram } = await dist<typeof import("../../src/cli/program.js")>("cli/program.js");
  const { describeFailure } = await dist<typeof import("../../src/cli/failure.js")>("cli/failure.js");
  const { writeFileAtomically } =
    await dist<typeof import("../../src/cli/atomic-write.js")>("cli/atomic-write.js");
  const { requireOutputs } = await dist<typeof import("../../src/cli/out-folder.js")>("cli/out-folder.js");
  const said: string[] = [];
  const files = new Map<string, string>();
  let result: unknown;
  let printed: string | undefined;
  let goOn: string | undefined;
  const { signal } = new AbortController();
  const context: CommandContext = {
    signal,
    checkpoint: async () => {},
    saysHowToGoOn: (how) => {
      goOn = how;
    },
    untilStopped: async () => {},
    progress: () => ({ update: () => {}, end: () => {} }),
    say: (line) => said.push(line),
    async writeFile(path, data) {
      const parts: string[] = [];
      if (typeof data === "string" || data instanceof Uint8Array)
        parts.push(Buffer.from(data as string).toString());
      else for await (const part of data) parts.push(Buffer.from(part as string).toString());
      files.set(path, parts.join(""));
      await writeFileAtomically(path, parts.join(""), { signal });
    },
  };
  const silent = { write: () => true };
  const program = buildProgram({
    commands: await shippedCommands(),
    version: "test",
    stdout: silent,
    stderr: silent,
    run: async ({ command, input }) => {
      await requireOutputs(command, input);
      result = await command.run({ ...input, context });
      printed = command.print?.(result, input.options);
    },
  });
  try {
    await program.parseAsync(argv, { from: "user" });
    return { result, printed, goOn, said, files };
  } catch (error) {
    const { message, code } = describeFailure(error);
    return { failure: message, code, said, files };
  }
};

/** Opens a GPU of a test's own with what ships. */
export const openInDist = async () =>
  (await dist<typeof import("../../src/compute/webgpu/device.js")>("compute/webgpu/device.js")).openGpuOf;

/** From now on the commands find this one. */
export const shareInDist = async (gpu: Gpu): Promise<void> =>
  (await dist<typeof import("../../src/workflows/device.js")>("workflows/device.js")).shareGpu(gpu);
