/** From the bytes of a module to code. */
import { EnvironmentError } from "../../core/errors.js";

export const moduleTexts = {
  tooLarge: (reason: string) =>
    `the expression is too large for one WebAssembly function (${reason}): use the backend "js", or compile parts of it`,
  forbidden:
    "this page's content security policy forbids WebAssembly: add 'wasm-unsafe-eval' to its script-src; 'unsafe-eval' is not needed",
};

/** A module without anything: what refuses it refuses all. */
const EMPTY = Uint8Array.of(0, 0x61, 0x73, 0x6d, 1, 0, 0, 0);

const isForbidden = (): boolean => {
  try {
    new WebAssembly.Module(EMPTY);
    return false;
  } catch {
    return true;
  }
};

/** The encoder writes valid modules, so what an engine refuses is beyond its limits on locals or length, or forbidden. */
export const compileModule = (bytes: Uint8Array<ArrayBuffer>): WebAssembly.Module => {
  try {
    return new WebAssembly.Module(bytes);
  } catch (cause) {
    if (!(cause instanceof WebAssembly.CompileError)) throw cause;
    if (isForbidden()) throw new EnvironmentError("policy", moduleTexts.forbidden, { cause });
    throw new EnvironmentError("too-large", moduleTexts.tooLarge(cause.message), { cause });
  }
};
