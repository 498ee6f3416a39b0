// The same step in a page of headless Chromium, timed inside the page, against Node. Wanted: a ratio of at least 2/3.
import { fileURLToPath } from "node:url";
import { findProgram, programs } from "../scripts/system-programs.mjs";
import { settings, stepInputs, stepOf } from "./location.mjs";
import { conditionalStep } from "./reference.mjs";

const step = stepOf({ adaptive: false, relaxed: true });

async function setup({ threads }) {
  const executable = findProgram(programs.chromium);
  if (executable === undefined)
    throw new Error("no Chromium: install the chromium package or set CHROME_PATH");
  const { launchChromium, serve } = await import("../scripts/chromium.mjs");
  const server = await serve({
    isolated: true,
    folder: fileURLToPath(new URL("..", import.meta.url)),
    handlers: { "/": () => "<!doctype html><title>bench</title>" },
  });
  const browser = await launchChromium(executable);
  const page = await browser.newPage();
  await page.goto(`${server.url}/`);
  // A string, so that nothing on the way rewrites its imports.
  await page.evaluate(`(async () => {
    const library = await import("/bench/library.mjs");
    const { settings, stepInputs, stepOf } = await import("/bench/location.mjs");
    const inputs = stepInputs({ adaptive: false });
    window.side = stepOf({ adaptive: false, relaxed: true })({ library, inputs, settings, threads: ${threads} });
    window.side.run();
  })()`);
  return {
    run: () => page.evaluate("window.side.run()"),
    time: (repeat) =>
      page.evaluate(`(() => {
        let best = Infinity;
        for (let i = 0; i < ${repeat}; i++) {
          const from = performance.now();
          window.side.run();
          best = Math.min(best, performance.now() - from);
        }
        return best;
      })()`),
    values: () =>
      page.evaluate(`(() => {
        const { objective, gradient } = window.side.values();
        return { objective, gradient: [...gradient] };
      })()`),
    async dispose() {
      await browser.close();
      await server.close();
    },
    note: `Chromium ${browser.version()}`,
  };
}

export default {
  peer: "node",
  threads: 2,
  settings,
  inputs: () => stepInputs({ adaptive: false }),
  reference: conditionalStep,
  setup,
  setupPeer: step,
};
