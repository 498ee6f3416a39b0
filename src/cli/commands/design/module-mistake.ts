/** What is wrong with a module that could not be imported, and on which of its lines. */
import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { sourceOf } from "./model-hooks.js";

export interface ModuleMistake {
  readonly reason: string;
  readonly line: number | undefined;
}

/** `url` is the module's own: a line of another that it imports is not one of it. */
export const moduleMistake = (error: unknown, url: string): ModuleMistake => {
  if (!(error instanceof Error)) return { reason: String(error), line: undefined };
  const [reason] = error.message.split("\n");
  const untyped = /^Error transforming (.+?): (.+) \((\d+):\d+\)$/.exec(reason);
  if (untyped !== null) {
    const [, path, said, line] = untyped;
    return { reason: said, line: path === fileURLToPath(url) ? Number(line) : undefined };
  }
  const [, behind = ""] = (error.stack ?? "").split(`${url}:`);
  const [thrown] = /^\d+/.exec(behind) ?? [];
  const line = thrown ?? (error.name === "SyntaxError" ? syntaxLine(url) : undefined);
  return { reason, line: line === undefined ? undefined : Number(line) };
};

/** An import does not tell where the syntax is wrong; a check of the text does. */
const syntaxLine = (url: string): string | undefined => {
  const { stderr } = spawnSync(process.execPath, ["--check", "--input-type=module", "-"], {
    input: sourceOf(url),
    encoding: "utf8",
    timeout: 10_000,
  });
  return /^\[stdin\]:(\d+)$/m.exec(stderr)?.[1];
};
