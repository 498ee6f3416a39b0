/**
 * A name that an object of a model file has twice. JavaScript keeps the last one and says nothing, so that a parameter
 * would be lost before the model could notice.
 */
import { getFormattedTokens } from "sucrase";

export interface RepeatedKey {
  readonly key: string;
  readonly line: number;
  readonly firstLine: number;
}

interface Token {
  readonly label: string;
  readonly text: string;
  readonly line: number;
  readonly role: number | undefined;
  /** The same for an object's braces and all its own keys. */
  readonly object: string;
}

/** The parser's roles of identifiers: of names that a pattern declares from the first to the last, and of keys. */
const ROLES = { firstDeclared: 2, lastDeclared: 4, key: 10 };

/** The parser's tokens, which it gives as the rows of a table; none where it cannot read the source. */
const tokensOf = (source: string, typescript: boolean): readonly Token[] => {
  let table: string;
  try {
    table = getFormattedTokens(source, { transforms: typescript ? ["typescript"] : [] });
  } catch {
    // What is wrong is said where the file is imported.
    return [];
  }
  const [head, ...rows] = table.split("\n");
  const lines = source.split(/\r\n|\r|\n/);
  const cell = (row: string, column: string): string =>
    row.slice(head.indexOf(` ${column} `) + 1).split(" ", 1)[0];
  return rows.flatMap((row) => {
    const [, line, from, to, label] = /^(\d+):(\d+)-\d+:(\d+) +(\S+) /.exec(row) ?? [];
    if (line === undefined) return [];
    const role = cell(row, "identifierRole");
    return [
      {
        label,
        text: (lines[Number(line) - 1] ?? "").slice(Number(from) - 1, Number(to) - 1),
        line: Number(line),
        role: role === "" ? undefined : Number(role),
        object: cell(row, "contextId"),
      },
    ];
  });
};

/** The first key that is in one object literal twice; undefined where there is none. */
export const repeatedKey = (source: string, typescript: boolean): RepeatedKey | undefined => {
  const tokens = tokensOf(source, typescript);
  const isKey = (i: number): boolean =>
    tokens[i]?.role === ROLES.key && tokens[i + 1]?.label === ":" && Number(tokens[i].object) > 0;
  /** Where an object ends that is taken apart, and not made: `const { a: b, a: c } = d` has a right to its keys. */
  const patterns = new Set<string>();
  tokens.forEach((token, i) => {
    if (token.label === "}" && tokens[i + 1]?.label === "=") patterns.add(token.object);
    if (!isKey(i)) return;
    let value = i + 2;
    while (["[", "{", "..."].includes(tokens[value]?.label ?? "")) value += 1;
    while (isKey(value)) value += 2;
    const { role = 0 } = tokens[value] ?? {};
    if (role >= ROLES.firstDeclared && role <= ROLES.lastDeclared) patterns.add(token.object);
  });
  const seen = new Map<string, number>();
  for (const [i, { text, label, line, object }] of tokens.entries()) {
    if (!isKey(i) || patterns.has(object)) continue;
    const key = label === "string" ? text.slice(1, -1) : text;
    const firstLine = seen.get(`${object} ${key}`);
    if (firstLine !== undefined) return { key, line, firstLine };
    seen.set(`${object} ${key}`, line);
  }
  return undefined;
};
