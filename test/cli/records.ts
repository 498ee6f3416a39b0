/** Tables as rows of cells, the names of the columns first, for commands that read CSV. */

type Records = readonly (readonly (string | number)[])[];

/** The rows without these columns: a pool whose labels nobody has yet lacks the target. */
export const withoutColumns = ([names, ...rows]: Records, left: readonly string[]): Records => {
  const kept = names.map((name) => !left.includes(String(name)));
  return [names, ...rows].map((cells) => cells.filter((_, i) => kept[i]));
};
