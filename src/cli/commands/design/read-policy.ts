/** A policy file, with the model it is to be used under. */
import { InputError } from "../../../core/errors.js";
import type { Model } from "../../../design/model.js";
import type { Policy } from "../../../design/policy.js";
import { decodePolicy, matchModel, type PolicyFile, policyOf } from "../../../design/policy-file.js";
import type { PolicyStart } from "../../../workflows/policy-settings.js";
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

export const readPolicyTexts = {
  start: (path: string, kind: string) =>
    `${path} has a ${kind} policy and no static designs to start from: give a static policy, or --start static`,
};

export const readPolicyFile = async (path: string): Promise<PolicyFile> =>
  decodePolicy(await readBytes(path), path);

export const readPolicy = async (path: string, options: ModelChoice): Promise<ReadPolicy> => {
  const file = await readPolicyFile(path);
  const loaded = await modelForPolicy(file, path, options);
  const match = matchModel(file, loaded.model, path);
  return { file, policy: policyOf(file, loaded.model, path), loaded, match };
};

/** Where training starts: "static" as it is, anything else is the file of a static policy for this model. */
export const startFrom = async (
  given: string | undefined,
  model: Model,
): Promise<PolicyStart | undefined> => {
  if (given === undefined || given === "static") return given;
  const file = await readPolicyFile(given);
  matchModel(file, model, given);
  if (file.kind !== "static") throw new InputError("start", readPolicyTexts.start(given, file.kind));
  return { designs: file.designs };
};
