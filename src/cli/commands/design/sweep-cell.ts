/** One cell of a sweep: a policy for one beta, horizon and seed, and what it reaches. */
import { drawOuter, type Policy, simulate } from "../../../design/policy.js";
import { encodePolicy, policyOf } from "../../../design/policy-file.js";
import { type EvaluateSettings, type PolicyReport, reportOn } from "./evaluate.js";
import { type LoadedModel, loadModel, type ModelSource } from "./load-model.js";
import { type OptimiseSettings, optimise, withBounds } from "./train-policy.js";

export interface CellOrder {
  readonly source: ModelSource;
  readonly settings: OptimiseSettings;
  readonly evaluation: Pick<EvaluateSettings, "outer" | "inner" | "batches" | "exact">;
  readonly threads: number;
}

export interface CellResult {
  readonly report: PolicyReport;
  /** [experiments * horizon][variables]: a static policy's designs, or those of simulated experiments. */
  readonly designs: readonly (readonly number[])[];
  /** The policy's file. */
  readonly policy: Uint8Array;
}

/** Simulated experiments that show where a policy looks. */
const SHOWN = 40;

export const runCell = async (
  { source, settings, evaluation, threads }: CellOrder,
  onProgress?: () => Promise<void>,
): Promise<CellResult> => {
  const loaded = await loadModel(source);
  const file = await optimise(loaded, settings, {
    threads,
    onProgress,
  });
  const policy = policyOf(file, loaded.model);
  const { beta, seed } = settings;
  const report = await reportOn(loaded, policy, { ...evaluation, seed, beta, threads });
  return {
    report,
    designs: file.kind === "static" ? file.designs : await shownDesigns(loaded, policy, seed),
    policy: encodePolicy(withBounds(file, report, settings.objective)),
  };
};

const shownDesigns = async (
  { model }: LoadedModel,
  policy: Policy,
  seed: number,
): Promise<readonly (readonly number[])[]> => {
  const { Workspace } = await import("../../../compute/index.js");
  const { randomStream } = await import("../../../core/random.js");
  const stream = randomStream(seed).split("shown");
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
