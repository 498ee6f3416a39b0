/** Collecting in the page: keys, undo, reloads, two tabs, a server that goes away, and what annotators never get. */
import { readFile } from "node:fs/promises";
import type { BrowserContext, Page } from "playwright-core";
import { afterEach, expect, test } from "vitest";
import { memoryStore } from "../../src/campaign/memory-store.js";
import type { RunningServer } from "../../src/server/start-server.js";
import { tokensOf } from "../../src/server/tokens.js";
import { poolBody, SENSITIVE_MARKERS } from "../server/served.js";
import { describeInChromium } from "../setup/chromium.js";
import { needsDist } from "../setup/dist.js";
import {
  eventually,
  everythingIn,
  itemIn,
  nextAfter,
  press,
  questionIn,
  recordPosts,
  says,
  startCollecting,
} from "./collect-page.js";
import { holdCalls, newContext, openStudio, PHONE, type StudioPage, watch } from "./studio-page.js";

needsDist();

const closing: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

const REASONS = [
  "Why this one",
  '"why"',
  '"score"',
  '"leakage"',
  '"share"',
  '"probability"',
  '"reason"',
  "nats",
];

const beginExample = async (page: Page): Promise<void> => {
  await page.getByRole("button", { name: "Try the example" }).click();
  await says(page, "keeps the labels of 40 rows and takes the others away");
  await page.getByRole("button", { name: "Begin", exact: true }).click();
  await itemIn(page);
};

describeInChromium("collecting without a server", (browser) => {
  const open = async (hash = "#/collect", options = {}): Promise<StudioPage> => {
    const studio = await openStudio(browser(), hash, options);
    closing.push(studio.close);
    return studio;
  };
  const anotherTab = async (page: Page, url: string): Promise<Page> => {
    const tab = await page.context().newPage();
    await recordPosts(tab);
    await tab.goto(url);
    return tab;
  };

  test("labels with keys, takes back, skips, takes refusals, and goes on after a reload", async () => {
    const { page, faults } = await open();
    await says(page, "No campaign has begun here");
    await beginExample(page);
    await says(page, "Why this one:");
    expect(await questionIn(page).textContent()).not.toMatch(/\bsex\b/);
    await press(page, "1");
    const second = await press(page, "y");
    await says(page, "2 answers saved");
    await says(page, "2 of 100 labels collected");

    await page.keyboard.press("u");
    await eventually(() => itemIn(page)).toBe(second);
    await says(page, "1 of 100 labels collected");
    await press(page, "n");
    const skipped = await press(page, "s");
    await press(page, "r");
    await says(page, "2 of 100 labels collected");
    await says(page, "3 answers saved");
    const waiting = await itemIn(page);

    await page.reload();
    await eventually(() => itemIn(page)).toBe(waiting);
    await says(page, "2 of 100 labels collected");
    const seen = new Set([skipped, second]);
    for (let i = 0; i < 6; i++) {
      const item = await press(page, i % 2 === 0 ? "1" : "2");
      expect(seen).not.toContain(item);
      seen.add(item);
    }
    await says(page, "8 of 100 labels collected");
    await page.reload();
    await says(page, "8 of 100 labels collected");
    const shown = await itemIn(page);
    await page.keyboard.press("u");
    await nextAfter(page, shown);
    expect(seen).toContain(await itemIn(page));
    await says(page, "7 of 100 labels collected");
    expect(faults).toEqual([]);
  });

  test("an annotators' page that is come to from an owner's has no table in it", async () => {
    const { page } = await open();
    await beginExample(page);
    await page.getByText("example-hiring.csv").first().waitFor();
    const loaded = page.waitForEvent("load");
    await page.evaluate(() => {
      location.hash = "#/collect?campaign=example-hiring&view=annotator";
    });
    await loaded;
    await itemIn(page);
    expect(await page.getByText("example-hiring.csv").count()).toBe(0);
  });

  test("two tabs show the same count and never the same record", async () => {
    const { page, url, faults } = await open();
    await beginExample(page);
    const tab = await anotherTab(page, `${url}#/collect?campaign=example-hiring`);
    watch(tab, faults as string[]);
    const seen = new Set([await itemIn(page), await itemIn(tab)]);
    expect(seen.size).toBe(2);
    for (let i = 0; i < 4; i++) {
      await press(page, "1");
      await press(tab, "2");
      for (const each of [page, tab]) {
        const item = await itemIn(each);
        expect(seen).not.toContain(item);
        seen.add(item);
      }
    }
    await says(page, "8 of 100 labels collected");
    await says(tab, "8 of 100 labels collected");
    // What a closed tab held is not lost.
    const held = await itemIn(tab);
    await tab.close();
    const again = await anotherTab(page, `${url}#/collect?campaign=example-hiring`);
    await eventually(() => itemIn(again)).toBe(held);
    expect(faults).toEqual([]);
  });

  test("what is taken back at once stays taken back, however long this browser takes to write it down", async () => {
    const { page, url, faults } = await open();
    await beginExample(page);
    await page.getByRole("link", { name: "All campaigns" }).click();
    const tab = await page.context().newPage();
    watch(tab, faults as string[]);
    await tab.addInitScript(() => {
      const { set } = Object.getOwnPropertyDescriptor(IDBTransaction.prototype, "oncomplete") ?? {};
      Object.defineProperty(IDBTransaction.prototype, "oncomplete", {
        set(this: IDBTransaction, tell: () => void) {
          set?.call(this, () => setTimeout(tell, this.mode === "readwrite" ? 300 : 0));
        },
      });
    });
    await tab.goto(`${url}#/collect?campaign=example-hiring&view=annotator`);
    for (const key of ["1", "2", "s", "r", "n"]) await press(tab, key);
    await tab.keyboard.press("u");
    await eventually(() => questionIn(tab).getByRole("status").textContent()).toMatch(/^3 answers saved\s*$/);
    await page.getByRole("link", { name: "Continue example-hiring" }).click();
    await says(page, "2 of 100 labels collected");
    expect(faults).toEqual([]);
  });

  test("a campaign has the name it was given, and leaves whoever went on to another one there", async () => {
    const { page, url, faults } = await open();
    await beginExample(page);
    const name = page.getByRole("textbox", { name: "Name" });
    for (const goesElsewhere of [false, true]) {
      await page.getByRole("link", { name: "All campaigns" }).click();
      await name.fill(`next-${goesElsewhere}`);
      const held = await holdCalls(page, "begin");
      await page.getByRole("button", { name: "Begin", exact: true }).click();
      await held.wait();
      if (goesElsewhere) await page.getByRole("link", { name: "Continue example-hiring" }).click();
      else await name.fill("typed-since");
      await held.letGo();
      const there = goesElsewhere ? "example-hiring" : "next-false";
      await page.waitForURL(`${url}#/collect?campaign=${there}`);
      await itemIn(page);
    }
    expect(faults).toEqual([]);
  });

  test("a campaign goes to a file and comes back", async () => {
    const { page, faults } = await open();
    await beginExample(page);
    await press(page, "1");
    await says(page, "1 of 100 labels collected");
    await page.getByRole("link", { name: "All campaigns" }).click();
    const download = page.waitForEvent("download");
    await page.getByRole("button", { name: "Save example-hiring to a file" }).click();
    const file = await (await download).path();
    const text = await readFile(file, "utf8");
    expect(text).toContain("fairbed-campaign-backup-1");
    const takeIn = page.locator('input[type="file"]');
    const backup = { name: "x.backup.jsonl", mimeType: "application/x-ndjson", buffer: Buffer.from(text) };
    await takeIn.setInputFiles(backup);
    await says(page, 'there is a campaign "example-hiring" already');
    await page.getByRole("button", { name: "Delete example-hiring" }).click();
    await page.getByRole("button", { name: "Delete for good" }).click();
    await says(page, "example-hiring is deleted.");
    await takeIn.setInputFiles({ ...backup, buffer: Buffer.from(text.slice(0, -40)) });
    await says(page, "damaged");
    await takeIn.setInputFiles(backup);
    await page.getByRole("link", { name: "Continue example-hiring" }).click();
    await says(page, "1 of 100 labels collected");
    await itemIn(page);
    expect(faults).toEqual([]);
  });

  test("the forecast comes with the labels, on a phone too, and the end is said", async () => {
    const { page, faults } = await open("#/collect", { viewport: PHONE, colorScheme: "dark" });
    await page.getByRole("button", { name: "Try the example" }).click();
    await page.getByLabel("Labels to collect").fill("60");
    await page.getByRole("button", { name: "Begin", exact: true }).click();
    await itemIn(page);
    const button = page.getByRole("button", { name: "no", exact: true });
    const { height = 0 } = (await button.boundingBox()) ?? {};
    expect(height).toBeGreaterThanOrEqual(48);
    const wide = () => page.evaluate(() => document.documentElement.scrollWidth);
    expect(await wide()).toBeLessThanOrEqual(PHONE.width);
    for (let i = 0; i < 59; i++) await press(page, i % 3 === 0 ? "1" : "2");
    await page.getByRole("img", { name: /^Accuracy: / }).waitFor();
    expect(await wide()).toBeLessThanOrEqual(PHONE.width);
    await page.keyboard.press("1");
    await says(page, "All labels that are to be paid for are collected.");
    await says(page, "The budget of 60 labels is used up");
    await says(page, "60 of 60 labels collected");
    await page.getByRole("button", { name: "Undo the last" }).click();
    await itemIn(page);
    await says(page, "59 of 60 labels collected");
    expect(faults).toEqual([]);
  });

  test("an annotator's page gets the record and nothing else", async () => {
    const { page, url, faults } = await open();
    await beginExample(page);
    await press(page, "1");
    await says(page, "1 of 100 labels collected");
    await page.getByRole("link", { name: "Start", exact: true }).click();
    await page.getByRole("button", { name: "Close and forget it" }).click();
    await page.getByRole("button", { name: "Try the example" }).waitFor();
    const tab = await anotherTab(page, `${url}#/collect?campaign=example-hiring&view=annotator`);
    watch(tab, faults as string[]);
    for (const key of ["1", "2", "s", "r", "n"]) await press(tab, key);
    await tab.keyboard.press("u");
    await says(tab, "3 answers saved");
    const everything = await everythingIn(tab);
    expect(everything).toContain("test_score");
    for (const hidden of [...REASONS, "male", "composition", "forecast"]) {
      expect(everything).not.toContain(hidden);
    }
    expect(faults).toEqual([]);
  });
});

describeInChromium("collecting with a server", (browser) => {
  const start = async (options?: Parameters<typeof startCollecting>[0]): Promise<RunningServer> => {
    const server = await startCollecting(options);
    closing.push(() => server.close());
    return server;
  };
  const begin = async ({ url }: RunningServer, token?: string): Promise<void> => {
    const got = await fetch(`${url}/api/v1/campaigns`, {
      method: "POST",
      headers: {
        "Content-Type": "application/json",
        ...(token === undefined ? {} : { Authorization: `Bearer ${token}` }),
      },
      body: JSON.stringify(poolBody("clinic", { budget: 30 })),
    });
    expect(got.status).toBe(201);
  };
  const context = async (): Promise<BrowserContext> => {
    const own = await newContext(browser());
    closing.push(() => own.close());
    return own;
  };
  const answersIn = async ({ url }: RunningServer) => {
    const got = await fetch(`${url}/api/v1/campaigns/clinic/answers?limit=1000`);
    return (
      (await got.json()) as { readonly answers: readonly { readonly kind: string; readonly id: string }[] }
    ).answers;
  };

  /** So many questions are out: what the page asks for ahead of time is on its way to it. */
  const hasAsked = ({ url }: RunningServer, pending: number): Promise<void> =>
    eventually(async () => (await fetch(`${url}/api/v1/campaigns/clinic`)).json()).toMatchObject({
      counts: { pending },
    });

  test("a campaign begins in the page and is on the server", async () => {
    const server = await start();
    const page = await (await context()).newPage();
    const faults: string[] = [];
    watch(page, faults);
    await page.goto(`${server.url}/#/collect`);
    await beginExample(page);
    await press(page, "1");
    await press(page, "2");
    await says(page, "2 of 100 labels collected");
    const got = await fetch(`${server.url}/api/v1/campaigns/example-hiring`);
    expect(await got.json()).toMatchObject({ counts: { labelled: 2, initial: 40 }, budget: 100 });
    await says(page, `campaigns are on ${new URL(server.url).host}`);
    expect(faults).toEqual([]);
  });

  test("nothing typed is lost while the server is away", async () => {
    const kept = memoryStore();
    const server = await start({ store: kept, graceSeconds: 5 });
    await begin(server);
    const page = await (await context()).newPage();
    await page.goto(`${server.url}/#/collect?campaign=clinic`);
    await press(page, "1");
    await says(page, "1 answer saved");
    await hasAsked(server, 3);
    await server.close();
    const typed = [await press(page, "1"), await press(page, "2")];
    typed.push(await itemIn(page));
    await page.keyboard.press("1");
    await says(page, "3 answers wait for the server");
    await says(page, "does not answer");
    const back = await start({ store: kept, port: server.port });
    await says(page, "4 answers saved");
    await says(page, "4 of 30 labels collected");
    await itemIn(page);
    const answers = await answersIn(back);
    expect(answers.map(({ id }) => id).slice(1)).toEqual(typed);
    expect(answers.map(({ kind }) => kind)).toEqual(["told", "told", "told", "told"]);
  });

  test("what waits when the tab is closed is sent by the next one, once", async () => {
    const kept = memoryStore();
    const server = await start({ store: kept, graceSeconds: 5 });
    await begin(server);
    const own = await context();
    const page = await own.newPage();
    await page.goto(`${server.url}/#/collect?campaign=clinic`);
    await itemIn(page);
    await hasAsked(server, 3);
    await server.close();
    const typed = await press(page, "2");
    await says(page, "1 answer waits for the server");
    await page.close();
    const back = await start({ store: kept, port: server.port });
    const next = await own.newPage();
    await next.goto(`${back.url}/#/collect?campaign=clinic`);
    await says(next, "1 of 30 labels collected");
    expect((await answersIn(back)).map(({ id }) => id)).toEqual([typed]);
  });

  test("a token is typed, never in an address, and one for label shows the record alone", async () => {
    const kept = memoryStore();
    const tokens = tokensOf(kept);
    const admin = (await tokens.create({ name: "admin", scope: "admin" })).secret;
    const label = (await tokens.create({ name: "ann", scope: "label", campaign: "clinic", annotator: "ann" }))
      .secret;
    const server = await start({ store: kept });
    await begin(server, admin);
    const page = await (await context()).newPage();
    await recordPosts(page);
    const addresses: string[] = [];
    page.on("request", (request) => addresses.push(request.url()));
    await page.goto(`${server.url}/#/collect`);
    const field = page.getByLabel("Token");
    expect(await field.getAttribute("type")).toBe("password");
    await field.fill("fbd_wrong");
    await page.getByRole("button", { name: "Use this token" }).click();
    await says(page, "not known here");
    await field.fill(label);
    await page.getByRole("button", { name: "Use this token" }).click();
    await says(page, "You answer as ann");
    for (const key of ["1", "2", "s", "r"]) await press(page, key);
    await says(page, "3 answers saved");
    await page.keyboard.press("u");
    await says(page, "2 answers saved");
    await page.reload();
    await itemIn(page);
    const everything = await everythingIn(page);
    for (const hidden of [...REASONS, ...SENSITIVE_MARKERS, "composition", "forecast"]) {
      expect(everything).not.toContain(hidden);
    }
    expect([...addresses, page.url()].join("\n")).not.toContain("fbd_");
    expect(await page.evaluate(() => JSON.stringify({ ...localStorage }))).not.toContain("fbd_");
  });

  test("an owner's token on the annotators' page gets no reasons either", async () => {
    const server = await start();
    await begin(server);
    const page = await (await context()).newPage();
    await recordPosts(page);
    await page.goto(`${server.url}/#/collect?campaign=clinic&view=annotator`);
    await press(page, "1");
    await press(page, "2");
    const everything = await everythingIn(page);
    for (const hidden of [...REASONS, ...SENSITIVE_MARKERS]) expect(everything).not.toContain(hidden);
  });
});
