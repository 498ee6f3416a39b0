/** Commands of `data/`. */
import type { Command } from "../command.js";
import { describe } from "./data/describe.js";
import { embed } from "./data/embed.js";
import { get } from "./data/get.js";
import { list } from "./data/list.js";

export const commands: readonly Command[] = [describe, list, get, embed];
