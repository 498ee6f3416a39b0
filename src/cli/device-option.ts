/** `--device`, the same on every command that can use a GPU. */
import { DEFAULT_DEVICE, DEVICES } from "../workflows/device.js";
import { choice } from "./options.js";

export const deviceOption = choice(
  "--device <name>",
  "where it is computed; auto is the GPU if there is one",
  DEVICES,
  DEFAULT_DEVICE,
);
