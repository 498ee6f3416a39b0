/** What all tables and figures of location finding do, in words, from the cells that they run. */
import { designCells } from "./design-cells.js";
import { mergedProtocol, type Protocol, type Scale, sizeProtocol } from "./reproduction.js";

const count = (value: number): string => value.toLocaleString("en");

/** With the sentences of one table or figure. */
export const designProtocol = (scale: Scale, own: Partial<Protocol> = {}): Protocol => {
  const cells = designCells([{ policy: "static", objective: "conditional", beta: 0, horizon: 1 }], scale);
  const [{ training, evaluation }] = cells;
  const { steps, outer, contrastive, settled } = training;
  const size = [
    `${count(steps)} steps of Adam with ${count(outer)} experiments and ${count(contrastive)} inner samples of each kind; ${cells.length} seed${cells.length === 1 ? "" : "s"}`,
    `lower bounds with ${count(evaluation.inner)} inner samples`,
  ];
  const general = {
    stated: [
      "one source in the plane, prior mean (3, 3), covariance I; signal 0.1 + 1 / (0.0001 + distance^2), log-normal noise of 0.5",
      "policies are DAD networks with a rate of 5e-5",
    ],
    chosen: [
      "static designs start at N(0, 0.1^2) with a constant rate of 2e-3",
      ...(settled === undefined
        ? []
        : [
            `static designs stop before their steps are over when they have settled: ${settled.times} times running, their means over ${settled.window} steps have moved by less than a share of ${settled.speed} of what the rate allows (root mean square)`,
          ]),
      `${count(evaluation.outer * evaluation.batches)} experiments a seed are evaluated (100 in the paper)`,
    ],
  };
  return mergedProtocol([general, sizeProtocol(size, scale), own]);
};
