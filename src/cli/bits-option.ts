/** The unit in which information is shown: the same option on every command that shows any. */
import { flag } from "./options.js";

export const bitsOption = flag("--bits", "show information in bits instead of nats; --json is in nats");
