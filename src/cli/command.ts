/**
 * How a command is described: plain data and functions, with no trace of the parser underneath.
 *
 * A command does not print. `run` returns its result and `print` words it, so `--json` is the same on every
 * command that has a result, and no command can forget it.
 */
import type { Progress } from "./progress.js";

/** One option; `parse` is absent for a switch, which is true when given. */
export interface OptionDescription<Value> {
  /** As in the help: `"--seed <number>"`. */
  readonly flags: string;
  readonly summary: string;
  /** `former` is what an earlier mention of the same option gave, or the fallback. */
  readonly parse: ((text: string, former?: unknown) => Value) | undefined;
  readonly fallback: Value;
  readonly choices: readonly string[] | undefined;
  /** The heading it stands under in the help of its command, after the common ones, which have none. */
  readonly group?: string | undefined;
  /** Whether it names something to write: it is then looked at before the command runs, see `out-folder.ts`. */
  readonly writes?: "file" | "folder" | undefined;
  /** Other files that are written with the one named. */
  readonly beside?: ((path: string) => readonly string[]) | undefined;
}

/** One positional argument; only the last ones may be left out. */
export interface ArgumentDescription {
  readonly summary: string;
  readonly optional?: boolean | undefined;
  /** The last argument may take all words that are left. */
  readonly variadic?: boolean | undefined;
}

export type Options = Readonly<Record<string, OptionDescription<unknown>>>;
export type Arguments = Readonly<Record<string, ArgumentDescription>>;

export type OptionValues<O extends Options> = {
  readonly [Name in keyof O]: O[Name] extends OptionDescription<infer Value> ? Value : never;
};
export type ArgumentValues<A extends Arguments> = {
  readonly [Name in keyof A]: A[Name] extends { readonly variadic: true }
    ? readonly string[]
    : A[Name] extends { readonly optional: true }
      ? string | undefined
      : string;
};

/** What the command line lends to a command while it runs. */
export interface CommandContext {
  /** Aborted by Ctrl-C and by a polite kill; the command then has most of a second to stop. */
  readonly signal: AbortSignal;
  /**
   * Gives way to Ctrl-C and throws once it was pressed. A long loop awaits this every hundred milliseconds or
   * so: signals are heard only when the loop lets go of the thread.
   */
  checkpoint(): Promise<void>;
  /** From now on something is kept where the command is interrupted: how to go on from it, as part of a sentence. */
  saysHowToGoOn(how: string): void;
  /** Waits for Ctrl-C, for a command that goes on until then: it is stopped by it, and not interrupted. */
  untilStopped(): Promise<void>;
  /** Starts a progress report on stderr; only for commands with `reportsProgress`. */
  progress(label: string, total: number): Progress;
  /** A line on stderr that cannot wait for the result; none with `--quiet` or `--json`. */
  say(line: string): void;
  /** Writes a whole file or nothing. */
  writeFile(path: string, data: FileContents): Promise<void>;
}

export type FileContents = string | Uint8Array | AsyncIterable<string | Uint8Array>;

export interface CommandInput<A extends Arguments, O extends Options> {
  readonly arguments: ArgumentValues<A>;
  readonly options: OptionValues<O>;
  /** Names of the options that stood on the command line: the others have their fallbacks. */
  readonly given: ReadonlySet<string>;
  readonly context: CommandContext;
}

export interface Example {
  /** Without the leading `fairbed`. */
  readonly line: string;
  readonly description: string;
}

export interface CommandDescription<A extends Arguments, O extends Options, Result> {
  readonly name: string;
  /** The heading it stands under in `fairbed --help`. */
  readonly group: string;
  /** One line, as in `fairbed --help`. */
  readonly summary: string;
  /** The first example also stands in `fairbed --help`. */
  readonly examples: readonly Example[];
  readonly arguments: A;
  readonly options: O;
  /** Adds `--quiet`. */
  readonly reportsProgress?: boolean | undefined;
  run(input: CommandInput<A, O>): Promise<Result>;
  /** Words the result for a person. Without it the command has no result, and no `--json`. */
  print?(result: Result, options: OptionValues<O>): string;
  /** Where `--json` prints something else than the result: what, and what goes to stderr because it has no room. */
  json?(result: Result): JsonOutput;
}

export interface JsonOutput {
  readonly value: unknown;
  readonly notes: readonly string[];
}

/** A command of any options and result. */
export type Command = CommandDescription<Arguments, Options, unknown>;

/** Infers the types of the options and of the result, so that `run` and `print` see them. */
export const defineCommand = <A extends Arguments, O extends Options, Result>(
  description: CommandDescription<A, O, Result>,
): Command => description;
