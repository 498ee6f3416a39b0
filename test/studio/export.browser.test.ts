/** What the page saves: the files of the command line, byte for byte, and commands that make them again. */
import { execFile } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { unzipSync } from "fflate";
import type { Page } from "playwright-core";
import { afterAll, expect, test } from "vitest";
import { memoryStore } from "../../src/campaign/memory-store.js";
import { modelsInThread } from "../../src/campaign/ranking-schedule.js";
import { jsonLog } from "../../src/server/log.js";
import { startServer } from "../../src/server/start-server.js";
import { toCsv } from "../../src/tables/csv.js";
import { examplePeople } from "../../src/tables/example-people.js";
import { FAIRBED } from "../cli/invoke.js";
import { poolBody } from "../server/served.js";
import { describeInChromium } from "../setup/chromium.js";
import { needsDist } from "../setup/dist.js";
import { DESKTOP, keptAsJson, newContext, openExample, openStudio, watch } from "./studio-page.js";

needsDist();
const folder = mkdtempSync(join(tmpdir(), "fairbed-export-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const MINUTES = 60_000;

/** What pressing a button saves, and under which name. */
const saved = async (page: Page, button: string): Promise<{ name: string; bytes: Buffer }> => {
  const [download] = await Promise.all([
    page.waitForEvent("download", { timeout: MINUTES }),
    page.getByRole("button", { name: button }).click(),
  ]);
  return { name: download.suggestedFilename(), bytes: readFileSync(await download.path()) };
};

/** Runs a script of commands, where `fairbed` is the one of this checkout. */
const runScript = (script: string, at: string) =>
  promisify(execFile)(
    "/bin/sh",
    ["-c", `fairbed() { "${process.execPath}" "${FAIRBED}" "$@"; }\n${script}`],
    {
      cwd: at,
    },
  );

/** Answers that are not part of a campaign yet. */
const waitingIn = (page: Page): Promise<number> =>
  page.evaluate(
    () =>
      new Promise<number>((resolve, reject) => {
        const request = indexedDB.open("fairbed-outbox", 1);
        request.onerror = () => reject(request.error);
        request.onsuccess = () => {
          const count = request.result.transaction("sayings").objectStore("sayings").count();
          count.onsuccess = () => {
            request.result.close();
            resolve(count.result);
          };
        };
      }),
  );

/** One more answer that waits. */
const sayLater = (page: Page, campaign: string): Promise<void> =>
  page.evaluate(
    (name) =>
      new Promise<void>((resolve, reject) => {
        const request = indexedDB.open("fairbed-outbox", 1);
        request.onerror = () => reject(request.error);
        request.onsuccess = () => {
          const transaction = request.result.transaction("sayings", "readwrite");
          transaction
            .objectStore("sayings")
            .put({ event: "later", place: "local", campaign: name, order: 1 });
          transaction.oncomplete = () => {
            request.result.close();
            resolve();
          };
        };
      }),
    campaign,
  );

describeInChromium("the page's export", (browser) => {
  test("says what to do first where there is nothing", async () => {
    const studio = await openStudio(browser(), "#/export");
    try {
      const { page } = studio;
      await page.getByText("Open a table first to save what is found in it.").waitFor();
      await page.getByRole("button", { name: "Try the example" }).click();
      await page.getByText(/Nothing has been made of example-hiring.csv yet/).waitFor();
      await page.getByRole("link", { name: "Audit a table" }).waitFor();
      await page.getByRole("link", { name: "Plan a collection" }).waitFor();
      await page.getByRole("link", { name: "Begin a campaign" }).waitFor();
      expect(await page.getByRole("button", { name: /Save everything/ }).count()).toBe(0);
      const { name, bytes } = await saved(page, "Save example-hiring.csv");
      expect(name).toBe("example-hiring.csv");
      expect(bytes.toString()).toBe(toCsv(examplePeople().table));
      expect(studio.faults).toEqual([]);
    } finally {
      await studio.close();
    }
  });

  test(
    "saves what the command line writes, and commands that make it again",
    async () => {
      const studio = await openStudio(browser());
      try {
        const { page } = studio;
        await openExample(page);
        await expect.poll(() => keptAsJson(page, "result audit"), { timeout: MINUTES }).toBeDefined();
        await page.goto(`${studio.url}#/export`);
        await page.getByRole("button", { name: "Fit the model" }).click();
        await page.getByText(/On rows that it had not seen it is right for/).waitFor({ timeout: MINUTES });
        await page.getByText(/The audit report and the model of example-hiring.csv are ready/).waitFor();

        const { name, bytes } = await saved(page, "Save everything as one .zip");
        expect(name).toBe("fairbed-example-hiring.zip");
        const files = Object.fromEntries(
          Object.entries(unzipSync(bytes)).map(([path, content]) => {
            expect(path).toMatch(/^fairbed-example-hiring\/[^/]+$/);
            return [path.split("/")[1], Buffer.from(content).toString()];
          }),
        );
        expect(Object.keys(files).sort()).toEqual([
          "README.txt",
          "commands.sh",
          "commands.txt",
          "example-hiring.csv",
          "model.json",
          "report.certificate.json",
          "report.html",
        ]);
        for (const own of Object.keys(files).filter((each) => each !== "README.txt"))
          expect(files["README.txt"]).toContain(own);

        writeFileSync(join(folder, "example-hiring.csv"), files["example-hiring.csv"]);
        await runScript(files["commands.sh"], folder);
        for (const own of ["report.html", "report.certificate.json", "model.json"])
          expect(readFileSync(join(folder, own), "utf8"), own).toBe(files[own]);

        for (const [button, own] of [
          ["Save report.html", "report.html"],
          ["Save the certificate", "report.certificate.json"],
          ["Save model.json", "model.json"],
          ["Save commands.sh", "commands.sh"],
        ]) {
          const one = await saved(page, button);
          expect([one.name, one.bytes.toString()]).toEqual([own, files[own]]);
        }

        await page.reload();
        await page.getByText(/On rows that it had not seen it is right for/).waitFor();
        expect(studio.faults).toEqual([]);
        expect([...studio.origins]).toEqual([new URL(studio.url).origin]);
      } finally {
        await studio.close();
      }
    },
    5 * MINUTES,
  );

  test(
    "saves what a campaign of this browser acquired, which its backup gives again",
    async () => {
      const studio = await openStudio(browser(), "#/collect");
      try {
        const { page } = studio;
        await page.getByRole("button", { name: "Try the example" }).click();
        await page.getByRole("button", { name: "Begin", exact: true }).click();
        const question = page.getByRole("region", { name: "Question" }).getByRole("heading");
        for (let label = 0; label < 4; label++) {
          await question.filter({ hasText: "?" }).waitFor();
          const asked = await question.textContent();
          await page.keyboard.press(label % 2 === 0 ? "1" : "2");
          await expect.poll(() => question.textContent(), { timeout: MINUTES }).not.toBe(asked);
        }
        await expect.poll(() => waitingIn(page), { timeout: MINUTES }).toBe(0);
        await page.goto(`${studio.url}#/export`);
        const { bytes } = await saved(page, "Save everything as one .zip");
        const at = join(folder, "campaign");
        mkdirSync(at);
        const files = Object.entries(unzipSync(bytes)).map(
          ([path, content]) => [path.split("/")[1], Buffer.from(content).toString()] as const,
        );
        const find = (ending: string) => files.find(([name]) => name.endsWith(ending)) ?? ["", ""];
        for (const ending of [".acquired.csv", ".card.html", ".card.md"])
          expect(find(ending)[1]).not.toBe("");
        expect(find(".acquired.csv")[1].split("\n")).toHaveLength(40 + 4 + 2);
        for (const ending of [".backup.jsonl", "example-hiring.csv"]) {
          const [name, text] = find(ending);
          writeFileSync(join(at, name), text);
        }
        await runScript(find("commands.sh")[1], at);
        for (const ending of [".acquired.csv", ".card.html"]) {
          const [name, text] = find(ending);
          expect(readFileSync(join(at, name), "utf8"), name).toBe(text);
        }
        await sayLater(page, find(".acquired.csv")[0].replace(".acquired.csv", ""));
        await page.reload();
        await page.getByText("One answer waits in this browser and is not in these files").waitFor();
        const card = await saved(page, "Save the data card (.md)");
        expect([card.name, card.bytes.toString()]).toEqual(find(".card.md"));
        expect(studio.faults).toEqual([]);
      } finally {
        await studio.close();
      }
    },
    5 * MINUTES,
  );

  test(
    "saves what a campaign of the server acquired, as the server gives it",
    async () => {
      const server = await startServer({
        store: memoryStore(),
        port: 0,
        log: jsonLog(() => {}),
        models: modelsInThread,
        graceSeconds: 0,
      });
      const context = await newContext(browser(), { viewport: DESKTOP });
      try {
        const api = `${server.url}/api/v1/campaigns`;
        const begun = await fetch(api, {
          method: "POST",
          headers: { "Content-Type": "application/json" },
          body: JSON.stringify(poolBody("clinic", { budget: 30 })),
        });
        expect(begun.status).toBe(201);
        const page = await context.newPage();
        const faults: string[] = [];
        watch(page, faults);
        await page.goto(`${server.url}/#/export`);
        await page.getByText("The campaign is ready to save").waitFor();
        const data = await saved(page, "Save the data (.csv)");
        expect(data.name).toBe("clinic.acquired.csv");
        expect(data.bytes.toString()).toBe(await (await fetch(`${api}/clinic/export`)).text());
        const backup = await saved(page, "Save a backup");
        expect(backup.bytes.toString()).toBe(await (await fetch(`${api}/clinic/backup`)).text());
        const card = await saved(page, "Save the data card (.md)");
        expect(card.bytes.toString()).toBe(await (await fetch(`${api}/clinic/card`)).text());
        await server.close();
        await page.getByRole("button", { name: "Save the data (.csv)" }).click();
        await page
          .getByRole("alert")
          .getByText(/does not answer/)
          .waitFor();
      } finally {
        await context.close();
        await server.close();
      }
    },
    4 * MINUTES,
  );
});
