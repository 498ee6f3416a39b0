/** Runs one command line from its words to its exit code. */
import { setImmediate } from "node:timers/promises";
import { EnvironmentError } from "../core/errors.js";
import { writeFileAtomically } from "./atomic-write.js";
import type { Command, CommandContext } from "./command.js";
import { ended } from "./ended.js";
import { describeFailure, EXIT_FAILED, type Failure, failureText, wantsJson } from "./failure.js";
import { type Interruption, watchForInterruption } from "./interruption.js";
import { requireOutputs } from "./out-folder.js";
import { type Output, watchOutput } from "./output.js";
import { buildProgram, Finished, type Invocation } from "./program.js";
import { CLEAR_LINE, type Progress, progressStyle, startProgress } from "./progress.js";
import { shownResult, shownText } from "./terminal-text.js";
import { toJson } from "./to-json.js";

export interface CommandLine {
  readonly commands: readonly Command[];
  readonly version: string;
  /** Without the interpreter and the program. */
  readonly argv: readonly string[];
}

/** Resolves to the exit code; everything it has to say is flushed by then. */
export const runCommandLine = async ({ commands, version, argv }: CommandLine): Promise<number> => {
  const output = watchOutput(() => process.exit(0));
  let isReported = false;
  const failed = (error: unknown): number => {
    // A command that was told to stop, and stops while that is being reported, has nothing to add.
    if (isReported) return interruption.exitCode() ?? EXIT_FAILED;
    isReported = true;
    return report(error, interruption, output, wantsJson(argv));
  };
  const stray = async (error?: Error) => process.exit(await deliver(failed(error), output));
  const interruption = watchForInterruption(() => stray());
  process.on("uncaughtException", stray);
  // Nothing is left that could ever settle what the command waits for: without this, silence and exit code 0.
  let dry = false;
  const runDry = () => {
    // Someone who knows more about it has a say first, and one more turn.
    if (dry) stray(new EnvironmentError("unfinished", failureText.unfinished));
    else void setImmediate();
    dry = true;
  };
  process.on("beforeExit", runDry);
  const program = buildProgram({
    commands,
    version,
    stdout: output.stdout,
    stderr: output.stderr,
    run: (invocation) => perform(invocation, interruption, output),
  });
  const run = async (): Promise<number> => {
    try {
      await program.parseAsync(argv, { from: "user" });
      return 0;
    } catch (error) {
      return error instanceof Finished ? error.exitCode : failed(error);
    }
  };
  try {
    return await deliver(await run(), output);
  } finally {
    output.stop();
    interruption.stop();
    process.off("uncaughtException", stray);
    process.off("beforeExit", runDry);
  }
};

/** The exit code once all is printed: what did not arrive (a full disk) is a failure too. */
const deliver = async (exitCode: number, output: Output): Promise<number> => {
  const lost = await output.flush();
  if (lost === undefined) return exitCode;
  output.stderr.write(`fairbed: ${failureText.unwritten(lost.message)}\n`);
  await output.flush();
  return exitCode === 0 ? EXIT_FAILED : exitCode;
};

const perform = async (
  { command, input, json, quiet }: Invocation,
  interruption: Interruption,
  output: Output,
) => {
  const { signal } = interruption;
  const style = progressStyle(process.stderr, quiet || json);
  const outputs = await requireOutputs(command, input);
  let progress: Progress | undefined;
  const context: CommandContext = {
    signal,
    async checkpoint() {
      await setImmediate();
      signal.throwIfAborted();
    },
    progress(label, total) {
      if (!command.reportsProgress) throw new Error(`${command.name} does not say that it reports progress`);
      progress?.end();
      progress = startProgress({ stream: process.stderr, style, label, total });
      return progress;
    },
    saysHowToGoOn(how) {
      interruption.goOn = how;
    },
    untilStopped() {
      interruption.isAwaited = true;
      return ended(signal);
    },
    say(line) {
      if (style === "silent") return;
      // A bar is in the way; it is drawn again below.
      if (style === "bar") process.stderr.write(CLEAR_LINE);
      output.stderr.write(`${shownText(line)}\n`);
    },
    async writeFile(path, data) {
      await outputs.requireNotRead(path);
      await writeFileAtomically(path, data, { signal });
    },
  };
  const result = await command.run({ ...input, context }).finally(() => progress?.end());
  signal.throwIfAborted();
  if (command.print === undefined) return;
  if (!json) {
    output.stdout.write(`${command.print(shownResult(result), input.options).trimEnd()}\n`);
    return;
  }
  const { value, notes } = command.json?.(result) ?? { value: result, notes: [] };
  if (!quiet) for (const note of notes) output.stderr.write(`${shownText(note)}\n`);
  output.stdout.write(`${toJson(value)}\n`);
};

const interruptedText = ({ goOn, isAwaited }: Interruption): string => {
  if (isAwaited) return failureText.stopped;
  return goOn === undefined ? failureText.interrupted : failureText.interruptedWithState(goOn);
};

/**
 * One sentence on stderr; with `--json` also `{ "error": { "code", "message" } }` on stdout, so that stdout is
 * always exactly one JSON document.
 */
const report = (
  error: unknown,
  interruption: Interruption,
  { stdout, stderr }: Output,
  json: boolean,
): number => {
  const interrupted = interruption.exitCode();
  const { code, message, exitCode }: Failure =
    interrupted === undefined
      ? describeFailure(error)
      : { code: "interrupted", message: interruptedText(interruption), exitCode: interrupted };
  stderr.write(`fairbed: ${message}\n`);
  if (process.env.FAIRBED_DEBUG === "1" && error instanceof Error) stderr.write(`${error.stack}\n`);
  if (json) stdout.write(`${toJson({ error: { code, message } })}\n`);
  return exitCode;
};
