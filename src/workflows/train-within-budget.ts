/** A leakage budget: beta is looked for, not given, and every round of that can be resumed. */
import { isGpuFailure } from "../compute/webgpu/failure.js";
import { FairbedError } from "../core/errors.js";
import { budgetTexts, type MeasuredPolicy, withinLeakageBudget } from "../design/leakage-budget.js";
import type { Model } from "../design/model.js";
import type { PolicyFile } from "../design/policy-file.js";
import { TrainingError } from "../design/training.js";
import { measuredBy } from "./budget-outcome.js";
import { evaluatePolicy } from "./evaluate-policy.js";
import { EVALUATION_DEFAULTS } from "./evaluation-defaults.js";
import { policyFromPlain, policyToPlain } from "./plain-policy.js";
import type { FullSettings } from "./policy-settings.js";
import { type SearchRun, searchPolicy } from "./search-policy.js";

const ROUNDS = 8;
/** Enough to tell whether a policy keeps within its budget; the one that is kept is evaluated in full. */
const MEASURING = { outer: 1000, inner: 4000, batches: 8 };
/** Progress of a round, whose own number of steps is known only when it runs. */
const PARTS = 1000;

/** What the search found for one beta, as plain data. */
export interface BudgetPoint extends MeasuredPolicy {
  readonly beta: number;
  /** Whether the leakage is within the budget. */
  readonly within: boolean;
}

/** The search came to its end without a policy within the budget; what it went through shows what can be had. */
export class LeakageBudgetError extends FairbedError {
  /** By beta. */
  readonly frontier: readonly BudgetPoint[];

  constructor(message: string, frontier: readonly BudgetPoint[]) {
    super("leakage-budget", message);
    this.frontier = frontier;
  }
}

interface DoneRound {
  readonly policy: PolicyFile;
  readonly measured?: MeasuredPolicy | undefined;
}

/** Plain JSON data: weights are numbers in a list. */
interface BudgetState {
  readonly done: readonly { readonly policy: unknown; readonly measured?: MeasuredPolicy | undefined }[];
  /** Where the training that was interrupted was. */
  readonly training?: unknown;
}

/** The policy with the most information about the target within a leakage budget, its beta and the frontier in its settings. */
export const trainWithinBudget = async (
  model: Model,
  settings: FullSettings,
  budget: number,
  run: SearchRun,
): Promise<PolicyFile> => {
  const { objective, seed, kind } = settings;
  const before = (run.state ?? { done: [] }) as BudgetState;
  const done: DoneRound[] = before.done.map(({ policy, measured }) => ({
    policy: policyFromPlain(policy),
    measured,
  }));
  const stateWith = (training?: unknown): BudgetState => ({
    done: done.map(({ policy, measured }) => ({ policy: policyToPlain(policy), measured })),
    training,
  });
  const { best, frontier } = await withinLeakageBudget<PolicyFile>({
    budget,
    objective,
    rounds: ROUNDS,
    async train(beta, from, round) {
      const known = done[round];
      if (known !== undefined) return known.policy;
      const policy = await searchPolicy(
        model,
        { ...settings, beta },
        {
          ...run,
          from,
          state: round === before.done.length ? before.training : undefined,
          onStep: ({ done: step, total, value, state, designs }) =>
            run.onStep({
              done: Math.round(PARTS * (round + step / total)),
              total: PARTS * ROUNDS,
              value,
              state: () => stateWith(state()),
              designs,
            }),
        },
      ).catch((error: unknown) => {
        throw error instanceof TrainingError
          ? new TrainingError(error.message, stateWith(error.checkpoint), { cause: error.cause })
          : error;
      });
      done[round] = { policy };
      return policy;
    },
    async measure(policy, round) {
      const known = done[round]?.measured;
      if (known !== undefined) return known;
      const { against, threads, gpu, signal } = run;
      const device = gpu === undefined ? "cpu" : "gpu";
      const sizes = kind === "greedy" ? EVALUATION_DEFAULTS.greedy : MEASURING;
      const report = await evaluatePolicy(model, policy, {
        ...sizes,
        seed,
        against,
        device,
        threads,
        signal,
      }).catch((error: unknown) => {
        throw isGpuFailure(error) ? new TrainingError(error.message, stateWith(), { cause: error }) : error;
      });
      const measured = measuredBy(report, objective);
      done[round] = { policy, measured };
      return measured;
    },
  });
  const points = frontier.map(({ policy: _, ...point }): BudgetPoint => point);
  if (best === undefined) {
    const least = Math.min(...points.map(({ leakage }) => leakage));
    throw new LeakageBudgetError(budgetTexts.unmet(budget, least), points);
  }
  return {
    ...best.policy,
    settings: { ...best.policy.settings, beta: best.beta, leakageBudget: budget, frontier: points },
  };
};
