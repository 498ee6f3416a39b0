/** `--budget-nats`: beta is looked for, not given, and every round of that can be resumed. */
import { InputError } from "../../../core/errors.js";
import { budgetTexts, type Measured, withinLeakageBudget } from "../../../design/leakage-budget.js";
import type { PolicyFile } from "../../../design/policy-file.js";
import type { EvaluateSettings } from "./evaluate.js";
import type { LoadedModel } from "./load-model.js";
import { reportByHelper } from "./policy-processes.js";
import { type OptimiseRun, type OptimiseSettings, optimise } from "./train-policy.js";

export const budgetOptionTexts = {
  random:
    "a random policy has nothing to trade for leakage: leave out --budget-nats, or choose another --policy",
};

const ROUNDS = 8;
/** Enough to tell whether a policy keeps within its budget; the one that is kept is evaluated in full. */
const MEASURING: Pick<EvaluateSettings, "outer" | "inner" | "batches" | "exact"> = {
  outer: 1000,
  inner: 4000,
  batches: 8,
  exact: false,
};
/** A bar's worth of a round, whose own number of steps is known only when it runs. */
const BAR = 1000;

/** What the search found for one beta, as plain data. */
export interface BudgetPoint {
  readonly beta: number;
  /** A lower bound of the information about the target, and an upper bound of the leakage. */
  readonly target: number;
  readonly leakage: number;
  readonly standardError: number;
  readonly within: boolean;
}

interface DoneRound {
  readonly file: PolicyFile;
  readonly measured?: Measured | undefined;
}

interface BudgetState {
  readonly done: readonly DoneRound[];
  /** The checkpoint of the training that was interrupted. */
  readonly training?: unknown;
}

export const optimiseWithinBudget = async (
  loaded: LoadedModel,
  settings: OptimiseSettings,
  budget: number,
  { threads, onProgress = async () => {}, resume, signal = new AbortController().signal }: OptimiseRun = {},
): Promise<{ readonly file: PolicyFile; readonly frontier: readonly BudgetPoint[] }> => {
  const { policy: kind, objective, seed } = settings;
  if (kind === "random") throw new InputError("budget", budgetOptionTexts.random);
  const before = (resume ?? { done: [] }) as BudgetState;
  const done: DoneRound[] = [...before.done];
  const atThreads = threads === undefined ? {} : { threads };
  const { best, frontier } = await withinLeakageBudget<PolicyFile>({
    budget,
    objective,
    rounds: ROUNDS,
    async train(beta, warm, round) {
      const known = done[round];
      if (known !== undefined) return known.file;
      const interrupted = round === before.done.length ? before.training : undefined;
      const file = await optimise(
        loaded,
        { ...settings, beta },
        {
          ...atThreads,
          ...(warm === undefined ? {} : { warm }),
          ...(interrupted === undefined ? {} : { resume: interrupted }),
          onProgress: ({ done: steps, total, value, checkpoint }) =>
            onProgress({
              done: Math.round(BAR * (round + steps / total)),
              total: BAR * ROUNDS,
              value,
              checkpoint: (): BudgetState => ({ done: [...done], training: checkpoint() }),
            }),
        },
      );
      done[round] = { file };
      return file;
    },
    async measure(file, round) {
      const known = done[round]?.measured;
      if (known !== undefined) return known;
      const { beta, against = [] } = settings;
      const evaluation = { ...MEASURING, ...atThreads, seed, beta, against };
      const report = await reportByHelper(loaded, file, evaluation, signal);
      const own = objective === "conditional" ? report.sensitiveGivenTarget : report.sensitive;
      const leakage = report.fairness?.[objective].leakage ?? own;
      const measured: Measured = {
        target: report.target.lower,
        leakage: leakage.upper,
        standardError: leakage.standardError,
      };
      done[round] = { file, measured };
      return measured;
    },
  });
  if (best === undefined) {
    const least = Math.min(...frontier.map(({ leakage }) => leakage));
    throw new InputError("budget", budgetTexts.unmet(budget, least));
  }
  return {
    file: best.policy,
    frontier: frontier.map(({ policy: _, ...point }) => point),
  };
};
