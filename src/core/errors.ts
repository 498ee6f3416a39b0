/**
 * What can go wrong, by who must act.
 *
 * Every message is one sentence that says what was given, what was expected and what to do next. Messages are
 * built by exported text functions next to the code that throws them, so that tests match the text itself.
 *
 * @example
 * ```ts
 * import { FairbedError, tableOf } from "fairbed";
 *
 * try {
 *   tableOf([]);
 * } catch (error) {
 *   console.log(error instanceof FairbedError, typeof error.code); // true string
 * }
 * ```
 */
export class FairbedError extends Error {
  /** Stable, machine-readable name of the mistake, e.g. `"shape"`; never changes with the wording. */
  readonly code: string;

  constructor(code: string, message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = new.target.name;
    this.code = code;
  }
}

/**
 * The caller gave something that cannot work: the command line answers with exit code 2.
 *
 * @example
 * ```ts
 * import { InputError, seededStream } from "fairbed";
 *
 * try {
 *   seededStream(-1);
 * } catch (error) {
 *   console.log(error instanceof InputError); // true
 * }
 * ```
 */
export class InputError extends FairbedError {}

/** A user's function cannot be traced; `location` is the line to change, where the platform tells it. */
export class TraceError extends InputError {
  readonly location: string | undefined;

  constructor(code: string, message: string, location: string | undefined, options?: ErrorOptions) {
    super(code, location === undefined ? message : `${message} (at ${location})`, options);
    this.location = location;
  }
}

/**
 * The platform lacks something that was asked for: a WebAssembly feature, threads, a package, a file.
 *
 * @example
 * ```ts
 * import { EnvironmentError, FairbedError } from "fairbed";
 *
 * console.log(EnvironmentError.prototype instanceof FairbedError); // true
 * ```
 */
export class EnvironmentError extends FairbedError {}
