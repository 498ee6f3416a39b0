/** The long run: damaged files in a process of their own, which is watched and started again where it dies. */
import { fork } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { faultOf, LIMITS } from "./check.js";
import { FUZZ_KINDS, type FuzzKind, filesOf } from "./kinds.js";
import { mutant } from "./mutate.js";

interface Progress {
  readonly index: number;
  readonly fault?: string | undefined;
}

const kindNamed = (name: string): FuzzKind => {
  const found = FUZZ_KINDS.find((kind) => kind.name === name);
  if (found === undefined) {
    throw new Error(`no kind "${name}": one of ${FUZZ_KINDS.map((kind) => kind.name).join(", ")}`);
  }
  return found;
};

/** In the process that may die: one file after the other, each announced before it is read. */
const readMutants = async (name: string, seed: number, from: number): Promise<never> => {
  const kind = kindNamed(name);
  const files = await filesOf(kind);
  const folder = await mkdtemp(join(tmpdir(), "fairbed-fuzz-"));
  process.on("disconnect", () => process.exit());
  for (const contents of from === 0 ? files : []) {
    const fault = await faultOf(join(folder, `whole${kind.ending}`), contents, true);
    if (fault !== undefined) throw new Error(`a whole ${name} file ${fault}`);
  }
  const tell = (progress: Progress) => process.send?.(progress);
  process.on("exit", () => rm(folder, { recursive: true, force: true }));
  for (let index = from; ; index++) {
    tell({ index });
    const fault = await faultOf(join(folder, `mutant${kind.ending}`), mutant(files, seed, index));
    if (fault !== undefined) tell({ index, fault });
  }
};

const watch = async (name: string, seed: number, from: number, until: number, keep: string) => {
  const kind = kindNamed(name);
  const files = await filesOf(kind);
  const faults: Progress[] = [];
  let next = from;
  const report = (progress: Progress) => {
    faults.push(progress);
    mkdirSync(keep, { recursive: true });
    const path = join(keep, `${name}-${seed}-${progress.index}${kind.ending}`);
    writeFileSync(path, mutant(files, seed, progress.index));
    console.log(`${path}: ${progress.fault}`);
  };
  while (Date.now() < until) {
    await new Promise<void>((resolve) => {
      const child = fork(process.argv[1], [
        "--child",
        "--kind",
        name,
        "--seed",
        `${seed}`,
        "--from",
        `${next}`,
      ]);
      let reading: number | undefined;
      let timer: NodeJS.Timeout | undefined;
      const end = setTimeout(() => child.kill("SIGKILL"), Math.max(0, until - Date.now()));
      let isOver = false;
      child.on("message", ({ index, fault }: Progress) => {
        if (fault !== undefined) return report({ index, fault });
        reading = index;
        next = index + 1;
        clearTimeout(timer);
        // Three times what the process itself complains about: it may be too busy to complain.
        timer = setTimeout(
          () => {
            isOver = true;
            report({ index, fault: "is still being read" });
            child.kill("SIGKILL");
          },
          3 * LIMITS.milliseconds(mutant(files, seed, index).length),
        );
      });
      child.on("exit", (code, signal) => {
        clearTimeout(timer);
        clearTimeout(end);
        if (!isOver && Date.now() < until) {
          report({ index: reading ?? from, fault: `ended the process with ${code ?? signal}` });
        }
        resolve();
      });
    });
  }
  console.log(`${name}: ${next - from} damaged files (seed ${seed}), ${faults.length} faults`);
  return faults.length;
};

const main = async (): Promise<void> => {
  const { values } = parseArgs({
    options: {
      kind: { type: "string", multiple: true },
      minutes: { type: "string", default: "10" },
      seed: { type: "string", default: "1" },
      from: { type: "string", default: "0" },
      keep: { type: "string", default: join(tmpdir(), "fairbed-fuzz-faults") },
      child: { type: "boolean", default: false },
    },
  });
  const [seed, from] = [Number(values.seed), Number(values.from)];
  const kinds = values.kind ?? FUZZ_KINDS.map(({ name }) => name);
  if (values.child) await readMutants(kinds[0], seed, from);
  const each = (60_000 * Number(values.minutes)) / kinds.length;
  let faults = 0;
  for (const kind of kinds) faults += await watch(kind, seed, from, Date.now() + each, values.keep);
  process.exitCode = faults === 0 ? 0 : 1;
};

// Here and not in run.mjs: what is imported later is not found once this file was loaded.
await main();
