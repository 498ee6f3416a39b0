/** Which errors are the GPU's: nobody's mistake, and nothing that the processor would meet. */
import { EnvironmentError } from "../../core/errors.js";

/** Whether there is no GPU, it was lost, has no room or refused what it was given, or that is what caused the error. */
export const isGpuFailure = (error: unknown): error is Error =>
  error instanceof Error &&
  ((error instanceof EnvironmentError && error.code.startsWith("gpu-")) || isGpuFailure(error.cause));
