/**
 * Progress on stderr: one bar that redraws in place on a terminal, a plain line now and then in a pipe.
 */
import { shortest } from "../core/number-text.js";
import { shownText } from "./terminal-text.js";

export interface Progress {
  /** How much of the total is done by now, and in words where the bare numbers say little. */
  update(done: number, inWords?: string): void;
  /** Takes the bar away; harmless when called again. */
  end(): void;
}

export type ProgressStyle = "bar" | "lines" | "silent";

/** The part of a stream that progress needs. */
export interface ProgressStream {
  write(text: string): unknown;
  readonly isTTY?: boolean | undefined;
  readonly columns?: number | undefined;
}

/** Ten redraws a second look smooth; more only cost time. */
const REDRAW_MS = 100;
const LINE_MS = 5000;
const BAR_WIDTH = 24;
export const CLEAR_LINE = "\r\u001b[K";

export const progressStyle = (stream: ProgressStream, quiet: boolean): ProgressStyle => {
  if (quiet) return "silent";
  return stream.isTTY === true && process.env.TERM !== "dumb" ? "bar" : "lines";
};

export interface ProgressOptions {
  readonly stream: ProgressStream;
  readonly style: ProgressStyle;
  readonly label: string;
  readonly total: number;
  /** Milliseconds on any steady clock. */
  readonly now?: (() => number) | undefined;
}

export const startProgress = (options: ProgressOptions): Progress => {
  if (options.style === "silent") return { update: () => {}, end: () => {} };
  return options.style === "bar" ? startBar(options) : startLines(options);
};

const startBar = ({ stream, label, total, now = () => performance.now() }: ProgressOptions): Progress => {
  const start = now();
  let drawnAt = Number.NEGATIVE_INFINITY;
  let ended = false;
  return {
    update(done, inWords) {
      const time = now();
      if (ended || time - drawnAt < REDRAW_MS) return;
      drawnAt = time;
      const { fraction, rate, left } = measure(done, total, time - start);
      const filled = Math.round(fraction * BAR_WIDTH);
      const bar = "█".repeat(filled) + "░".repeat(BAR_WIDTH - filled);
      const said = inWords ?? `${done}/${total} ${rate}/s`;
      const line = `${label} ${bar} ${percent(fraction)} ${said} ${left} left`;
      // One write that overwrites and then clears the rest does not flicker; a line that wraps would.
      stream.write(`\r${shownText(line).slice(0, (stream.columns || 80) - 1)}\u001b[K`);
    },
    end() {
      if (!ended && drawnAt > Number.NEGATIVE_INFINITY) stream.write(CLEAR_LINE);
      ended = true;
    },
  };
};

const startLines = ({ stream, label, total, now = () => performance.now() }: ProgressOptions): Progress => {
  const start = now();
  let writtenAt = start;
  let last = total;
  return {
    update(done, inWords) {
      const time = now();
      // The end is always told where a line before it was: else the report stops short of it.
      const ends = done >= total && last < total;
      if (time - writtenAt < LINE_MS && !ends) return;
      last = done;
      writtenAt = time;
      const { fraction, rate, left } = measure(done, total, time - start);
      const said = inWords ?? `${done} of ${total}, ${rate}/s`;
      stream.write(`${shownText(`${label}: ${percent(fraction)}, ${said}, ${left} left`)}\n`);
    },
    end() {},
  };
};

const measure = (done: number, total: number, elapsedMs: number) => {
  const perSecond = elapsedMs > 0 ? (1000 * done) / elapsedMs : 0;
  return {
    fraction: total > 0 ? Math.min(1, done / total) : 1,
    rate: shortest(perSecond, 3),
    left: perSecond > 0 ? duration((total - done) / perSecond) : "?",
  };
};

const percent = (fraction: number): string => `${Math.floor(100 * fraction)}%`;

/** `0:07`, `12:30` or `3:05:00`. */
const duration = (seconds: number): string => {
  const whole = Math.max(0, Math.ceil(seconds));
  const parts = [Math.floor(whole / 60) % 60, whole % 60];
  const hours = Math.floor(whole / 3600);
  const padded = parts.map((part) => String(part).padStart(2, "0")).join(":");
  return hours > 0 ? `${hours}:${padded}` : padded.replace(/^0/, "");
};
