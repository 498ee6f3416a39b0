/** Reject option classification on randomly acquired data, beside FairBED without it (appendix on ROC). */
import {
  acquireCell,
  acquireCells,
  acquisitionProtocol,
  fairbed,
  lineMean,
  RANDOM,
  sizeOf,
} from "./acquisition-lines.js";
import type { RejectOptionCell } from "./cell.js";
import { type Reproduction, type Scale, seedsOf } from "./reproduction.js";
import { compare, meanOverSeeds, type PaperValue } from "./verdict.js";

const TASK = "census";
const COLUMNS = [
  ["accuracy", "accuracy"],
  ["dpRatio", "DP"],
  ["tprRatio", "EO-TPR"],
  ["fprRatio", "EO-FPR"],
] as const;

const values = (...pairs: readonly (readonly [number, number])[]): readonly PaperValue[] =>
  pairs.map(([mean, standardError]) => ({ mean, standardError }));

/** As printed. */
const PAPER = {
  random: values([0.82, 0], [0.55, 0.02], [0.88, 0.01], [0.72, 0.04]),
  roc: values([0.75, 0.01], [0.88, 0.05], [0.9, 0.01], [0.56, 0.06]),
  fairbed: values([0.76, 0.01], [0.68, 0.06], [0.93, 0.02], [0.86, 0.03]),
};

const cellOf = (seed: number, scale: Scale): RejectOptionCell => ({
  kind: "reject-option",
  acquisition: acquireCell(TASK, RANDOM, seed, scale),
  validationFraction: 0.3,
  band: [-0.05, 0.05],
});

export const tableRocCensus: Reproduction = {
  name: "table-roc-census",
  title: "Census: reject option classification",
  source: "the table of the appendix on reject option classification",
  protocol: (scale) =>
    acquisitionProtocol(TASK, scale, {
      stated: [
        "the reject option is fitted on 30 % of what random acquisition labelled, stratified by outcome and group, with the forest trained on the rest; band [-0.05, 0.05], AIF360's grid",
        "FairBED at beta = 10",
      ],
      chosen: ["where nothing is in the band, the smallest absolute difference counts"],
    }),
  cells: (scale) => [
    ...acquireCells(TASK, [RANDOM, fairbed(10)], scale),
    ...seedsOf(sizeOf(TASK, scale).seeds).map((seed) => cellOf(seed, scale)),
  ],
  draw: (results, scale) => ({
    comparisons: [
      ...COLUMNS.map(([metric, column], i) =>
        compare("Random", column, PAPER.random[i], lineMean(results, TASK, RANDOM, metric, scale), {
          circular: true,
        }),
      ),
      ...COLUMNS.map(([metric, column], i) => {
        const seeds = seedsOf(sizeOf(TASK, scale).seeds);
        const ours = meanOverSeeds(seeds.map((seed) => results.get(cellOf(seed, scale))?.metrics[metric]));
        return compare("ROC", column, PAPER.roc[i], ours);
      }),
      ...COLUMNS.map(([metric, column], i) =>
        compare(
          "FairBED-EPIG",
          column,
          PAPER.fairbed[i],
          lineMean(results, TASK, fairbed(10), metric, scale),
        ),
      ),
    ],
    measured: [],
    figures: [],
  }),
};
