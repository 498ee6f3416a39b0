/** Shared memory of the kernel of bounds: what is counted, by which work is cut up, is what its text declares. */
import { expect, test } from "vitest";
import { boundKernel, sharedWords } from "../../../src/compute/webgpu/nested/bound-kernel.js";
import { type Designs, layoutOf } from "../../../src/compute/webgpu/nested/layout.js";
import { describeNested } from "../../../src/design/gpu/describe.js";
import { locationFinding } from "../../../src/design/models/location.js";

const SIZES = { outer: 10, contrastive: 50, marginal: 40 };

test.each<[boolean, Designs, number, number | undefined]>([
  [true, "shared", 2, undefined],
  [true, "shared", 1, 32],
  [true, "perOuter", 2, 8],
  [false, "shared", 2, undefined],
  [false, "perOuter", 1, 32],
])("gradients %s, designs %s, a tile of %s, subgroups of %s", (gradients, designs, tile, leastSubgroup) => {
  const given = ["none", "target", "sensitive"] as const;
  const layout = layoutOf(describeNested(locationFinding(), given, 4, SIZES), { gradients, designs });
  const shape = { gradients, wanted: "bound", workgroup: 64, leastSubgroup, tile, unroll: 2 } as const;
  const declared = boundKernel(layout, shape).matchAll(/var<workgroup> \w+: array<f32, (\d+)>;/g);
  const words = [...declared].reduce((sum, [, count]) => sum + Number(count), 0);
  expect(words).toBe(sharedWords(layout, shape));
});
