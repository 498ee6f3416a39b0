import { describe, expect, test } from "vitest";
import { progressStyle, startProgress } from "../../src/cli/progress.js";

/** A stream that remembers what was written, and a clock that a test moves. */
const stage = (columns = 80) => {
  const written: string[] = [];
  const clock = { ms: 0 };
  const stream = { isTTY: true, columns, write: (text: string) => written.push(text) };
  return { written, clock, stream, now: () => clock.ms };
};

describe("progressStyle", () => {
  test("is a bar on a terminal, lines in a pipe, nothing when quiet", () => {
    const write = () => {};
    expect(progressStyle({ write, isTTY: true }, false)).toBe(process.env.TERM === "dumb" ? "lines" : "bar");
    expect(progressStyle({ write }, false)).toBe("lines");
    expect(progressStyle({ write, isTTY: true }, true)).toBe("silent");
  });
});

describe("on a terminal", () => {
  test("redraws one line in place with rate and time left, and clears it", () => {
    const { written, clock, stream, now } = stage();
    const progress = startProgress({ stream, style: "bar", label: "designs", total: 400, now });
    clock.ms = 10_000;
    progress.update(100);
    expect(written).toEqual([
      `\rdesigns ${"█".repeat(6)}${"░".repeat(18)} 25% 100/400 10/s 0:30 left\u001b[K`,
    ]);
    progress.end();
    progress.end();
    progress.update(200);
    expect(written.slice(1)).toEqual(["\r\u001b[K"]);
  });

  test("says how much is done in words where they are given", () => {
    const { written, clock, stream, now } = stage();
    const progress = startProgress({ stream, style: "bar", label: "reproduce", total: 400, now });
    clock.ms = 10_000;
    progress.update(100, "3 of 9 cells done");
    expect(written[0]).toContain(" 25% 3 of 9 cells done 0:30 left");
    const lines = startProgress({ stream, style: "lines", label: "reproduce", total: 400, now });
    clock.ms = 20_000;
    lines.update(100, "3 of 9 cells done");
    expect(written[1]).toBe("reproduce: 25%, 3 of 9 cells done, 0:30 left\n");
  });

  test("redraws at most ten times a second", () => {
    const { written, clock, stream, now } = stage();
    const progress = startProgress({ stream, style: "bar", label: "x", total: 10_000, now });
    for (; clock.ms < 1000; clock.ms++) progress.update(clock.ms);
    expect(written.length).toBe(10);
  });

  test("never wraps", () => {
    const { written, clock, stream, now } = stage(30);
    const progress = startProgress({ stream, style: "bar", label: "a long label", total: 10, now });
    clock.ms = 1000;
    progress.update(5);
    const visible = written[0].replace("\r", "").replace("\u001b[K", "");
    expect(visible.length).toBeLessThan(30);
  });
});

describe("in a pipe", () => {
  test("writes a plain line at most every five seconds", () => {
    const { written, clock, stream, now } = stage();
    const progress = startProgress({ stream, style: "lines", label: "designs", total: 7200, now });
    for (; clock.ms <= 12_000; clock.ms += 1000) progress.update(clock.ms / 1000);
    progress.end();
    expect(written).toEqual([
      "designs: 0%, 5 of 7200, 1/s, 1:59:55 left\n",
      "designs: 0%, 10 of 7200, 1/s, 1:59:50 left\n",
    ]);
  });
});

test("silent says nothing", () => {
  const { written, clock, stream, now } = stage();
  const progress = startProgress({ stream, style: "silent", label: "x", total: 1, now });
  clock.ms = 60_000;
  progress.update(1);
  progress.end();
  expect(written).toEqual([]);
});
