/** Values that so few people have that naming them may say who they are, as a name or an address does. */

/** A value of fewer rows than this is not named in listings, suggestions, errors and reports. */
export const ROWS_TO_NAME_A_VALUE = 5;

export const isRare = (rows: number): boolean => rows < ROWS_TO_NAME_A_VALUE;

export const rareTexts = {
  /** What stands in the place of so many groups or values. */
  some: (what: "group" | "value", count: number) =>
    count === 1
      ? `a ${what} of fewer than ${ROWS_TO_NAME_A_VALUE} rows`
      : `${count} ${what}s of fewer than ${ROWS_TO_NAME_A_VALUE} rows each`,
  notNamed: (what: "group" | "value") =>
    `${what}s of fewer than ${ROWS_TO_NAME_A_VALUE} rows are not named here`,
};

/** How many rows have each of so many classes; labels below 0 are missing. */
export const countClasses = (labels: ArrayLike<number>, classes: number): Int32Array => {
  const counts = new Int32Array(classes);
  for (let row = 0; row < labels.length; row++) if (labels[row] >= 0) counts[labels[row]] += 1;
  return counts;
};

/** The names that at least {@link ROWS_TO_NAME_A_VALUE} rows have. */
export const commonOf = (names: readonly string[], counts: ArrayLike<number>): readonly string[] =>
  names.filter((_, place) => !isRare(counts[place]));

/** The names, with something else in the place of those that are rare. */
export const namesToShow = (
  names: readonly string[],
  labels: ArrayLike<number>,
  what: "group" | "value",
): readonly string[] => {
  const counts = countClasses(labels, names.length);
  return names.map((name, place) =>
    counts[place] > 0 && isRare(counts[place]) ? rareTexts.some(what, 1) : name,
  );
};

/** Whether each class has rows, but so few that it is not to be named. */
export const rareClasses = (labels: ArrayLike<number>, classes: number): readonly boolean[] =>
  Array.from(countClasses(labels, classes), (count) => count > 0 && isRare(count));
