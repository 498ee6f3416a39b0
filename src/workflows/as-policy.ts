/** Policies as they are given to workflows: plain data, or a policy that can be asked. */
import type { Model } from "../design/model.js";
import type { Policy } from "../design/policy.js";
import { type PolicyFile, policyOf } from "../design/policy-file.js";

/** A policy that can be asked, from its plain data or as it is. */
export const asPolicy = (policy: PolicyFile | Policy, model: Model): Policy =>
  "next" in policy ? policy : policyOf(policy, model);
