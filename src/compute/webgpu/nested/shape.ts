/** How a bound is cut into workgroups on a GPU. */
import { EnvironmentError } from "../../../core/errors.js";
import type { Gpu } from "../device.js";
import { type BoundShape, sharedWords } from "./bound-kernel.js";
import type { NestedLayout } from "./layout.js";

export const shapeTexts = {
  inner: (inner: number, horizon: number) =>
    `${inner} inner samples and ${horizon} observations do not fit into the shared memory of this GPU: give fewer, or choose the device "cpu"`,
  rows: (rows: number, most: number) =>
    `${rows} sets of designs at a time were asked for and this GPU takes at most ${most}: give fewer starts, betas or seeds`,
  outer: (outer: number, most: number) =>
    `${outer} experiments in a batch were asked for and this GPU takes at most ${most}: give smaller batches and more of them`,
};

/** So many workgroups keep a large GPU busy; with more of them, each may take two outer samples. */
const BUSY = 512;
const TILES = [2, 1];
/** Threads of a workgroup, where there are many and where there are few. */
const WORKGROUP = 256;
const LONELY_WORKGROUP = 512;
/** Inner samples that a thread takes at a time. */
const UNROLL = 2;
/** A program that stands in for a GPU has a few lanes, and pays for every barrier. */
export const SOFTWARE_WORKGROUP = 32;

/** The largest tile that leaves enough workgroups and fits. */
export const boundShape = async (
  gpu: Gpu,
  layout: NestedLayout,
  rows: number,
  { gradients, wanted }: Pick<BoundShape, "gradients" | "wanted">,
  given: Partial<BoundShape> = {},
): Promise<BoundShape> => {
  const { outer, horizon, evidences } = layout.description;
  const most = gpu.limits.maxComputeInvocationsPerWorkgroup;
  const real = rows * outer < BUSY ? LONELY_WORKGROUP : WORKGROUP;
  const usual = gpu.info.software && horizon <= SOFTWARE_WORKGROUP ? SOFTWARE_WORKGROUP : real;
  // Both are powers of two.
  const workgroup = given.workgroup ?? Math.min(usual, most);
  const leastSubgroup = await gpu.orderedSubgroup();
  const of = (tile: number): BoundShape => ({
    gradients,
    wanted,
    workgroup,
    leastSubgroup,
    tile,
    unroll: UNROLL,
    ...given,
  });
  const fits = (shape: BoundShape) =>
    4 * sharedWords(layout, shape) <= gpu.limits.maxComputeWorkgroupStorageSize;
  if (given.tile !== undefined) return of(given.tile);
  const tile = TILES.find((each) => (each === 1 || (rows * outer) / each >= BUSY) && fits(of(each)));
  const { maxComputeWorkgroupsPerDimension: groups } = gpu.limits;
  if (outer > groups) throw new EnvironmentError("gpu-outer", shapeTexts.outer(outer, groups));
  if (rows > groups) throw new EnvironmentError("gpu-rows", shapeTexts.rows(rows, groups));
  if (tile === undefined || horizon > workgroup) {
    const inner = Math.max(0, ...evidences.map((each) => each.inner));
    throw new EnvironmentError("gpu-shared", shapeTexts.inner(inner, horizon));
  }
  return of(tile);
};
