/** A policy within a checkpoint: plain JSON data, in which weights are numbers in a list. */
import type { PolicyFile } from "../design/policy-file.js";

export const policyToPlain = (policy: PolicyFile): unknown =>
  policy.kind === "dad"
    ? { ...policy, network: { ...policy.network, parameters: [...policy.network.parameters] } }
    : policy;

export const policyFromPlain = (plain: unknown): PolicyFile => {
  const policy = plain as PolicyFile;
  if (policy.kind !== "dad") return policy;
  return {
    ...policy,
    network: { ...policy.network, parameters: Float32Array.from(policy.network.parameters) },
  };
};
