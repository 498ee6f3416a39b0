/** Commands of `server/`. */
import type { Command } from "../command.js";
import { labelStudio } from "./server/label-studio.js";
import { serve } from "./server/serve.js";
import { studio } from "./server/studio.js";
import { tokenCommands } from "./server/token.js";

export const commands: readonly Command[] = [studio, serve, ...tokenCommands, labelStudio];
