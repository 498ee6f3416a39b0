/**
 * How wide a text comes out, without a screen. Charts are laid out where there is no canvas, and Vega then takes 0.8 em
 * for every character: half as much again as is needed, so that names end far from what they name.
 */

/** Of Helvetica, which Arial and Liberation Sans follow, in thousandths of an em: from the space to the tilde. */
const ASCII = [
  278, 278, 355, 556, 556, 889, 667, 191, 333, 333, 389, 584, 278, 333, 278, 278, 556, 556, 556, 556, 556,
  556, 556, 556, 556, 556, 278, 278, 584, 584, 584, 556, 1015, 667, 667, 722, 722, 667, 611, 778, 722, 278,
  500, 667, 556, 833, 722, 778, 667, 778, 722, 667, 611, 722, 667, 944, 667, 667, 611, 278, 278, 278, 469,
  556, 333, 556, 556, 500, 556, 556, 278, 556, 556, 222, 222, 500, 222, 833, 556, 556, 556, 556, 333, 500,
  278, 556, 500, 722, 500, 500, 500, 334, 260, 334, 584,
];
const FIRST = 0x20;
/** Where Helvetica is not there, something wider may be, such as DejaVu Sans. */
const WIDER = 1.15;
const WIDE_EM = 1000;
const OTHER_EM = 650;

const WIDE =
  /\p{Script=Han}|\p{Script=Hiragana}|\p{Script=Katakana}|\p{Script=Hangul}|\p{Extended_Pictographic}/u;
/** What stands on another character or is not seen. */
const NOTHING = /\p{Mark}|\p{Control}|\p{Format}/u;

const thousandths = (character: string): number => {
  const code = character.codePointAt(0) ?? 0;
  const known = ASCII[code - FIRST];
  if (known !== undefined) return known;
  if (NOTHING.test(character)) return 0;
  return WIDE.test(character) ? WIDE_EM : OTHER_EM;
};

/** In pixels, rather too many than too few. */
export const textWidth = (text: string, fontSize: number): number => {
  let sum = 0;
  for (const character of text) sum += thousandths(character);
  return (WIDER * fontSize * sum) / 1000;
};

/** In lines no wider than so many pixels, broken between words; a word that is wider stays whole. */
export const wrapped = (text: string, width: number, fontSize: number): string[] => {
  const lines: string[] = [];
  for (const word of text.split(" ")) {
    const longer = lines.length === 0 ? word : `${lines[lines.length - 1]} ${word}`;
    if (lines.length > 0 && textWidth(longer, fontSize) <= width) lines[lines.length - 1] = longer;
    else lines.push(word);
  }
  return lines;
};

/** Lines of `wrapped` as they were before: one goes on with the next where its first word had no room. */
export const unwrapped = (lines: readonly string[], width: number, fontSize: number): string[] => {
  const whole: string[] = [];
  lines.forEach((line, at) => {
    const before = lines[at - 1];
    const [word] = line.split(" ", 1);
    if (before !== undefined && textWidth(`${before} ${word}`, fontSize) > width)
      whole[whole.length - 1] += ` ${line}`;
    else whole.push(line);
  });
  return whole;
};
