/** A policy file, with the model it is to be used under. */
import type { Policy } from "../../../design/policy.js";
import { decodePolicy, matchModel, type PolicyFile, policyOf } from "../../../design/policy-file.js";
import { readBytes } from "./files.js";
import type { LoadedModel } from "./load-model.js";
import type { ModelChoice } from "./model-options.js";
import { modelForPolicy } from "./named-model.js";

export interface ReadPolicy {
  readonly file: PolicyFile;
  readonly policy: Policy;
  readonly loaded: LoadedModel;
  /** Whether the model is the one that the policy was made for; "unknown" for a plain list of designs. */
  readonly match: "same" | "differs" | "unknown";
}

export const readPolicyFile = async (path: string): Promise<PolicyFile> =>
  decodePolicy(await readBytes(path), path);

export const readPolicy = async (path: string, options: ModelChoice): Promise<ReadPolicy> => {
  const file = await readPolicyFile(path);
  const loaded = await modelForPolicy(file, path, options);
  const match = matchModel(file, loaded.model, path);
  return { file, policy: policyOf(file, loaded.model, path), loaded, match };
};
