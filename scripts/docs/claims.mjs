// @ts-check
/**
 * Numbers in prose, and where they come from.
 *
 * Every number in a sentence or a table of a page needs an entry in `docs/claims.json`, which quotes the words around it
 * (`says`). What was measured or counted names the `source`, a file that a command wrote or a page whose blocks are run;
 * `find`, expressions with a group for each number that is quoted, in order; and the `command`. What is no measurement says
 * what it `is`.
 *
 * No entry is needed for what stands in code, in an address, in a heading or a comment, or matches `NAMES`.
 */

/**
 * @typedef {{ page: string, says: string, source: string, find: string[], command: string }} Sourced
 * @typedef {{ page: string, says: string, is: string }} Stated
 * @typedef {Sourced | Stated} Claim
 * @typedef {{ text: string, at: number, line: number }} Figure
 */

/** What a number may be that nothing measured. */
export const KINDS = [
  "arithmetic",
  "citation",
  "default",
  "definition",
  "example",
  "limit",
  "requirement",
  "setting",
];

/** Numbers that are parts of names: versions, standards, dates, sections, the level of intervals. */
const NAMES = [
  /\b(?:Node|TypeScript|PyTorch|PostgreSQL|WCAG|RFC|Apache(?: License)?|Direct3D|Vulkan|HTTP\/|version|pg-boss|Philox)(?: \(?)\d[\dx.-]*(?: or newer)?/g,
  /\b(?:section|figure|table|appendix|step|exit code)s? \d[\d.]*/gi,
  /\b(?:19|20)\d\d-\d\d-\d\d\b/g,
  /(?<=[A-Za-z*], |[a-z] |\()(?:19|20)\d\d(?=\))/g,
  /\b95 % (?=interval|confidence)|(?<=at )95 %/g,
];

/** The page with everything that is no prose made blank, so that places stay what they are. @param {string} page */
export const proseOf = (page) => {
  /** @param {string} text */
  const blank = (text) => text.replace(/[^\n]/g, " ");
  let prose = page
    .replace(/^---\n[\s\S]*?\n---\n/, blank)
    .replace(/<!--[\s\S]*?-->/g, blank)
    .replace(/^(\s*)(`{3,})[\s\S]*?^\s*\2\s*$/gm, blank)
    .replace(/(?<=\n\n)(?: {4}.*\n)+/g, blank)
    .replace(/(`+)[^`][\s\S]*?\1/g, blank)
    .replace(/\]\([^)]*\)/g, blank)
    .replace(/https?:\/\/\S+/g, blank)
    .replace(/^#+ .*$/gm, blank)
    .replace(/^\s*\d+\. /gm, blank);
  for (const name of NAMES) prose = prose.replace(name, blank);
  return prose;
};

/** How much a comparison in words says. @type {Readonly<Record<string, number>>} */
const WORDS = {
  ...{
    half: 0.5,
    twice: 2,
    two: 2,
    three: 3,
    four: 4,
    five: 5,
    six: 6,
    seven: 7,
    eight: 8,
    nine: 9,
    ten: 10,
  },
  ...{ twenty: 20, fifty: 50, hundred: 100, thousand: 1000 },
};
const DIGITS =
  /(?<![\p{L}\p{N}_.]|\p{L}-)[+-]?(?:\d{1,3}(?:,\d{3})+(?!\d)|\d+)(?:\.\d+)?(?:e[+-]?\d+)?|(?<![\p{L}\p{N}_.])[+-]?\.\d+/gu;
/** "five times faster", "twice as fast", "half the labels": a figure without a digit. */
const COMPARISON = new RegExp(
  `\\b(?:half(?= (?:the|as)\\b)|twice(?= as)|(?:${Object.keys(WORDS).join("|")})(?= times (?:as|faster|slower|smaller|larger|cheaper|fewer|more|less)\\b))`,
  "gi",
);

/** All numbers of a text. @param {string} prose @returns {Figure[]} */
export const figuresOf = (prose) =>
  [...prose.matchAll(DIGITS), ...prose.matchAll(COMPARISON)]
    .sort((one, other) => one.index - other.index)
    .map(({ 0: text, index }) => ({ text, at: index, line: prose.slice(0, index).split("\n").length }));

/** @param {string} text */
const decimals = (text) => (/\.(\d+)/.exec(text)?.[1].length ?? 0) - Number(/\de(.*)$/.exec(text)?.[1] ?? 0);
/** @param {string} text */
const value = (text) => WORDS[text.toLowerCase()] ?? Number(text.replace(/[,_]/g, ""));

/** Whether a number that is written is the source's, rounded. @param {string} written @param {string} found */
export const isRounded = (written, found) =>
  Math.abs(value(written) - value(found)) <= 0.5000001 * 10 ** -decimals(written);

/** @param {string} words */
const quoted = (words) =>
  new RegExp(
    words
      .trim()
      .split(/\s+/)
      .map((word) => word.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"))
      .join("\\s+"),
    "g",
  );

/**
 * What is wrong with a page's numbers, in a sentence each.
 *
 * @param {{ name: string, text: string, claims: readonly Claim[], read: (path: string) => string | undefined }} page
 * @returns {string[]}
 */
export const wrongFigures = ({ name, text, claims, read }) => {
  const prose = proseOf(text);
  const figures = figuresOf(prose);
  /** @type {Set<Figure>} */
  const covered = new Set();
  const problems = claims.flatMap((claim) => {
    const places = [...text.matchAll(quoted(claim.says))];
    if (places.length === 0)
      return [`${name} no longer says "${claim.says}": take it out of docs/claims.json`];
    const inside = places.map(({ 0: words, index }) =>
      figures.filter(({ at }) => at >= index && at < index + words.length),
    );
    for (const figure of inside.flat()) covered.add(figure);
    if (inside[0].length === 0) return [`"${claim.says}" of ${name} has no number that needs a source`];
    if ("is" in claim)
      return KINDS.includes(claim.is)
        ? []
        : [`"${claim.says}" of ${name} is no ${claim.is}: say which of ${KINDS.join(", ")}`];
    const source = read(claim.source);
    if (source === undefined)
      return [`"${claim.says}" of ${name} comes from ${claim.source}, which is not there`];
    /** @type {string[]} */
    const found = [];
    for (const expression of claim.find) {
      const match = new RegExp(expression, "m").exec(source);
      if (match === null)
        return [`"${claim.says}" of ${name}: ${claim.source} has nothing like ${expression}`];
      found.push(...match.slice(1));
    }
    const [written] = inside;
    if (written.length !== found.length)
      return [
        `"${claim.says}" of ${name} has ${written.length} numbers, and ${found.length} are looked for in ${claim.source}`,
      ];
    return written.flatMap(({ text: figure, line }, i) =>
      isRounded(figure, found[i])
        ? []
        : [`${name}:${line} says ${figure} where ${claim.source} has ${found[i]} (${claim.command})`],
    );
  });
  const lines = text.split("\n");
  return [
    ...problems,
    ...figures
      .filter((figure) => !covered.has(figure))
      .map(
        ({ text: figure, line }) =>
          `${name}:${line}: ${figure} has no source in docs/claims.json: ${lines[line - 1].trim()}`,
      ),
  ];
};
