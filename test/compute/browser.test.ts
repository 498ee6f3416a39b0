/** The engine in a page: the same numbers as in Node, bit for bit. */
import { readFileSync } from "node:fs";
import { Worker } from "node:worker_threads";
import { expect, test } from "vitest";
import { describeInChromium, serve } from "../setup/chromium.js";
import { needsDist, ROOT } from "../setup/dist.js";
import { scenario } from "./scenario.mjs";

needsDist();

const library = () => import(new URL("../../dist/design/index.js", import.meta.url).href);

const FEATURES = `(await import("/dist/compute/index.js")).detectFeatures()`;

describeInChromium("the engine in Chromium", (browser) => {
  const inPage = async (isolated: boolean, script: string) => {
    const server = await serve({
      isolated,
      folder: ROOT,
      handlers: {
        "/": () => "<!doctype html><title>engine</title>",
        "/scenario.mjs": () => readFileSync(new URL("scenario.mjs", import.meta.url), "utf8"),
      },
    });
    const page = await browser().newPage();
    try {
      await page.goto(`${server.url}/`);
      // A string, so that nothing on the way rewrites its imports.
      return await page.evaluate(`(async () => {
        const library = await import("/dist/design/index.js");
        const { scenario } = await import("/scenario.mjs");
        return ${script};
      })()`);
    } finally {
      await page.close();
      await server.close();
    }
  };

  test.each([true, false])("gives Node's numbers on two threads (relaxed SIMD: %s)", async (relaxed) => {
    const expected = scenario(await library(), { threads: 2, relaxed });
    expect(expected.gradient.every(Number.isFinite)).toBe(true);
    expect(await inPage(true, `scenario(library, { threads: 2, relaxed: ${relaxed} })`)).toEqual(expected);
  });

  test("uses threads where the page is isolated, and one thread otherwise", async () => {
    expect(await inPage(true, FEATURES)).toMatchObject({ simd: true, threads: true });
    expect(await inPage(false, FEATURES)).toMatchObject({ simd: true, threads: false });
    const expected = scenario(await library(), { threads: 1, relaxed: true });
    expect(await inPage(false, "scenario(library, { threads: 4, relaxed: true })")).toEqual(expected);
  });
});

test("a worker thread of Node gives the same numbers", async () => {
  const source = `
    const { parentPort, workerData } = require("node:worker_threads");
    Promise.all(workerData.map((url) => import(url))).then(([library, { scenario }]) =>
      parentPort.postMessage(scenario(library, { threads: 2, relaxed: false })));`;
  const urls = ["../../dist/design/index.js", "scenario.mjs"].map(
    (path) => new URL(path, import.meta.url).href,
  );
  const worker = new Worker(source, { eval: true, workerData: urls });
  const actual = await new Promise((resolve, reject) => {
    worker.once("message", resolve);
    worker.once("error", reject);
  });
  await worker.terminate();
  expect(actual).toEqual(scenario(await library(), { threads: 1, relaxed: false }));
});
