/** The library's version, for what is written to files; a test holds it to `package.json`. */
export const VERSION = "0.2.0";
