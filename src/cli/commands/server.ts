/** Commands of `server/`. */
import type { Command } from "../command.js";
import { labelStudio } from "./server/label-studio.js";
import { serve } from "./server/serve.js";
import { tokenCommands } from "./server/token.js";

export const commands: readonly Command[] = [serve, ...tokenCommands, labelStudio];
