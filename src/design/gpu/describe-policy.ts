/** A network that designs experiments as the GPU takes it. */
import { add, mul, sigmoid, softplus, type Value } from "../../compute/index.js";
import type { DesignOutput, PolicyDescription } from "../../compute/webgpu/policy/description.js";
import { type DadShape, layerWidths } from "../dad-network.js";
import { type DesignScale, readingOf } from "../design-scale.js";
import type { Model } from "../model.js";
import type { SampleSizes } from "../objective.js";
import type { Given } from "../quantity.js";
import { describeNested } from "./describe.js";

/** `designFrom` of design-scale.ts on traced values. */
const designOutput = (scale: DesignScale): DesignOutput => {
  const reading = readingOf(scale);
  const from = (fromOutput: (output: Value) => Value, low = -Infinity, high = Infinity): DesignOutput => ({
    reading,
    fromOutput,
    low,
    high,
  });
  switch (scale.kind) {
    case "values":
      return { reading, values: scale.values };
    case "free":
      return from((r) => add(scale.centre, mul(scale.unit, r)));
    case "between": {
      const { low, high } = scale;
      return from((r) => add(low, mul(high - low, sigmoid(r))), low, high);
    }
    case "above":
      return from((r) => add(scale.low, mul(scale.unit, softplus(r))), scale.low);
    case "below":
      return from((r) => add(scale.high, mul(-scale.unit, softplus(r))), -Infinity, scale.high);
  }
};

export const describePolicy = (
  model: Model,
  shape: DadShape,
  given: readonly Given[],
  horizon: number,
  sizes: SampleSizes,
): PolicyDescription => {
  const { encoder, emitter } = layerWidths(shape);
  return {
    nested: describeNested(model, given, horizon, sizes),
    encoder,
    emitter,
    designs: shape.designs.map(designOutput),
    outcomes: shape.outcomes,
  };
};
