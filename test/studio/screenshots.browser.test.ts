/**
 * How every screen looks, held against pictures that were looked at: wide and narrow, light and dark.
 *
 *     FAIRBED_UPDATE_SCREENSHOTS=1 npx vitest run test/studio/screenshots.browser.test.ts
 *
 * makes them anew, and writes them in full size to a folder that it prints, to be looked at before they are committed.
 */
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  statSync,
  unlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { describeInChromium, findChromium, launchChromium } from "../setup/chromium.js";
import { needsDist, ROOT } from "../setup/dist.js";
import { keptPicture, pictureDifference } from "./picture-difference.js";
import { LOOKS, type LookName, STATES, UNPICTURED } from "./screen-states.js";
import { openStudio, type StudioPage } from "./studio-page.js";

needsDist();
const MINUTES = 60_000;
const FOLDER = join(ROOT, "test", "studio", "screenshots");
const FONTS = join(FOLDER, "fonts.json");
const isUpdate = process.env.FAIRBED_UPDATE_SCREENSHOTS === "1";
/** Tiles of 32 by 32 pixels of the page that may look different before a picture does. */
const TILES_ALLOWED = 2;
const MOST_BYTES = 1_500_000;

/** How wide a text is in the fonts of this machine; pictures can only be compared where that is the same. */
type Widths = Readonly<Record<string, number>>;
const widthsIn = async (browser: Browser): Promise<Widths> => {
  const page = await browser.newPage();
  try {
    return await page.evaluate(() => {
      const text = "How much a record gives away: 0.0123 nats, 45 % WwIl1";
      const pen = document.createElement("canvas").getContext("2d");
      const widthOf = (font: string): number => {
        if (pen === null) return 0;
        pen.font = font;
        return Math.round(100 * pen.measureText(text).width) / 100;
      };
      return {
        text: widthOf("16px system-ui, sans-serif"),
        bold: widthOf("600 16px system-ui, sans-serif"),
        charts: widthOf("12px Helvetica, Arial, sans-serif"),
        code: widthOf("14px ui-monospace, monospace"),
      };
    });
  } finally {
    await page.close();
  }
};

/** Of this machine; undefined without a browser, and then nothing is compared anyway. */
const findWidths = async (): Promise<Widths | undefined> => {
  const search = findChromium();
  if ("skip" in search) return undefined;
  const browser = await launchChromium(search.executable);
  try {
    return await widthsIn(browser);
  } finally {
    await browser.close();
  }
};

const widths = await findWidths();
const kept = existsSync(FONTS) ? (JSON.parse(readFileSync(FONTS, "utf8")) as Widths) : {};
const isOther = !isUpdate && widths !== undefined && JSON.stringify(widths) !== JSON.stringify(kept);
const fileOf = (state: string, look: LookName): string => `${state}-${look}.webp`;
const expectedFiles = STATES.flatMap(({ name, looks }) => looks.map((look) => fileOf(name, look)));

/** Where what was seen goes when it is not what it should be, or is to be looked at. */
let seenFolder: string | undefined;
const writeSeen = (name: string, picture: Buffer): void => {
  seenFolder ??= mkdtempSync(join(tmpdir(), "fairbed-screenshots-"));
  writeFileSync(join(seenFolder, name), picture);
};

/** Whether every chart has been drawn for the place that it has; panels have a width of their own. */
const chartsFit = (): boolean =>
  [...document.querySelectorAll(".chart")].every((chart) => {
    const svg = chart.querySelector("svg");
    if (svg === null || chart.getAttribute("aria-busy") === "true") return false;
    const room = Math.min(680, Math.max(260, chart.clientWidth));
    return Math.abs(Number(svg.getAttribute("width")) - room) < 2;
  });

/** In full size, as PNG. */
const pictureOf = async (page: Page, look: LookName): Promise<Buffer> => {
  const { viewport, colorScheme } = LOOKS[look];
  await page.emulateMedia({ colorScheme, reducedMotion: "reduce" });
  await page.mouse.move(0, 0);
  await page.setViewportSize(viewport);
  await expect.poll(() => page.evaluate(chartsFit), { timeout: MINUTES }).toBe(true);
  const height = await page.evaluate(async () => {
    await document.fonts.ready;
    // What is laid out again for the room that it found has come to rest.
    let last = 0;
    for (let same = 0; same < 10; same++) {
      await new Promise(requestAnimationFrame);
      const { scrollHeight } = document.documentElement;
      if (scrollHeight !== last) same = 0;
      last = scrollHeight;
    }
    return last;
  });
  // All of it is seen at once, and what sticks to an edge of the window is at that of the page.
  await page.setViewportSize({ width: viewport.width, height: Math.max(viewport.height, height) });
  await page.evaluate(async () => {
    for (let frame = 0; frame < 2; frame++) await new Promise(requestAnimationFrame);
  });
  return page.screenshot({ animations: "disabled", caret: "hide" });
};

/** What is wrong with a picture, in a line; undefined where nothing is. */
const compare = async (file: string, now: Buffer): Promise<string | undefined> => {
  const path = join(FOLDER, file);
  if (!existsSync(path)) {
    writeSeen(file, now);
    return `${file}: there is no picture to compare with; what was seen is in ${seenFolder}`;
  }
  const { sizes, tiles, drawn } = await pictureDifference(readFileSync(path), now);
  if (sizes === undefined && tiles <= TILES_ALLOWED) return undefined;
  writeSeen(file, now);
  if (drawn !== undefined) writeSeen(`${file}.difference.png`, drawn);
  return `${file}: ${sizes ?? `${tiles} parts look different`}; what was seen and the difference are in ${seenFolder}`;
};

const suite = (browser: () => Browser): void => {
  let studio: StudioPage | undefined;
  beforeAll(async () => {
    if (isUpdate) mkdirSync(FOLDER, { recursive: true });
    // The style that hides what changes is none of the page's own.
    studio = await openStudio(browser(), "#/start", { bypassCSP: true, reducedMotion: "reduce" });
    await studio.page.addStyleTag({ content: UNPICTURED });
  });
  afterAll(() => studio?.close());

  for (const { name, looks, reach } of STATES) {
    test(
      name,
      async () => {
        if (studio === undefined) throw new Error("the page is there only while a test runs");
        const { page, faults } = studio;
        await page.emulateMedia({ colorScheme: "light" });
        await page.setViewportSize(LOOKS["wide-light"].viewport);
        await reach(page);
        const wrong: string[] = [];
        for (const look of looks) {
          const seen = await pictureOf(page, look);
          const now = await keptPicture(seen);
          const file = fileOf(name, look);
          if (isUpdate) {
            writeFileSync(join(FOLDER, file), now);
            writeSeen(`${name}-${look}.png`, seen);
          } else wrong.push(...[(await compare(file, now)) ?? []].flat());
        }
        expect(wrong).toEqual([]);
        expect(faults).toEqual([]);
      },
      5 * MINUTES,
    );
  }
};

if (isOther) {
  const skip = "other fonts than those of test/studio/screenshots/fonts.json";
  describe.skip(`the looks of the page (skipped: ${skip})`, () => {
    test.each(STATES)("$name", () => {});
  });
} else describeInChromium("the looks of the page", suite);

describe("the pictures that are kept", () => {
  test("are those of the states, and small", () => {
    const kept = () => readdirSync(FOLDER).filter((file) => file.endsWith(".webp"));
    if (isUpdate) {
      for (const file of kept().filter((each) => !expectedFiles.includes(each)))
        unlinkSync(join(FOLDER, file));
      writeFileSync(FONTS, `${JSON.stringify(widths, null, 2)}\n`);
      console.log(`In full size: ${seenFolder}`);
    }
    expect(kept().sort()).toEqual([...expectedFiles].sort());
    const bytes = kept().reduce((sum, file) => sum + statSync(join(FOLDER, file)).size, 0);
    expect(bytes).toBeLessThan(MOST_BYTES);
  });
});
