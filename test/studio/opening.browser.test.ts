/** Opening files in the page: dropped on it, small and large, without their rows passing through its own thread. */
import type { Page } from "playwright-core";
import { afterEach, expect, test } from "vitest";
import { parquetBytes } from "../../src/sources/write-parquet.js";
import { examplePeople } from "../../src/tables/example-people.js";
import { describeInChromium } from "../setup/chromium.js";
import { needsDist } from "../setup/dist.js";
import { PILOT_CSV, PILOT_NAME } from "./pilot.js";
import { keptAsJson, openExample, openStudio, type StudioPage } from "./studio-page.js";

needsDist();
const closing: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

/** Drags a file over a part of the page and lets it go there. */
const drop = async (page: Page, onto: string, name: string, bytes: Uint8Array): Promise<void> => {
  const dataTransfer = await page.evaluateHandle(
    ({ name: own, base64 }) => {
      const content = Uint8Array.from(atob(base64), (letter) => letter.charCodeAt(0));
      const carried = new DataTransfer();
      carried.items.add(new File([content], own));
      return carried;
    },
    { name, base64: Buffer.from(bytes).toString("base64") },
  );
  for (const type of ["dragenter", "dragover", "drop"]) {
    await page.locator(onto).first().dispatchEvent(type, { dataTransfer });
  }
};

interface Heard {
  readonly progress: { readonly done: number; readonly total: number }[];
  /** Openings that came to an end, whatever it was. */
  ended: number;
  longest: number;
}

/** What workers send to the page: how far they are, and how many characters each message has as JSON. */
const recordMessages = (page: Page): Promise<unknown> =>
  page.addInitScript(() => {
    const heard: Heard = { progress: [], ended: 0, longest: 0 };
    Object.assign(window, { heard });
    const Plain = window.Worker;
    window.Worker = class extends Plain {
      constructor(...given: ConstructorParameters<typeof Worker>) {
        super(...given);
        this.addEventListener("message", ({ data }) => {
          heard.longest = Math.max(heard.longest, JSON.stringify(data).length);
          if (data.kind === "failed" || (data.kind === "done" && "reasons" in Object(data.value)))
            heard.ended++;
          if (data.kind === "partial" && "done" in data.value) heard.progress.push(data.value);
        });
      }
    };
  });
const messagesIn = (page: Page): Promise<Heard> =>
  page.evaluate(() => (window as unknown as { readonly heard: Heard }).heard);

/** What was kept, and the page has not been told of yet. */
interface Unheard {
  unheard?: (() => void)[];
}

/** Rows of people as text, the same every time; about two megabytes for fifty thousand. */
const manyPeople = (rows: number): string => {
  const regions = ["north", "east", "south", "west"];
  const lines = Array.from({ length: rows }, (_, i) => {
    const score = (i * 7919) % 1000;
    return `person-${i},${score / 10},${(i * 31) % 60},${regions[(i * 13) % 4]},${i % 2 ? "male" : "female"},${score > 480 ? "yes" : "no"}`;
  });
  return `id,score,years,region,sex,hired\n${lines.join("\n")}\n`;
};

describeInChromium("opening a file", (browser) => {
  const open = async (): Promise<StudioPage> => {
    const studio = await openStudio(browser());
    closing.push(studio.close);
    return studio;
  };
  const bar = (page: Page) => page.locator(".bar-table");

  for (const goesElsewhere of [false, true]) {
    test(`the example leads to ${goesElsewhere ? "nothing else whoever has gone on while it was being kept" : "its audit"}`, async () => {
      const { page, url, faults } = await open();
      await page.addInitScript(() => {
        const { set } = Object.getOwnPropertyDescriptor(IDBTransaction.prototype, "oncomplete") ?? {};
        Object.defineProperty(IDBTransaction.prototype, "oncomplete", {
          set(this: IDBTransaction, tell: () => void) {
            set?.call(this, () => {
              const { unheard } = window as Unheard;
              if (unheard === undefined) tell();
              else unheard.push(tell);
            });
          },
        });
      });
      await page.reload();
      await page.getByRole("button", { name: "Try the example" }).waitFor();
      await page.evaluate(() => {
        (window as Unheard).unheard = [];
      });
      await openExample(page);
      await page.waitForFunction(() => (window as Unheard).unheard?.length === 1);
      expect(page.url()).toBe(`${url}#/start`);
      if (goesElsewhere) {
        await page.getByRole("link", { name: "Export", exact: true }).click();
        await page.waitForURL(/#\/export$/);
      }
      await page.evaluate(() => {
        for (const tell of (window as Unheard).unheard?.splice(0) ?? []) tell();
      });
      if (goesElsewhere) await page.waitForTimeout(500);
      else await page.waitForURL(/#\/audit$/);
      expect(page.url()).toBe(`${url}#/${goesElsewhere ? "export" : "audit"}`);
      expect(faults).toEqual([]);
    });
  }

  test("a CSV that is dropped on its card, and a Parquet file beside it once a table is open", async () => {
    const { page, url, faults } = await open();
    await drop(page, ".drop", PILOT_NAME, Buffer.from(PILOT_CSV));
    await bar(page).getByText("240 rows").waitFor();
    expect(await page.getByLabel("role of hired").inputValue()).toBe("target");
    const { table } = examplePeople();
    await drop(page, "h2", "people.parquet", await parquetBytes(table));
    await bar(page).getByText("1,200 rows").waitFor();
    expect(await bar(page).textContent()).toContain("people.parquet");
    for (const [column, role] of Object.entries({ hired: "target", sex: "sensitive", id: "id" })) {
      expect(await page.getByLabel(`role of ${column}`).inputValue(), column).toBe(role);
    }
    // Elsewhere it is neither opened nor shown by the browser in place of the page.
    await page.getByRole("link", { name: "Export", exact: true }).click();
    await page.getByText("Nothing has been made").waitFor();
    await drop(page, "main", PILOT_NAME, Buffer.from(PILOT_CSV));
    await bar(page).getByText("people.parquet").waitFor();
    expect(page.url()).toBe(`${url}#/export`);
    expect(faults).toEqual([]);
  });

  test("a large one is read piece by piece in a worker, which tells how far it is", async () => {
    const { page, faults } = await open();
    await recordMessages(page);
    await page.reload();
    const buffer = Buffer.from(manyPeople(50_000));
    await page
      .locator('input[type="file"]')
      .setInputFiles({ name: "many.csv", mimeType: "text/csv", buffer });
    await bar(page).getByText("50,000 rows").waitFor();
    expect(await page.getByLabel("role of hired").inputValue()).toBe("target");
    await page.getByRole("cell", { name: "25,000" }).first().waitFor();
    const { progress, longest } = await messagesIn(page);
    const done = progress.map((each) => each.done);
    expect(done.some((bytes) => bytes > 0 && bytes < buffer.length)).toBe(true);
    expect(done).toEqual(done.toSorted((a, b) => a - b));
    expect(new Set(progress.map(({ total }) => total))).toEqual(new Set([buffer.length]));
    // Columns and counts, never rows.
    expect(longest).toBeLessThan(20_000);
    await expect.poll(() => keptAsJson(page, "table")).toMatchObject({ name: "many.csv" });
    await page.reload();
    await bar(page).getByText("50,000 rows").waitFor();
    expect((await messagesIn(page)).longest).toBeLessThan(20_000);
    expect(faults).toEqual([]);
  });

  test("of two that are chosen quickly, the second is open in the end, however long the first takes", async () => {
    const { page, faults } = await open();
    await recordMessages(page);
    await page.reload();
    const choose = (name: string, text: string) =>
      page
        .locator('input[type="file"]')
        .setInputFiles({ name, mimeType: "text/csv", buffer: Buffer.from(text) });
    await choose("many.csv", manyPeople(50_000));
    await choose(PILOT_NAME, PILOT_CSV);
    await expect.poll(async () => (await messagesIn(page)).ended).toBe(2);
    await bar(page).getByText("240 rows").waitFor();
    expect(await bar(page).textContent()).toContain(PILOT_NAME);
    expect(await page.getByRole("alert").count()).toBe(0);
    expect(faults).toEqual([]);
  });
});
