/**
 * The paper's claims in words, each as differences over the seeds of the tables and figures: nothing is run for them
 * that those do not run.
 */
import { acquisitionProtocol } from "./acquisition-lines.js";
import { type Cell, cellKey } from "./cell.js";
import { acquisitionClaims } from "./claims-acquisition.js";
import { locationClaims } from "./claims-location.js";
import { designProtocol } from "./design-protocol.js";
import { figCurves } from "./fig-curves.js";
import { figGeneralization } from "./fig-generalization.js";
import { figInformation } from "./fig-information.js";
import { figLfrStudents } from "./fig-lfr-students.js";
import { tradeOffs } from "./fig-trade-offs.js";
import { mergedProtocol, type Reproduction } from "./reproduction.js";
import { tableLocation } from "./table-location.js";
import { tableRatios } from "./table-ratios.js";
import { MARGINS } from "./verdict.js";

const RESTS_ON: readonly Reproduction[] = [
  tableLocation,
  ...figInformation,
  tableRatios,
  ...tradeOffs,
  ...figCurves,
  ...figGeneralization,
  figLfrStudents,
];

export const claims: Reproduction = {
  name: "claims",
  title: "What the paper says in words",
  source: "its text; the sentences here are shortened",
  protocol: (scale) =>
    mergedProtocol([
      designProtocol(scale),
      ...(["census", "students", "celeba"] as const).map((task) => acquisitionProtocol(task, scale)),
      {
        chosen: [
          `differences are taken seed by seed, with Student's intervals of 95 %; nothing is taken off for comparing many. What is within ${MARGINS.ratio} (ratios, shares, accuracies, ${MARGINS.nats} nats) counts as the same`,
          "which numbers stand for a sentence was chosen here after the tables and figures had been drawn; a share of a quarter stands for substantial information",
          "a front is what FairBED's points over beta, EPIG among them, and mixtures of two of them reach at the accuracy in question or above; the best of several noisy means is flattered, here to the advantage of the claim; its interval is over seeds that are drawn again, the same ones on both sides",
        ],
      },
    ]),
  cells: (scale) => {
    const cells = new Map<string, Cell>();
    for (const each of RESTS_ON) for (const cell of each.cells(scale)) cells.set(cellKey(cell), cell);
    return [...cells.values()];
  },
  draw: (results, scale) => ({
    comparisons: [],
    measured: [],
    figures: [],
    claims: [...locationClaims(results, scale), ...acquisitionClaims(results, scale)],
  }),
};
