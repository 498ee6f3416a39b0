import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { progressStyle, startProgress } from "../../src/cli/progress.js";
import { shownLines, shownResult, shownText } from "../../src/cli/terminal-text.js";
import { rightAligned } from "../../src/cli/text-table.js";
import { needsDist } from "../setup/dist.js";
import { invoke, PROBE } from "./invoke.js";

needsDist();
/** Controls, and what turns the direction of writing, by their names in Unicode. */
const OBEYED = /[\p{Cc}\p{Zl}\p{Zp}\p{Bidi_Control}]/u;
const OBEYED_BUT_LINES = /(?![\n\t])[\p{Cc}\p{Zl}\p{Zp}\p{Bidi_Control}]/u;
const anyText = fc.string({
  unit: fc.oneof(
    fc.constantFrom("\u001b", "\u009b", "\u0007", "\u202e", "\u2067", "\n", "\r", "\u007f", "\u2028"),
    fc.string({ unit: "binary", minLength: 1, maxLength: 1 }),
  ),
});

describe("text on a terminal", () => {
  test("has nothing that it would obey", () => {
    fc.assert(
      fc.property(anyText, (text) => {
        expect(shownText(text)).not.toMatch(OBEYED);
        expect(shownLines(text)).not.toMatch(OBEYED_BUT_LINES);
        expect(rightAligned([[text, text]]).join("")).not.toMatch(OBEYED);
        const shown = shownResult({ [text]: [{ deep: text }] });
        expect(Object.keys(shown)).toEqual([shownText(text)]);
        expect(Object.values(shown)).toEqual([[{ deep: shownText(text) }]]);
      }),
    );
  });

  test("is the same text where there is nothing", () => {
    const result = { a: ["é", "日本", 1, null, undefined], b: new Float64Array(2) };
    expect(shownResult(result)).toBe(result);
    expect(shownText("né 日本 🙂")).toBe("né 日本 🙂");
    expect(shownLines("a\n\tb\n")).toBe("a\n\tb\n");
  });

  test("is the same JSON", () => {
    fc.assert(
      fc.property(fc.jsonValue(), anyText, (value, text) => {
        const json = JSON.stringify({ value, [text]: text }, null, 2);
        expect(JSON.parse(shownLines(json))).toEqual(JSON.parse(json));
      }),
    );
  });

  test.each(["bar", "lines"] as const)("labels of progress too: %s", (style) => {
    let written = "";
    const stream = { write: (text: string) => (written += text), columns: 400 };
    let time = 0;
    const label = "\u001b]0;owned\u0007\u202e";
    const progress = startProgress({ stream, style, label, total: 2, now: () => (time += 6000) });
    progress.update(1, label);
    progress.end();
    expect(progressStyle(stream, false)).toBe("lines");
    // What the bar itself draws with.
    expect(written.replaceAll("\u001b[K", "").replaceAll("\r", "")).not.toMatch(OBEYED_BUT_LINES);
    expect(written).toContain("\\u001b]0;owned\\u0007\\u202e");
  });
});

describe("a command with hostile names", () => {
  const shown = "\\u001b[2J\\u009b31m\\u0007\\u202etxt.exe\\u2066\\u000afairbed: all is well\\u000d";

  test("prints and says them harmlessly", async () => {
    const lines = `${[shown, "name", shown, shown, shown].join("\n")}\n`;
    expect(await invoke(["hostile", "say"], { program: PROBE })).toEqual({
      code: 0,
      stdout: lines,
      stderr: `${shown}\n`,
    });
  });

  test("fails in one harmless line", async () => {
    const { code, stderr } = await invoke(["hostile", "fail"], { program: PROBE });
    expect(code).toBe(2);
    expect(stderr).toMatch(/^fairbed: there is no column \\u001b\[2J.*\n$/);
    expect(stderr).not.toMatch(OBEYED_BUT_LINES);
  });

  test("is exact in JSON, and harmless", async () => {
    const { stdout } = await invoke(["hostile", "print", "--json"], { program: PROBE });
    expect(stdout).not.toMatch(OBEYED_BUT_LINES);
    expect(JSON.parse(stdout).name).toBe(
      "\u001b[2J\u009b31m\u0007\u202etxt.exe\u2066\nfairbed: all is well\r",
    );
  });
});
