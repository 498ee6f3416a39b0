/** The probes as `bin/fairbed` runs commands: in a process that another one watches over. */
import { fileURLToPath } from "node:url";
import { supervise } from "../../dist/cli/supervise.js";

const probe = fileURLToPath(new URL("./probe.mjs", import.meta.url));
process.exit(await supervise(probe, process.argv.slice(2)));
