/** Planning in the page: trials as they come, the same plan as the library and the command line, and the level dragged. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { afterAll, afterEach, expect, test } from "vitest";
import { memoryStore } from "../../src/campaign/memory-store.js";
import { modelsInThread } from "../../src/campaign/ranking-schedule.js";
import { planSummaryTexts } from "../../src/report/plan-summary.js";
import { jsonLog } from "../../src/server/log.js";
import { startServer } from "../../src/server/start-server.js";
import { planScreenTexts } from "../../src/studio/screens/plan/plan-screen-texts.js";
import type { ParityPlan } from "../../src/workflows/plan.js";
import { planAtLevel, recipeAtLevel } from "../../src/workflows/plan-at-level.js";
import { invoke } from "../cli/invoke.js";
import { describeInChromium } from "../setup/chromium.js";
import { needsDist } from "../setup/dist.js";
import { eventually } from "./collect-page.js";
import { askForPlan, openPilot, PILOT_CHOICE, PILOT_CSV, PILOT_NAME, planOfPilot } from "./pilot.js";
import { DESKTOP, keptAsJson, newContext, openStudio, plain, type StudioPage, watch } from "./studio-page.js";

needsDist();
const MINUTES = 60_000;
const folder = mkdtempSync(join(tmpdir(), "fairbed-plan-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
writeFileSync(join(folder, PILOT_NAME), PILOT_CSV);
const closing: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

let made: Promise<ParityPlan> | undefined;
/** Once for all tests. */
const expected = (): Promise<ParityPlan> => {
  made ??= planOfPilot();
  return made;
};

/** How often the page has a worker make a plan. */
const countPlans = (page: Page): Promise<unknown> =>
  page.addInitScript(() => {
    const asked: string[] = [];
    Object.assign(window, { asked });
    const { postMessage } = Worker.prototype;
    Worker.prototype.postMessage = function (
      this: Worker,
      message: { kind?: string; task?: string },
      transfer,
    ) {
      if (message.kind === "call" && message.task === "plan") asked.push(message.task);
      return postMessage.call(this, message, transfer as StructuredSerializeOptions);
    };
  });
const plansAsked = (page: Page): Promise<number> =>
  page.evaluate(() => (window as unknown as { readonly asked: readonly string[] }).asked.length);

const SO_FAR = /^\d+ recipes so far, on the rows that the choice is made on/;
const labelsIn = (page: Page) => page.getByRole("spinbutton", { name: "Labels" });
const answerIn = async (page: Page): Promise<string> =>
  (await page.locator(".answer, .reached").allTextContents()).map((text) => text.trim()).join(" ");
const levelIn = async (page: Page): Promise<number> =>
  Number(await page.getByLabel("Parity level").inputValue());
const isDone = (page: Page): Promise<void> =>
  page.getByRole("button", { name: "Save the recipe" }).waitFor({ timeout: 3 * MINUTES });

/** Everything that is said about a level, as the library says it. */
const saysAtLevel = async (page: Page, plan: ParityPlan, level: number): Promise<void> => {
  const at = planAtLevel(plan, level);
  await eventually(() => levelIn(page)).toBe(level);
  await eventually(() => answerIn(page)).toBe(at.sentences.join(" "));
  const caption = planSummaryTexts.frontier(at.recommended.name, level);
  await page.getByRole("img", { name: caption, exact: true }).waitFor();
};

describeInChromium("the page's plan", (browser) => {
  const open = async (): Promise<StudioPage> => {
    const studio = await openStudio(browser());
    closing.push(studio.close);
    return studio;
  };

  test("is for one of several attributes, and the others are no features of it", async () => {
    const { page } = await open();
    await openPilot(page);
    await page.getByLabel("role of district").selectOption("sensitive");
    await page.getByRole("link", { name: "Plan" }).click();
    await page.getByLabel("Attribute").selectOption("district");
    // The address names a place, not a column.
    expect(page.url()).not.toContain("district");
    await page.getByRole("button", { name: "Find a recipe" }).click();
    await eventually(() => keptAsJson(page, "result asked plan")).toMatchObject({
      choice: { roles: { sensitive: ["district"], exclude: ["sex"] } },
    });
  });

  test(
    "shows recipes as they are tried, and keeps them where it is stopped",
    async () => {
      const { page, faults } = await open();
      await openPilot(page);
      await askForPlan(page);
      await page.getByRole("img", { name: SO_FAR }).waitFor({ timeout: MINUTES });
      await page.locator("main").getByRole("button", { name: "Stop" }).click();
      await page
        .getByText("Stopped before a recipe could be recommended. What had been tried is shown.")
        .waitFor();
      await page.getByRole("img", { name: SO_FAR }).waitFor();
      expect(await page.getByRole("button", { name: "Save the recipe" }).count()).toBe(0);
      expect(await keptAsJson(page, "result plan")).toBeUndefined();
      // Another table has nothing to do with it.
      await page.getByRole("link", { name: "Start", exact: true }).click();
      await page.getByRole("button", { name: "Close and forget it" }).waitFor();
      await page
        .locator('input[type="file"]')
        .setInputFiles({ name: "other.csv", mimeType: "text/csv", buffer: Buffer.from(PILOT_CSV) });
      await page.locator(".bar-table").getByText("other.csv").waitFor();
      await page.getByRole("link", { name: "Plan", exact: true }).click();
      await page.getByText("Accuracy against parity will be drawn here").waitFor();
      expect(await page.getByText("Stopped before").count()).toBe(0);
      expect(faults).toEqual([]);
    },
    4 * MINUTES,
  );

  test(
    "is that of the library and of the command line, and follows the level without another simulation",
    async () => {
      const { page, faults, origins, url } = await open();
      await countPlans(page);
      await page.reload();
      await openPilot(page);
      await askForPlan(page);
      const plan = await expected();
      await isDone(page);
      expect(await keptAsJson(page, "result plan")).toEqual({ choice: PILOT_CHOICE, plan: plain(plan) });
      await saysAtLevel(page, plan, PILOT_CHOICE.level);

      const slider = page.getByLabel("Parity level");
      await slider.focus();
      for (let step = 0; step < 5; step++) await page.keyboard.press("ArrowRight");
      await saysAtLevel(page, plan, 0.85);
      const { x = 0, y = 0, width = 0, height = 0 } = (await slider.boundingBox()) ?? {};
      await page.mouse.move(x + 0.7 * width, y + height / 2);
      await page.mouse.down();
      for (const share of [0.6, 0.5, 0.4, 0.3, 0.2, 0.1])
        await page.mouse.move(x + share * width, y + height / 2);
      await page.mouse.up();
      const dragged = await levelIn(page);
      expect(dragged).toBeLessThan(0.65);
      await saysAtLevel(page, plan, dragged);
      // Or nothing would have been shown to follow it.
      expect(planAtLevel(plan, dragged).recommended.id).not.toBe(plan.recommended.id);
      expect(await plansAsked(page)).toBe(1);

      const [download] = await Promise.all([
        page.waitForEvent("download"),
        page.getByRole("button", { name: "Save the recipe" }).click(),
      ]);
      expect(download.suggestedFilename()).toBe("recipe.json");
      const saved = JSON.parse(readFileSync(await download.path(), "utf8"));
      expect(saved).toEqual(plain(recipeAtLevel(plan, dragged)));
      await eventually(() => keptAsJson(page, "result recipe")).toEqual(saved);

      await page.reload();
      await saysAtLevel(page, plan, dragged);
      await page.getByRole("link", { name: "Start", exact: true }).click();
      await page.getByRole("link", { name: "Plan", exact: true }).click();
      await saysAtLevel(page, plan, dragged);
      await page.goto(`${url}?new#/plan`);
      await saysAtLevel(page, plan, PILOT_CHOICE.level);
      expect(await plansAsked(page)).toBe(0);

      await page.getByText("Details", { exact: true }).click();
      const line = (await page.getByLabel("Command line").textContent()) ?? "";
      expect(line).toMatch(/^fairbed plan pilot\.csv /);
      const words = line.split(" ").map((word) => (word === PILOT_NAME ? join(folder, word) : word));
      const { code, stdout } = await invoke([...words.slice(1), "--json"]);
      expect(code).toBe(0);
      expect(JSON.parse(stdout)).toMatchObject(plain(plan) as object);
      expect(faults).toEqual([]);
      expect([...origins]).toEqual([new URL(url).origin]);
    },
    4 * MINUTES,
  );
});

describeInChromium("the page's plan, with a server", (browser) => {
  test(
    "is the same, and is shown greyed where something else is wanted by now",
    async () => {
      const server = await startServer({
        store: memoryStore(),
        port: 0,
        log: jsonLog(() => {}),
        models: modelsInThread,
        graceSeconds: 0,
      });
      closing.push(() => server.close());
      const context = await newContext(browser(), { viewport: DESKTOP });
      closing.push(() => context.close());
      const page = await context.newPage();
      const faults: string[] = [];
      watch(page, faults);
      await page.goto(server.url);
      await openPilot(page);
      await askForPlan(page);
      const plan = await expected();
      await isDone(page);
      expect(await keptAsJson(page, "result plan")).toEqual({ choice: PILOT_CHOICE, plan: plain(plan) });
      await saysAtLevel(page, plan, PILOT_CHOICE.level);

      const greyed = page.locator(".layout .stale");
      expect(await greyed.count()).toBe(0);
      await labelsIn(page).fill("30");
      await labelsIn(page).blur();
      await page.getByText(planScreenTexts.stale(PILOT_CHOICE, { ...PILOT_CHOICE, labels: 30 })).waitFor();
      expect(await greyed.count()).toBe(1);
      expect(await page.getByRole("button", { name: "Save the recipe" }).count()).toBe(0);
      await labelsIn(page).fill(String(PILOT_CHOICE.labels));
      await labelsIn(page).blur();
      await isDone(page);
      expect(await greyed.count()).toBe(0);
      await page.getByRole("link", { name: "Start", exact: true }).click();
      await page.getByLabel("role of district").selectOption("leave out");
      await page.getByRole("link", { name: "Plan", exact: true }).click();
      const roles = { ...PILOT_CHOICE.roles, exclude: ["district"] };
      await page.getByText(planScreenTexts.stale(PILOT_CHOICE, { ...PILOT_CHOICE, roles })).waitFor();
      expect(await greyed.count()).toBe(1);
      await saysAtLevel(page, plan, PILOT_CHOICE.level);
      await page.getByText("Details", { exact: true }).click();
      expect(await page.getByLabel("Command line").textContent()).not.toContain("--exclude");
      expect(faults).toEqual([]);
    },
    4 * MINUTES,
  );
});
