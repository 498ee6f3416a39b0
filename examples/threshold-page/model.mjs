/**
 * A spot of some intensity is noticed or not, inside a ring that is calm (0) or alarming (1). An alarming ring makes
 * answers more consistent, so each tells more; and it shifts the threshold of those who are anxious by nature.
 */
import { add, bernoulli, defineModel, mul, normal, real, sensitive, sub, target } from "fairbed/design";

export default defineModel({
  name: "spot-in-a-ring",
  parameters: {
    threshold: target(normal(0, 1)), // the intensity at which half of the spots are noticed, in a calm ring
    anxiety: sensitive(normal(0, 1)),
  },
  design: { intensity: real({ low: -3, high: 3 }), alarm: real({ low: 0, high: 1 }) },
  outcome: ({ threshold, anxiety }, { intensity, alarm }) => {
    const slope = add(1, mul(2, alarm));
    return bernoulli({ logit: mul(slope, sub(intensity, add(threshold, mul(alarm, anxiety)))) });
  },
});
