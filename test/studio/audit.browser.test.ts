/** Opening a table and auditing it in the page: the same numbers as the library, kept over a reload, files that are broken. */
import { expect, test } from "vitest";
import { toCsv } from "../../src/tables/csv.js";
import { examplePeople } from "../../src/tables/example-people.js";
import { auditTable, type TableAudit } from "../../src/workflows/audit-table.js";
import { describeInChromium } from "../setup/chromium.js";
import { needsDist } from "../setup/dist.js";
import { keptAsJson, openExample, openStudio, plain } from "./studio-page.js";

needsDist();

const PEOPLE = [
  "id;score;sex;region;hired",
  ...Array.from(
    { length: 90 },
    (_, i) => `p${i};${(i * 37) % 50};${i % 2 ? "m" : "f"};${i % 3};${(i * 37) % 50 > 20 ? "yes" : "no"}`,
  ),
].join("\n");

describeInChromium("the page's audit", (browser) => {
  test("says of the example what the library says, and fills in before it is done", async () => {
    const studio = await openStudio(browser());
    try {
      const { page } = studio;
      await openExample(page);
      await page.locator(".chart-picture").first().waitFor();
      await page.getByText(/Knowing a record narrows down sex by/).waitFor();
      await expect.poll(() => keptAsJson(page, "result audit"), { timeout: 60_000 }).toBeDefined();
      await page.getByText("Details").click();
      await page
        .getByText(/With this many rows, a leakage of 0\.\d+ nats per record would be detected/)
        .waitFor();
      const inPage = await keptAsJson(page, "result audit");
      const { table, settings } = examplePeople();
      const expected: TableAudit = await auditTable(table, { ...settings, seed: 0 });
      expect(inPage).toEqual({ roles: expect.anything(), seed: 0, audit: plain(expected) });
      expect(studio.faults).toEqual([]);
      expect([...studio.origins]).toEqual([new URL(studio.url).origin]);
    } finally {
      await studio.close();
    }
  });

  test("guesses the roles of a file, lets them be changed, and keeps all over a reload", async () => {
    const studio = await openStudio(browser());
    try {
      const { page } = studio;
      await page
        .locator('input[type="file"]')
        .setInputFiles({ name: "people.csv", mimeType: "text/csv", buffer: Buffer.from(PEOPLE) });
      await page.getByText("people.csv").first().waitFor();
      expect(await page.getByLabel("role of hired").inputValue()).toBe("target");
      expect(await page.getByLabel("role of sex").inputValue()).toBe("sensitive");
      expect(await page.getByLabel("role of id").inputValue()).toBe("id");
      await page.getByLabel("role of region").selectOption("sensitive");
      await expect.poll(() => page.locator(".answer").textContent()).toContain("sex and region");
      await expect
        .poll(() => keptAsJson(page, "roles"))
        .toMatchObject({ sensitive: expect.arrayContaining(["region"]) });
      await page.reload();
      await page.getByText("people.csv").first().waitFor();
      expect(await page.getByLabel("role of region").inputValue()).toBe("sensitive");
      expect(page.url()).not.toMatch(/people|sex|hired/);
      expect(studio.faults).toEqual([]);
    } finally {
      await studio.close();
    }
  });

  test("that fails begins again once the roles are others, and is about one column's own choices", async () => {
    const studio = await openStudio(browser());
    try {
      const { page } = studio;
      await page
        .locator('input[type="file"]')
        .setInputFiles({ name: "people.csv", mimeType: "text/csv", buffer: Buffer.from(PEOPLE) });
      await page.getByLabel("role of score").selectOption("sensitive");
      // A quantity is parted at a threshold, which can be changed.
      expect(await page.getByLabel("which value of score counts").inputValue()).toMatch(/^score>=\d+$/);
      await page.getByLabel("role of region").selectOption("exclude");
      await page.getByRole("link", { name: "See what it gives away" }).click();
      await page.getByRole("alert").waitFor();
      await page.getByRole("link", { name: "Change the roles" }).click();
      await page.getByLabel("role of score").selectOption("feature");
      await page.getByRole("link", { name: "See what it gives away" }).click();
      await page
        .getByText(/narrows? .*sex|sign was found/)
        .first()
        .waitFor();
      expect(await page.getByRole("alert").count()).toBe(0);
    } finally {
      await studio.close();
    }
  });

  test("says what is wrong with a broken file, and keeps the table that was open", async () => {
    const studio = await openStudio(browser());
    try {
      const { page } = studio;
      const choose = (name: string, content: string) =>
        page
          .locator('input[type="file"]')
          .first()
          .setInputFiles({ name, mimeType: "text/csv", buffer: Buffer.from(content) });
      await choose("empty.csv", "");
      await page.getByRole("alert").waitFor();
      expect(await page.getByRole("alert").textContent()).toContain("empty.csv");
      await choose("people.csv", PEOPLE);
      await page.getByLabel("role of hired").waitFor();
      await choose("ragged.csv", "a,b\n1,2\n1,2,3,4\n5\n");
      await page.getByRole("alert").waitFor();
      expect(await page.getByRole("alert").textContent()).toContain("people.csv is still open");
      await choose("broken.parquet", "PAR1 and then nothing");
      await expect.poll(() => page.getByRole("alert").textContent()).toContain("broken.parquet");
    } finally {
      await studio.close();
    }
  });

  test("reads what the library writes", async () => {
    const studio = await openStudio(browser());
    try {
      const { page } = studio;
      const { table } = examplePeople();
      await page
        .locator('input[type="file"]')
        .setInputFiles({ name: "example.csv", mimeType: "text/csv", buffer: Buffer.from(toCsv(table)) });
      await page.getByText("1,200").first().waitFor();
      expect(await page.getByLabel("role of hired").inputValue()).toBe("target");
    } finally {
      await studio.close();
    }
  });
});
