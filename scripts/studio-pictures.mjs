// @ts-check
/**
 * Pictures of the real page for the README: drives the built page in Chromium with the built-in example and writes
 * `docs/studio/*.png`.
 *
 *     npm run build && node scripts/studio-pictures.mjs [audit plan collect design]
 */
import { mkdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import sharp from "sharp";
import { launchChromium, serve } from "./chromium.mjs";
import { findProgram, programs } from "./system-programs.mjs";

/** @import { Page } from "playwright-core" */

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const out = join(root, "docs", "studio");
const VIEW = { width: 1200, height: 900 };
const PATIENCE = 600_000;

const { STUDIO_POLICY } = await import("../dist/server/studio-files.js");
const executable = findProgram(programs.chromium);
if (executable === undefined) throw new Error("no Chromium: install the chromium package or set CHROME_PATH");

/** @param {Page} page */
const openExample = async (page) => {
  await page.getByRole("button", { name: "Try the example" }).click();
  await page.getByText("example-hiring.csv").first().waitFor();
};
/** @param {Page} page */
const finished = (page) => page.locator("main .progress").waitFor({ state: "detached", timeout: PATIENCE });

/** What is done on each screen before its picture is taken. @type {Readonly<Record<string, (page: Page) => Promise<void>>>} */
const SCREENS = {
  async audit(page) {
    await openExample(page);
    await page.locator(".chart-picture").first().waitFor();
    await finished(page);
  },
  async plan(page) {
    await openExample(page);
    await page.waitForURL(/#\/audit/);
    await page.evaluate("location.hash = '#/plan?labels=200'");
    await page.getByRole("button", { name: "Find a recipe" }).click();
    await page.getByRole("button", { name: "Save the recipe" }).waitFor({ timeout: PATIENCE });
  },
  async collect(page) {
    await page.evaluate("location.hash = '#/collect'");
    await page.getByRole("button", { name: "Try the example" }).click();
    await page.getByRole("button", { name: "Begin", exact: true }).click();
    for (let answers = 0; answers < 16; answers++) {
      const heading = page.getByRole("region", { name: "Question" }).getByRole("heading");
      await heading.filter({ hasText: "?" }).waitFor();
      const before = await heading.textContent();
      await page.keyboard.press(answers % 3 === 0 ? "1" : "2");
      await page.waitForFunction(
        (text) => document.querySelector('[aria-label="Question"] :is(h1, h2)')?.textContent !== text,
        before,
      );
    }
    await page.locator('section[aria-busy="false"]').first().waitFor({ timeout: PATIENCE });
  },
  async design(page) {
    await page.evaluate("location.hash = '#/design?observations=6'");
    await page.getByRole("button", { name: "Optimise" }).click();
    await page.getByRole("button", { name: "Save policy.json" }).waitFor({ timeout: PATIENCE });
  },
};

const wanted = process.argv.slice(2);
const unknown = wanted.find((name) => !Object.hasOwn(SCREENS, name));
if (unknown !== undefined) {
  throw new Error(`there is no picture "${unknown}": they are ${Object.keys(SCREENS).join(", ")}`);
}
mkdirSync(out, { recursive: true });
const server = await serve({ isolated: true, policy: STUDIO_POLICY, folder: join(root, "dist", "studio") });
const browser = await launchChromium(executable);
try {
  for (const name of wanted.length > 0 ? wanted : Object.keys(SCREENS)) {
    const context = await browser.newContext({
      viewport: VIEW,
      deviceScaleFactor: 1.5,
      reducedMotion: "reduce",
    });
    const page = await context.newPage();
    await page.goto(`${server.url}/`);
    await SCREENS[name](page);
    // What is drawn at rest: tighter bounds, the last chart.
    await page.waitForTimeout(4000);
    await page.evaluate("scrollTo(0, 0)");
    const file = join(out, `${name}.png`);
    const { size } = await sharp(await page.screenshot())
      .png({ palette: true, colours: 64, effort: 10 })
      .toFile(file);
    console.log(`${file}: ${Math.round(size / 1000)} kB`);
    await context.close();
  }
} finally {
  await browser.close();
  await server.close();
}
