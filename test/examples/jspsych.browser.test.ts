/** The experiment in `examples/jspsych`, bundled and taken part in with the keyboard, a reload half-way included. */
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { build } from "vite";
import { afterAll, beforeAll, expect, test } from "vitest";
import { restoreCampaign } from "../../src/campaign/backup.js";
import { Campaign } from "../../src/campaign/campaign.js";
import { memoryStore } from "../../src/campaign/memory-store.js";
import { psychometric } from "../../src/design/models/psychometric.js";
import { decodePolicy, encodePolicy } from "../../src/design/policy-file.js";
import { type Observation, runPolicy } from "../../src/workflows/run-policy.js";
import { trainPolicy } from "../../src/workflows/train-policy.js";
import { describeInChromium, serve } from "../setup/chromium.js";
import { ROOT } from "../setup/dist.js";

const FOLDER = join(ROOT, "examples/jspsych");
const policy = decodePolicy(readFileSync(join(FOLDER, "policy.json")));

/** Notices what is above this; a ring shifts it. */
const THRESHOLD = 0.6;

describeInChromium("the experiment with jsPsych", (browser) => {
  let site = "";
  let server: Awaited<ReturnType<typeof serve>>;

  const bundle = (root: string) =>
    build({
      root,
      configFile: false,
      logLevel: "silent",
      build: { outDir: site, emptyOutDir: true },
      resolve: {
        alias: [
          { find: /^fairbed$/, replacement: join(ROOT, "src/browser.ts") },
          { find: /^fairbed\/(\w+)$/, replacement: join(ROOT, "src/$1/index.ts") },
        ],
      },
    });

  beforeAll(async () => {
    site = mkdtempSync(join(tmpdir(), "fairbed-jspsych-"));
    await bundle(FOLDER);
    server = await serve({ isolated: false, folder: site });
  });
  afterAll(async () => {
    await server?.close();
    rmSync(site, { recursive: true, force: true });
  });

  /** Answers the spots from one to another; returns what was shown and said. */
  const takePart = async (page: Page, from: number, to: number): Promise<Observation[]> => {
    const made: Observation[] = [];
    for (let step = from; step < to; step++) {
      const { intensity, context } = await shownDesign(page, step);
      const noticed = intensity > THRESHOLD + 0.3 * context;
      await page.keyboard.press(noticed ? "j" : "f");
      made.push({ design: { intensity, context }, outcome: { outcome: noticed ? 1 : 0 } });
    }
    return made;
  };
  const shownDesign = async (page: Page, step: number) => {
    const spot = page.locator(`.spot[data-step="${step}"]`);
    await spot.waitFor({ state: "attached" });
    return {
      intensity: Number(await spot.getAttribute("data-intensity")),
      context: Number(await spot.getAttribute("data-context")),
    };
  };

  test("adapts, survives a reload, and ends with the library's posterior and a backup", async () => {
    const context = await browser().newContext({ viewport: { width: 900, height: 640 } });
    const page = await context.newPage();
    const problems: string[] = [];
    page.on("pageerror", (error) => problems.push(String(error)));
    page.on("console", (message) => {
      if (message.type() === "error") problems.push(message.text());
    });
    const elsewhere: string[] = [];
    page.on("request", (request) => {
      const url = request.url();
      if (!url.startsWith(server.url) && !/^(data|blob):/.test(url)) elsewhere.push(url);
    });
    await page.goto(`${server.url}/`);
    await page.getByText("There are 12 of them").waitFor();
    await page.keyboard.press("Space");
    const made = await takePart(page, 0, 5);
    // In the middle of a spot: it comes again, and counts once.
    const open = await shownDesign(page, 5);
    const pictures = process.env.FAIRBED_PICTURES;
    if (pictures !== undefined) await page.screenshot({ path: join(pictures, "jspsych-spot.png") });
    await page.reload();
    await page.getByText("You have seen 5 of 12").waitFor();
    await page.keyboard.press("Space");
    expect(await shownDesign(page, 5)).toEqual(open);
    made.push(...(await takePart(page, 5, 12)));

    const result = page.locator("#experiment[data-threshold]");
    await result.or(page.locator(".failure")).waitFor();
    expect(await page.locator(".failure").allTextContents()).toEqual([]);
    if (pictures !== undefined) await page.screenshot({ path: join(pictures, "jspsych-result.png") });
    const { threshold } = (await runPolicy(psychometric(), policy, { history: made }).posterior()).parameters;
    expect(JSON.parse((await result.getAttribute("data-threshold")) ?? "")).toEqual(threshold);
    expect(await page.locator("#mean").textContent()).toBe(threshold.mean.toFixed(2));
    expect(threshold.interval[0]).toBeLessThan(THRESHOLD);
    expect(threshold.interval[1]).toBeGreaterThan(THRESHOLD);
    // It adapts: intensities come close to where noticing begins.
    const late = made.slice(-4).map(({ design }) => Math.abs(design.intensity - threshold.mean));
    expect(Math.min(...late)).toBeLessThan(0.75);

    const downloading = page.waitForEvent("download");
    await page.getByRole("button", { name: "Download the data" }).click();
    const file = await (await downloading).path();
    const store = memoryStore();
    const { name } = await restoreCampaign(store, readFileSync(file, "utf8"));
    expect(name).toMatch(/^threshold-[0-9a-f]+$/);
    const restored = await Campaign.open(store, name);
    const { content } = restored.now;
    if (content.kind !== "design") throw new Error("the backup is of another kind");
    const [[participant, { history }]] = [...content.state.participants()];
    expect(history).toEqual(made);
    expect(participant).not.toBe("");
    // A reload at the end shows the end.
    await page.reload();
    await result.waitFor();
    expect(JSON.parse((await result.getAttribute("data-threshold")) ?? "")).toEqual(threshold);
    // Somebody else begins anew.
    await page.getByRole("button", { name: "Begin with somebody else" }).click();
    await page.getByText("There are 12 of them").waitFor();
    expect(problems).toEqual([]);
    // Nothing is fetched from anywhere else, and nothing is sent.
    expect(elsewhere).toEqual([]);
    await context.close();
  });

  test("a new policy, here a network, is a new campaign, even in the middle of a session", async () => {
    const context = await browser().newContext();
    const page = await context.newPage();
    await page.goto(`${server.url}/`);
    await page.getByText("There are 12 of them").waitFor();
    await page.keyboard.press("Space");
    await takePart(page, 0, 3);
    await shownDesign(page, 3);

    const settings = { kind: "dad", horizon: 2, steps: 2, outer: 10, inner: 20, evaluation: false } as const;
    const network = await trainPolicy(psychometric(), settings);
    const root = mkdtempSync(join(tmpdir(), "fairbed-jspsych-source-"));
    try {
      cpSync(FOLDER, root, { recursive: true });
      symlinkSync(join(ROOT, "node_modules"), join(root, "node_modules"));
      writeFileSync(join(root, "policy.json"), encodePolicy(network));
      await bundle(root);
    } finally {
      rmSync(root, { recursive: true });
    }
    await page.reload();
    await page.getByText("There are 2 of them").waitFor();
    await page.keyboard.press("Space");
    const history = await takePart(page, 0, 2);
    const result = page.locator("#experiment[data-threshold]");
    await result.or(page.locator(".failure")).waitFor();
    expect(await page.locator(".failure").allTextContents()).toEqual([]);
    for (const [step, { design }] of history.entries()) {
      const session = runPolicy(psychometric(), network, { history: history.slice(0, step) });
      expect(await session.next()).toEqual(design);
    }
    await context.close();
  });
});
