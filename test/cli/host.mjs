// @ts-check
/** Runs the command lines that it is sent, one after the other, as `bin/fairbed` would; see one-process.ts. */
import { main } from "../../dist/cli/main.js";

const streams = /** @type {const} */ (["stdout", "stderr"]);
const environment = { ...process.env };

/**
 * @typedef {{ words: string[], env: Record<string, string> }} Asked
 * @param {Asked} asked
 */
const run = async ({ words, env }) => {
  const said = { stdout: "", stderr: "" };
  const writers = streams.map((name) => process[name].write);
  process.env = { ...environment, ...env };
  for (const name of streams) {
    process[name].write = /** @type {typeof process.stdout.write} */ (
      (text, ...rest) => {
        said[name] += typeof text === "string" ? text : Buffer.from(text).toString();
        for (const each of rest) if (typeof each === "function") each(null);
        return true;
      }
    );
  }
  try {
    return { code: await main(words), ...said };
  } finally {
    for (const [i, name] of streams.entries()) process[name].write = writers[i] ?? process[name].write;
  }
};

let last = Promise.resolve();
process.on("message", (/** @type {Asked} */ asked) => {
  last = last.then(async () => {
    process.send?.(await run(asked));
  });
});
process.on("disconnect", () => process.exit());
