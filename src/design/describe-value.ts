/** What was given, in words, for an error. */
import { Traced } from "../compute/index.js";
import type { Distribution } from "./distribution.js";

export const describeValue = (given: unknown): string => {
  if (given instanceof Traced) return "a traced value";
  if (given instanceof Promise) return "a promise";
  if (Array.isArray(given)) return "a list";
  if (typeof given === "function") return "a function";
  if (typeof given === "string") return JSON.stringify(given);
  if (typeof given !== "object" || given === null) return String(given);
  return isDistribution(given) ? "a distribution" : "an object";
};

/** Whether this is a distribution, as `normal(...)` and the others make them. */
export const isDistribution = (given: unknown): given is Distribution =>
  typeof given === "object" &&
  given !== null &&
  "logDensity" in given &&
  typeof given.logDensity === "function";
