/** What a program can be compiled for. */
import { InputError } from "../core/errors.js";

const BACKENDS = ["wasm", "js"] as const;

/** "wasm" is float32 SIMD on all threads; "js" is float64 on one. */
export type Backend = (typeof BACKENDS)[number];

export const backendTexts = {
  unknown: (given: unknown) => `the backend was "${String(given)}": choose "wasm" or "js"`,
};

/** The backend of that name, or an error. */
export const requireBackend = (given: string): Backend => {
  const found = BACKENDS.find((backend) => backend === given);
  if (found === undefined) throw new InputError("backend", backendTexts.unknown(given));
  return found;
};
