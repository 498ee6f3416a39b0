/** One cell of a sweep: a policy for one beta, horizon and seed, and what it reaches. */
import { relative } from "node:path";
import { drawOuter, type Policy, simulate } from "../../../design/policy.js";
import { encodePolicy, policyOf } from "../../../design/policy-file.js";
import { type FrontierPolicyRun, frontierPolicy } from "../../../workflows/design-frontier.js";
import type { EvaluatePolicySettings, PolicyReport } from "../../../workflows/evaluate-policy.js";
import type { FullSettings } from "../../../workflows/policy-settings.js";
import { isFile, type LoadedModel, type ModelSource } from "./load-model.js";

export interface SweepCell {
  /** What the model does. */
  readonly fingerprint: string;
  readonly source: ModelSource;
  readonly settings: FullSettings;
  readonly evaluation: EvaluatePolicySettings;
  /** Of a GPU, whose results are not those of the processor. */
  readonly device?: "gpu" | undefined;
}

export interface SweepResult {
  readonly report: PolicyReport;
  /** [experiments * horizon][variables]: a static policy's designs, or those of simulated experiments. */
  readonly designs: readonly (readonly number[])[];
  /** The policy's file, in base64. */
  readonly policy: string;
}

/** Simulated experiments that show where a policy looks. */
const SHOWN = 40;

export const runSweepCell = async (
  loaded: LoadedModel,
  { source, settings, evaluation, device }: SweepCell,
  run: Pick<FrontierPolicyRun, "threads" | "device" | "found" | "signal">,
): Promise<SweepResult> => {
  const { model } = loaded;
  const { seed } = settings;
  const { policy, report } = await frontierPolicy(model, settings, {
    source: { options: source.options, file: isFile(source.model) ? relative("", source.model) : undefined },
    ...{ evaluation, device },
    ...run,
  });
  return {
    report,
    designs:
      policy.kind === "static" ? policy.designs : await shownDesigns(loaded, policyOf(policy, model), seed),
    policy: Buffer.from(encodePolicy(policy)).toString("base64"),
  };
};

const shownDesigns = async (
  { model }: LoadedModel,
  policy: Policy,
  seed: number,
): Promise<readonly (readonly number[])[]> => {
  const { Workspace } = await import("../../../compute/index.js");
  const { seededStream } = await import("../../../core/random.js");
  const stream = seededStream(seed).split("shown");
  const workspace = new Workspace({ threads: 1 });
  try {
    const parameters = drawOuter(model, SHOWN, stream.split("parameters"));
    const { designs } = await simulate(model, policy, { outer: SHOWN, stream, workspace, parameters });
    return Array.from({ length: SHOWN * policy.horizon }, (_, i) =>
      model.design.map(({ name }) => designs[name][i]),
    );
  } finally {
    workspace.dispose();
  }
};
