/** Which group each row belongs to, and what is wrong with data that do not fit together. */
import { InputError } from "../../core/errors.js";

export const groupTexts = {
  lengths: (what: string, given: number, rows: number): string =>
    `${what} has ${given} values, but there are ${rows} rows of predictions; give one value for each row.`,
  label: (row: number, label: number, groups: number): string =>
    `Row ${row} has the group number ${label}, but group numbers go from 0 to ${groups - 1} (or -1 for unknown); name every group or repair the number.`,
  fewGroups: (groups: number): string =>
    `Group metrics got ${groups} named groups, but need at least 1; give the name of each group.`,
  noRows:
    "Group metrics got no row whose group is known, but need at least 1; check the column with the groups.",
  score: (row: number, score: number): string =>
    `Row ${row} has the score ${score}, but scores are probabilities between 0 and 1; give the probability of the positive class.`,
  weight: (row: number, weight: number): string =>
    `Row ${row} has the weight ${weight}, but weights must be finite and not negative; repair the column with the weights.`,
  noWeight:
    "The rows whose group is known have weights that sum to 0, but at least 1 must count; give one of them a positive weight.",
  reference: (reference: number, groups: number): string =>
    `The reference group was given as number ${reference}, but groups are numbered from 0 to ${groups - 1}; give one of these.`,
  replicates: (replicates: number): string =>
    `Group metrics got ${replicates} bootstrap replicates, but need 0 (no intervals) or a whole number of at least 100; 1000 is a common choice.`,
  leastRows: (least: number): string =>
    `The least number of rows that says something was given as ${least}, but must be a whole number of at least 1; 10 is the usual choice.`,
  selectionRate: (rate: number): string =>
    `The selection rate was given as ${rate}, but must lie between 0 and 1; give the share of rows to select.`,
  noScores: "A selection rate needs at least 1 score, but got none; give the score of each row.",
  noAttributes: "An intersection of groups needs at least 1 attribute, but got none; give one or more.",
  classes: (classes: number): string =>
    `One class against the rest needs a whole number of at least 2 classes, but got ${classes}; give the number of classes.`,
};

export const requireLength = (what: string, values: ArrayLike<number> | undefined, rows: number): void => {
  if (values !== undefined && values.length !== rows) {
    throw new InputError("group-lengths", groupTexts.lengths(what, values.length, rows));
  }
};

/** Throws unless every label is -1 (unknown) or the number of a group. */
export const requireLabels = (labels: Int32Array, groups: number): void => {
  for (let row = 0; row < labels.length; row++) {
    if (labels[row] < -1 || labels[row] >= groups) {
      throw new InputError("group-label", groupTexts.label(row, labels[row], groups));
    }
  }
};
