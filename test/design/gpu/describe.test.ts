/** Every shipped model has kernels: nothing that the processor trains is refused for what it is made of. */
import { expect, test } from "vitest";
import { boundKernel } from "../../../src/compute/webgpu/nested/bound-kernel.js";
import { layoutOf } from "../../../src/compute/webgpu/nested/layout.js";
import { samplesKernel } from "../../../src/compute/webgpu/nested/samples-kernel.js";
import { describeNested } from "../../../src/design/gpu/describe.js";
import { MODEL_NAMES, shippedModel } from "../../../src/design/model-catalogue.js";
import { GIVEN } from "../../../src/design/quantity.js";

const SIZES = { outer: 4, contrastive: 10, marginal: 8 };

test.each(MODEL_NAMES)("the model %s", (name) => {
  const description = describeNested(shippedModel(name), GIVEN, 3, SIZES);
  for (const gradients of [true, false]) {
    const layout = layoutOf(description, { gradients });
    const kernel = boundKernel(layout, {
      gradients,
      wanted: gradients ? "bound" : "evidences",
      tile: 1,
      unroll: 2,
      workgroup: 64,
      leastSubgroup: undefined,
    });
    expect(kernel).toContain("fn main(");
    expect(samplesKernel(layout, gradients)).not.toMatch(/undefined|NaN/);
    expect(kernel).not.toMatch(/undefined|NaN/);
  }
});
