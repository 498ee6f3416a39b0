/** Keys made of what is said: the same for the same, and for nothing else. */
import { createHash } from "node:crypto";

/** The same text for the same values, whatever the order of the keys; keys without a value do not count. */
export const canonicalJson = (value: unknown): string => {
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(",")}]`;
  if (typeof value !== "object" || value === null) return JSON.stringify(value) ?? "null";
  const entries = Object.entries(value)
    .filter(([, each]) => each !== undefined)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, each]) => `${JSON.stringify(name)}:${canonicalJson(each)}`);
  return `{${entries.join(",")}}`;
};

export const contentKey = (value: unknown): string =>
  createHash("sha256").update(canonicalJson(value)).digest("hex");
