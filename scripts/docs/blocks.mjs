// @ts-check
/**
 * The code blocks of a Markdown page, and what is said of them in comments that readers do not see.
 *
 *     <!-- not run: needs a GPU -->      the reason why the next block cannot run here
 *     <!-- file: answers.csv -->         the next block is that file, for the blocks below it
 *     <!-- given                         what runs before the next block and is not shown:
 *     const clinic = async () => "yes";  shell for a shell block, a program for a program
 *     -->
 *     <!-- run with: --seeds 1 -->       options that are added to each fairbed command, to keep it short
 *     <!-- continues -->                 the next program goes on where the one before it ended
 *
 * A block `text`, `output` or `json` right behind one that runs is what that prints. `…` stands for anything in a line,
 * and a line of `…` alone for any number of lines. In programs, a comment behind or below `console.log(…);` is what that
 * line prints.
 */

/**
 * @typedef {object} Block
 * @property {number} line where it begins, from 1
 * @property {string} language
 * @property {string} code
 * @property {Readonly<Record<string, string>>} marks by name: "not run", "file", "given", "run with", "continues"
 * @property {{ from: number, to: number, text: string } | undefined} output the block behind it: its lines, from 0
 */

const MARK = /^(not run|file|run with|given|continues)\b:?\s*([\s\S]*)$/;
const PRINTED = ["text", "output", "json"];
const RUNS = ["sh", "ts", "js"];

/** Whether it is run, and not only shown. @param {Block} block */
export const runs = ({ language, marks }) =>
  RUNS.includes(language) && marks["not run"] === undefined && marks.file === undefined;

/** @param {string} text of a page @returns {Block[]} */
export const blocksOf = (text) => {
  const lines = text.split("\n");
  /** @type {Block[]} */
  const blocks = [];
  /** @type {Record<string, string>} */
  let marks = {};
  /** The block above, as long as only blank lines and comments follow it. @type {Block | undefined} */
  let above;
  for (let at = 0; at < lines.length; at++) {
    const fence = /^(\s*)(`{3,})\s*([\w-]*)[^`]*$/.exec(lines[at]);
    if (fence !== null) {
      const [, indent, ticks, language] = fence;
      const from = at;
      do at++;
      while (at < lines.length && lines[at].trim() !== ticks);
      const code = lines
        .slice(from + 1, at)
        .map((each) => (each.startsWith(indent) ? each.slice(indent.length) : each));
      const marked = Object.keys(marks).length > 0;
      if (
        !marked &&
        PRINTED.includes(language) &&
        above !== undefined &&
        runs(above) &&
        above.output === undefined
      ) {
        above.output = { from: from + 1, to: at, text: code.join("\n") };
      } else {
        above = { line: from + 1, language, code: code.join("\n"), marks, output: undefined };
        blocks.push(above);
      }
      marks = {};
    } else if (/^\s*<!--/.test(lines[at])) {
      const from = at;
      while (at < lines.length - 1 && !lines[at].includes("-->")) at++;
      const comment = lines
        .slice(from, at + 1)
        .join("\n")
        .trim()
        .replace(/^<!--\s*|\s*-->$/g, "");
      const mark = MARK.exec(comment);
      if (mark !== null) marks[mark[1]] = mark[2];
    } else if (lines[at].trim() !== "") {
      above = undefined;
      marks = {};
    }
  }
  return blocks;
};

/** @param {string} text */
const words = (text) => text.replace(/\s+/g, " ").trim();

/** @param {string} line */
const pattern = (line) =>
  words(line)
    .split("…")
    .map((part) => part.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"))
    .join(".*?");

/** Whether what was printed is what the page says, spaces aside. @param {string} said @param {string} printed */
export const agrees = (said, printed) => {
  const lines = said.trimEnd().split("\n");
  const expression = lines
    .map((line) => (line.trim() === "…" ? "(?:.*\\n)*?" : `${pattern(line)}\\n`))
    .join("");
  return new RegExp(`^${expression}$`).test(`${printed.trimEnd().split("\n").map(words).join("\n")}\n`);
};

/** What the comments behind or below `console.log(…);` promise; undefined for a line that promises nothing.
 * @param {string} code @returns {(string | undefined)[]} */
export const promised = (code) =>
  [...code.matchAll(/^\s*console\.log\(.*\);(?:\s*\/\/ (.*))?$/gm)].map(([, comment]) => comment?.trim());

/** The words of a command, quotes taken away; undefined where a shell is needed to understand it.
 * @param {string} line @returns {string[] | undefined} */
export const simpleWords = (line) => {
  /** @type {string[]} */
  const found = [];
  const word = /\s*(?:#.*$|((?:[^\s'"\\|&;<>$`#*]|'[^']*'|"[^"\\$`]*")+)|([\s\S]))/gy;
  for (const [, text, other] of line.trim().matchAll(word)) {
    if (other !== undefined) return undefined;
    if (text !== undefined) found.push(text.replace(/'([^']*)'|"([^"]*)"/g, (_, one, two) => one ?? two));
  }
  return found;
};
