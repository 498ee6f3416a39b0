/** `--device`, the same on every command that can use a GPU. */
import { DEFAULT_DEVICE, DEVICES, lookBeforeOpening } from "../workflows/device.js";
import { choice } from "./options.js";

// A process more, and only where a GPU is about to be opened.
lookBeforeOpening(async () => (await import("./find-gpu.js")).requireGpu());

export const deviceOption = choice(
  "--device <name>",
  "where it is computed; auto is the GPU if there is one",
  DEVICES,
  DEFAULT_DEVICE,
);
