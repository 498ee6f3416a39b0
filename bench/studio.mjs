// @ts-check
/**
 * How fast the page is on this machine: the time to the first useful picture on the built-in example, what is loaded
 * until then, and the longest time that the page's own thread is held: by that visit, while a large file is read, while a
 * plan is made, and while its level is dragged.
 *
 *     npm run build && node bench/studio.mjs [--runs 5] [--rows 1000000] [--json]
 */
import { createWriteStream, mkdtempSync, readFileSync, rmSync, statSync } from "node:fs";
import { cpus, tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { gzipSync } from "node:zlib";
import { STUDIO_POLICY } from "../dist/server/studio-files.js";
import { toCsv } from "../dist/tables/csv.js";
import { examplePeople } from "../dist/tables/example-people.js";
import { launchChromium, serve } from "../scripts/chromium.mjs";
import { findProgram, programs } from "../scripts/system-programs.mjs";

const { values } = parseArgs({
  options: {
    runs: { type: "string", default: "5" },
    rows: { type: "string", default: "1000000" },
    json: { type: "boolean", default: false },
  },
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

/**
 * The longest since it was last asked for, by the clock.
 *
 * @param {import("playwright-core").Page} page
 */
const longTasksIn = (page) =>
  page.evaluate(() => {
    const { longTasks } = /** @type {{ longTasks: number[] }} */ (/** @type {unknown} */ (globalThis));
    return Math.max(0, ...longTasks.splice(0));
  });

/** @typedef {{ wall: number, cpu: number }} Held How long the page's thread was held at most, by the clock and by its own. */

/**
 * The longest task of the page's thread during something: by the clock, from 50 ms on, and the processor time of the
 * longest, which other programs on the machine do not lengthen.
 *
 * @param {import("playwright-core").Page} page
 * @param {() => Promise<void>} act
 * @returns {Promise<Held>}
 */
const heldWhile = async (page, act) => {
  await longTasksIn(page);
  await browser.startTracing(page, { categories: ["toplevel"] });
  await act();
  const { traceEvents } = JSON.parse((await browser.stopTracing()).toString());
  /** @type {readonly { name: string, pid: number, tid: number, tdur?: number, args: { name?: string } }[]} */
  const events = traceEvents;
  const threads = events
    .filter(({ name, args }) => name === "thread_name" && args.name === "CrRendererMain")
    .map((thread) => events.filter(({ pid, tid }) => pid === thread.pid && tid === thread.tid));
  // The browser keeps a process ready for the next page, which does little but begin.
  const [own = []] = threads.sort((a, b) => b.length - a.length);
  const cpu = own.reduce((most, { tdur = 0 }) => Math.max(most, tdur / 1000), 0);
  const wall = await longTasksIn(page);
  return { wall: Math.round(wall), cpu: Math.round(cpu) };
};

/** One visit: the example from the first click to a finished audit. */
const visit = async () => {
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 } });
  const page = await context.newPage();
  await page.addInitScript(watchLongTasks);
  const loaded = new Set();
  page.on("response", (response) => {
    // Threads are started from blobs of what was loaded already.
    const { protocol, pathname } = new URL(response.url());
    if (protocol !== "blob:") loaded.add(pathname);
  });
  const found = { picture: 0, audited: 0, bytes: 0 };
  const start = performance.now();
  await page.goto(`${server.url}/`);
  // From the first click on: before, the browser sets up a process of its own for the page.
  const longest = await heldWhile(page, async () => {
    await page.getByRole("button", { name: "Try the example" }).click();
    await page.locator(".chart-picture").first().waitFor();
    found.picture = performance.now() - start;
    found.bytes = [...loaded]
      .map((path) => readFileSync(join(folder, path === "/" ? "index.html" : path)))
      .reduce((sum, content) => sum + gzipSync(content, { level: 9 }).length, 0);
    await page.locator(".progress").waitFor({ state: "detached", timeout: 120_000 });
    found.audited = performance.now() - start;
  });
  await context.close();
  return { ...found, longest };
};

const REGIONS = ["north", "east", "south", "west"];

/** @param {number} rows */
const peopleRows = function* (rows) {
  yield "id,score,years,region,sex,hired\n";
  for (let i = 0; i < rows; i++) {
    const score = (i * 7919) % 1000;
    yield `person-${i},${score / 10},${(i * 31) % 60},${REGIONS[(i * 13) % 4]},${i % 2 ? "male" : "female"},${score > 480 ? "yes" : "no"}\n`;
  }
};

/**
 * Reads a large file, then opens it again after a reload.
 *
 * @param {string} file
 * @param {number} rows
 */
const openLarge = async (file, rows) => {
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 } });
  const page = await context.newPage();
  await page.addInitScript(watchLongTasks);
  await page.goto(`${server.url}/`);
  await page.getByRole("button", { name: "Try the example" }).waitFor();
  const shown = page.locator(".bar-table").getByText(`${rows.toLocaleString("en")} rows`);
  let opened = 0;
  const longest = await heldWhile(page, async () => {
    const start = performance.now();
    await page.locator('input[type="file"]').setInputFiles(file);
    await shown.waitFor({ timeout: 600_000 });
    opened = performance.now() - start;
    await page.getByRole("region", { name: "Groups" }).waitFor({ timeout: 600_000 });
  });
  const longestAgain = await heldWhile(page, async () => {
    await page.reload();
    await shown.waitFor({ timeout: 600_000 });
  });
  await context.close();
  return { opened, longest, longestAgain };
};

const PILOT_ROWS = 240;

/** A plan on a small table, and its level dragged across all that was simulated. */
const planAndDrag = async () => {
  const text = toCsv(examplePeople().table)
    .split("\n")
    .slice(0, PILOT_ROWS + 1)
    .join("\n");
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 } });
  const page = await context.newPage();
  await page.addInitScript(watchLongTasks);
  await page.goto(`${server.url}/`);
  await page
    .locator('input[type="file"]')
    .setInputFiles({ name: "pilot.csv", mimeType: "text/csv", buffer: Buffer.from(text) });
  await page.getByLabel("role of hired").waitFor();
  await page.getByRole("link", { name: "Plan", exact: true }).click();
  await page.getByRole("spinbutton", { name: "Labels" }).fill("12");
  await page.getByLabel("Models to try").selectOption("forest only");
  const planned = await heldWhile(page, async () => {
    await page.getByRole("button", { name: "Find a recipe" }).click();
    await page.getByRole("button", { name: "Save the recipe" }).waitFor({ timeout: 600_000 });
    await page.locator(".chart-picture").nth(3).waitFor();
  });
  const slider = page.getByLabel("Parity level");
  const box = await slider.boundingBox();
  if (box === null) throw new Error("the level is not shown");
  const y = box.y + box.height / 2;
  const dragged = await heldWhile(page, async () => {
    await page.mouse.move(box.x + box.width / 2, y);
    await page.mouse.down();
    for (let step = 0; step <= 100; step++)
      await page.mouse.move(box.x + (0.05 + 0.9 * Math.abs(1 - step / 50)) * box.width, y);
    await page.mouse.up();
    await page.waitForTimeout(500);
  });
  await context.close();
  return { planned, dragged };
};

/** @param {Held} held */
const taskWords = ({ wall, cpu }) =>
  `${cpu} ms of processor time, ${wall === 0 ? "below 50" : wall} ms by the clock (goal 50)`;

const scratch = mkdtempSync(join(tmpdir(), "fairbed-bench-"));
try {
  /** @type {Awaited<ReturnType<typeof visit>>[]} */
  const visits = [];
  for (let run = 0; run < Number(values.runs); run++) visits.push(await visit());
  /** @param {"picture" | "audited" | "bytes"} name */
  const sorted = (name) => visits.map((each) => each[name]).sort((a, b) => a - b);
  /** @param {"picture" | "audited" | "bytes"} name */
  const middle = (name) => sorted(name)[Math.floor(visits.length / 2)];
  const rows = Number(values.rows);
  const file = join(scratch, "people.csv");
  await pipeline(Readable.from(peopleRows(rows)), createWriteStream(file));
  const large = await openLarge(file, rows);
  const plan = await planAndDrag();
  const found = {
    cores: cpus().length,
    runs: visits.length,
    firstPictureMs: Math.round(middle("picture")),
    auditedMs: Math.round(middle("audited")),
    compressedKb: Math.round(middle("bytes") / 1000),
    longestTaskMs: {
      wall: Math.max(...visits.map(({ longest }) => longest.wall)),
      cpu: Math.max(...visits.map(({ longest }) => longest.cpu)),
    },
    large: {
      rows,
      megabytes: Math.round(statSync(file).size / 1e6),
      openedMs: Math.round(large.opened),
      longestTaskMs: large.longest,
      longestTaskOpenedAgainMs: large.longestAgain,
    },
    plan: { longestTaskMs: plan.planned, longestTaskDraggedMs: plan.dragged },
  };
  console.log(
    values.json
      ? JSON.stringify(found, null, 2)
      : [
          `${found.runs} visits in Chromium, ${found.cores} cores`,
          `first useful picture  ${found.firstPictureMs} ms (goal 10000)`,
          `whole audit           ${found.auditedMs} ms`,
          `loaded until then     ${found.compressedKb} kB compressed (goal 400)`,
          `longest task          ${taskWords(found.longestTaskMs)}`,
          `${rows.toLocaleString("en")} rows of CSV, ${found.large.megabytes} MB: there after ${found.large.openedMs} ms`,
          `  longest task        ${taskWords(found.large.longestTaskMs)}`,
          `  after a reload      ${taskWords(found.large.longestTaskOpenedAgainMs)}`,
          `a plan, longest task  ${taskWords(found.plan.longestTaskMs)}`,
          `  level dragged       ${taskWords(found.plan.longestTaskDraggedMs)}`,
        ].join("\n"),
  );
} finally {
  await browser.close();
  await server.close();
  rmSync(scratch, { recursive: true, force: true });
}
