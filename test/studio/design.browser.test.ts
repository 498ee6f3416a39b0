/** Designs in the page: moved by hand, looked for, traded against leakage, and run step by step, with the library's numbers. */
import type { Page } from "playwright-core";
import { afterEach, expect, test } from "vitest";
import { memoryStore } from "../../src/campaign/memory-store.js";
import { NATS } from "../../src/core/information-unit.js";
import { linearGaussian } from "../../src/design/models/linear-gaussian.js";
import { locationFinding } from "../../src/design/models/location.js";
import { psychometric } from "../../src/design/models/psychometric.js";
import { encodePolicy, policyFileTexts } from "../../src/design/policy-file.js";
import { designAnswer } from "../../src/report/design-summary.js";
import { posteriorTexts } from "../../src/report/digits.js";
import { jsonLog } from "../../src/server/log.js";
import { startServer } from "../../src/server/start-server.js";
import { designTaskTexts } from "../../src/studio/worker/design-tasks.js";
import { designFrontier } from "../../src/workflows/design-frontier.js";
import { liveDesign } from "../../src/workflows/live-design.js";
import { QUICK_SEARCH } from "../../src/workflows/policy-defaults.js";
import { runPolicy } from "../../src/workflows/run-policy.js";
import { trainPolicy } from "../../src/workflows/train-policy.js";
import { describeInChromium } from "../setup/chromium.js";
import { needsDist } from "../setup/dist.js";
import {
  holdCalls,
  keptAsJson,
  newContext,
  openStudio,
  PHONE,
  plain,
  type StudioPage,
  watch,
} from "./studio-page.js";

needsDist();

const MINUTE = 60_000;
const closing: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

interface KeptDesign {
  readonly designs: number[][];
  readonly found?: { readonly policy: unknown };
  readonly frontier?: { readonly points: readonly unknown[] };
}
const keptDesign = async (page: Page): Promise<KeptDesign> =>
  ((await keptAsJson(page, "design")) ?? { designs: [] }) as KeptDesign;
const answer = (page: Page): Promise<string> =>
  page
    .locator(".answer")
    .textContent()
    .then((text) => (text ?? "").trim());
const point = (page: Page, index: number) =>
  page.getByRole("button", { name: new RegExp(`^Design ${index}:`) });
const drag = async (page: Page, index: number, by: readonly [number, number]): Promise<void> => {
  const box = await point(page, index).boundingBox();
  if (box === null) throw new Error("the point is not shown");
  const [x, y] = [box.x + box.width / 2, box.y + box.height / 2];
  await page.mouse.move(x, y);
  await page.mouse.down();
  await page.mouse.move(x + by[0], y + by[1], { steps: 6 });
  await page.mouse.up();
};
const finished = (page: Page): Promise<void> =>
  page.locator(".progress").waitFor({ state: "detached", timeout: 2 * MINUTE });
const policyFile = (name: string, content: Uint8Array | string) => ({
  name,
  mimeType: "application/octet-stream",
  buffer: Buffer.from(content),
});

/** What the library says of where the designs are, in the page's words. */
const answerOfLibrary = async (page: Page): Promise<string> => {
  const model = locationFinding();
  const { designs } = await keptDesign(page);
  const live = liveDesign(model, { horizon: designs.length });
  const information = await live.refine(designs);
  live.dispose();
  const { parameters } = model;
  return designAnswer(information, designs.length, { parameters, objective: "conditional", unit: NATS });
};

describeInChromium("designs in the page", (browser) => {
  const open = async (hash: string, options = {}): Promise<StudioPage> => {
    const studio = await openStudio(browser(), hash, options);
    closing.push(studio.close);
    return studio;
  };
  const served = async (hash: string) => {
    const server = await startServer({
      store: memoryStore(),
      port: 0,
      log: jsonLog(() => {}),
      graceSeconds: 0,
    });
    closing.push(() => server.close());
    const context = await newContext(browser());
    closing.push(() => context.close());
    const page = await context.newPage();
    const faults: string[] = [];
    watch(page, faults);
    await page.goto(`${server.url}/${hash}`);
    return { page, faults };
  };

  for (const where of ["static, wide", "static, narrow and dark", "served"] as const) {
    test(
      `follow the mouse and the keys, with the library's numbers (${where})`,
      async () => {
        const hash = "#/design?observations=2";
        const look = where === "static, wide" ? {} : { viewport: PHONE, colorScheme: "dark" as const };
        const { page, faults } = where === "served" ? await served(hash) : await open(hash, look);
        await expect.poll(() => answer(page), { timeout: MINUTE }).toMatch(/^These 2 observations tell/);
        const before = await answer(page);
        await drag(page, 1, [40, -30]);
        await expect.poll(() => answer(page)).not.toBe(before);
        await expect
          .poll(async () => (await answer(page)) === (await answerOfLibrary(page)), { timeout: MINUTE })
          .toBe(true);

        const [[x, y]] = (await keptDesign(page)).designs;
        await point(page, 1).focus();
        await page.keyboard.press("ArrowRight");
        await page.keyboard.press("Shift+ArrowUp");
        // What is shown is eight units wide: a hundredth of it, and a tenth.
        await expect
          .poll(async () => (await keptDesign(page)).designs[0].map((value, d) => value - [x, y][d]))
          .toEqual([expect.closeTo(0.08, 1), expect.closeTo(0.8, 1)]);
        // A setting that is dragged stays under the hand.
        const slider = await page.getByRole("slider").elementHandle();
        await slider?.focus();
        await page.keyboard.press("ArrowRight");
        await expect.poll(() => page.url()).toContain("beta=0.85");
        expect(await slider?.evaluate((element) => element.isConnected)).toBe(true);
        expect(faults).toEqual([]);
      },
      4 * MINUTE,
    );
  }

  test(
    "are kept over a reload and over another table, and typed in where that is easier",
    async () => {
      const { page, url, faults } = await open("#/design?model=pharmacokinetics&observations=2");
      await page.getByText("Details").click();
      const time = page.getByLabel("time of design 2");
      await time.fill("99");
      await time.press("Enter");
      // As late as the model allows.
      await expect.poll(() => time.inputValue()).toBe("24");
      await time.fill("");
      await time.press("Tab");
      await expect.poll(() => time.inputValue()).toBe("24");
      await expect.poll(async () => (await keptDesign(page)).designs[1]).toEqual([24]);
      await page.goto(`${url}#/start`);
      await page.getByRole("button", { name: "Try the example" }).click();
      await page.getByText("example-hiring.csv").first().waitFor();
      await page.goto(`${url}#/design`);
      await page.reload();
      await page.getByText("Details").click();
      await expect.poll(() => time.inputValue()).toBe("24");
      expect(await page.getByLabel("Experiment").inputValue()).toBe("pharmacokinetics");
      expect(faults).toEqual([]);
    },
    4 * MINUTE,
  );

  test("come for the settings that are chosen while they are on their way", async () => {
    const { page, faults } = await open("#/design?model=linear-gaussian&observations=2");
    await expect.poll(() => answer(page)).toMatch(/^These 2/);
    const held = await holdCalls(page, "scene");
    await page.getByRole("spinbutton", { name: "Observations" }).fill("3");
    await page.getByRole("spinbutton", { name: "Observations" }).press("Enter");
    await held.wait();
    await page.getByRole("slider").press("ArrowRight");
    await expect.poll(() => page.url()).toContain("beta=0.85");
    await held.letGo();
    await expect.poll(() => answer(page)).toMatch(/^These 3/);

    // What was moved by hand is there again after a reload at once, also where beta is chosen before it is shown.
    const heldAgain = await holdCalls(page, "scene", "the next load");
    const first = await point(page, 1).getAttribute("aria-label");
    const moved = await page.evaluate(async () => {
      const shown = document.querySelector('[aria-label^="Design 1:"]');
      shown?.dispatchEvent(new KeyboardEvent("keydown", { key: "ArrowRight", bubbles: true }));
      await new Promise(requestAnimationFrame);
      setTimeout(() => location.reload());
      return shown?.getAttribute("aria-label");
    });
    expect(moved).not.toBe(first);
    await heldAgain.wait();
    await page.getByRole("slider").press("ArrowRight");
    await heldAgain.wait(2);
    await heldAgain.letGo();
    await expect.poll(() => answer(page)).toMatch(/^These 3/);
    expect(await point(page, 1).getAttribute("aria-label")).toBe(moved);
    expect(faults).toEqual([]);
  });

  test("leave whoever goes elsewhere there", async () => {
    const { page, url, faults } = await open("#/design");
    const held = await holdCalls(page, "load");
    const file = { kind: "static", horizon: 1, designs: [[1, 2]] };
    await page.getByLabel("Load a policy").setInputFiles(policyFile("own.json", JSON.stringify(file)));
    await held.wait();
    await page.getByRole("link", { name: "Export", exact: true }).click();
    await page.waitForURL(/#\/export/);
    await held.letGo();
    await expect.poll(() => keptAsJson(page, "design session")).toBeDefined();
    expect(page.url()).toBe(`${url}#/export`);
    await page.getByRole("link", { name: "Design", exact: true }).click();
    await page.getByText("Observation 1 of 1").waitFor();
    // A setting that changes once a link was followed, and before the page hears of it.
    await page.evaluate(() => {
      location.hash = "#/export";
      const slider = document.querySelector<HTMLInputElement>('input[type="range"]');
      if (slider !== null) slider.value = "0.5";
      slider?.dispatchEvent(new Event("input", { bubbles: true }));
    });
    await page.getByRole("heading", { name: "Export" }).waitFor({ state: "attached" });
    expect(page.url()).toBe(`${url}#/export`);
    expect(faults).toEqual([]);
  });

  test("that are closed while a step is computed stay closed", async () => {
    const { page, faults } = await open("#/design?model=linear-gaussian&observations=1");
    const close = page.getByRole("button", { name: "Close", exact: true });
    const makeUp = page.getByRole("button", { name: "Make up an outcome" });
    const again = page.getByRole("button", { name: "Begin again" });
    for (const step of [makeUp, again]) {
      await page.getByRole("button", { name: "Run these designs step by step" }).click();
      await page.getByText("Observation 1 of 1").waitFor();
      if (step === again) {
        await makeUp.click();
        await page.getByText("All 1 observations are made").waitFor();
      }
      const held = await holdCalls(page, "step");
      await step.click();
      await held.wait();
      await close.click();
      await held.letGo();
      expect(await close.count()).toBe(0);
      await page.getByLabel("Load a policy").setInputFiles(policyFile("people.csv", "a,b\n1,2\n"));
      await page.getByText(policyFileTexts.notJson("people.csv")).waitFor();
    }
    expect(await keptAsJson(page, "design session")).toBeUndefined();
    expect(faults).toEqual([]);
  });

  test(
    "travel while they are looked for, and end where the library's do",
    async () => {
      const { page, faults } = await open("#/design?model=linear-gaussian&observations=2&beta=0.6&seed=3");
      await expect.poll(() => answer(page), { timeout: MINUTE }).toMatch(/^These 2/);
      await page.getByRole("button", { name: "Optimise" }).click();
      const seen = new Set<string>();
      while (await page.locator(".progress").isVisible()) {
        seen.add(await page.locator(".plane").first().innerHTML());
      }
      await finished(page);
      expect(seen.size).toBeGreaterThan(2);
      const { steps, starts, evaluation } = QUICK_SEARCH;
      const expected = await trainPolicy(linearGaussian(), {
        horizon: 2,
        beta: 0.6,
        seed: 3,
        steps,
        starts,
        evaluation,
      });
      await expect.poll(async () => (await keptDesign(page)).found?.policy).toEqual(plain(expected));
      const [download] = await Promise.all([
        page.waitForEvent("download"),
        page.getByRole("button", { name: "Save policy.json" }).click(),
      ]);
      expect(download.suggestedFilename()).toBe("policy.json");
      await page.getByRole("link", { name: "Export" }).click();
      await page.getByText("The designs are ready to save").waitFor();
      expect(faults).toEqual([]);
    },
    4 * MINUTE,
  );

  test(
    "make a frontier point by point; stopping keeps what was found, and another experiment makes it stale",
    async () => {
      const { page, faults } = await open("#/design?model=linear-gaussian&observations=1");
      await expect.poll(() => answer(page), { timeout: MINUTE }).toMatch(/^This observation/);
      await page.getByRole("button", { name: "Trace the frontier" }).click();
      const rows = page.getByRole("table", { name: "Points of the frontier" }).locator("tbody tr");
      await expect.poll(() => rows.count(), { timeout: MINUTE }).toBeGreaterThanOrEqual(2);
      await page.locator("main").getByRole("button", { name: "Stop" }).click();
      await page.getByText("Stopped. The designs are where they had got to").waitFor();
      const count = await rows.count();
      const { steps, starts, evaluation } = QUICK_SEARCH;
      const expected = await designFrontier(linearGaussian(), {
        horizon: 1,
        betas: [0, 0.2],
        steps,
        starts,
        evaluation,
        source: { options: {} },
      });
      await expect.poll(async () => (await keptDesign(page)).frontier?.points.length).toBe(count);
      expect((await keptDesign(page)).frontier?.points.slice(0, 2)).toEqual(plain(expected));
      await page.getByRole("button", { name: "Show the designs at β = 0.2" }).click();
      await expect.poll(async () => (await keptDesign(page)).designs).toEqual(plain(expected[1].designs));
      expect(page.url()).toContain("beta=0.2");
      await page.getByRole("spinbutton", { name: "Observations" }).fill("3");
      await page.getByRole("spinbutton", { name: "Observations" }).press("Enter");
      await page.getByText("This is the frontier for other settings").waitFor();
      expect(faults).toEqual([]);
    },
    4 * MINUTE,
  );

  test(
    "of a policy that is loaded are run step by step, with the library's posterior, over a reload",
    async () => {
      const model = linearGaussian({ noise: 0.5 });
      const designs = [
        [1, 0.2],
        [2, -0.4],
      ];
      const policy = await trainPolicy(model, {
        ...{ horizon: 2, steps: 1, starts: 1, evaluation: false },
        start: { designs },
        source: { options: { noise: 0.5 } },
      });
      const { page, faults } = await open("#/design");
      await page.getByLabel("Load a policy").setInputFiles(policyFile("clinic.json", encodePolicy(policy)));
      await page.getByText("Observation 1 of 2").waitFor();
      expect(await page.getByLabel("Experiment").inputValue()).toBe("linear-gaussian");
      await page.getByRole("button", { name: "Take it in" }).click();
      await page.getByText("Give outcome as a number").waitFor();
      await page.getByLabel("What came of it: outcome").fill("1.25");
      await page.getByRole("button", { name: "Take it in" }).click();
      await page.getByText("Observation 2 of 2").waitFor();
      await page.reload();
      await page.getByText("Observation 2 of 2").waitFor();
      await page.getByLabel("What came of it: outcome").fill("-0.5");
      await page.getByLabel("What came of it: outcome").press("Enter");
      await page.getByText("All 2 observations are made").waitFor();
      const session = runPolicy(model, policy);
      for (const outcome of [1.25, -0.5]) {
        await session.next();
        session.tell(outcome);
      }
      const { theta, phi } = (await session.posterior()).parameters;
      const known = page.getByRole("group", { name: "What is known by now" });
      for (const each of [theta, phi]) {
        const { mean, interval } = posteriorTexts(each);
        await known.getByText(`${mean} (${interval})`).waitFor();
      }
      expect(faults).toEqual([]);
    },
    4 * MINUTE,
  );

  test(
    "of a network follow what is observed; outcomes can be made up, and the truth shown in the end",
    async () => {
      const policy = await trainPolicy(psychometric(), {
        ...{ kind: "dad", horizon: 2, steps: 3, evaluation: false },
        sizes: { outer: 8, contrastive: 8, marginal: 8 },
      });
      const { page, faults } = await open("#/design");
      await page
        .getByLabel("Load a policy")
        .setInputFiles(policyFile("network.policy", encodePolicy(policy)));
      await page.getByText("Observation 1 of 2").waitFor();
      await page.getByRole("button", { name: "outcome = 1" }).click();
      await page.getByText("Observation 2 of 2").waitFor();
      const session = runPolicy(psychometric(), policy);
      await session.next();
      session.tell(1);
      const { intensity } = await session.next();
      await page
        .getByText(`intensity = ${Number(intensity.toPrecision(4))}`)
        .first()
        .waitFor();
      // Bounds hold from the start, whatever was shown before.
      for (const [intensity, context] of (await keptDesign(page)).designs) {
        expect(Math.abs(intensity)).toBeLessThanOrEqual(4);
        expect(Math.abs(context - 0.5)).toBeLessThanOrEqual(0.5);
      }
      await page.getByRole("button", { name: "Begin again" }).click();
      for (const observation of [1, 2]) {
        await page.getByText(`Observation ${observation} of 2`).waitFor();
        await page.getByRole("button", { name: "Make up an outcome" }).click();
      }
      await page.getByText("All 2 observations are made").waitFor();
      await page.getByRole("button", { name: "Show what was to be found out" }).click();
      await page.getByText("The tall line: what was to be found out").waitFor();
      expect(faults).toEqual([]);
    },
    4 * MINUTE,
  );

  test("of files that are none, or of another's model, are refused in a sentence", async () => {
    const { page, faults } = await open("#/design");
    const load = page.getByLabel("Load a policy");
    const refused = (text: string) =>
      expect.poll(() => page.getByRole("alert").allTextContents()).toEqual([expect.stringContaining(text)]);
    await load.setInputFiles(policyFile("people.csv", "a,b\n1,2\n"));
    await refused(policyFileTexts.notJson("people.csv"));
    await load.setInputFiles(
      policyFile("own.json", JSON.stringify({ designs: [[1]], kind: "static", horizon: 1 })),
    );
    await refused("design 1 of own.json has 1 number and the model 2");
    const foreign = { format: "fairbed policy", version: 1, kind: "static", horizon: 1, designs: [[1]] };
    const model = {
      name: "mine",
      options: {},
      parameters: [],
      design: ["x"],
      outcomes: ["y"],
      fingerprint: "0",
      file: "mine.ts",
    };
    await load.setInputFiles(policyFile("mine.json", JSON.stringify({ ...foreign, model })));
    await refused(designTaskTexts.ownModel("mine.json", "mine"));
    expect(faults).toEqual([]);
  });
});
