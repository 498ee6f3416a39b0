/** Ratios of what is leaked to what is learnt, T = 10 and beta = 0.8 (section 6.1). */
import { type DesignLine, designCells, designMean } from "./design-cells.js";
import { designProtocol } from "./design-protocol.js";
import type { Reproduction } from "./reproduction.js";
import { compare, type PaperValue } from "./verdict.js";

const value = (mean: number, standardError: number): PaperValue => ({ mean, standardError });
const line = (policy: DesignLine["policy"], beta: number): DesignLine => ({
  policy,
  objective: "conditional",
  beta,
  horizon: 10,
});

/** With the two ratios as printed. */
const ROWS: readonly {
  readonly name: string;
  readonly line: DesignLine;
  readonly paper: readonly [PaperValue, PaperValue];
}[] = [
  { name: "Random", line: line("random", 0), paper: [value(1.009, 0.034), value(1.402, 0.044)] },
  { name: "BED (static)", line: line("static", 0), paper: [value(0.981, 0.007), value(1.05, 0.007)] },
  { name: "BED (DAD)", line: line("dad", 0), paper: [value(0.898, 0.007), value(0.96, 0.007)] },
  { name: "FairBED (static)", line: line("static", 0.8), paper: [value(0.077, 0.004), value(0.29, 0.009)] },
  { name: "FairBED (DAD)", line: line("dad", 0.8), paper: [value(0.378, 0.007), value(0.507, 0.009)] },
];

export const tableLocation: Reproduction = {
  name: "table-location",
  title: "Location finding: leakage against information",
  source: "the table of location finding (section 6.1)",
  protocol: (scale) =>
    designProtocol(scale, {
      stated: [
        "T = 10; beta = 0.8 in the conditional objective; ratios of lower bounds, which are not bounds of the ratio",
      ],
    }),
  cells: (scale) =>
    designCells(
      ROWS.map((row) => row.line),
      scale,
    ),
  draw: (results, scale) => ({
    comparisons: ROWS.flatMap(({ name, line: own, paper }) => [
      compare(
        name,
        "EIG_phi / EIG_theta",
        paper[0],
        designMean(results, own, scale, ({ sensitive, target }) => sensitive[0] / target[0]),
      ),
      compare(
        name,
        "EIG_{phi|theta} / EIG_theta",
        paper[1],
        designMean(
          results,
          own,
          scale,
          ({ sensitiveGivenTarget, target }) => sensitiveGivenTarget[0] / target[0],
        ),
      ),
    ]),
    measured: [],
    figures: [],
  }),
};
