/** The command line: the one list of commands, and the way in for `bin/fairbed`. */
import type { Command } from "./command.js";
import { runCommandLine } from "./run.js";
import { version } from "./version.js";

/** A folder that has commands; `words` are what their names begin with, so that only what is asked for is loaded. */
interface CommandFolder {
  readonly words: readonly string[];
  load(): Promise<{ readonly commands: readonly Command[] }>;
}

/** In the order of `fairbed --help`. */
const folders: readonly CommandFolder[] = [
  { words: ["audit"], load: () => import("./commands/fairness.js") },
  { words: ["demo", "plan", "acquire", "rank"], load: () => import("./commands/active.js") },
  { words: ["campaign"], load: () => import("./commands/campaign.js") },
  { words: ["fit", "predict"], load: () => import("./commands/models.js") },
  { words: ["mitigate"], load: () => import("./commands/mitigation.js") },
  { words: ["design"], load: () => import("./commands/design.js") },
  { words: ["data"], load: () => import("./commands/sources.js") },
  { words: ["studio", "serve", "token", "label-studio"], load: () => import("./commands/server.js") },
  { words: ["generalize", "reproduce", "worker", "queue"], load: () => import("./commands/reproduce.js") },
  { words: ["info"], load: () => import("./commands/compute.js") },
];

const loaded = async (some: readonly CommandFolder[]): Promise<readonly Command[]> =>
  (await Promise.all(some.map(({ load }) => load()))).flatMap(({ commands }) => commands);

export const allCommands = (): Promise<readonly Command[]> => loaded(folders);

/** Those that a command line may mean: all, where its first word is no command's. */
export const commandsFor = async ([first]: readonly string[]): Promise<readonly Command[]> => {
  if (first === "--version" || first === "-V") return [];
  const meant = folders.filter(({ words }) => words.includes(first));
  return loaded(meant.length === 0 ? folders : meant);
};

/** Resolves to the exit code. */
export const main = async (argv: readonly string[]): Promise<number> =>
  runCommandLine({ commands: await commandsFor(argv), version: version(), argv });
