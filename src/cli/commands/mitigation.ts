/** Commands of `mitigation/`. */
import type { Command } from "../command.js";
import { lfr } from "./mitigation/lfr.js";
import { reweigh } from "./mitigation/reweigh.js";
import { roc } from "./mitigation/roc.js";
import { rule } from "./mitigation/rule.js";

export const commands: readonly Command[] = [lfr, roc, rule, reweigh];
