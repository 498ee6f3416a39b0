/** What all tables and figures of location finding do, in words, from the cells that they run. */
import type { DesignCell } from "./cell.js";
import { designCells } from "./design-cells.js";
import { mergedProtocol, type Protocol, type Scale, sizeProtocol } from "./reproduction.js";

const count = (value: number): string => value.toLocaleString("en");

export const designProtocolTexts = {
  gpu: "policies were trained and judged on a GPU, in single floats",
  gpuButExact:
    "policies were trained on a GPU, in single floats, and those judged by nested sampling were judged there too",
};

/** With the sentences of one table or figure. */
export const designProtocol = (
  scale: Scale,
  {
    judged = [],
    ...own
  }: Partial<Protocol> & {
    /** Its cells, where some are not judged as in the paper. */
    readonly judged?: readonly Pick<DesignCell, "evaluation">[] | undefined;
  } = {},
): Protocol => {
  const cellsOf = (policy: "static" | "dad") =>
    designCells([{ policy, objective: "conditional", beta: 0, horizon: 1 }], scale);
  const cells = cellsOf("static");
  const [{ training, evaluation }] = cells;
  const { training: ofNetworks } = cellsOf("dad")[0];
  const { steps, outer, contrastive, settled, rate = 2e-3 } = training;
  const stepsInWords =
    ofNetworks.steps === steps
      ? `${count(steps)} steps`
      : `${count(steps)} steps (networks ${count(ofNetworks.steps)})`;
  const size = [
    `${stepsInWords} with ${count(outer)} experiments and ${count(contrastive)} inner samples of each kind; ${cells.length} seed${cells.length === 1 ? "" : "s"}`,
    `lower bounds with ${count(evaluation.inner)} inner samples`,
  ];
  const general = {
    stated: [
      "one source in the plane, prior mean (3, 3), covariance I; background 0.1, offset 0.0001, strength 1, log-normal noise of 0.5",
      `DAD networks: encoder 3-64-256-16, emitter 16-128-16-2${ofNetworks.rate === undefined ? ", a rate of 5e-5" : ""}`,
    ],
    chosen: [
      "the signal is 0.1 + 1 / (0.0001 + distance^2), as in the public code of this benchmark; the paper prints (0.0001 + distance)^2",
      "the optimiser is Adam; encodings are summed, the first design is emitted from zeros, and networks read the logarithm of outcomes",
      ...(ofNetworks.rate === undefined
        ? []
        : [
            `DAD networks have a rate of ${ofNetworks.rate.toExponential()}, ten times the paper's, because there are so few steps`,
          ]),
      `static designs ${scale.quick ? "" : "take the steps and samples that the paper states for DAD, "}start at N(0, 0.1^2) and have a constant rate of ${rate.toExponential()}`,
      ...(settled === undefined
        ? []
        : [
            `static designs stop before their steps are over when they have settled: ${settled.times} times running, their means over ${settled.window} steps have moved by less than a share of ${settled.speed} of what the rate allows (root mean square)`,
          ]),
      `${count(evaluation.outer * evaluation.batches)} experiments a seed are evaluated (100 in the paper)`,
      ...(scale.device === undefined
        ? []
        : [
            // By quadrature they are judged on the processor.
            judged.some(({ evaluation: { exact } }) => exact)
              ? designProtocolTexts.gpuButExact
              : designProtocolTexts.gpu,
          ]),
    ],
    matched: [
      "the start and the rate of static designs were picked because they end in the paper's solution, one of many local optima: the four ratios of static designs in table-location are circular in that: they show that such a start and rate exist, and not that they are the paper's; the figures of static designs rest on the same",
    ],
  };
  return mergedProtocol([general, sizeProtocol(size, scale), own]);
};
