/** Every table and figure by its name, in the order of the paper; what goes beyond it is last. */
import { InputError } from "../core/errors.js";
import { nearestName } from "../core/nearest-name.js";
import { bestPolicies } from "./best-policies.js";
import { betterThanPaper, betterThanPaperAgain } from "./better-than-paper.js";
import type { Cell } from "./cell.js";
import { claims } from "./claims.js";
import { figCurves } from "./fig-curves.js";
import { figGeneralization } from "./fig-generalization.js";
import { figInformation } from "./fig-information.js";
import { figLfrStudents } from "./fig-lfr-students.js";
import { frontierAdult, tradeOffs } from "./fig-trade-offs.js";
import { largerPolicies } from "./larger-policies.js";
import { parityAtLeastCost } from "./parity-at-least-cost.js";
import type { Reproduction } from "./reproduction.js";
import { sweepStudents } from "./sweep-students.js";
import { tableLocation } from "./table-location.js";
import { tableCeleba, tableRatios } from "./table-ratios.js";
import { tableRocCensus } from "./table-roc-census.js";

export const REPRODUCTIONS: readonly Reproduction[] = [
  claims,
  tableLocation,
  ...figInformation,
  tableRatios,
  ...tradeOffs,
  ...figCurves,
  ...figGeneralization,
  figLfrStudents,
  tableRocCensus,
  tableCeleba,
  frontierAdult,
  bestPolicies,
  largerPolicies,
  betterThanPaper,
  betterThanPaperAgain,
  sweepStudents,
  parityAtLeastCost,
];

export const REPRODUCTION_NAMES: readonly string[] = REPRODUCTIONS.map(({ name }) => name);

export const catalogueTexts = {
  unknown: (given: string, near: string | undefined) =>
    `there is no table or figure "${given}"${near === undefined ? "" : ` (did you mean "${near}"?)`}: choose from all, ${REPRODUCTION_NAMES.join(", ")}`,
};

/** In the order of the paper, each once; `all` is every one. */
export const reproductionsNamed = (names: readonly string[]): readonly Reproduction[] => {
  for (const name of names) {
    if (name !== "all" && !REPRODUCTION_NAMES.includes(name)) {
      const near = nearestName(name, ["all", ...REPRODUCTION_NAMES]);
      throw new InputError("reproduction", catalogueTexts.unknown(name, near));
    }
  }
  return REPRODUCTIONS.filter(({ name }) => names.includes("all") || names.includes(name));
};

/** All cells of all protocols, also of more seeds than they ask for; some of them several times. */
export const catalogueCells = (seeds: number): readonly Cell[] =>
  [false, true].flatMap((quick) =>
    REPRODUCTIONS.flatMap((each) => [...each.cells({ quick }), ...each.cells({ quick, seeds })]),
  );
