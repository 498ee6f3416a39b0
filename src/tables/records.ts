/** The records of a text table, with quotes as in RFC 4180, in time that grows with the text alone. */

export interface RecordStyle {
  readonly delimiter: string;
  readonly quote: string;
  /** What stands before a quote inside quotes: the quote itself, or a backslash. */
  readonly escape: string;
}

export interface TextRecord {
  /** The line it begins on, from 1, and that of the next one. */
  readonly line: number;
  readonly nextLine: number;
  readonly cells: readonly string[];
  /** Where it begins and ends in the text, its end of line not included. */
  readonly start: number;
  readonly end: number;
  /** Whether a quote is never closed, or followed by more than the end of its cell. */
  readonly broken: boolean;
}

const [NEWLINE, RETURN, SPACE, TAB] = ["\n", "\r", " ", "\t"].map((each) => each.charCodeAt(0));

/**
 * One record after the other, empty lines included. An end of line inside quotes belongs to its cell, and so does a
 * separator. Lines end with `\n`, `\r\n` or `\r`.
 */
export function* recordsOf(
  text: string,
  style: RecordStyle,
  firstLine = 1,
): Generator<TextRecord, void, undefined> {
  const next = recordReader(text, style, firstLine);
  for (let record = next(); record !== undefined; record = next()) yield record;
}

/** The same, one at a time: the next record with every call, undefined after the last one. */
export const recordReader = (
  text: string,
  { delimiter, quote, escape: escapedBy }: RecordStyle,
  firstLine = 1,
): (() => TextRecord | undefined) => {
  const [separator, opening] = [delimiter.charCodeAt(0), quote.charCodeAt(0)];
  const { length } = text;
  let line = firstLine;
  let at = 0;
  let expected = 0;

  /** Where the unquoted rest of a cell ends: at a separator, an end of line or the end. */
  const cellEnd = (): number => {
    let end = at;
    for (; end < length; end++) {
      const code = text.charCodeAt(end);
      if (code === NEWLINE || code === RETURN) return end;
      if (code === separator && (delimiter.length === 1 || text.startsWith(delimiter, end))) return end;
    }
    return end;
  };

  return () => {
    if (at >= length) return undefined;
    const [startLine, start] = [line, at];
    const cells: string[] = expected > 0 ? new Array<string>(expected) : [];
    let count = 0;
    let broken = false;
    for (;;) {
      let cell: string | undefined;
      if (text.charCodeAt(at) === opening) {
        const closed = readQuoted(text, at + 1, quote, escapedBy);
        line += closed.lines;
        broken ||= !closed.isClosed;
        cell = closed.cell;
        at = closed.next;
      }
      const end = cellEnd();
      if (cell === undefined) cell = text.slice(at, end);
      else if (end > at && !isBlank(text, at, end)) {
        broken = true;
        cell += text.slice(at, end);
      }
      cells[count] = cell;
      count += 1;
      at = end;
      const code = end < length ? text.charCodeAt(end) : NEWLINE;
      if (code === NEWLINE || code === RETURN) break;
      at += delimiter.length;
    }
    cells.length = count;
    expected = count;
    const end = at;
    at += text.charCodeAt(at) === RETURN && text.charCodeAt(at + 1) === NEWLINE ? 2 : 1;
    line += 1;
    return { line: startLine, nextLine: line, cells, start, end, broken };
  };
};

/** Spaces behind a closing quote are no part of its cell. */
const isBlank = (text: string, from: number, to: number): boolean => {
  for (let at = from; at < to; at++) {
    const code = text.charCodeAt(at);
    if (code !== SPACE && code !== TAB) return false;
  }
  return true;
};

/** A cell from after its opening quote on. */
const readQuoted = (text: string, from: number, quote: string, escapedBy: string) => {
  const parts: string[] = [];
  const isDoubled = escapedBy === quote;
  const keep = (start: number, end: number): void => {
    const part = text.slice(start, end);
    parts.push(isDoubled ? part : part.replaceAll(escapedBy + escapedBy, escapedBy));
  };
  let start = from;
  const closed = (at: number, isClosed: boolean) => {
    keep(start, at);
    const cell = parts.length === 1 ? parts[0] : parts.join("");
    return { cell, next: isClosed ? at + 1 : at, lines: linesIn(text, from, at), isClosed };
  };
  for (let at = from; ; ) {
    const found = text.indexOf(quote, at);
    if (found < 0) return closed(text.length, false);
    const isEscaped = isDoubled
      ? text.startsWith(quote, found + 1)
      : isAfterOdd(text, start, found, escapedBy);
    if (!isEscaped) return closed(found, true);
    // The quote itself is the beginning of what follows; what escapes it is no part of the cell.
    keep(start, isDoubled ? found : found - 1);
    start = isDoubled ? found + 1 : found;
    at = found + (isDoubled ? 2 : 1);
  }
};

/** Whether a backslash escapes what stands at `at`: two of them are one backslash, and escape nothing. */
const isAfterOdd = (text: string, from: number, at: number, escapedBy: string): boolean => {
  let count = 0;
  while (at - 1 - count >= from && text[at - 1 - count] === escapedBy) count += 1;
  return count % 2 === 1;
};

/** How often a line ends between two places; to look for ends beyond them would take time that the cell does not. */
const linesIn = (text: string, from: number, to: number): number => {
  let lines = 0;
  for (let at = from; at < to; at++) {
    const code = text.charCodeAt(at);
    if (code === NEWLINE || (code === RETURN && text.charCodeAt(at + 1) !== NEWLINE)) lines += 1;
  }
  return lines;
};
