/** The numbers of several predictions, side by side. */

import { fixed } from "../../../core/number-text.js";
import type { OutcomeMeasures } from "../../../workflows/outcome-measures.js";
import { rightAligned } from "../../text-table.js";

const HEADINGS: readonly (readonly [keyof OutcomeMeasures, string])[] = [
  ["accuracy", "accuracy"],
  ["selectionRate", "favoured"],
  ["difference", "difference"],
  ["dpRatio", "DP ratio"],
  ["tprRatio", "TPR ratio"],
  ["fprRatio", "FPR ratio"],
];

export const measuresTable = (rows: readonly (readonly [string, OutcomeMeasures])[]): readonly string[] =>
  rightAligned([
    ["on the test rows", ...HEADINGS.map(([, heading]) => heading)],
    ...rows.map(([name, measures]) => [
      name,
      ...HEADINGS.map(([key]) => {
        const value = measures[key];
        return value === undefined ? "none" : fixed(value, 3);
      }),
    ]),
  ]);

export const MEASURES_LEGEND = [
  "favoured is the share of rows predicted to have the favourable outcome, difference that share of the",
  "unprivileged less that of the privileged; ratios are the smaller group's rate over the larger's: 1 is parity.",
];

export const capital = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);
