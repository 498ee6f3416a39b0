/** Commands of `design/`. */
import type { Command } from "../command.js";
import { demo } from "./design/demo.js";
import { evaluate } from "./design/evaluate.js";
import { next } from "./design/next.js";
import { optimize } from "./design/optimize.js";
import { sweep } from "./design/sweep.js";

export const commands: readonly Command[] = [demo, optimize, evaluate, next, sweep];
