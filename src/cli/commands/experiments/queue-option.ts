/** `--queue`, the same in every command that has it. */
import { text } from "../../options.js";

export const queueOption = text(
  "--queue <address>",
  "postgres://… of a queue; FAIRBED_QUEUE unless given, which does not show a password to others",
);
