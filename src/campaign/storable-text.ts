/** Texts that every store can keep: PostgreSQL has no NUL, UTF-8 no half characters, and an index no long entries. */
import { utf8ToBytes } from "@noble/hashes/utils.js";
import { InputError } from "../core/errors.js";

export const storableTexts = {
  /** Does not repeat the text, which may be about a person. */
  characters: (what: string) =>
    `${what} contains a NUL character or half of a surrogate pair, which no store can keep: leave it out`,
  long: (what: string, bytes: number) =>
    `${what} has ${bytes} bytes and a store looks up texts of at most ${LONGEST_KEY}: use a shorter one`,
};

/** Bytes; two of them and a name fit into an entry of PostgreSQL's indexes, which ends at 2704. */
export const LONGEST_KEY = 1000;

const UNSTORABLE = /\0|\p{Surrogate}/u;

export const requireStorable = (what: string, text: string): void => {
  if (UNSTORABLE.test(text)) throw new InputError("text", storableTexts.characters(what));
};

/** A text by which something is looked up: an id, a subject, the key of a document. */
export const requireKey = (what: string, text: string): void => {
  requireStorable(what, text);
  if (3 * text.length <= LONGEST_KEY) return;
  const bytes = utf8ToBytes(text).length;
  if (bytes > LONGEST_KEY) throw new InputError("text", storableTexts.long(what, bytes));
};
