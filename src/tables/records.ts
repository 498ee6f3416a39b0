/** The records of a text table, with quotes as in RFC 4180, in time that grows with the text alone. */

export interface RecordStyle {
  readonly delimiter: string;
  readonly quote: string;
  /** What stands before a quote inside quotes: the quote itself, or a backslash. */
  readonly escape: string;
}

export interface TextRecord {
  /** The line it begins on, from 1. */
  readonly line: number;
  readonly cells: readonly string[];
  /** Where it ends in the text, its end of line not included. */
  readonly end: number;
  /** Whether a quote is never closed, or followed by more than the end of its cell. */
  readonly broken: boolean;
}

/**
 * One record after the other, empty lines included. An end of line inside quotes belongs to its cell, and so does a
 * separator; the carriage return before an end of line belongs to neither.
 */
export function* recordsOf(
  text: string,
  { delimiter, quote, escape: escapedBy }: RecordStyle,
): Generator<TextRecord, void, undefined> {
  const search = { delimiter: nextOf(text, delimiter), newline: nextOf(text, "\n") };
  let line = 1;
  for (let at = 0; at < text.length; ) {
    const start = line;
    const cells: string[] = [];
    let broken = false;
    for (let ended = false; !ended; ) {
      let quoted: string | undefined;
      if (text.startsWith(quote, at)) {
        const closed = readQuoted(text, at + 1, quote, escapedBy);
        quoted = closed.cell;
        line += closed.lines;
        broken ||= !closed.isClosed;
        at = closed.next;
      }
      const [separator, newline] = [search.delimiter(at), search.newline(at)];
      const end = Math.min(separator, newline, text.length);
      ended = newline <= separator || end === text.length;
      const cut = ended && end > at && text[end - 1] === "\r" ? end - 1 : end;
      const rest = text.slice(at, cut);
      if (quoted === undefined) cells.push(rest);
      else {
        broken ||= rest !== "";
        cells.push(quoted + rest);
      }
      at = ended ? end : end + delimiter.length;
    }
    yield { line: start, cells, end: at, broken };
    at += 1;
    line += 1;
  }
}

/** Where a text is next, from a place that only ever moves on; beyond the end where it is not. */
const nextOf = (text: string, sought: string): ((from: number) => number) => {
  let known = -1;
  return (from) => {
    if (known < from) {
      const found = text.indexOf(sought, from);
      known = found < 0 ? Number.POSITIVE_INFINITY : found;
    }
    return known;
  };
};

/** A cell from after its opening quote on. */
const readQuoted = (text: string, from: number, quote: string, escapedBy: string) => {
  const parts: string[] = [];
  let lines = 0;
  let start = from;
  for (let at = from; at < text.length; at++) {
    const character = text[at];
    if (character === escapedBy && text[at + 1] === quote) {
      parts.push(text.slice(start, at));
      // The quote itself is the beginning of what follows.
      start = at + 1;
      at += 1;
    } else if (character === quote) {
      parts.push(text.slice(start, at));
      return { cell: parts.join(""), next: at + 1, lines, isClosed: true };
    } else if (character === "\n") lines += 1;
  }
  parts.push(text.slice(start));
  return { cell: parts.join(""), next: text.length, lines, isClosed: false };
};
