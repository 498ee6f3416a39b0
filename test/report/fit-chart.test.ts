/** A chart in the room that a page has: as wide as that, with its letters as large as before, and no word lost. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { fitChart } from "../../src/report/fit-chart.js";
import { trialsChart } from "../../src/report/plan-charts.js";
import { renderSvg } from "../../src/report/render.js";
import { textWidth, unwrapped, wrapped } from "../../src/report/text-width.js";

const chart = trialsChart(
  ["EPIG", "fair boundary", "random"].map((asking, at) => ({
    asking,
    x: 0.6 + at / 10,
    y: 0.7 - at / 20,
    dropped: false,
  })),
  { level: 0.8, xTitle: "demographic parity (ratio)" },
);
const titleOf = (specification: object) =>
  (specification as { readonly title: { readonly text: string[]; readonly subtitle: string[] } }).title;
const wordsOf = (lines: readonly string[]): string => lines.join(" ");

describe("a chart in a page", () => {
  test.each([300, 358, 680])("is %i pixels wide, with letters of the same size", async (width) => {
    const svg = await renderSvg(fitChart(chart, width));
    expect(Number(/ width="([\d.]+)"/.exec(svg)?.[1])).toBe(width);
    const sizes = (text: string) => [...new Set(text.match(/font-size="[^"]*"/g))].sort();
    expect(sizes(svg)).toEqual(sizes(await renderSvg(chart)));
    const { text, subtitle } = titleOf(fitChart(chart, width));
    expect(wordsOf([...text, ...subtitle])).toBe(
      wordsOf([...titleOf(chart).text, ...titleOf(chart).subtitle]),
    );
    for (const line of subtitle) expect(textWidth(line, 12)).toBeLessThanOrEqual(width);
  });

  test("says below its axis all that it said, in lines that have room", () => {
    const title = "difference of the mean predicted probability";
    const wide = trialsChart([{ asking: "EPIG", x: 0.5, y: 0.5, dropped: false }], {
      level: 0.8,
      xTitle: title,
    });
    const titlesIn = (specification: object) =>
      [...JSON.stringify(specification).matchAll(/"title":("difference[^"]*"|\["difference[^\]]*\])/g)].map(
        ([, found]) => JSON.parse(found) as string | string[],
      );
    expect(titlesIn(fitChart(wide, 680))).toEqual([title]);
    const [lines] = titlesIn(fitChart(wide, 358));
    expect([lines].flat().length).toBe(2);
    expect([lines].flat().join(" ")).toBe(title);
  });

  test("with panels of its own is as it was", () => {
    const panels = { hconcat: [{ mark: "point" as const, data: { values: [] }, encoding: {} }] };
    expect(fitChart(panels, 300)).toBe(panels);
  });
});

test("lines that were broken for want of room are put together again", () => {
  const word = fc.stringMatching(/^[a-z]{1,12}$/);
  fc.assert(
    fc.property(
      fc.array(word, { minLength: 1, maxLength: 40 }),
      fc.integer({ min: 120, max: 500 }),
      (words, width) => {
        const text = words.join(" ");
        expect(unwrapped(wrapped(text, width, 12), width, 12)).toEqual([text]);
      },
    ),
  );
  expect(unwrapped(["dashed: the level", "wanted", "faint: dropped"], 100, 12)).toEqual([
    "dashed: the level wanted",
    "faint: dropped",
  ]);
});
