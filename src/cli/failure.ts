/** What a failure is called, what is said about it, and the exit code it ends with. */
import type { CommanderError } from "commander";
import { EnvironmentError, FairbedError, InputError } from "../core/errors.js";
import { withInstallPlace } from "./install-place.js";

export const EXIT_FAILED = 1;
export const EXIT_WRONG_USE = 2;

export interface Failure {
  readonly code: string;
  /** One sentence. */
  readonly message: string;
  readonly exitCode: number;
}

export const failureText = {
  interrupted: "interrupted; nothing was left half-written.",
  interruptedWithState: (goOn: string) => `interrupted; nothing was left half-written, and ${goOn}.`,
  /** Of a command that goes on until it is told to stop. */
  stopped: "stopped.",
  unfinished:
    "the command waits for something that never comes, such as an unsettled promise of a model file: nothing was done.",
  tooLarge:
    "this asks for more memory than there can be: give fewer samples, members, seeds or steps, or a smaller table.",
  unwritten: (reason: string) =>
    `the output could not be written (${reason}); make room for it or send it elsewhere.`,
  unexpected: (error: string) => `something unexpected happened: ${error} (FAIRBED_DEBUG=1 shows where).`,
  suggestion: (complaint: string, nearest: string) => `${complaint}; did you mean ${nearest}?`,
  unknownCommand: (given: string) => `unknown command '${given}'`,
  noCommand: "no command is given: name one of those above.",
  noValue: (option: string) => `${option} needs a value`,
  pointToHelp: (complaint: string, command: string) => `${complaint}; see ${command} --help.`,
};

/** What the engine says where so much memory is asked for that it does not even try. */
const TOO_LARGE =
  /allocation failed|out of memory|Invalid (typed )?array length|Invalid string length|could not allocate|Maximum memory size/i;

export const describeFailure = (error: unknown): Failure => {
  // A training that ends because it lost its GPU is nobody's mistake, though its error is one of training.
  const isOfPlatform = error instanceof Error && error.cause instanceof EnvironmentError;
  if (error instanceof InputError && !isOfPlatform) {
    return failure(error.code, error.message, EXIT_WRONG_USE);
  }
  if (error instanceof FairbedError) {
    return failure(error.code, withInstallPlace(error.message), EXIT_FAILED);
  }
  if (error instanceof RangeError && TOO_LARGE.test(error.message)) {
    return failure("too-large", failureText.tooLarge, EXIT_FAILED);
  }
  return failure("unexpected", failureText.unexpected(String(error)), EXIT_FAILED);
};

const failure = (code: string, message: string, exitCode: number): Failure => ({
  code,
  message: message.replace(/\s+/g, " "),
  exitCode,
});

/** The parser's complaint, in one sentence that ends with the nearest thing or with where to look. */
export const usageError = (error: CommanderError, command: string): InputError => {
  const code = error.code
    .replace(/^commander\./, "")
    .replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
  const [first = "", hint = ""] = error.message.split("\n");
  const complaint = first
    .replace(/^error: /, "")
    .replace(/\.$/, "")
    .replace(/\. [A-Z]/, (next) => `: ${next.slice(2).toLowerCase()}`);
  const nearest = /^\(Did you mean (.+)\?\)$/.exec(hint)?.[1];
  return wrongUse(code, complaint, nearest, command);
};

/** Of a complaint: one sentence that ends with the nearest thing that is known, or with where to look. */
export const wrongUse = (
  code: string,
  complaint: string,
  nearest: string | undefined,
  command: string,
): InputError =>
  new InputError(
    code,
    nearest === undefined
      ? failureText.pointToHelp(complaint, command)
      : failureText.suggestion(complaint, nearest),
  );

/** Asked of the words themselves, because a mistake may have stopped the parser before it saw `--json`. */
export const wantsJson = (argv: readonly string[]): boolean => {
  const end = argv.indexOf("--");
  return (end < 0 ? argv : argv.slice(0, end)).includes("--json");
};
