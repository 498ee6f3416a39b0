// @ts-check
/**
 * How fast the page is on this machine: the time to the first useful picture on the built-in example, what is loaded
 * until then, the longest time that the page's own thread is held, and a move of a design.
 *
 *     npm run build && node bench/studio.mjs [--runs 5] [--json]
 */
import { readFileSync } from "node:fs";
import { cpus } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { gzipSync } from "node:zlib";
import { STUDIO_POLICY } from "../dist/server/studio-files.js";
import { launchChromium, serve } from "../scripts/chromium.mjs";
import { findProgram, programs } from "../scripts/system-programs.mjs";

const { values } = parseArgs({
  options: { runs: { type: "string", default: "5" }, json: { type: "boolean", default: false } },
});
const folder = join(dirname(dirname(fileURLToPath(import.meta.url))), "dist", "studio");

const executable = findProgram(programs.chromium);
if (executable === undefined) throw new Error("no Chromium: install the chromium package or set CHROME_PATH");
const server = await serve({ isolated: true, policy: STUDIO_POLICY, folder });
const browser = await launchChromium(executable);

/** Milliseconds that the page's thread was held at most, counted from 50 on by the browser. */
const watchLongTasks = () => {
  const tasks = /** @type {number[]} */ ([]);
  new PerformanceObserver((list) => {
    for (const { duration } of list.getEntries()) tasks.push(duration);
  }).observe({ type: "longtask", buffered: true });
  Object.assign(globalThis, { longTasks: tasks });
};

/** One visit: the example from the first click to a finished audit, then ten moves of a design. */
const visit = async () => {
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 } });
  const page = await context.newPage();
  await page.addInitScript(watchLongTasks);
  const loaded = new Set();
  page.on("response", (response) => {
    loaded.add(new URL(response.url()).pathname);
  });
  const start = performance.now();
  await page.goto(`${server.url}/`);
  await page.getByRole("button", { name: "Try the example" }).click();
  await page.locator(".chart-picture").first().waitFor();
  const picture = performance.now() - start;
  const bytes = [...loaded]
    .map((path) => readFileSync(join(folder, path === "/" ? "index.html" : path)))
    .reduce((sum, content) => sum + gzipSync(content, { level: 9 }).length, 0);
  await page.locator(".progress").waitFor({ state: "detached", timeout: 120_000 });
  const audited = performance.now() - start;
  const longest = await page.evaluate(() =>
    Math.max(0, .../** @type {{ longTasks: number[] }} */ (/** @type {unknown} */ (globalThis)).longTasks),
  );
  await context.close();
  return { picture, audited, bytes, longest };
};

try {
  /** @type {Awaited<ReturnType<typeof visit>>[]} */
  const visits = [];
  for (let run = 0; run < Number(values.runs); run++) visits.push(await visit());
  /** @param {"picture" | "audited" | "bytes" | "longest"} name */
  const sorted = (name) => visits.map((each) => each[name]).sort((a, b) => a - b);
  /** @param {"picture" | "audited" | "bytes" | "longest"} name */
  const middle = (name) => sorted(name)[Math.floor(visits.length / 2)];
  const found = {
    cores: cpus().length,
    runs: visits.length,
    firstPictureMs: Math.round(middle("picture")),
    auditedMs: Math.round(middle("audited")),
    compressedKb: Math.round(middle("bytes") / 1000),
    longestTaskMs: Math.round(sorted("longest").at(-1) ?? 0),
  };
  console.log(
    values.json
      ? JSON.stringify(found, null, 2)
      : [
          `${found.runs} visits in Chromium, ${found.cores} cores`,
          `first useful picture  ${found.firstPictureMs} ms (goal 10000)`,
          `whole audit           ${found.auditedMs} ms`,
          `loaded until then     ${found.compressedKb} kB compressed (goal 400)`,
          `longest task          ${found.longestTaskMs === 0 ? "below 50" : found.longestTaskMs} ms (goal 50)`,
        ].join("\n"),
  );
} finally {
  await browser.close();
  await server.close();
}
