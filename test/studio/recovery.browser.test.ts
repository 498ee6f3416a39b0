/** Tabs that are closed half-way, and two of them on one browser: what was there before is there again. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { BrowserContext, Page } from "playwright-core";
import { afterEach, expect, test } from "vitest";
import { keptTexts } from "../../src/studio/kept.js";
import { planScreenTexts } from "../../src/studio/screens/plan/plan-screen-texts.js";
import { parseTable } from "../../src/tables/parse-table.js";
import { auditTable } from "../../src/workflows/audit-table.js";
import { invoke } from "../cli/invoke.js";
import { describeInChromium } from "../setup/chromium.js";
import { needsDist } from "../setup/dist.js";
import { askForPlan, openPilot, PILOT_CHOICE, PILOT_CSV, PILOT_NAME } from "./pilot.js";
import { keptAsJson, openExample, openStudio, plain, type StudioPage, watch } from "./studio-page.js";

needsDist();
const MINUTES = 60_000;
const closing: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

describeInChromium("a tab", (browser) => {
  const open = async (): Promise<StudioPage> => {
    const studio = await openStudio(browser());
    closing.push(studio.close);
    return studio;
  };
  /** With what this browser keeps, and nothing of the tabs before. */
  const anotherTab = async (context: BrowserContext, url: string, faults: string[]): Promise<Page> => {
    const tab = await context.newPage();
    watch(tab, faults);
    await tab.goto(url);
    return tab;
  };

  test(
    "closed while it audits leaves the table, and the next one audits it to the end, as the command line does",
    async () => {
      const { page, url, faults } = await open();
      await openPilot(page);
      await page.getByLabel("role of district").selectOption("leave out");
      await expect.poll(() => keptAsJson(page, "roles")).toMatchObject({ exclude: ["district"] });
      await page.getByRole("link", { name: "See what it gives away" }).click();
      await page.locator("main progress").waitFor();
      const context = page.context();
      await page.close();
      const next = await anotherTab(context, `${url}#/audit`, faults as string[]);
      await expect.poll(() => keptAsJson(next, "result audit"), { timeout: MINUTES }).toBeDefined();
      const roles = { ...PILOT_CHOICE.roles, exclude: ["district"] };
      const table = await parseTable(PILOT_CSV, { name: PILOT_NAME });
      const audit = await auditTable(table, { ...roles, seed: 0 });
      expect(await keptAsJson(next, "result audit")).toEqual({ roles, seed: 0, audit: plain(audit) });

      // And the next one after that has nothing left to do.
      await next.close();
      const last = await anotherTab(context, `${url}#/audit`, faults as string[]);
      await last.getByText("Details", { exact: true }).click();
      expect(await last.locator("main progress").count()).toBe(0);
      const line = (await last.getByLabel("Command line").textContent()) ?? "";
      const at = mkdtempSync(join(tmpdir(), "fairbed-audit-"));
      closing.push(async () => rmSync(at, { recursive: true, force: true }));
      writeFileSync(join(at, PILOT_NAME), PILOT_CSV);
      const words = line.split(" ").map((word) => (word === PILOT_NAME ? join(at, word) : word));
      const { code, stdout } = await invoke([...words.slice(1), "--json"]);
      expect([words[0], code]).toEqual(["fairbed", 0]);
      const { leakage, columns, groups } = JSON.parse(stdout);
      const own = audit.attributes[0].audit;
      for (const kind of ["unconditional", "conditional"] as const) {
        expect(leakage[kind].nats).toBe(own.leakage[kind]?.nats);
        expect(leakage[kind].interval).toEqual(own.leakage[kind]?.interval);
      }
      expect([columns, groups]).toEqual(plain([own.columns, own.groups]));
      expect(faults).toEqual([]);
    },
    4 * MINUTES,
  );

  test(
    "closed while it plans leaves what was asked for",
    async () => {
      const { page, url, faults } = await open();
      await openPilot(page);
      await askForPlan(page);
      await page.locator("main progress").waitFor();
      const context = page.context();
      await expect
        .poll(() => keptAsJson(page, "result asked plan"))
        .toEqual({ choice: PILOT_CHOICE, hasEnded: false });
      await page.close();
      const next = await anotherTab(context, `${url}#/plan`, faults as string[]);
      await next.getByText(planScreenTexts.cutOff).waitFor();
      const labels = next.getByRole("spinbutton", { name: "Labels" });
      expect(await labels.inputValue()).toBe(String(PILOT_CHOICE.labels));
      expect(await next.getByLabel("Models to try").inputValue()).toBe("one");
      await next.getByRole("button", { name: "Find a recipe" }).click();
      await next.locator("main progress").waitFor();
      expect(await next.getByText(planScreenTexts.cutOff).count()).toBe(0);
      await next.locator("main").getByRole("button", { name: "Stop" }).click();
      await next.getByText("Stopped before a recipe could be recommended.").waitFor();
      await expect
        .poll(() => keptAsJson(next, "result asked plan"))
        .toEqual({ choice: PILOT_CHOICE, hasEnded: true });
      await next.reload();
      await next.getByText("Accuracy against parity will be drawn here").waitFor();
      expect(await next.getByText(planScreenTexts.cutOff).count()).toBe(0);
      expect(await labels.inputValue()).toBe(String(PILOT_CHOICE.labels));
      expect(faults).toEqual([]);
    },
    4 * MINUTES,
  );

  test(
    "keeps nothing beside a table that another one opened, and says so",
    async () => {
      const { page, url, faults } = await open();
      await openPilot(page);
      const other = await anotherTab(page.context(), `${url}#/start`, faults as string[]);
      await other.getByText(PILOT_NAME).first().waitFor();
      await other.getByRole("button", { name: "Close and forget it" }).click();
      await openExample(other);
      await other.waitForURL(/#\/audit/);
      await page.getByLabel("role of district").selectOption("leave out");
      await page.getByText(keptTexts.elsewhere).waitFor();
      await other.reload();
      await other.getByText("example-hiring.csv").first().waitFor();
      await other.getByRole("link", { name: "Start", exact: true }).click();
      expect(await other.getByLabel("role of district").inputValue()).toBe("feature");
      // Its own table, opened again, is kept again.
      await openPilot(page);
      await page.getByText(keptTexts.elsewhere).waitFor({ state: "detached" });
      await page.reload();
      await page.getByText(PILOT_NAME).first().waitFor();
      expect(faults).toEqual([]);
    },
    4 * MINUTES,
  );
});
