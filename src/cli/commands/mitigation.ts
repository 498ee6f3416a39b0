/** Commands of `mitigation/`. */
import type { Command } from "../command.js";
import { lfr } from "./mitigation/lfr.js";
import { roc } from "./mitigation/roc.js";

export const commands: readonly Command[] = [lfr, roc];
