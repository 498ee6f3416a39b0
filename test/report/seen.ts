/** What a browser shows of charts and pages, in numbers that a test can judge. */
import type { Browser } from "playwright-core";

/** A text of a chart, as it is drawn, in pixels of the page. */
interface SeenText {
  readonly text: string;
  readonly left: number;
  readonly right: number;
  readonly top: number;
  readonly bottom: number;
}

export interface SeenChart {
  readonly texts: readonly SeenText[];
  /** Pairs of texts that lie on each other. */
  readonly overlaps: readonly string[];
  /** What lies outside the picture. */
  readonly outside: readonly string[];
  /** The smallest letters, in pixels. */
  readonly smallest: number;
}

/** Letters leave some of their box empty: boxes that only touch are no overlap. */
const TOLERANCE = 1.5;

export const seeChart = async (browser: Browser, svg: string): Promise<SeenChart> => {
  const page = await browser.newPage({ viewport: { width: 1600, height: 1200 } });
  try {
    await page.setContent(`<!doctype html><body style="margin:0">${svg}</body>`);
    return await page.evaluate((tolerance) => {
      const picture = document.querySelector("svg");
      if (picture === null) throw new Error("there is no picture");
      const frame = picture.getBoundingClientRect();
      const isOutside = (box: DOMRect) =>
        box.left < frame.left - 0.5 ||
        box.right > frame.right + 0.5 ||
        box.top < frame.top - 0.5 ||
        box.bottom > frame.bottom + 0.5;
      const elements = [...picture.querySelectorAll("text")].filter(
        (each) => (each.textContent ?? "").trim() !== "" && each.getAttribute("fill") !== "white",
      );
      const texts = elements.map((each) => {
        const { left, right, top, bottom } = each.getBoundingClientRect();
        return { text: each.textContent ?? "", left, right, top, bottom };
      });
      const overlaps = texts.flatMap((a, at) =>
        texts
          .slice(at + 1)
          .filter(
            (b) =>
              Math.min(a.right, b.right) - Math.max(a.left, b.left) > tolerance &&
              Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top) > 2 * tolerance,
          )
          .map((b) => `${a.text} | ${b.text}`),
      );
      const outside = [
        ...elements
          .filter((each) => isOutside(each.getBoundingClientRect()))
          .map((each) => each.textContent ?? ""),
        ...[
          ...picture.querySelectorAll(".mark-symbol path, .mark-rule line, .mark-line path, .mark-area path"),
        ]
          .filter((each) => isOutside(each.getBoundingClientRect()))
          .map((each) => each.outerHTML.slice(0, 200)),
      ];
      const sizes = elements.map((each) => Number.parseFloat(getComputedStyle(each).fontSize));
      return { texts, overlaps, outside, smallest: Math.min(...sizes) };
    }, TOLERANCE);
  } finally {
    await page.close();
  }
};

export interface SeenPage {
  /** How far the page goes beyond the window to the right. */
  readonly tooWide: number;
  readonly text: string;
  /** Of the drawn letters of charts, after scaling. */
  readonly smallest: number;
  /** Elements that no report has: a name became markup. */
  readonly foreign: readonly string[];
}

export const seePage = async (browser: Browser, html: string, width: number): Promise<SeenPage> => {
  const page = await browser.newPage({ viewport: { width, height: 900 } });
  try {
    await page.setContent(html);
    return await page.evaluate(() => {
      const scaled = [...document.querySelectorAll("svg")].flatMap((svg) => {
        const scale = svg.getBoundingClientRect().width / Number(svg.getAttribute("width"));
        return [...svg.querySelectorAll("text")].map(
          (each) => scale * Number.parseFloat(getComputedStyle(each).fontSize),
        );
      });
      return {
        tooWide: document.documentElement.scrollWidth - window.innerWidth,
        text: document.body.textContent ?? "",
        smallest: Math.min(...scaled),
        foreign: [
          ...document.querySelectorAll("script, img, a, iframe, foreignObject, image, use, link, object"),
        ].map((each) => each.outerHTML.slice(0, 100)),
      };
    });
  } finally {
    await page.close();
  }
};
