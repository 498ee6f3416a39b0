/** Names of groups and columns as a chart shows them: of a length that fits, and still told apart. */
import { textWidth } from "./text-width.js";

/** In pixels at the size of a chart's labels: so much fits beside a plot. */
const LONGEST = 230;
const SIZE = 12;
/** Of what is kept of a longer name: what tells names apart is often at the end. */
const AT_THE_END = 0.3;

/** Characters that would break a line, turn the text around or not be seen. */
const UNSEEN = /[\p{Control}\u2028\u2029\u202a-\u202e\u2066-\u2069]+/gu;

const letters = new Intl.Segmenter("en", { granularity: "grapheme" });

/** As many of them from the first on as have room. */
const fitting = (parts: readonly string[], room: number): string[] => {
  const kept: string[] = [];
  let used = 0;
  for (const part of parts) {
    used += textWidth(part, SIZE);
    if (used > room) break;
    kept.push(part);
  }
  return kept;
};

/** A name in one line, cut in its middle where it is long. */
export const shortName = (name: string, longest = LONGEST): string => {
  const plain = name.replace(UNSEEN, " ").trim();
  if (plain === "") return "(empty)";
  if (textWidth(plain, SIZE) <= longest) return plain;
  const parts = Array.from(letters.segment(plain), ({ segment }) => segment);
  const end = fitting(parts.toReversed(), AT_THE_END * longest).reverse();
  const begin = fitting(parts, longest - textWidth(`…${end.join("")}`, SIZE));
  return `${begin.join("")}…${end.join("")}`;
};

/** All names, each another text: those that are cut to the same one are numbered. */
export const shortNames = (names: readonly string[], longest = LONGEST): string[] => {
  const seen = new Map<string, number>();
  return names.map((name) => {
    const short = shortName(name, longest);
    const before = seen.get(short) ?? 0;
    seen.set(short, before + 1);
    return before === 0 ? short : `${short} (${before + 1})`;
  });
};
