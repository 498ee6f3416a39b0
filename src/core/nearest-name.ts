/** "Did you mean …?": the known name that a mistyped one was most likely meant to be. */

/** The known name that differs by the fewest edits, where that is no more than a slip; else one that begins alike. */
export const nearestName = (given: string, names: readonly string[]): string | undefined => {
  const wanted = given.trim().toLowerCase();
  let best: { readonly name: string; readonly distance: number } | undefined;
  for (const name of names) {
    const known = name.toLowerCase();
    // A name this much longer or shorter is no slip, and the distance costs the product of the lengths.
    const most = slip(wanted, known);
    if (Math.abs(known.length - wanted.length) > Math.min(best?.distance ?? most, most)) continue;
    const distance = editDistance(wanted, known);
    if (distance <= most && (best === undefined || distance < best.distance)) best = { name, distance };
  }
  if (best !== undefined) return best.name;
  return wanted.length >= 3 ? names.find((name) => name.toLowerCase().startsWith(wanted)) : undefined;
};

/** As many edits as a slip may take; with more than half of a short name changed, it is another name. */
const slip = (wanted: string, known: string): number =>
  Math.min(Math.max(2, Math.floor(known.length / 3)), Math.min(wanted.length, known.length) / 2);

/** Levenshtein's distance: insertions, deletions and replacements. */
const editDistance = (a: string, b: string): number => {
  let row = Array.from({ length: b.length + 1 }, (_, j) => j);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++) {
      next[j] = Math.min(next[j - 1] + 1, row[j] + 1, row[j - 1] + (a[i - 1] === b[j - 1] ? 0 : 1));
    }
    row = next;
  }
  return row[b.length];
};
