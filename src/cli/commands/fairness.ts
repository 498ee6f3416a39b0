/** Commands of `fairness/`. */
import type { Command } from "../command.js";
import { audit } from "./fairness/audit.js";

export const commands: readonly Command[] = [audit];
