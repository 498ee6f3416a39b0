/** One SELECT of a database's own SQL, seen from outside: where it ends, and whether it says in what order rows come. */
import { InputError } from "../core/errors.js";
import { queryTexts } from "./query-relation.js";

export interface SingleStatement {
  /** Without what follows its end: semicolons, spaces and comments. */
  readonly text: string;
  /** Whether it has an ORDER BY that is not inside parentheses. */
  readonly isOrdered: boolean;
}

/** The bits of SQL in which a semicolon or a word means nothing: comments, texts and quoted names. */
const OPAQUE = {
  sqlite: /--[^\n]*|\/\*[\s\S]*?(?:\*\/|$)|'(?:[^']|'')*'|"(?:[^"]|"")*"|`(?:[^`]|``)*`|\[[^\]]*\]/g,
  postgres:
    /--[^\n]*|\/\*[\s\S]*?(?:\*\/|$)|\b[eE]'(?:[^'\\]|\\[\s\S]|'')*'|'(?:[^']|'')*'|"(?:[^"]|"")*"|\$([a-zA-Z_]\w*)?\$[\s\S]*?\$\1\$/g,
} as const;

/** Throws unless the text is one statement that begins as a SELECT does; what it does is the database's to refuse. */
export const singleStatement = (sql: string, dialect: keyof typeof OPAQUE): SingleStatement => {
  // As long as before: comments become spaces, and what is quoted a letter that is no word of SQL.
  const plain = sql.replace(OPAQUE[dialect], (bit) =>
    (/^(--|\/\*)/.test(bit) ? " " : "x").repeat(bit.length),
  );
  const end = plain.search(/[\s;]*$/);
  const body = plain.slice(0, end);
  if (body.includes(";") || !/^[\s(]*(select|with|values|table)\b/i.test(body)) {
    throw new InputError("query", queryTexts.oneSelect);
  }
  return { text: sql.slice(0, end), isOrdered: /\border\s+by\b/i.test(outside(body)) };
};

/** What is not inside parentheses. */
const outside = (sql: string): string => {
  let depth = 0;
  let text = "";
  for (const character of sql) {
    if (character === "(") depth += 1;
    if (depth === 0) text += character;
    if (character === ")") depth -= 1;
  }
  return text;
};
