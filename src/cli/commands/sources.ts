/** Commands of `data/`. */
import type { Command } from "../command.js";
import { describe } from "./sources/describe.js";
import { embed } from "./sources/embed.js";
import { get } from "./sources/get.js";
import { list } from "./sources/list.js";

export const commands: readonly Command[] = [describe, list, get, embed];
