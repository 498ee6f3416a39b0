/** What both mitigations ask of labels and groups: 0 or 1 for every row, and both of each. */
import { InputError } from "../core/errors.js";

export const mitigationTexts = {
  lengths: (what: string, given: number, rows: number) =>
    `there are ${given} ${what} for ${rows} rows: give one for each row`,
  label: (row: number) =>
    `the label of row ${row} is neither 0 nor 1: give 1 for the favourable outcome and 0 for the other`,
  // Says the row and not the entry: it is a person's attribute.
  group: (row: number) =>
    `the group of row ${row} is neither 0 nor 1: give 1 for the privileged group and 0 for the other, and leave out rows whose group is not known`,
  oneLabel: (rows: number) =>
    `all ${rows} rows have the same label, so accuracy says nothing here: give rows with both outcomes`,
  absent: (group: "privileged" | "unprivileged", rows: number) =>
    `none of the ${rows} rows is ${group}, and groups are compared here: give rows of both groups`,
  noRows: () => "there are no rows: give rows of both groups and with both outcomes",
};

/** 0 or 1 for every row. */
const binary = (values: ArrayLike<number>, wrong: (row: number) => string, code: string): Uint8Array => {
  const out = new Uint8Array(values.length);
  for (let i = 0; i < values.length; i++) {
    if (values[i] !== 0 && values[i] !== 1) throw new InputError(code, wrong(i));
    out[i] = values[i];
  }
  return out;
};

const requireCount = (what: string, given: ArrayLike<unknown>, rows: number): void => {
  if (given.length !== rows) throw new InputError("shape", mitigationTexts.lengths(what, given.length, rows));
};

/** Labels of `rows` rows, both outcomes among them. */
export const checkLabels = (labels: ArrayLike<number>, rows: number): Uint8Array => {
  requireCount("labels", labels, rows);
  if (rows === 0) throw new InputError("no-rows", mitigationTexts.noRows());
  const checked = binary(labels, mitigationTexts.label, "label");
  if (checked.every((label) => label === checked[0]))
    throw new InputError("one-class", mitigationTexts.oneLabel(rows));
  return checked;
};

/** Groups of `rows` rows. */
export const checkGroups = (privileged: ArrayLike<number>, rows: number): Uint8Array => {
  requireCount("groups", privileged, rows);
  return binary(privileged, mitigationTexts.group, "group");
};

/** Groups of `rows` rows, both among them. */
export const checkBothGroups = (privileged: ArrayLike<number>, rows: number): Uint8Array => {
  const checked = checkGroups(privileged, rows);
  if (!checked.includes(1)) throw new InputError("group-absent", mitigationTexts.absent("privileged", rows));
  if (!checked.includes(0))
    throw new InputError("group-absent", mitigationTexts.absent("unprivileged", rows));
  return checked;
};
