/** Commands of `active/`. */
import type { Command } from "../command.js";
import { acquireCommand } from "./active/acquire.js";
import { demo } from "./active/demo.js";
import { planCommand } from "./active/plan.js";
import { rank } from "./active/rank.js";

export const commands: readonly Command[] = [demo, planCommand, acquireCommand, rank];
