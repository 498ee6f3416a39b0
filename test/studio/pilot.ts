/** A table on which a whole plan takes seconds: some of the built-in example, as a file. */
import { Buffer } from "node:buffer";
import type { Page } from "playwright-core";
import type { PlanChoice } from "../../src/studio/plan-choice.js";
import { toCsv } from "../../src/tables/csv.js";
import { examplePeople } from "../../src/tables/example-people.js";
import { parseTable } from "../../src/tables/parse-table.js";
import { type ParityPlan, plan } from "../../src/workflows/plan.js";

const ROWS = 240;
const { table, settings } = examplePeople();

export const PILOT_NAME = "pilot.csv";
export const PILOT_CSV = `${toCsv(table)
  .split("\n")
  .slice(0, ROWS + 1)
  .join("\n")}\n`;
export const PILOT_FILE = { name: PILOT_NAME, mimeType: "text/csv", buffer: Buffer.from(PILOT_CSV) };

/** What the page is asked for. */
export const PILOT_CHOICE: PlanChoice = {
  roles: { target: "hired=yes", sensitive: ["sex"], exclude: [], id: "id" },
  level: 0.8,
  labels: 12,
  metric: "dp",
  learners: ["forest"],
  seed: 0,
};

/** What the library says of it. */
export const planOfPilot = async (): Promise<ParityPlan> =>
  plan(await parseTable(PILOT_CSV, { name: PILOT_NAME }), {
    ...settings,
    ...PILOT_CHOICE,
    parity: PILOT_CHOICE.level,
  });

/** Opens it from the first screen, and waits for its roles. */
export const openPilot = async (page: Page): Promise<void> => {
  await page.locator('input[type="file"]').first().setInputFiles(PILOT_FILE);
  await page.locator(".bar-table").getByText(`${ROWS} rows`).waitFor();
  await page.getByLabel("role of hired").waitFor();
};

/** Goes to the plan by its link, and fills in what it is asked for; the level is there. */
export const askForPlan = async (page: Page): Promise<void> => {
  await page.getByRole("link", { name: "Plan", exact: true }).click();
  await page.getByRole("spinbutton", { name: "Labels" }).fill(String(PILOT_CHOICE.labels));
  await page.getByLabel("Models to try").selectOption("forest only");
  await page.getByRole("button", { name: "Find a recipe" }).click();
};
