/** Numbers as a person reads them: the one place that turns them into text. */

/** A number that is rounded to nothing has no sign: "-0.000" says that something is left. */
const unsignedZero = (text: string): string =>
  text.startsWith("-") && !/[1-9]/.test(text) ? text.slice(1) : text;

/** With so many decimals: `fixed(-0.0001, 3)` is "0.000". */
export const fixed = (value: number, decimals: number): string => unsignedZero(value.toFixed(decimals));

/** With so many digits that count: `significant(0.0123, 1)` is "0.01". */
export const significant = (value: number, digits: number): string => unsignedZero(value.toPrecision(digits));

/** At most so many digits that count, without zeros at the end: `shortest(0.25, 4)` is "0.25". */
export const shortest = (value: number, digits: number): string => String(Number(value.toPrecision(digits)));

/** With its sign, for a difference: "+0.012"; nothing is "0.000". */
export const signed = (value: number, decimals: number): string => {
  const text = fixed(value, decimals);
  return text.startsWith("-") || Number(text) === 0 ? text : `+${text}`;
};

/** `0.812 ± 0.003`, or the mean alone where its error is not known. */
export const withError = (mean: number, error: number | null, decimals = 3): string =>
  error === null ? fixed(mean, decimals) : `${fixed(mean, decimals)} ± ${fixed(error, decimals)}`;

/** `0.76 to 0.86` */
export const between = ([low, high]: readonly [number, number], decimals = 3): string =>
  `${fixed(low, decimals)} to ${fixed(high, decimals)}`;

/**
 * The decimals of a share in percent: one for what is rare and for what is nearly all, where none would say that there
 * is nobody, or nobody else.
 */
const percentDecimals = (share: number): number =>
  (share > 0 && share < 0.0995) || (share > 0.9905 && share < 1) ? 1 : 0;

/** `51 %`, `1.2 %`; what one decimal would make 0 or 100 is said to be below or above. */
export const percent = (share: number): string => {
  if (share > 0 && share < 0.0005) return "below 0.1 %";
  if (share < 1 && share > 0.9995) return "above 99.9 %";
  return `${fixed(100 * share, percentDecimals(share))} %`;
};

/** `51 ± 3 %`: both with the decimals of the share. */
export const percentWithError = (share: number, error: number | null): string =>
  error === null
    ? percent(share)
    : `${fixed(100 * share, percentDecimals(share))} ± ${fixed(100 * error, Math.max(percentDecimals(share), error > 0 && error < 0.0095 ? 1 : 0))} %`;
