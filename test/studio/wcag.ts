/** The rules of WCAG 2.2 AA, and the looks that a screen is held against them in. */
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import type { AxeResults, RunOptions } from "axe-core";
import type { Page } from "playwright-core";
import { DESKTOP, PHONE } from "./studio-page.js";

/** To be evaluated in a page whose policy is bypassed: it would not let the script in. */
export const AXE = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const RULES: RunOptions = {
  runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22a", "wcag22aa"],
  resultTypes: ["violations"],
};
export const LOOKS = [
  { name: "wide, light", viewport: DESKTOP, colorScheme: "light" },
  { name: "wide, dark", viewport: DESKTOP, colorScheme: "dark" },
  { name: "narrow, light", viewport: PHONE, colorScheme: "light" },
  { name: "narrow, dark", viewport: PHONE, colorScheme: "dark" },
] as const;

/** What is against the rules, in a line each. */
export const offences = async (page: Page): Promise<readonly string[]> => {
  const { violations } = await page.evaluate(
    (rules) => (window as unknown as { axe: { run(options: unknown): Promise<AxeResults> } }).axe.run(rules),
    RULES,
  );
  return violations.flatMap(({ id, nodes }) =>
    nodes.map(
      ({ target, failureSummary = "" }) =>
        `${id}: ${target.join(" ")}: ${failureSummary.replaceAll("\n", " ")}`,
    ),
  );
};
