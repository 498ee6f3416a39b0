/**
 * Every screen in its states, in an order in which each follows from the one before: a table of what is pictured. A row
 * more is all that another state takes.
 */
import type { Page } from "playwright-core";
import { openPilot, PILOT_CHOICE } from "./pilot.js";
import { DESKTOP, PHONE } from "./studio-page.js";

const MINUTE = 60_000;

export const LOOKS = {
  "wide-light": { viewport: DESKTOP, colorScheme: "light" },
  "wide-dark": { viewport: DESKTOP, colorScheme: "dark" },
  "narrow-light": { viewport: PHONE, colorScheme: "light" },
  "narrow-dark": { viewport: PHONE, colorScheme: "dark" },
} as const;
export type LookName = keyof typeof LOOKS;

const TWO: readonly LookName[] = ["wide-light", "narrow-dark"];
const ALL: readonly LookName[] = ["wide-light", "wide-dark", "narrow-light", "narrow-dark"];

export interface ScreenState {
  readonly name: string;
  readonly looks: readonly LookName[];
  /** From the state before to this one, until it is there. */
  reach(page: Page): Promise<void>;
}

const go = async (page: Page, title: string): Promise<void> => {
  const steps = page.getByRole("navigation", { name: "Steps" });
  await steps.getByRole("link", { name: title, exact: true }).click();
};
const shows = (page: Page, text: string | RegExp): Promise<void> =>
  page.getByText(text).first().waitFor({ timeout: MINUTE });
const button = (page: Page, name: string) => page.getByRole("button", { name, exact: true });
const labels = (page: Page) => page.getByRole("spinbutton", { name: "Labels" });
/** So many charts have been drawn, as they are to be by now. */
const charts = (page: Page, count: number): Promise<void> =>
  page
    .locator('.chart:not([aria-busy="true"]) .chart-picture svg')
    .nth(count - 1)
    .waitFor({ timeout: MINUTE });
const question = (page: Page) => page.getByRole("region", { name: "Question" }).getByRole("heading");
/** Nothing runs, and what is said is about what is shown. */
const settled = async (page: Page): Promise<void> => {
  await page.locator("main progress").waitFor({ state: "detached", timeout: 2 * MINUTE });
  await page.locator('main .answer:not([aria-busy="true"])').waitFor({ timeout: MINUTE });
};

export const STATES: readonly ScreenState[] = [
  {
    name: "start-nothing-yet",
    looks: ALL,
    reach: (page) => shows(page, "See and steer what your data gives away"),
  },
  {
    name: "audit-nothing-yet",
    looks: TWO,
    async reach(page) {
      await go(page, "Audit");
      await shows(page, "Open a table first to see what a table gives away");
    },
  },
  {
    name: "collect-nothing-yet",
    looks: TWO,
    async reach(page) {
      await go(page, "Collect");
      await shows(page, "No campaign has begun here");
    },
  },
  {
    name: "design-nothing-yet",
    looks: ALL,
    async reach(page) {
      // One whose information is known exactly, and so not made more exact while it is looked at.
      await page.evaluate(() => {
        location.hash = "#/design?model=linear-gaussian&observations=3";
      });
      await page.locator("main .answer").filter({ hasText: "nats" }).waitFor({ timeout: MINUTE });
      await settled(page);
    },
  },
  {
    name: "start-failed",
    looks: TWO,
    async reach(page) {
      await go(page, "Start");
      const file = { name: "empty.csv", mimeType: "text/csv", buffer: Buffer.from("") };
      await page.locator('input[type="file"]').setInputFiles(file);
      await page.getByRole("alert").waitFor();
    },
  },
  {
    name: "start-done",
    looks: ALL,
    async reach(page) {
      await openPilot(page);
      await page.getByRole("region", { name: "Groups" }).waitFor();
    },
  },
  {
    name: "plan-nothing-yet",
    looks: TWO,
    async reach(page) {
      await go(page, "Plan");
      await shows(page, "Accuracy against parity will be drawn here");
    },
  },
  {
    name: "export-nothing-yet",
    looks: TWO,
    async reach(page) {
      await go(page, "Export");
      await shows(page, "Nothing has been made of pilot.csv yet");
      await shows(page, "Begin a campaign");
    },
  },
  {
    name: "audit-done",
    looks: ALL,
    async reach(page) {
      await go(page, "Audit");
      // Only what is complete has one.
      await page
        .getByLabel("Command line")
        .first()
        .waitFor({ state: "attached", timeout: 2 * MINUTE });
      await charts(page, 4);
    },
  },
  {
    name: "audit-details",
    looks: TWO,
    async reach(page) {
      await page.getByText("Details", { exact: true }).click();
      await shows(page, "The same on the command line");
    },
  },
  {
    name: "audit-stale",
    looks: TWO,
    async reach(page) {
      await go(page, "Start");
      await page.getByLabel("role of district").selectOption("leave out");
      await go(page, "Audit");
      await shows(page, "The roles were changed since");
      await charts(page, 4);
    },
  },
  {
    name: "plan-failed",
    looks: TWO,
    async reach(page) {
      await go(page, "Start");
      await page.getByLabel("role of district").selectOption("feature");
      await go(page, "Plan");
      await labels(page).fill("5000");
      await button(page, "Find a recipe").click();
      await page.getByRole("alert").waitFor({ timeout: MINUTE });
    },
  },
  {
    name: "plan-done",
    looks: ALL,
    async reach(page) {
      await labels(page).fill(String(PILOT_CHOICE.labels));
      await page.getByLabel("Models to try").selectOption("forest only");
      await button(page, "Find a recipe").click();
      await button(page, "Save the recipe").waitFor({ timeout: 3 * MINUTE });
      await charts(page, 4);
    },
  },
  {
    name: "plan-details",
    looks: TWO,
    async reach(page) {
      await page.getByText("Details", { exact: true }).click();
      await shows(page, "The same on the command line");
    },
  },
  {
    name: "plan-stale",
    looks: TWO,
    async reach(page) {
      await page.getByText("Details", { exact: true }).click();
      await labels(page).fill("30");
      await labels(page).blur();
      await shows(page, "The plan below was made for 12 labels");
    },
  },
  {
    name: "collect-begin",
    looks: ALL,
    async reach(page) {
      await go(page, "Collect");
      await page.getByRole("checkbox").check();
      await button(page, "Begin").waitFor();
    },
  },
  {
    name: "collect-question",
    looks: ALL,
    async reach(page) {
      await button(page, "Begin").click();
      for (const [at, key] of ["1", "2", "1"].entries()) {
        await question(page).filter({ hasText: "?" }).waitFor({ timeout: MINUTE });
        const asked = await question(page).textContent();
        await page.keyboard.press(key);
        await shows(page, `${at + 1} of 100 labels collected`);
        await question(page)
          .filter({ hasNotText: asked ?? "" })
          .waitFor({ timeout: MINUTE });
      }
      await question(page).filter({ hasText: "?" }).waitFor({ timeout: MINUTE });
      await shows(page, "3 answers saved");
    },
  },
  {
    name: "collect-list",
    looks: TWO,
    async reach(page) {
      await page.getByRole("link", { name: "All campaigns" }).click();
      await page.getByRole("link", { name: "Continue pilot" }).waitFor();
    },
  },
  {
    name: "design-done",
    looks: TWO,
    async reach(page) {
      await go(page, "Design");
      await button(page, "Optimise").click();
      await page.getByRole("button", { name: /^Save .*policy/ }).waitFor({ timeout: 2 * MINUTE });
      await settled(page);
    },
  },
  {
    name: "export-done",
    looks: ALL,
    async reach(page) {
      await go(page, "Export");
      await button(page, "Fit the model").click();
      await shows(page, /On rows that it had not seen it is right for/);
      await shows(page, "Campaign pilot");
    },
  },
];

/** What is different every time, and so not pictured: times, and a forecast that is made at its own pace. */
export const UNPICTURED = `
  .progress-words, main .what .figures { visibility: hidden !important; }
  section[aria-label="What more labels would bring"] { display: none !important; }
  main .answer .muted { color: inherit !important; }
`;
