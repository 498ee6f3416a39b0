/** Commands of `experiments/`. */
import type { Command } from "../command.js";
import { generalize } from "./experiments/generalize.js";
import { queueStatusCommand } from "./experiments/queue.js";
import { reproduce } from "./experiments/reproduce.js";
import { worker } from "./experiments/worker.js";

export const commands: readonly Command[] = [generalize, reproduce, worker, queueStatusCommand];
