/** The documentation as a site: every link leads somewhere, nothing is asked of another site, and everybody can read it. */
import { spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, posix } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { describeInChromium, serve } from "../setup/chromium.js";
import { needsDist, ROOT } from "../setup/dist.js";
import { AXE, LOOKS, offences } from "../studio/wcag.js";

needsDist();

/** Where the site is put, which it is not told: it works from any path. */
const BASE = "/some/where/";
let folder = "";
let site = "";

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "fairbed-site-"));
  site = join(folder, BASE);
  const vitepress = join(ROOT, "node_modules", "vitepress", "bin", "vitepress.js");
  const words = [vitepress, "build", join(ROOT, "docs"), "--outDir", site];
  const { status, stdout, stderr } = spawnSync(process.execPath, words, { encoding: "utf8" });
  if (status !== 0) throw new Error(stdout + stderr);
}, 300_000);
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Where links of a page of the site that stay on the site lead and nothing is. */
const deadLinks = (pages: ReadonlyMap<string, string>, files: ReadonlySet<string>): string[] => {
  const ids = new Map(
    [...pages].map(([name, html]) => [
      name,
      new Set([...html.matchAll(/\sid="([^"]*)"/g)].map(([, id]) => id)),
    ]),
  );
  return [...pages].flatMap(([name, html]) =>
    [...html.matchAll(/<a\s[^>]*href="([^"]*)"/g)].flatMap(([, href]) => {
      if (/^[a-z]+:/.test(href)) return [];
      const [path, hash] = href.replaceAll("&amp;", "&").split("#");
      const there = path === "" ? name : path.startsWith("/") ? path : posix.join(posix.dirname(name), path);
      const file = there.endsWith("/") ? `${there}index.html` : there;
      if (files.has(file)) return [];
      const known = ids.get(file);
      if (known === undefined) return [`${name} links to ${href}`];
      return hash === undefined || known.has(decodeURIComponent(hash)) ? [] : [`${name} links to ${href}`];
    }),
  );
};

const DATA = ["people.csv", "labelled.csv", "pool.csv", "answers.csv"].map((name) => `${BASE}data/${name}`);

const builtPages = (): Map<string, string> =>
  new Map(
    readdirSync(site, { recursive: true, encoding: "utf8" })
      .filter((name) => name.endsWith(".html") && name !== "404.html")
      .map((name) => [BASE + name, readFileSync(join(site, name), "utf8")]),
  );

describe("the site", () => {
  test("has no link that leads nowhere, headings included", () => {
    const pages = builtPages();
    expect(pages.size).toBeGreaterThan(20);
    expect(deadLinks(pages, new Set(DATA))).toEqual([]);
    for (const file of DATA) expect(existsSync(join(folder, file))).toBe(true);
  });

  test("the reference says of every function and value what it is", () => {
    const rows = [...builtPages()]
      .filter(([name]) => name.includes("/reference/library/"))
      .flatMap(([, html]) => [...html.matchAll(/<tr><td><a href="[^"]*">(\w+)<\/a><\/td><td>(.*?)<\/td>/g)]);
    expect(rows.length).toBeGreaterThan(200);
    expect(rows.flatMap(([, name, sentence]) => (sentence === "" ? [name] : []))).toEqual([]);
  });

  test("a link that leads nowhere is found", () => {
    const pages = new Map([
      ["/a/one.html", '<h2 id="here">x</h2><a href="two.html#there">x</a><a href="#gone">x</a>'],
      ["/a/two.html", '<h2 id="there">x</h2><a class="b" href="/a/three.html">x</a>'],
    ]);
    expect(deadLinks(pages, new Set())).toEqual([
      "/a/one.html links to #gone",
      "/a/two.html links to /a/three.html",
    ]);
  });
});

const PAGES = [
  "index.html",
  "tutorials/audit.html",
  "concepts/what-moves-parity.html",
  "reference/commands/fairness.html",
  "benchmarks/gpu.html",
];

describeInChromium("the site in Chromium", (browser) => {
  for (const { name, ...look } of LOOKS) {
    test(`asks nobody else for anything and breaks no rule of WCAG 2.2 AA (${name})`, async () => {
      const server = await serve({ isolated: false, folder });
      const page = await browser().newPage({ ...look, bypassCSP: true });
      const asked: string[] = [];
      const wrong: string[] = [];
      page.on("request", (request) => asked.push(request.url()));
      page.on("pageerror", (error) => wrong.push(String(error)));
      page.on("response", (response) => {
        if (response.status() >= 400) wrong.push(`${response.status()} ${response.url()}`);
      });
      try {
        const found: Record<string, readonly string[]> = {};
        for (const path of PAGES) {
          await page.goto(server.url + BASE + path, { waitUntil: "networkidle" });
          await page.evaluate(AXE);
          const lines = await offences(page);
          if (lines.length > 0) found[path] = lines;
          const broken = await page.evaluate(() =>
            [...document.images]
              .filter(({ complete, naturalWidth }) => complete && naturalWidth === 0)
              .map(({ src }) => src),
          );
          if (broken.length > 0) found[path] = [...lines, ...broken];
          const width = await page.evaluate(() => document.documentElement.scrollWidth);
          if (width > look.viewport.width) found[path] = [...lines, `${width} pixels wide`];
        }
        expect(found).toEqual({});
        expect(wrong).toEqual([]);
        expect(asked.filter((url) => !url.startsWith(server.url) && !url.startsWith("data:"))).toEqual([]);
        expect(asked.length).toBeGreaterThan(5);
      } finally {
        await page.close();
        await server.close();
      }
    });
  }

  test("finds a page by a word", async () => {
    const server = await serve({ isolated: false, folder });
    const page = await browser().newPage();
    try {
      await page.goto(`${server.url}${BASE}index.html`);
      // Keys are heard once the page is more than its text.
      await page.waitForFunction(() => "__vue_app__" in (document.querySelector("#app") ?? {}));
      await page.keyboard.press("Control+k");
      await page.locator("#localsearch-input").fill("withdraw");
      const first = page.locator(".VPLocalSearchBox .result").first();
      await first.waitFor();
      expect(await first.getAttribute("href")).toContain(`${BASE}campaigns.html`);
      await first.click();
      await page.waitForURL(/campaigns\.html/);
    } finally {
      await page.close();
      await server.close();
    }
  });
});
