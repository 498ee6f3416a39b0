/** A name for a campaign that the store takes, after the table's, and that no other has. */

const LONGEST = 60;

export const nameAfter = (table: string, taken: readonly string[]): string => {
  const plain = table
    .replace(/\.[a-z0-9]+$/i, "")
    .replace(/[^A-Za-z0-9_-]+/g, "-")
    .replace(/^[-_]+|[-_]+$/g, "")
    .slice(0, LONGEST);
  const base = plain === "" ? "campaign" : plain;
  for (let count = 1; ; count++) {
    const name = count === 1 ? base : `${base}-${count}`;
    if (!taken.includes(name)) return name;
  }
};
