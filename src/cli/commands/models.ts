/** What is done with collected labels: a model, and what it says of other rows. */
import type { Command } from "../command.js";
import { fit } from "./models/fit.js";
import { predict } from "./models/predict.js";

export const commands: readonly Command[] = [fit, predict];
