/** `node test/fuzz/run.mjs --minutes 10 --kind csv`: see README.md beside it. */
import { fileURLToPath } from "node:url";
import { runnerImport } from "vite";

await runnerImport(fileURLToPath(new URL("main.ts", import.meta.url)), {
  configFile: false,
  logLevel: "error",
});
