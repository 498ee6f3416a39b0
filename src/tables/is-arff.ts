/** Whether a text begins like ARFF: with `@relation`, after comments. */
export const isArff = (text: string): boolean => {
  for (let at = 0; at < text.length; ) {
    const found = text.indexOf("\n", at);
    const end = found < 0 ? text.length : found;
    const line = text.slice(at, Math.min(end, at + 1000)).trim();
    if (line !== "" && !line.startsWith("%")) return /^@relation\b/i.test(line);
    at = end + 1;
  }
  return false;
};
