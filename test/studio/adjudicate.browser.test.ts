/** Running a campaign in the page: what annotators disagree about is settled, and settings change while it runs. */
import type { BrowserContext, Page } from "playwright-core";
import { afterEach, expect, test } from "vitest";
import { memoryStore } from "../../src/campaign/memory-store.js";
import { settingsTexts } from "../../src/campaign/settings.js";
import type { RunningServer } from "../../src/server/start-server.js";
import { tokensOf } from "../../src/server/tokens.js";
import { collectTexts, withDot } from "../../src/studio/screens/collect/collect-texts.js";
import { ID_MARKER, idOf, poolBody, SENSITIVE_MARKERS } from "../server/served.js";
import { describeInChromium } from "../setup/chromium.js";
import { needsDist } from "../setup/dist.js";
import {
  disputeIn,
  eventually,
  everythingIn,
  itemIn,
  press,
  recordPosts,
  says,
  startCollecting,
} from "./collect-page.js";
import { holdCalls, newContext, openStudio, type StudioPage, watch } from "./studio-page.js";
import { AXE, LOOKS, offences } from "./wcag.js";

needsDist();

const closing: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

const settleRegion = (page: Page) => page.getByRole("region", { name: "Settle" });
const opinionsIn = (page: Page) =>
  page
    .getByRole("table", { name: "Who said what" })
    .locator("tbody tr")
    .evaluateAll((rows) => rows.map((row) => Array.from(row.children, (cell) => cell.textContent ?? "")));
const budgetIn = (page: Page) => page.getByLabel("Labels to pay for");
const save = (page: Page): Promise<void> => page.getByRole("button", { name: "Save", exact: true }).click();

describeInChromium("running a campaign without a server", (browser) => {
  const open = async (options = {}): Promise<StudioPage> => {
    const studio = await openStudio(browser(), "#/collect", options);
    closing.push(studio.close);
    return studio;
  };
  const begin = async (page: Page, { budget = "100", opinions = "1", way = "" }): Promise<void> => {
    await page.getByRole("button", { name: "Try the example" }).click();
    await page.getByLabel("Labels to collect").fill(budget);
    await page.getByLabel("People who answer each").fill(opinions);
    if (way !== "") await page.getByLabel("Whom to ask").selectOption(way);
    await page.getByRole("button", { name: "Begin", exact: true }).click();
    await itemIn(page);
  };
  /** A tab of the annotators' page, under a name of its own. */
  const annotate = async (owner: Page, url: string, name: string): Promise<Page> => {
    const tab = await owner.context().newPage();
    await recordPosts(tab);
    await tab.addInitScript((own) => sessionStorage.setItem("fairbed annotator", own), name);
    await tab.goto(`${url}#/collect?campaign=example-hiring&view=annotator`);
    return tab;
  };

  test("two annotators disagree, and whoever runs it settles that, record by record", async () => {
    const { page, url, faults } = await open();
    await begin(page, { opinions: "2" });
    const ann = await annotate(page, url, "ann");
    const ben = await annotate(page, url, "ben");
    for (const tab of [ann, ben]) watch(tab, faults as string[]);
    const said = new Set<string>();
    for (let i = 0; i < 6; i++) said.add(await press(ann, "1"));
    await says(ann, "6 answers saved");
    const both: string[] = [];
    for (let i = 0; i < 12 && both.length < 3; i++) {
      const item = await press(ben, "2");
      if (said.has(item)) both.push(item);
    }
    expect(both).toHaveLength(3);
    await says(page, "Annotators disagree about 3 records.");
    const labelled = async (): Promise<number> =>
      Number(/^(\d+) of 100 labels/.exec((await page.locator("p.answer").textContent()) ?? "")?.[1]);
    const before = await labelled();
    await page.getByRole("link", { name: "Settle them" }).click();

    const first = await disputeIn(page);
    expect(both).toContain(first);
    expect(await opinionsIn(page)).toEqual([
      ["ann", "no"],
      ["ben", "yes"],
    ]);
    await says(page, "3 records to settle");
    expect(await settleRegion(page).textContent()).not.toMatch(/\b(sex|male|female)\b/);
    // The address knows where one was, and the record is the same.
    await page.reload();
    await eventually(() => disputeIn(page)).toBe(first);

    await page.keyboard.press("s");
    await eventually(() => disputeIn(page)).not.toBe(first);
    const second = await disputeIn(page);
    await page.keyboard.press("y");
    await says(page, "1 record settled");
    await eventually(labelled).toBe(before + 1);
    await page.keyboard.press("u");
    await eventually(() => disputeIn(page)).toBe(second);
    await says(page, collectTexts.settledAs("yes"));
    await page.keyboard.press("n");
    const third = await disputeIn(page);
    expect(new Set([first, second, third])).toEqual(new Set(both));
    await settleRegion(page).getByRole("button", { name: "no", exact: true }).click();
    await eventually(() => disputeIn(page)).toBe(first);
    const last = settleRegion(page).getByRole("button", { name: "yes", exact: true });
    await last.focus();
    await page.keyboard.press("Enter");
    await says(page, "All settled.");
    await eventually(() => page.evaluate(() => document.activeElement?.textContent)).toBe("All settled.");
    await says(page, "3 records settled");
    await eventually(labelled).toBe(before + 3);

    // What each of them said is held against it: ben was right once, of the three.
    const agreement = page.getByRole("region", { name: "Agreement" });
    await eventually(() => agreement.locator("tbody tr").allTextContents()).toEqual([
      expect.stringMatching(/^ann\s*\d+\s*3\s*1$/),
      expect.stringMatching(/^ben\s*\d+\s*3\s*2$/),
    ]);
    // Annotators were shown none of it.
    for (const tab of [ann, ben]) {
      const everything = await everythingIn(tab);
      for (const hidden of ["disputed", "Settle", "disagree", "agreement", "to pay for"]) {
        expect(everything).not.toContain(hidden);
      }
    }
    await page.getByRole("link", { name: "Go on asking" }).click();
    await itemIn(page);
    expect(faults).toEqual([]);
  });

  test("nothing to settle is said, and how it comes to be", async () => {
    const { page, url, faults } = await open();
    await begin(page, {});
    await page.goto(`${url}#/collect?campaign=example-hiring&view=disputes`);
    await says(page, collectTexts.nothingDisputed);
    await says(page, collectTexts.oneOpinion);
    expect(faults).toEqual([]);
  });

  test("a budget that is used up is raised, and the campaign and its forecast go on", async () => {
    const { page, url, faults } = await open();
    await begin(page, { budget: "12", way: "random" });
    for (let i = 0; i < 11; i++) await press(page, i % 2 === 0 ? "1" : "2");
    await page.keyboard.press("1");
    await says(page, "All labels that are to be paid for are collected.");
    await says(page, "12 labels paid for: nothing more is asked.");
    const tab = await page.context().newPage();
    watch(tab, faults as string[]);
    await tab.goto(`${url}#/collect?campaign=example-hiring`);
    await says(tab, "All labels that are to be paid for are collected.");

    await budgetIn(page).fill("20");
    await says(page, "12 labels paid for: 8 more can be asked for.");
    await budgetIn(page).press("Enter");
    await says(page, collectTexts.settingsSaved);
    await says(page, "12 of 20 labels collected");
    await itemIn(page);
    await itemIn(tab);
    await says(tab, "12 of 20 labels collected");
    await page.getByRole("img", { name: /^Accuracy: .* after 8 more$/ }).waitFor();
    await budgetIn(page).blur();
    await press(page, "2");
    await says(page, "13 of 20 labels collected");

    await budgetIn(page).fill("");
    await says(page, "No limit: questions go on until nobody is left.");
    await save(page);
    await says(page, "13 labels collected.");
    await eventually(() => page.evaluate(() => document.activeElement?.textContent)).toBe(
      collectTexts.settingsSaved,
    );
    await page.reload();
    await says(page, "13 labels collected.");
    expect(await budgetIn(page).inputValue()).toBe("");
    expect(faults).toEqual([]);
  });

  test("what is typed while settings are being saved stays, to be saved next", async () => {
    const { page, faults } = await open();
    await begin(page, {});
    await page.getByText("More settings").click();
    const cost = page.getByLabel("Price of a label");
    await budgetIn(page).fill("20");
    const held = await holdCalls(page, "configure");
    await save(page);
    await held.wait();
    await cost.fill("1.5");
    await held.letGo();
    await says(page, collectTexts.settingsSaved);
    expect(await cost.inputValue()).toBe("1.5");
    await save(page);
    await eventually(() => page.getByRole("button", { name: "Save", exact: true }).count()).toBe(0);
    expect([await budgetIn(page).inputValue(), await cost.inputValue()]).toEqual(["20", "1.5"]);
    expect(faults).toEqual([]);
  });

  test("what cannot be set is said where it was typed, and changes nothing", async () => {
    const { page, faults } = await open();
    await begin(page, {});
    await page.getByText("More settings").click();
    const whole = (text: string) => withDot(settingsTexts.whole("the number of labels to pay for", text));
    for (const [label, text, problem] of [
      ["Labels to pay for", "0", whole("0")],
      ["Labels to pay for", "2.5", whole("2.5")],
      ["Labels to pay for", "many", whole("many")],
      [
        "People who answer each",
        "",
        withDot(settingsTexts.whole("the number of people who answer each", "empty")),
      ],
      ["Hours to answer in", "-1", withDot(collectTexts.hours("-1"))],
      ["Price of a label", "-2", withDot(settingsTexts.amount("the price of a label", "-2"))],
      ["What all may cost", "x", withDot(settingsTexts.amount("what all may cost", "x"))],
      ["How alike groups are to be treated", "1.2", withDot(settingsTexts.level("1.2"))],
    ] as const) {
      const field = page.getByLabel(label);
      await field.fill(text);
      await save(page);
      await page.getByRole("alert").filter({ hasText: problem }).waitFor();
      expect(await field.getAttribute("aria-invalid")).toBe("true");
      expect(await page.evaluate(() => document.activeElement?.getAttribute("aria-invalid"))).toBe("true");
      await page.getByRole("button", { name: "Leave it as it was" }).click();
    }
    expect(await budgetIn(page).inputValue()).toBe("100");
    // All at once, and they are what holds after a reload.
    await page.getByLabel("People who answer each").fill("3");
    await page.getByLabel("Part that several answer").fill("0.5");
    await page.getByLabel("Hours to answer in").fill("0.5");
    await page.getByLabel("Price of a label").fill("1.25");
    await page.getByLabel("What all may cost").fill("60");
    await page.getByLabel("How alike groups are to be treated").fill("0.8");
    await page.getByLabel("Whom to ask").selectOption("random");
    await save(page);
    await says(page, collectTexts.settingsSaved);
    await page.reload();
    await page.getByText("More settings").click();
    for (const [label, value] of [
      ["People who answer each", "3"],
      ["Part that several answer", "0.5"],
      ["Hours to answer in", "0.5"],
      ["Price of a label", "1.25"],
      ["What all may cost", "60"],
      ["How alike groups are to be treated", "0.8"],
      ["Whom to ask", "random"],
    ] as const) {
      expect([label, await page.getByLabel(label).inputValue()]).toEqual([label, value]);
    }
    expect(faults).toEqual([]);
  });
});

interface Answered {
  readonly kind: string;
  readonly id: string;
  readonly label?: string;
  readonly annotator: string;
}

/** About rows 11 to 13, of which ann and ben say the opposite. */
const DISPUTED = [11, 12, 13];

describeInChromium("running a campaign with a server", (browser) => {
  const start = async (options?: Parameters<typeof startCollecting>[0]): Promise<RunningServer> => {
    const server = await startCollecting(options);
    closing.push(() => server.close());
    return server;
  };
  const api = async ({ url }: RunningServer, method: string, path: string, body?: unknown, token = "") => {
    const got = await fetch(`${url}/api/v1/campaigns${path}`, {
      method,
      headers: {
        ...(body === undefined ? {} : { "Content-Type": "application/json" }),
        ...(token === "" ? {} : { Authorization: `Bearer ${token}` }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    expect(got.ok).toBe(true);
    return got.json();
  };
  /** A campaign on which ann and ben disagree about three records and agree about two. */
  const disputed = async (server: RunningServer, token = ""): Promise<void> => {
    await api(server, "POST", "", poolBody("clinic", { budget: 30, opinions: 2, method: "random" }), token);
    const told = (annotator: string, labels: readonly (readonly [number, string])[]) =>
      api(
        server,
        "POST",
        "/clinic/answers",
        { answers: labels.map(([row, label]) => ({ id: idOf(row), label, annotator })) },
        token,
      );
    const agreed = [
      [20, "yes"],
      [21, "no"],
    ] as const;
    await told("ann", [...DISPUTED.map((row) => [row, "yes"] as const), ...agreed]);
    await told("ben", [...DISPUTED.map((row) => [row, "no"] as const), ...agreed]);
  };
  const adjudicated = async (
    server: RunningServer,
  ): Promise<readonly (readonly [string, string | undefined])[]> => {
    const { answers } = (await api(server, "GET", "/clinic/answers?limit=1000")) as {
      readonly answers: readonly Answered[];
    };
    return answers.filter(({ kind }) => kind === "adjudicated").map(({ id, label }) => [id, label] as const);
  };
  const context = async (options = {}): Promise<BrowserContext> => {
    const own = await newContext(browser(), options);
    closing.push(() => own.close());
    return own;
  };
  const openWith = async (
    own: BrowserContext,
    server: RunningServer,
    token = "",
    view = "",
  ): Promise<Page> => {
    const page = await own.newPage();
    await recordPosts(page);
    if (token !== "") {
      await page.addInitScript((secret) => sessionStorage.setItem("fairbed token", secret), token);
    }
    await page.goto(`${server.url}/#/collect?campaign=clinic${view === "" ? "" : `&view=${view}`}`);
    return page;
  };

  test("the owner sees who said what and how far they agree, settles it, and the label counts", async () => {
    const server = await start();
    await disputed(server);
    const page = await openWith(await context(), server);
    const faults: string[] = [];
    watch(page, faults);
    await says(page, "2 of 30 labels collected");
    // Items yes no | yes no | yes no | yes yes | no no: o(yes, no) = 3, n(yes) = n(no) = 5, n = 10.
    const alpha = 1 - (9 * 3) / (5 * 5);
    const agreement = page.getByRole("region", { name: "Agreement" });
    await agreement
      .getByText(`less often than chance would have it: alpha is ${alpha.toFixed(2)} (`)
      .waitFor();
    await page.getByRole("link", { name: "Settle them" }).click();
    expect(await disputeIn(page)).toBe(idOf(11));
    expect(await opinionsIn(page)).toEqual([
      ["ann", "yes"],
      ["ben", "no"],
    ]);
    const text = (await settleRegion(page).textContent()) ?? "";
    // As poolCsv has them.
    expect(text).toContain(`age${20 + ((11 * 7) % 40)}`);
    for (const marker of SENSITIVE_MARKERS) expect(text).not.toContain(marker);
    await page.keyboard.press("1");
    await says(page, "3 of 30 labels collected");
    await page.keyboard.press("2");
    await page.keyboard.press("1");
    await says(page, "All settled.");
    await says(page, "5 of 30 labels collected");
    expect(await adjudicated(server)).toEqual([
      [idOf(11), "no"],
      [idOf(12), "yes"],
      [idOf(13), "no"],
    ]);
    expect(await api(server, "GET", "/clinic")).toMatchObject({ counts: { disputed: 0, labelled: 5 } });
    // ann was right about one of the three, ben about two; both about the other two.
    await eventually(() => agreement.locator("tbody tr").allTextContents()).toEqual([
      expect.stringMatching(/^ann\s*5\s*5\s*2$/),
      expect.stringMatching(/^ben\s*5\s*5\s*1$/),
    ]);
    expect(faults).toEqual([]);
  });

  test("what is settled while the server is away is kept, and sent once", async () => {
    const kept = memoryStore();
    const server = await start({ store: kept });
    await disputed(server);
    const own = await context();
    const page = await openWith(own, server, "", "disputes");
    expect(await disputeIn(page)).toBe(idOf(11));
    await server.close();
    await page.keyboard.press("2");
    await eventually(() => disputeIn(page)).toBe(idOf(12));
    await says(page, "1 decision waits for the server");
    await page.keyboard.press("1");
    await says(page, "2 decisions wait for the server");
    // The tab goes, and the next one sends what it left; it is not asked about again.
    await page.close();
    const back = await start({ store: kept, port: server.port });
    const next = await openWith(own, back, "", "disputes");
    await eventually(() => disputeIn(next)).toBe(idOf(13));
    await says(next, "4 of 30 labels collected");
    expect(await adjudicated(back)).toEqual([
      [idOf(11), "yes"],
      [idOf(12), "no"],
    ]);
  });

  test("what cannot be settled any more is said, and the others go on", async () => {
    const server = await start();
    await disputed(server);
    const own = await context();
    const page = await openWith(own, server, "", "disputes");
    expect(await disputeIn(page)).toBe(idOf(11));
    // Nobody who only settles holds questions that others could answer.
    expect(await api(server, "GET", "/clinic")).toMatchObject({ counts: { pending: 0 } });
    // The list as it is here stays, so that the record is looked at when it goes.
    await own.route("**/disputes?*", (route) => route.abort());
    // Whoever it is about withdraws while the record is looked at.
    await api(server, "POST", "/clinic/withdrawals", { id: idOf(11) });
    await page.keyboard.press("1");
    await says(page, `What you said of ${idOf(11)} could not be taken: there is no item`);
    await page.keyboard.press("1");
    await says(page, "3 of 30 labels collected");
    expect(await adjudicated(server)).toEqual([[idOf(12), "no"]]);
    await page.getByRole("button", { name: "I have read it" }).click();
    await says(page, "This page looks again by itself.");
    await own.unroute("**/disputes?*");
    await eventually(() => page.getByText("This page looks again by itself.").count()).toBe(0);
    expect(await disputeIn(page)).toBe(idOf(13));
  });

  test("a budget is not changed while the server is away, and what was typed stays", async () => {
    const kept = memoryStore();
    const server = await start({ store: kept });
    await disputed(server);
    const page = await openWith(await context(), server);
    await budgetIn(page).waitFor();
    await server.close();
    await budgetIn(page).fill("44");
    await save(page);
    await says(page, collectTexts.settingsAway);
    expect(await budgetIn(page).inputValue()).toBe("44");
    const back = await start({ store: kept, port: server.port });
    expect(await api(back, "GET", "/clinic")).toMatchObject({ budget: 30 });
    await save(page);
    await says(page, "2 of 44 labels collected");
    expect(await api(back, "GET", "/clinic")).toMatchObject({ budget: 44 });
  });

  test("a finished campaign goes on with a larger budget", async () => {
    const server = await start();
    await api(server, "POST", "", poolBody("clinic", { budget: 2 }));
    const page = await openWith(await context(), server);
    await press(page, "1");
    await page.keyboard.press("2");
    await says(page, "All labels that are to be paid for are collected.");
    await budgetIn(page).fill("3");
    await save(page);
    await itemIn(page);
    await page.keyboard.press("1");
    await says(page, "3 of 3 labels collected");
    expect(await api(server, "GET", "/clinic/settings")).toMatchObject({ budget: 3 });
  });

  test("a token for collect settles and changes nothing; one for label gets nothing of either", async () => {
    const kept = memoryStore();
    const tokens = tokensOf(kept);
    const admin = (await tokens.create({ name: "admin", scope: "admin" })).secret;
    const collect = (await tokens.create({ name: "lead", scope: "collect" })).secret;
    const label = (await tokens.create({ name: "cyd", scope: "label", campaign: "clinic", annotator: "cyd" }))
      .secret;
    const server = await start({ store: kept });
    await disputed(server, admin);

    const lead = await openWith(await context(), server, collect, "disputes");
    expect(await disputeIn(lead)).toBe(idOf(11));
    await says(lead, collectTexts.mayNotChange);
    expect(await budgetIn(lead).count()).toBe(0);
    await lead.keyboard.press("1");
    await says(lead, "3 of 30 labels collected");

    // The addresses of the owner's view are of no use to an annotator, and what they cannot ask for is not asked.
    const own = await context();
    for (const view of ["", "disputes"]) {
      const cyd = await openWith(own, server, label, view);
      await says(cyd, "You answer as cyd");
      await itemIn(cyd);
      expect(await settleRegion(cyd).count()).toBe(0);
      expect(await budgetIn(cyd).count()).toBe(0);
      const everything = await everythingIn(cyd);
      for (const hidden of ["ann", "ben", "disagree", "Settle", "to pay for", "agreement", '"budget"']) {
        expect([view, hidden, new RegExp(`\\b${hidden}\\b`).test(everything)]).toEqual([view, hidden, false]);
      }
      expect(everything).toContain(ID_MARKER);
    }
  });

  for (const { name, ...look } of LOOKS) {
    test(`breaks no rule of WCAG 2.2 AA (${name})`, async () => {
      const server = await start();
      await disputed(server);
      const page = await openWith(await context({ ...look, bypassCSP: true }), server, "", "disputes");
      const found: Record<string, readonly string[]> = {};
      const hold = async (state: string): Promise<void> => {
        await page.evaluate(AXE);
        found[state] = await offences(page);
        const width = await page.evaluate(() => document.documentElement.scrollWidth);
        if (width > look.viewport.width) found[state] = [...found[state], `${width} pixels wide`];
      };
      await disputeIn(page);
      await page.getByRole("region", { name: "Agreement" }).waitFor();
      await hold("a record to settle");
      const { height = 0 } =
        (await settleRegion(page).getByRole("button", { name: "no" }).boundingBox()) ?? {};
      expect(height).toBeGreaterThanOrEqual(48);
      await page.getByText("More settings").click();
      await hold("settings");
      await budgetIn(page).fill("0");
      await save(page);
      await page.getByRole("alert").waitFor();
      await hold("a setting that cannot be");
      await page.getByRole("button", { name: "Leave it as it was" }).click();
      await settleRegion(page).getByRole("button", { name: "no" }).click();
      await page.getByRole("button", { name: "Back to the last" }).click();
      await hold("a settled record");
      await page.getByRole("button", { name: "Keep it" }).click();
      for (const row of DISPUTED.slice(1)) {
        await eventually(() => disputeIn(page)).toBe(idOf(row));
        await settleRegion(page).getByRole("button", { name: "no" }).click();
      }
      await says(page, "All settled.");
      await hold("all settled");
      await page.getByRole("link", { name: "Go on asking" }).click();
      await itemIn(page);
      await hold("asking");
      const broken = Object.fromEntries(Object.entries(found).filter(([, lines]) => lines.length > 0));
      expect(broken).toEqual({});
    });
  }
});
