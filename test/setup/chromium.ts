/** Browser tests: a headless Chromium and pages to show it, or the reason why there is none. */
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, describe } from "vitest";
import { launchChromium } from "../../scripts/chromium.mjs";
import { findProgram, programs } from "../../scripts/system-programs.mjs";

export { launchChromium, serve } from "../../scripts/chromium.mjs";

export type ChromiumSearch = { readonly executable: string } | { readonly skip: string };

export const findChromium = (): ChromiumSearch => {
  const executable = findProgram(programs.chromium);
  if (executable !== undefined) return { executable };
  return { skip: "no Chromium: install the chromium package or set CHROME_PATH" };
};

/** A machine that does much else at the same time takes long over a page; a test says so itself where it needs more. */
const LIMIT_MS = 4 * 60_000;

/**
 * A suite with one browser for all its tests, skipped by name where there is no Chromium.
 *
 *     describeInChromium("kernels", (browser) => {
 *       test("…", async () => { const page = await browser().newPage(); … });
 *     });
 */
export const describeInChromium = (name: string, suite: (browser: () => Browser) => void): void => {
  const search = findChromium();
  if ("skip" in search) {
    describe.skip(`${name} (skipped: ${search.skip})`, () => suite(unavailable));
    return;
  }
  describe(name, { timeout: LIMIT_MS }, () => {
    let browser: Browser | undefined;
    beforeAll(async () => {
      browser = await launchChromium(search.executable);
    });
    afterAll(() => browser?.close());
    suite(() => browser ?? unavailable());
  });
};

const unavailable = (): never => {
  throw new Error("the browser is there only while a test runs");
};
