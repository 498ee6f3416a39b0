/**
 * A detection experiment: a stimulus of intensity x is noticed with probability sigmoid(slope (x - threshold -
 * context shift)). The threshold is the target; the shift of the threshold in a demographic group,
 * whose membership is not known, is sensitive.
 */
import { add, mul, sub } from "../../compute/index.js";
import { bernoulli, normal } from "../distribution.js";
import { defineModel, type Model, real, sensitive, target } from "../model.js";

export interface PsychometricOptions {
  readonly slope?: number | undefined;
  readonly thresholdSd?: number | undefined;
  readonly shiftSd?: number | undefined;
  /** Bounds of the intensity. */
  readonly low?: number | undefined;
  readonly high?: number | undefined;
}

/** Two conditions can be mixed: at `context` 0 the shift plays no part, at 1 it does in full. */
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
