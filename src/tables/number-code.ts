/**
 * How the numbers of a column become float32, which learners take: as they are where that keeps them apart, and
 * otherwise around a centre, in units of a power of two, with what float32 cannot hold in a column of its own. Moments
 * in milliseconds are an example: float32 holds them to two minutes.
 */

/** A number v becomes x = (v - centre) * scale: the float32 nearest to x, and in further parts what that leaves. */
export interface NumberCode {
  readonly centre: number;
  /** A power of two. */
  readonly scale: number;
  /** Columns: 1, 2 or 3. */
  readonly parts: number;
}

export interface FittedNumberCode {
  /** Undefined where float32 holds the numbers as they are. */
  readonly code: NumberCode | undefined;
  /** Whether numbers that differ stay different; those of 1e-300 and 1e300 in one column do not. */
  readonly isExact: boolean;
}

const LARGEST_FLOAT32 = 3.4028234663852886e38;
const LARGEST_SCALE = 2 ** 1000;
/** What a part leaves is below 2^-24 of it, and is scaled back to its size. */
const PART = 2 ** 24;
export const MOST_PARTS = 3;

/** Numbers that become equal matter where they are this share of the different ones ... */
const MERGED_SHARE = 0.05;
/** ... or where one value that they become has this share of the rows, and so many of them. */
const ROWS_SHARE = 0.01;
const FEWEST_ROWS = 4;
/** Fractions that differ by less of their size than this are the same number, computed in different ways. */
const ROUNDING = 2 ** -49;

const AS_THEY_ARE: NumberCode = { centre: 0, scale: 1, parts: 1 };

/** The code for numbers none of which is NaN; sorts them in place where float32 does not hold them all. */
export const fitNumberCode = (values: Float64Array): FittedNumberCode => {
  if (values.every((value) => Math.fround(value) === value)) return { code: undefined, isExact: true };
  const numbers = differentOf(values.sort());
  if (!loses(numbers, AS_THEY_ARE)) return { code: undefined, isExact: true };
  const centres = [...new Set([values[values.length >> 1], 0])].filter(Number.isFinite);
  for (let parts = 1; parts <= MOST_PARTS; parts++) {
    for (const centre of centres) {
      const code = { centre, scale: scaleOf(values, centre), parts };
      if (code.scale > 0 && !loses(numbers, code)) return { code, isExact: true };
    }
  }
  return { code: { centre: 0, scale: scaleOf(values, 0) || 1, parts: MOST_PARTS }, isExact: false };
};

/** The parts of a number, written from `base` on. */
export const writeNumber = (
  values: Float32Array,
  base: number,
  number: number,
  { centre, scale, parts }: NumberCode,
): void => {
  let rest = (number - centre) * scale;
  for (let part = 0; part < parts; part++) {
    const held = clamped(rest);
    values[base + part] = held;
    rest = (rest - held) * PART;
  }
};

/** Beyond float32 a number would become infinite, which no learner takes. */
export const clamped = (value: number): number =>
  Math.fround(Math.max(-LARGEST_FLOAT32, Math.min(value, LARGEST_FLOAT32)));

/** Of a column that is split, what its parts are called. */
export const partNames = (name: string, parts: number): readonly string[] =>
  [name, `${name} (fine part)`, `${name} (finest part)`].slice(0, parts);

export const isNumberCode = (given: unknown): given is NumberCode => {
  if (typeof given !== "object" || given === null) return false;
  const { centre, scale, parts } = given as Record<string, unknown>;
  return (
    Number.isFinite(centre) &&
    typeof scale === "number" &&
    scale > 0 &&
    scale < Number.POSITIVE_INFINITY &&
    Number.isInteger(parts) &&
    Number(parts) >= 1 &&
    Number(parts) <= MOST_PARTS
  );
};

/** The different ones of sorted numbers, and how many rows have each. */
const differentOf = (sorted: Float64Array) => {
  const numbers: number[] = [];
  const rows: number[] = [];
  for (const value of sorted) {
    if (numbers[numbers.length - 1] === value) rows[rows.length - 1] += 1;
    else {
      numbers.push(value);
      rows.push(1);
    }
  }
  return { numbers, rows };
};

/** Whether numbers that differ become equal to an extent that matters. */
const loses = ({ numbers, rows }: ReturnType<typeof differentOf>, code: NumberCode): boolean => {
  const all = rows.reduce((sum, each) => sum + each, 0);
  const most = Math.max(FEWEST_ROWS, ROWS_SHARE * all);
  const before = new Float32Array(code.parts);
  const own = new Float32Array(code.parts);
  let merged = 0;
  let together = 0;
  for (let at = 0; at < numbers.length; at++) {
    const number = numbers[at];
    writeNumber(own, 0, number, code);
    // Codes are in the order of the numbers, so that equal ones are next to each other.
    const isMerged = at > 0 && own.every((part, i) => part === before[i]) && differ(numbers[at - 1], number);
    together = isMerged ? together + rows[at] : rows[at];
    if (isMerged) {
      merged += 1;
      if (together >= most) return true;
    }
    before.set(own);
  }
  return merged >= MERGED_SHARE * numbers.length && merged > 0;
};

const differ = (low: number, high: number): boolean =>
  high - low > ROUNDING * Math.max(Math.abs(low), Math.abs(high)) ||
  (Number.isInteger(low) && Number.isInteger(high));

/** The power of two that brings the farthest number to between 1/2 and 1, or about; 0 where there is none. */
const scaleOf = (values: Float64Array, centre: number): number => {
  const farthest = Math.max(Math.abs(values[0] - centre), Math.abs(values[values.length - 1] - centre));
  if (!(farthest > 0 && farthest < Number.POSITIVE_INFINITY)) return 0;
  let scale = 1;
  while (farthest * scale > 1) scale /= 2;
  while (farthest * scale <= 0.5 && scale < LARGEST_SCALE) scale *= 2;
  return scale;
};
