/** The command line: the one list of commands, and the way in for `bin/fairbed`. */
import type { Command } from "./command.js";
import { commands as active } from "./commands/active.js";
import { commands as campaigns } from "./commands/campaign.js";
import { commands as compute } from "./commands/compute.js";
import { commands as design } from "./commands/design.js";
import { commands as fairness } from "./commands/fairness.js";
import { commands as mitigation } from "./commands/mitigation.js";
import { commands as models } from "./commands/models.js";
import { commands as experiments } from "./commands/reproduce.js";
import { commands as server } from "./commands/server.js";
import { commands as data } from "./commands/sources.js";
import { runCommandLine } from "./run.js";
import { version } from "./version.js";

/** In the order of `fairbed --help`: one entry for each folder that has commands. */
export const commands: readonly Command[] = [
  ...active,
  ...campaigns,
  ...server,
  ...models,
  ...fairness,
  ...design,
  ...experiments,
  ...mitigation,
  ...data,
  ...compute,
];

/** Resolves to the exit code. */
export const main = (argv: readonly string[]): Promise<number> =>
  runCommandLine({ commands, version: version(), argv });
