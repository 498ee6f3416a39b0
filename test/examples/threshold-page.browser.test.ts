/** The page in `examples/threshold-page`: bundled, with a new policy or damaged answers, on a phone, and without a server. */
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import type { Page } from "playwright-core";
import { build } from "vite";
import { afterAll, beforeAll, expect, test } from "vitest";
import { decodePolicy, encodePolicy } from "../../src/design/policy-file.js";
import { describeInChromium, serve } from "../setup/chromium.js";
import { needsDist, ROOT } from "../setup/dist.js";

needsDist();

const FOLDER = join(ROOT, "examples/threshold-page");
const POLICY = readFileSync(join(FOLDER, "policy.fairbed"));
const PHONE = { viewport: { width: 375, height: 667 }, hasTouch: true, isMobile: true } as const;
const pictures = process.env.FAIRBED_PICTURES;

describeInChromium("the page with a trained policy", (browser) => {
  let site = "";
  let server: Awaited<ReturnType<typeof serve>>;

  beforeAll(async () => {
    site = mkdtempSync(join(tmpdir(), "fairbed-threshold-"));
    cpSync(FOLDER, site, { recursive: true });
    mkdirSync(join(site, "node_modules"));
    symlinkSync(ROOT, join(site, "node_modules", "fairbed"));
    symlinkSync(join(ROOT, "node_modules", "@noble"), join(site, "node_modules", "@noble"));
    server = await serve({ isolated: false, folder: site });
  });
  afterAll(async () => {
    await server?.close();
    rmSync(site, { recursive: true, force: true });
  });

  const begin = (page: Page) => page.getByRole("button", { name: "Begin", exact: true }).click();
  /** The spot itself is there for half a second, which a look now and then may miss. */
  const isAsked = (page: Page) =>
    page.waitForFunction(() => document.querySelector<HTMLElement>("#missed")?.onclick !== null);
  /** Answers as many spots as there are from one to another. */
  const takePart = async (page: Page, from: number, to: number) => {
    for (let step = from; step < to; step++) {
      await page
        .locator("#progress")
        .getByText(`${step + 1} of `)
        .waitFor();
      await isAsked(page);
      await page.locator("#missed").click();
    }
  };

  test("runs when Vite has bundled it", async () => {
    await build({ root: site, configFile: false, logLevel: "silent" });
    const built = await serve({ isolated: false, folder: join(site, "dist") });
    const page = await browser().newPage();
    try {
      await page.goto(`${built.url}/`);
      await page.getByText("There are 10 of them").waitFor();
      await begin(page);
      await takePart(page, 0, 1);
      await page.getByText("2 of 10").waitFor();
    } finally {
      await page.close();
      await built.close();
    }
  });

  test("begins anew with a new policy, and lets a participant do so where the answers are damaged", async () => {
    const page = await browser().newPage();
    try {
      await page.goto(`${server.url}/`);
      await begin(page);
      await takePart(page, 0, 3);
      await page.getByText("4 of 10").waitFor();

      const { model } = decodePolicy(POLICY);
      const designs = [
        [0, 0],
        [1, 0],
      ];
      writeFileSync(
        join(site, "policy.fairbed"),
        encodePolicy({ kind: "static", horizon: 2, model, designs }),
      );
      await page.reload();
      await page.getByText("There are 2 of them").waitFor();
      await begin(page);
      await takePart(page, 0, 1);
      await page.getByText("2 of 2").waitFor();

      await page.evaluate(() => {
        for (const name of Object.keys(localStorage)) localStorage.setItem(name, "{");
      });
      await page.reload();
      await page.getByText("The experiment cannot go on").waitFor();
      expect(await page.locator("#start").isVisible()).toBe(false);
      await page.getByRole("button", { name: "Begin anew" }).click();
      await begin(page);
      await page.getByText("1 of 2").waitFor();
      // The answers to the first policy are damaged too, and nobody goes on with them.
      writeFileSync(join(site, "policy.fairbed"), POLICY);
      await page.reload();
      await page.getByText("The experiment cannot go on").waitFor();
      await page.getByRole("button", { name: "Begin anew" }).click();
      await page.getByText("There are 10 of them").waitFor();
    } finally {
      writeFileSync(join(site, "policy.fairbed"), POLICY);
      await page.close();
    }
  });

  test("says so where there is no policy", async () => {
    const page = await browser().newPage();
    try {
      await page.route("**/policy.fairbed", (route) => route.fulfill({ status: 404 }));
      await page.goto(`${server.url}/`);
      await page.getByText("policy.fairbed was not found (404)").waitFor();
      expect(await page.getByRole("button").count()).toBe(0);
    } finally {
      await page.close();
    }
  });

  test("on a phone, its buttons are large, equal and apart, and no keys are named", async () => {
    const context = await browser().newContext(PHONE);
    const page = await context.newPage();
    const areApart = async (names: readonly string[]) => {
      const boxes = await Promise.all(names.map((name) => page.getByRole("button", { name }).boundingBox()));
      const [left, right] = boxes.map((box) => box ?? { x: 0, y: 0, width: 0, height: 0 });
      expect(right.x - (left.x + left.width)).toBeGreaterThanOrEqual(12);
      expect(Math.abs(left.width - right.width)).toBeLessThan(1);
      expect(left.height).toBe(right.height);
      expect(left.height).toBeGreaterThanOrEqual(48);
      expect(right.x + right.width).toBeLessThanOrEqual(PHONE.viewport.width);
    };
    try {
      await page.goto(`${server.url}/`);
      await begin(page);
      await page.getByText("1 of 10").waitFor();
      await areApart(["I noticed a spot", "I noticed none"]);
      expect(await page.locator("kbd").first().isVisible()).toBe(false);
      await isAsked(page);
      if (pictures !== undefined) await page.screenshot({ path: join(pictures, "threshold-phone-spot.png") });
      await takePart(page, 0, 10);
      await page.locator("#result[data-threshold]").waitFor();
      await areApart(["Download the answers", "Begin anew"]);
      if (pictures !== undefined)
        await page.screenshot({ path: join(pictures, "threshold-phone-result.png") });
    } finally {
      await context.close();
    }
  });

  test("opened as a file, says that it needs a web server", async () => {
    const page = await browser().newPage();
    try {
      await page.goto(pathToFileURL(join(FOLDER, "index.html")).href);
      await page.getByText("This page needs a web server").waitFor();
      expect(await page.getByRole("button").count()).toBe(0);
    } finally {
      await page.close();
    }
  });
});
