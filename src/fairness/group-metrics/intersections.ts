/** Groups by several attributes at once. */
import { InputError } from "../../core/errors.js";
import { groupTexts, requireLabels, requireLength } from "./group-labels.js";

export interface GroupLabels {
  /** The number of each row's group; -1 is unknown. */
  readonly labels: Int32Array;
  readonly names: readonly string[];
}

export interface IntersectedGroups extends GroupLabels {
  /** Combinations of the attributes' values that no row has; they are not among the groups. */
  readonly absent: number;
}

/**
 * One group for each combination of values that some row has, in the order of the attributes' own numbers, the last
 * attribute fastest; unknown (-1) where one of the attributes is. Every attribute's `labels` is [rows], and so is the
 * result's.
 *
 * @example
 * ```ts
 * import { intersectGroups } from "fairbed/fairness";
 *
 * const { labels, absent } = intersectGroups([
 *   { labels: Int32Array.of(0, 1, 1), names: ["f", "m"] },
 *   { labels: Int32Array.of(0, 0, 1), names: ["x", "y"] },
 * ]);
 * console.log([...labels], absent); // [ 0, 1, 2 ] 1
 * ```
 */
export const intersectGroups = (attributes: readonly GroupLabels[]): IntersectedGroups => {
  if (attributes.length === 0) throw new InputError("group-attributes", groupTexts.noAttributes);
  const rows = attributes[0].labels.length;
  for (const { labels, names } of attributes) {
    requireLength("One attribute", labels, rows);
    requireLabels(labels, names.length);
  }
  // A product of a few attributes' numbers of values stays far below 2^53.
  const codes = new Float64Array(rows);
  for (const { labels, names } of attributes) {
    for (let row = 0; row < rows; row++) {
      codes[row] = codes[row] < 0 || labels[row] < 0 ? -1 : codes[row] * names.length + labels[row];
    }
  }
  const present = Float64Array.from(new Set(codes.filter((code) => code >= 0))).sort();
  const place = new Map(Array.from(present, (code, at) => [code, at]));
  const nameOf = (code: number): string => {
    let rest = code;
    return attributes
      .toReversed()
      .map(({ names }) => {
        const own = rest % names.length;
        rest = (rest - own) / names.length;
        return names[own];
      })
      .toReversed()
      .join(" & ");
  };
  return {
    labels: Int32Array.from(codes, (code) => place.get(code) ?? -1),
    names: Array.from(present, nameOf),
    absent: attributes.reduce((product, { names }) => product * names.length, 1) - present.length,
  };
};
