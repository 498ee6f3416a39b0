import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { build } from "vite";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { describeInChromium, serve } from "../setup/chromium.js";
import { needsDist, ROOT } from "../setup/dist.js";

needsDist();

/** Opens a page and collects what goes wrong on it. */
const openPage = async (page: Page, url: string) => {
  const problems: string[] = [];
  page.on("pageerror", (error) => problems.push(String(error)));
  page.on("console", (message) => {
    if (message.type() === "error") problems.push(message.text());
  });
  await page.goto(url);
  return problems;
};

const EMPTY_PAGE = '<!doctype html><link rel="icon" href="data:,"><title>FairBED</title>';

describeInChromium("the built browser entry", (browser) => {
  test.each([true, false])("is imported without error (isolated: %s)", async (isolated) => {
    const server = await serve({ isolated, folder: ROOT, handlers: { "/": () => EMPTY_PAGE } });
    const page = await browser().newPage();
    const problems = await openPage(page, `${server.url}/`);
    // As text, because the test runner rewrites an import() that it sees.
    const seen = (await page.evaluate(`import("/dist/browser.js").then((fairbed) => ({
      names: Object.keys(fairbed),
      isolated: crossOriginIsolated,
    }))`)) as { names: string[]; isolated: boolean };
    const features = await page.evaluate(`import("/dist/compute/index.js").then((c) => c.detectFeatures())`);
    await page.close();
    await server.close();
    expect(problems).toEqual([]);
    expect(seen.names.sort()).toEqual(Object.keys(await import("../../src/browser.js")).sort());
    expect(seen.isolated).toBe(isolated);
    expect(features).toMatchObject({ simd: true, threads: isolated });
  });
});

describe("a bundler", () => {
  let site = "";
  const bundle = () =>
    readdirSync(join(site, "dist"), { recursive: true, encoding: "utf8" })
      .filter((path) => path.endsWith(".js"))
      .map((path) => readFileSync(join(site, "dist", path), "utf8"))
      .join("\n");

  beforeAll(async () => {
    site = mkdtempSync(join(tmpdir(), "fairbed-site-"));
    mkdirSync(join(site, "node_modules"));
    symlinkSync(ROOT, join(site, "node_modules", "fairbed"));
    writeFileSync(join(site, "index.html"), `${EMPTY_PAGE}<script type="module" src="/page.js"></script>`);
    writeFileSync(
      join(site, "page.js"),
      'import * as fairbed from "fairbed";\nglobalThis.fairbedNames = Object.keys(fairbed);\n',
    );
    await build({ root: site, configFile: false, logLevel: "silent" });
  });
  afterAll(() => rmSync(site, { recursive: true }));

  test("picks the browser entry by itself", () => {
    expect(bundle()).toContain("fairbedNames");
    expect(bundle()).not.toMatch(/(?:from|import|require)\s*\(?\s*["'`](?:node:|fs|path|os|worker_threads)/);
    expect(bundle()).not.toContain("__vite-browser-external");
  });

  describeInChromium("whose page", (browser) => {
    test("loads", async () => {
      const server = await serve({ isolated: true, folder: join(site, "dist") });
      const page = await browser().newPage();
      const problems = await openPage(page, `${server.url}/`);
      const names = await page.evaluate(() => (globalThis as { fairbedNames?: string[] }).fairbedNames);
      await page.close();
      await server.close();
      expect(problems).toEqual([]);
      expect(names?.sort()).toEqual(Object.keys(await import("../../src/browser.js")).sort());
    });
  });
});
