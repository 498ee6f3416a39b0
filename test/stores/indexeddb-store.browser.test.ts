/** The store of a page, in a browser: the contract of all stores, and several tabs. */
import { fileURLToPath } from "node:url";
import type { Page } from "playwright-core";
import { build } from "vite";
import { afterAll, beforeAll, expect, test } from "vitest";
import { describeInChromium, serve } from "../setup/chromium.js";
import { contract } from "./store-contract.js";
import type * as StorePage from "./store-page.js";

describeInChromium("campaigns in IndexedDB", (browser) => {
  let server: Awaited<ReturnType<typeof serve>>;
  let page: Page;

  beforeAll(async () => {
    const entry = fileURLToPath(new URL("./store-page.ts", import.meta.url));
    const built = await build({
      configFile: false,
      logLevel: "silent",
      build: { write: false, minify: false, lib: { entry, formats: ["es"], fileName: "page" } },
    });
    const [{ output }] = built as { output: { code: string }[] }[];
    server = await serve({
      isolated: false,
      handlers: {
        "/": () => '<!doctype html><link rel="icon" href="data:,"><title>store</title>',
        "/page.js": () => output[0].code,
      },
    });
    page = await browser().newPage();
    await page.goto(`${server.url}/`);
  });
  afterAll(async () => {
    await page?.close();
    await server?.close();
  });

  const call = <Name extends keyof typeof StorePage>(
    where: Page,
    name: Name,
    ...words: Parameters<(typeof StorePage)[Name]>
  ): ReturnType<(typeof StorePage)[Name]> =>
    // As text, because the test runner rewrites an import() that it sees.
    where.evaluate(
      `import("/page.js").then((page) => page.${name}(...${JSON.stringify(words)}))`,
    ) as ReturnType<(typeof StorePage)[Name]>;

  test.each(contract.map(({ name }) => name))("%s", async (name) => {
    expect(await call(page, "runCase", name)).toBe("");
  });

  test("two tabs that write at once lose nothing, and what they wrote outlives them", async () => {
    const context = await browser().newContext();
    const tabs = [await context.newPage(), await context.newPage()];
    for (const tab of tabs) await tab.goto(`${server.url}/`);
    await call(tabs[0], "create", "shared");
    await Promise.all(tabs.map((tab, index) => call(tab, "appendAll", "shared", String(index), 30)));
    for (const tab of tabs) await tab.close();
    const later = await context.newPage();
    await later.goto(`${server.url}/`);
    const ids = await call(later, "idsOf", "shared");
    const expected = [0, 1].flatMap((tab) => Array.from({ length: 30 }, (_, index) => `${tab}-${index}`));
    expect(ids.slice(1).sort()).toEqual(expected.sort());
    await context.close();
  });
});
