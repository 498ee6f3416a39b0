/** Addresses as they may be shown. */

const HIDDEN = "…";

/**
 * The text with the passwords of the addresses in it left out: `user:password@` and `?password=`. A password may hold
 * characters that should have been escaped, so everything up to the last `@` goes: of the text where it is the address
 * of a database, else of the word.
 */
export const withoutPassword = (text: string): string =>
  text
    .replace(/^(postgres(?:ql)?:\/\/[^:@]*):.*@/is, `$1:${HIDDEN}@`)
    .replace(/([a-z][a-z0-9+.-]*:\/\/[^\s:@/?#]*):\S*@/gi, `$1:${HIDDEN}@`)
    .replace(/([?&][a-z_]*password=)[^&#\s]*/gi, `$1${HIDDEN}`);
