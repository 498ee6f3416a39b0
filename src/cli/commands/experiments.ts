/** Commands of `experiments/`. */
import type { Command } from "../command.js";
import { generalize } from "./experiments/generalize.js";
import { reproduce } from "./experiments/reproduce.js";

export const commands: readonly Command[] = [generalize, reproduce];
