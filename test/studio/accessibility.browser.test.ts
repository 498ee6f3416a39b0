/** Every screen with the built-in example, by the rules of WCAG 2.2 AA: wide and narrow, light and dark. */
import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import { describeInChromium } from "../setup/chromium.js";
import { needsDist } from "../setup/dist.js";
import { openExample, openStudio } from "./studio-page.js";
import { AXE, LOOKS, offences } from "./wcag.js";

needsDist();

const MINUTE = 60_000;

/** Each screen and what is there when it has something to show. */
const SCREENS = [
  { hash: "#/start", shows: 'main :text("What the columns are")' },
  { hash: "#/audit", shows: "main .chart-picture" },
  { hash: "#/plan", shows: 'main button:text("Find a recipe")' },
  { hash: "#/collect", shows: 'main button:text("Begin")' },
  { hash: "#/design", shows: "main .bars" },
  { hash: "#/export", shows: 'main button:text("Fit the model")' },
] as const;

/** The example goes on to what it gives away by itself. */
const openExampleAndGo = async (page: Page): Promise<void> => {
  await openExample(page);
  await page.waitForURL(/#\/audit/);
};

/** A screen that the page goes to by itself, without being loaded anew. */
const goTo = async (page: Page, { hash, shows }: (typeof SCREENS)[number]): Promise<void> => {
  await page.evaluate((to) => {
    location.hash = to;
  }, hash);
  await page.locator(shows).first().waitFor({ state: "attached", timeout: MINUTE });
};

describeInChromium("the page's screens", (browser) => {
  for (const { name, ...look } of LOOKS) {
    test(
      `break no rule of WCAG 2.2 AA (${name})`,
      async () => {
        // The rules are looked at by a script that the page's policy would not let in.
        const studio = await openStudio(browser(), "#/start", { ...look, bypassCSP: true });
        try {
          const { page } = studio;
          await page.evaluate(AXE);
          const found: Record<string, readonly string[]> = { "#/start, nothing open": await offences(page) };
          await openExampleAndGo(page);
          for (const screen of SCREENS) {
            await goTo(page, screen);
            found[screen.hash] = await offences(page);
            const width = await page.evaluate(() => document.documentElement.scrollWidth);
            if (width > look.viewport.width)
              found[screen.hash] = [...found[screen.hash], `${width} pixels wide, and scrolled sideways`];
          }
          const broken = Object.fromEntries(Object.entries(found).filter(([, lines]) => lines.length > 0));
          expect(broken).toEqual({});
        } finally {
          await studio.close();
        }
      },
      4 * MINUTE,
    );
  }

  test(
    "ask nobody but where they come from, and run nothing that their policy forbids",
    async () => {
      const studio = await openStudio(browser(), "#/start");
      try {
        const { page } = studio;
        await openExampleAndGo(page);
        for (const screen of SCREENS) await goTo(page, screen);
        expect(studio.faults).toEqual([]);
        expect([...studio.origins]).toEqual([new URL(studio.url).origin]);
      } finally {
        await studio.close();
      }
    },
    4 * MINUTE,
  );
});
