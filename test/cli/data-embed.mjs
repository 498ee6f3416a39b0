/** The shipped `data embed` by itself. */
import { embed } from "../../dist/cli/commands/sources/embed.js";
import { runCommandLine } from "../../dist/cli/run.js";

process.exit(await runCommandLine({ commands: [embed], version: "test", argv: process.argv.slice(2) }));
