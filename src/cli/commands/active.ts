/** Commands of `active/`. */
import type { Command } from "../command.js";
import { acquireCommand } from "./active/acquire.js";
import { rank } from "./active/rank.js";

export const commands: readonly Command[] = [acquireCommand, rank];
