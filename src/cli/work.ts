/** The process that does the work of a command line, under the eyes of the one that the user started. */
import { main } from "./main.js";

process.exit(await main(process.argv.slice(2)));
