/** Commands of `experiments/`. */
import type { Command } from "../command.js";
import { generalize } from "./reproduce/generalize.js";
import { queueStatusCommand } from "./reproduce/queue.js";
import { reproduce } from "./reproduce/reproduce.js";
import { worker } from "./reproduce/worker.js";

export const commands: readonly Command[] = [generalize, reproduce, worker, queueStatusCommand];
