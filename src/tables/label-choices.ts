/** What may be chosen of a column as the target or as a sensitive attribute, for a menu. */
import { commonOf } from "../core/rare-values.js";
import { MOST_CLASSES, MOST_NUMERIC_CLASSES, valuesOf } from "./label.js";
import { roundThreshold } from "./round-threshold.js";
import type { Column } from "./table.js";

/** A menu with more is not read. */
const MOST_CHOICES = 30;
const QUARTERS = [0.25, 0.75];

/**
 * Choices in words, as `hired=yes`, `age>=40` or `race` (each of its values a class), the likeliest first: of values those
 * that enough rows have, of a quantity a threshold in its middle and at its quarters. None where the column is empty.
 *
 * @example
 * ```ts
 * import { labelChoices, tableOf } from "fairbed/tables";
 *
 * const people = Array.from({ length: 40 }, (_, i) => ({ age: 20 + i, hired: i % 3 === 0 ? "yes" : "no" }));
 * const [age, hired] = tableOf(people).columns.map(labelChoices);
 * console.log(age[0], hired.join(" ")); // age>=40 hired=no hired=yes
 * ```
 */
export const labelChoices = (column: Column): readonly string[] => {
  const { name } = column;
  const { values, counts } = valuesOf(column, true);
  if (column.kind === "numeric" && values.length > MOST_NUMERIC_CLASSES) {
    const sorted = column.values.filter((value) => !Number.isNaN(value)).sort();
    const quarters = QUARTERS.map((share) => sorted[Math.floor(share * (sorted.length - 1))]);
    const thresholds = [roundThreshold(column.values), ...quarters].filter((value) => value > sorted[0]);
    return [...new Set(thresholds)].map((threshold) => `${name}>=${threshold}`);
  }
  const each = values.length > 2 && values.length <= MOST_CLASSES ? [name] : [];
  const common = commonOf(values, counts).slice(0, MOST_CHOICES);
  return [...common.map((value) => `${name}=${value}`), ...each];
};
