/** What is known of an argument; NaN is always possible. */
export interface Range {
  readonly low: number;
  readonly high: number;
}

export const EVERYTHING: Range = { low: -Infinity, high: Infinity };
