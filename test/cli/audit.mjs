/** The shipped `audit` by itself. */
import { commands } from "../../dist/cli/commands/fairness.js";
import { runCommandLine } from "../../dist/cli/run.js";

process.exit(await runCommandLine({ commands, version: "test", argv: process.argv.slice(2) }));
