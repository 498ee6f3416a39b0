/** Groups that a result does not cover, so that every table and picture of it can say which they are. */
import { isRare, rareTexts } from "./rare-values.js";

/** One group, or all groups of an attribute that have too few rows to be named. */
export interface LeftOutGroup {
  /** The sensitive attribute whose group it is. */
  readonly attribute: string;
  /** Groups of so few rows that naming them may say who they are stand together under one name that says so. */
  readonly name: string;
  readonly rows: number;
  /** Why, as the rest of a sentence: "fewer than 50 rows". */
  readonly reason: string;
}

export const leftOutTexts = {
  note: ({ attribute, name, rows, reason }: LeftOutGroup) =>
    `left out of ${attribute}: ${name} (${rows} row${rows === 1 ? "" : "s"}; ${reason})`,
  fewerThan: (least: number) => `fewer than ${least} rows`,
};

/** These groups of an attribute, the rare ones as one; groups without rows are not there at all. */
export const leftOutGroups = (
  attribute: string,
  groups: readonly { readonly name: string; readonly rows: number }[],
  reason: string,
): readonly LeftOutGroup[] => {
  const there = groups.filter(({ rows }) => rows > 0);
  const rare = there.filter(({ rows }) => isRare(rows));
  const named = there.filter(({ rows }) => !isRare(rows));
  return [
    ...named.map(({ name, rows }) => ({ attribute, name, rows, reason })),
    ...(rare.length === 0
      ? []
      : [
          {
            attribute,
            name: rareTexts.some("group", rare.length),
            rows: rare.reduce((sum, { rows }) => sum + rows, 0),
            reason,
          },
        ]),
  ];
};
