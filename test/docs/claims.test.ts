/** A number in prose without a source, or another one than its source has, is found. */
import { describe, expect, test } from "vitest";
import { type Claim, figuresOf, isRounded, proseOf, wrongFigures } from "../../scripts/docs/claims.mjs";

const SOURCES: Readonly<Record<string, string>> = { "bench/speed.md": "| step | 28.47 us | 1,234 rows |\n" };
const check = (text: string, claims: readonly Claim[] = []) =>
  wrongFigures({ name: "docs/page.md", text, claims, read: (path) => SOURCES[path] });

const SPEED: Claim = {
  page: "docs/page.md",
  says: "takes 28 us for 1234 rows",
  source: "bench/speed.md",
  find: ["step \\| ([\\d.]+) us", "us \\| ([\\d,]+) rows"],
  command: "node bench/speed.mjs",
};

describe("numbers in prose", () => {
  test("need a source", () => {
    expect(check("# Speed\n\nFairBED is 9 times faster.\n")).toEqual([
      "docs/page.md:3: 9 has no source in docs/claims.json: FairBED is 9 times faster.",
    ]);
    for (const invented of [
      "by .05",
      "up to 3.5x",
      "| a | 12 |",
      "- saves 40 % of labels",
      "1e-7 nats",
      "1,000 seeds",
      "five times faster",
      "twice as fast",
      "half the labels",
    ])
      expect(check(`${invented}\n`)).toHaveLength(1);
  });

  test("agree with their source, rounded as they are written", () => {
    expect(check("A step\ntakes 28 us for 1234 rows.\n", [SPEED])).toEqual([]);
    expect(
      check("A step takes 27 us for 1234 rows.\n", [{ ...SPEED, says: "takes 27 us for 1234 rows" }]),
    ).toEqual(["docs/page.md:1 says 27 where bench/speed.md has 28.47 (node bench/speed.mjs)"]);
    expect(isRounded("0.8", "0.849")).toBe(true);
    expect(isRounded("0.8", "0.851")).toBe(false);
    expect(isRounded(".80", "0.8049")).toBe(true);
    expect(isRounded("-0.0067", "0.0067")).toBe(false);
  });

  test("a sentence that changed, a source that is gone, one number too many", () => {
    expect(check("A step takes 29 us for 1234 rows.\n", [SPEED])).toHaveLength(3);
    expect(check("A step takes 28 us for 1234 rows.\n", [{ ...SPEED, source: "gone.md" }])[0]).toContain(
      "not there",
    );
    expect(
      check("A step takes 28 us for 1234 rows.\n", [{ ...SPEED, find: ["nothing (\\d)"] }])[0],
    ).toContain("nothing like");
    expect(
      check("It takes 28 us for 1234 rows, or 7.\n", [
        { ...SPEED, says: "takes 28 us for 1234 rows, or 7" },
      ])[0],
    ).toContain("3 numbers, and 2");
  });

  test("what is no measurement says what it is", () => {
    const stated = { page: "docs/page.md", says: "within 0.8 of each other" };
    expect(check("Rates within 0.8 of each other.\n", [{ ...stated, is: "requirement" }])).toEqual([]);
    expect(check("Rates within 0.8 of each other.\n", [{ ...stated, is: "true" }])).toHaveLength(1);
  });

  test("are not looked for in code, addresses, names, headings and comments", () => {
    const page = [
      "---",
      "level: 5",
      "---",
      "## 3. What 4 means",
      "",
      "1. Node 20.19 or newer, `--top 20`, [the ledger](page.md#2-more), UTF-8, float32, RFC 4180, section 7,",
      "   2026-01-05, a 95 % interval (Zemel and others, 2013).",
      "<!-- 17 -->",
      "```text",
      "18",
      "```",
      "",
      "    x = 19",
      "",
    ].join("\n");
    expect(figuresOf(proseOf(page)).map(({ text }) => text)).toEqual([]);
  });
});
