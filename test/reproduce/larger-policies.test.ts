/** Policies that take a GPU: where their cells run, and what is said of that. */
import { expect, test } from "vitest";
import { bestPolicies } from "../../src/reproduce/best-policies.js";
import type { Cell } from "../../src/reproduce/cell.js";
import { designProtocolTexts } from "../../src/reproduce/design-protocol.js";
import { largerPolicies } from "../../src/reproduce/larger-policies.js";
import type { Reproduction, Scale } from "../../src/reproduce/reproduction.js";
import { tableLocation } from "../../src/reproduce/table-location.js";

const deviceOf = (cell: Cell): string | undefined => (cell.kind === "design" ? cell.device : undefined);
const devicesOf = (scale: Scale): readonly (string | undefined)[] =>
  largerPolicies.cells(scale).map(deviceOf);
const wordsOf = ({ protocol }: Reproduction, scale: Scale): string => protocol(scale).chosen.join("\n");
const QUICK_ON_GPU: Scale = { quick: true, device: "gpu" };

test("the quick ones run where that was asked for, and say so", () => {
  expect(devicesOf({ quick: true })).toEqual(Array(6).fill(undefined));
  expect(devicesOf(QUICK_ON_GPU)).toEqual(Array(6).fill("gpu"));
  expect(wordsOf(largerPolicies, { quick: true })).toContain("trained on the processor");
  expect(wordsOf(largerPolicies, QUICK_ON_GPU)).not.toContain("trained on the processor");
});

test("the full ones are a GPU's, and what they are compared with is the processor's", () => {
  for (const device of [undefined, "gpu"] as const) {
    expect(devicesOf({ quick: false, device })).toEqual([
      ...Array(20).fill("gpu"),
      ...Array(3).fill(undefined),
    ]);
  }
});

test("nothing is said to be judged on a GPU that is judged by quadrature", () => {
  expect(wordsOf(tableLocation, QUICK_ON_GPU)).toContain(designProtocolTexts.gpu);
  for (const each of [bestPolicies, largerPolicies]) {
    expect(wordsOf(each, QUICK_ON_GPU)).toContain(designProtocolTexts.gpuButExact);
    expect(wordsOf(each, QUICK_ON_GPU)).not.toContain(designProtocolTexts.gpu);
  }
});
