/**
 * A detection experiment: a stimulus of intensity x is noticed with probability sigmoid(slope (x - threshold -
 * context shift)). The threshold is the target; the shift of the threshold in a demographic group,
 * whose membership is not known, is sensitive.
 */
import { add, mul, sub } from "../../compute/index.js";
import { bernoulli, normal } from "../distribution.js";
import { defineModel, type Model, real, sensitive, target } from "../model.js";

export interface PsychometricOptions {
  /** How steeply noticing rises with intensity; 2 unless given. */
  readonly slope?: number | undefined;
  /** Standard deviation of the threshold, around 0; 1 unless given. */
  readonly thresholdSd?: number | undefined;
  /** Standard deviation of the shift, around 0; 1 unless given. */
  readonly shiftSd?: number | undefined;
  /** Bounds of the intensity; -4 and 4 unless given. */
  readonly low?: number | undefined;
  readonly high?: number | undefined;
}

/**
 * P(noticed) = sigmoid(slope (intensity - threshold - context shift)). Two conditions can be mixed: at `context` 0 the
 * shift plays no part, at 1 it does in full.
 *
 * @example
 * ```ts
 * import { exactInformation, psychometric, seededStream } from "fairbed/design";
 *
 * // Asked once in the condition where the shift plays no part: nothing is learnt about it.
 * const { sensitive } = await exactInformation(psychometric(), [[0, 0]], { stream: seededStream(0) });
 * console.log(sensitive.upper < 1e-6); // true
 * ```
 */
export const psychometric = ({
  slope = 2,
  thresholdSd = 1,
  shiftSd = 1,
  low = -4,
  high = 4,
}: PsychometricOptions = {}): Model =>
  defineModel({
    name: "psychometric",
    parameters: {
      threshold: target(normal(0, thresholdSd)),
      shift: sensitive(normal(0, shiftSd)),
    },
    design: { intensity: real({ low, high }), context: real({ low: 0, high: 1 }) },
    outcome: ({ threshold, shift }, { intensity, context }) =>
      bernoulli({ logit: mul(slope, sub(intensity, add(threshold, mul(context, shift)))) }),
  });
