/**
 * Importing a module of the user's: a program, which may print, and may wait for something that never comes.
 */
import { Console } from "node:console";
import { EnvironmentError } from "../../../core/errors.js";

/** So long a model may take to load; reading a table or training a small network is over by then. */
const LIMIT_SECONDS = 120;

export const settledImportTexts = {
  unsettled: (path: string) =>
    `the model in ${path} never finishes loading: something that it awaits is never settled; see which await at its top level that is`,
  late: (path: string, seconds: number) =>
    `the model in ${path} was still loading after ${seconds} seconds: let what takes long happen before, and read its result from a file`,
};

let printsElsewhere = false;

/** What the user's modules print goes to stderr: stdout is for the result, and with `--json` for nothing else. */
const sendPrintsToStderr = (): void => {
  if (printsElsewhere) return;
  printsElsewhere = true;
  globalThis.console = new Console(process.stderr, process.stderr);
  process.stdout.write = process.stderr.write.bind(process.stderr);
};

/** The module, or one sentence where it is not there in time; `name` is the file as the user calls it. */
export const settledImport = async (
  url: string,
  name: string,
  seconds = LIMIT_SECONDS,
): Promise<Readonly<Record<string, unknown>>> => {
  sendPrintsToStderr();
  let stop = () => {};
  const never = new Promise<never>((_, reject) => {
    // The platform has nothing left to do, and the import is not done.
    const onDry = () => reject(new EnvironmentError("model-file", settledImportTexts.unsettled(name)));
    const onLate = () => reject(new EnvironmentError("model-file", settledImportTexts.late(name, seconds)));
    // Before whoever else would end the process then.
    process.prependOnceListener("beforeExit", onDry);
    const timer = setTimeout(onLate, 1000 * seconds);
    timer.unref();
    stop = () => {
      process.off("beforeExit", onDry);
      clearTimeout(timer);
    };
  });
  try {
    return await Promise.race([import(url), never]);
  } finally {
    stop();
  }
};
