/** Which candidates may still be chosen: exclusions, and how many of each group a batch must or may have. */
import { InputError } from "../core/errors.js";

export const quotaTexts = {
  size: (given: unknown) => `the batch size was ${String(given)}: give a whole number of at least 1`,
  tooLarge: (size: number, left: number, rows: number) =>
    `a batch of ${size} was asked for and ${left} of the ${rows} candidates may be chosen: ask for fewer, or exclude fewer`,
  excluded: (given: unknown, rows: number) =>
    `row ${String(given)} is to be excluded and the candidates are rows 0 to ${rows - 1}: give one of those`,
  groups: (given: number | undefined, rows: number) =>
    given === undefined
      ? "there are quotas and no groups: give the group of every candidate"
      : `there are groups for ${given} candidates and the pool has ${rows}: give one for each`,
  bounds: (index: number) =>
    `quota ${index + 1} has bounds that are not whole numbers with 0 <= atLeast <= atMost: give such numbers`,
  twice: (index: number) =>
    `quota ${index + 1} is for a group that an earlier one is for: give one quota a group`,
  tooMany: (least: number, size: number) =>
    `the quotas ask for at least ${least} candidates in a batch of ${size}: ask for fewer, or for a larger batch`,
  tooFew: (index: number, least: number, left: number) =>
    `quota ${index + 1} asks for at least ${least} candidates of a group with ${left} that may be chosen: ask for fewer`,
  capped: (size: number, most: number) =>
    `the quotas allow at most ${most} candidates and the batch is of ${size}: raise a quota, or ask for fewer`,
};

/** At least and at most so many of the candidates whose group is `group`; groups without a quota are free. */
export interface Quota {
  readonly group: number;
  readonly atLeast?: number | undefined;
  readonly atMost?: number | undefined;
}

export interface Constraints {
  /** How many candidates to choose. */
  readonly size: number;
  /** Rows that must not be chosen. */
  readonly exclude?: Iterable<number> | undefined;
  /** The group of every candidate, [pool rows]; only for quotas. */
  readonly groups?: ArrayLike<number> | undefined;
  readonly quotas?: readonly Quota[] | undefined;
}

/** What is allowed next. */
export interface Allowance {
  readonly size: number;
  /** Whether the row may be chosen now: then the batch can still be completed within the quotas. */
  allows(row: number): boolean;
  take(row: number): void;
}

/**
 * Checks that a batch exists at all. Taking candidates from the best down, each where it is allowed, gives the best
 * batch within the quotas: a candidate is refused only where its group is full, or where all places left are owed
 * to groups that have less than their least.
 */
export const createAllowance = (rows: number, constraints: Constraints): Allowance => {
  const { size, exclude = [], groups, quotas = [] } = constraints;
  if (!Number.isInteger(size) || size < 1) throw new InputError("batch-size", quotaTexts.size(size));
  const taken = new Uint8Array(rows);
  for (const row of exclude) {
    if (!Number.isInteger(row) || row < 0 || row >= rows) {
      throw new InputError("exclude", quotaTexts.excluded(row, rows));
    }
    taken[row] = 1;
  }
  const available = taken.reduce((sum, each) => sum + 1 - each, 0);
  if (size > available) throw new InputError("batch-size", quotaTexts.tooLarge(size, available, rows));
  if ((quotas.length > 0 && groups === undefined) || (groups !== undefined && groups.length !== rows)) {
    throw new InputError("groups", quotaTexts.groups(groups?.length, rows));
  }
  const indexOf = new Map<number, number>();
  const left = quotas.map(({ group, atLeast = 0, atMost = size }, i) => {
    if (!(Number.isInteger(atLeast) && Number.isInteger(atMost) && atLeast >= 0 && atLeast <= atMost)) {
      throw new InputError("quota", quotaTexts.bounds(i));
    }
    if (indexOf.has(group)) throw new InputError("quota", quotaTexts.twice(i));
    indexOf.set(group, i);
    return { owed: atLeast, room: atMost };
  });
  const quotaOf = (row: number) => {
    const index = groups === undefined ? undefined : indexOf.get(groups[row]);
    return index === undefined ? undefined : left[index];
  };
  const counts = new Map(left.map((quota) => [quota, 0]));
  for (let row = 0; row < rows; row++) {
    const quota = taken[row] === 0 ? quotaOf(row) : undefined;
    if (quota !== undefined) counts.set(quota, (counts.get(quota) ?? 0) + 1);
  }
  let owed = 0;
  let free = available;
  left.forEach((quota, i) => {
    const count = counts.get(quota) ?? 0;
    if (quota.owed > count) throw new InputError("quota", quotaTexts.tooFew(i, quota.owed, count));
    owed += quota.owed;
    free -= Math.max(0, count - quota.room);
  });
  if (owed > size) throw new InputError("quota", quotaTexts.tooMany(owed, size));
  if (free < size) throw new InputError("quota", quotaTexts.capped(size, free));
  let places = size;
  return {
    size,
    allows: (row) => {
      if (taken[row] === 1 || places === 0) return false;
      const quota = quotaOf(row);
      if (quota === undefined) return owed < places;
      return quota.room > 0 && (quota.owed > 0 || owed < places);
    },
    take: (row) => {
      taken[row] = 1;
      places--;
      const quota = quotaOf(row);
      if (quota === undefined) return;
      quota.room--;
      if (quota.owed === 0) return;
      quota.owed--;
      owed--;
    },
  };
};
