import { significant } from "../../core/number-text.js";
import { isRare, ROWS_TO_NAME_A_VALUE, rareTexts } from "../../core/rare-values.js";

/** What the audit says when it cannot go on, and what it could not estimate. */
export const leakageTexts = {
  length: (what: string, given: number, rows: number): string =>
    `${what} has ${given} values, but the features have ${rows} rows; give one value for each row.`,
  label: (what: string, row: number, label: number, classes: number): string =>
    `${what} of row ${row} is ${label}, but classes are numbered from 0 to ${classes - 1} (or -1 for unknown); name every class or repair the number.`,
  classes: (what: string, classes: number): string =>
    `${what} has ${classes} classes, but the audit needs at least 2; choose another column.`,
  noAdversaries: "The audit got no adversary, but needs at least 1; give for example logistic regression.",
  folds: (folds: number): string =>
    `The audit got ${folds} folds, but needs a whole number of at least 3; 5 is the usual choice.`,
  count: (what: string, given: number, least: number): string =>
    `The audit got ${given} ${what}, but needs a whole number of at least ${least}; leave it out for the usual choice.`,
  fewRows: (what: string, rows: number, classes: number, least: number): string =>
    `${what} has fewer than 2 classes with at least ${least} rows (${classes} classes in ${rows} rows), so nothing can be held out and measured; give more rows, or merge its rare values.`,
  columns: (test: number, table: number): string =>
    `The test rows have ${test} feature columns, but the table has ${table}; encode both in the same way.`,
  columnNames: (given: number, columns: number): string =>
    `There are ${given} column names for ${columns} feature columns; give one for each.`,
  bins: (bins: number): string =>
    `A continuous attribute was to be cut into ${bins} classes, but needs a whole number of at least 2; 4 is the usual choice.`,
  oneValue:
    "The attribute has the same value in every row whose value is known, so it has no groups to compare; choose another column.",
  noTestRows:
    "The test data has no row whose attribute is known and among the groups of the table; give test data with these groups.",
};

/** Notes in a result: what was left out, and why. A `where` is a target value in words, or nothing. */
export const leakageNotes = {
  smallGroup: (group: string, rows: number, least: number, where: string): string =>
    `the group "${group}" has ${isRare(rows) ? `fewer than ${ROWS_TO_NAME_A_VALUE}` : `only ${rows}`} rows${where} and was left out of the estimate: at least ${least} are needed to hold some out`,
  rareGroups: (groups: number): string =>
    `${rareTexts.some("group", groups)} ${groups === 1 ? "was" : "were"} left out of all estimates`,
  rareTargets: (values: number): string =>
    `the base rates leave out ${rareTexts.some("value", values)} of the target`,
  oneGroup: (where: string): string =>
    `only one group is left${where}, so there the features have nothing more to say about the attribute: it counts as 0`,
  absentInTest: (group: string): string =>
    `the group "${group}" has no rows in the test data: nothing can be said about it there`,
  unknown: (rows: number): string =>
    `${rows} ${rows === 1 ? "row" : "rows"} without a known value of the attribute were left out`,
  noSvm: (rows: number): string =>
    `the adversary svm was left out because it is slow on ${rows} rows: name it among the adversaries to have it`,
  cap: (rows: number, cap: number): string =>
    `each adversary learnt from at most ${cap} rows drawn from the ${rows} at hand: with more it might find more`,
  unstable: (adversary: string): string =>
    `the adversary ${adversary} found as much as the best on rows held out, but what it would find with more rows is too uncertain to count`,
  noConditional:
    "no value of the target has two groups with enough rows: the leakage given the target could not be estimated",
  leftOut: (adversary: string, reason: string): string =>
    `the adversary ${adversary} was left out because it cannot learn from this table: ${reason}`,
  undetectable: (most: number): string =>
    `even a leakage of ${significant(most, 2)} nats, close to all there is to know about the attribute, would often go unnoticed with so few rows`,
};
