/**
 * Static designs as a network's outputs, one row for each observation. A network that adds them to its own outputs, and
 * whose last layer is zero, makes just these designs whatever it sees: training starts from a static policy.
 */
import { expm1, log } from "../core/math.js";
import { type DesignScale, outputsOf, readingOf } from "./design-scale.js";

/** At a bound the output would be infinite and could not be moved: designs begin this share of a range away from it. */
const INSIDE = 1e-3;
/** The probability at first, in training, of the value that a static design has; one of many values is tried now and then. */
const LIKELY = 0.9;

/** The outputs [horizon][outputs] of designs [horizon, variables]. */
export const baseOutputs = (
  scales: readonly DesignScale[],
  designs: ArrayLike<number>,
): readonly (readonly number[])[] =>
  Array.from({ length: designs.length / scales.length }, (_, t) =>
    // Weights are single floats, and so are outputs: a base that is one too is not rounded again when it is added.
    scales.flatMap((scale, d) => outputsFor(scale, designs[t * scales.length + d]).map(Math.fround)),
  );

/** What `designFrom` (or, with values, `likeliest`) makes the design of. */
const outputsFor = (scale: DesignScale, design: number): readonly number[] => {
  const { centre, unit } = readingOf(scale);
  switch (scale.kind) {
    case "free":
      return [(design - centre) / unit];
    case "between": {
      const share = Math.min(1 - INSIDE, Math.max(INSIDE, (design - scale.low) / (scale.high - scale.low)));
      return [log(share / (1 - share))];
    }
    case "above":
    case "below":
      return [inverseSoftplus(Math.max(INSIDE, Math.abs(design - centre) / unit))];
    case "values": {
      const nearest = scale.values.reduce(
        (best, value, k) => (Math.abs(value - design) < Math.abs(scale.values[best] - design) ? k : best),
        0,
      );
      const others = outputsOf(scale) - 1;
      return scale.values.map((_, k) =>
        k === nearest ? log((LIKELY * Math.max(1, others)) / (1 - LIKELY)) : 0,
      );
    }
  }
};

/** r with log(1 + e^r) = x. */
const inverseSoftplus = (x: number): number => x + log(-expm1(-x));
