/**
 * One step of the loop for labels that are still unknown: which candidates to ask for next. A candidate's score
 * depends on the candidate and the targets alone, so a pool of any size is scored part by part and only the best are
 * kept.
 */
import { InputError } from "../core/errors.js";
import type { RandomStream } from "../core/random.js";
import type { Classifier, FeatureMatrix } from "../learners/classifier.js";
import type { Selected } from "./batch.js";
import type { Correction } from "./correction.js";
import type { FairnessOptions, ScoreParts } from "./fairbed.js";
import { type PartElsewhere, scoreElsewhere } from "./gpu/scores-elsewhere.js";
import type { Members } from "./members.js";
import { type BestOptions, bestCandidates, type FoundCandidates } from "./pruned.js";
import { type AcquisitionInput, strategies } from "./strategies.js";
import type { StrategyName } from "./strategy-names.js";
import { goesFirst, type RowKeys } from "./ties.js";

export interface RankerOptions {
  readonly method: StrategyName;
  readonly beta: number;
  readonly combine?: FairnessOptions["combine"] | undefined;
  /** The model of the target, fitted on what is labelled. */
  readonly target: Classifier;
  /** The models of the sensitive labels. */
  readonly sensitive: readonly Classifier[];
  /** One model of the target and a sensitive label together, for methods that use it. */
  readonly joint?: { readonly classifier: Classifier; readonly sensitiveClasses: number } | undefined;
  /** What predictions are wanted for. */
  readonly targets: FeatureMatrix;
  /** What is labelled already, for methods that look at the set as a whole. */
  readonly labelled?: FeatureMatrix | undefined;
  /** P(group | target input) of each group, [groups][targets], for methods that look at each group's targets. */
  readonly groups?: readonly ArrayLike<number>[] | undefined;
  readonly correction?: Correction | undefined;
  readonly sensitiveCorrection?: Correction | undefined;
  readonly stream: RandomStream;
}

export interface Ranker {
  /** The parts of the scores of one part of the pool; `part` is its number, for methods that draw. */
  score(candidates: FeatureMatrix, part: number): ScoreParts;
  /** @internal The same with EPIG computed elsewhere. */
  scoreBy(elsewhere: PartElsewhere, candidates: FeatureMatrix, part: number): Promise<ScoreParts>;
  /**
   * The best few of a part with the numbers that `score` gives them, without scoring all; undefined where the method
   * or a correction needs all scores. `size` is at most the number of candidates that are not excluded.
   */
  best(
    candidates: FeatureMatrix,
    options: Pick<BestOptions, "size" | "exclude" | "ties">,
  ): FoundCandidates | undefined;
  /** What the models say of candidates: first the target's, then those of the sensitive labels. */
  members(candidates: FeatureMatrix): readonly Members[];
  /** The same of the targets. */
  readonly targetMembers: readonly Members[];
}

/** Methods whose best candidates are found without the scores of all. */
const PRUNED: readonly StrategyName[] = ["fairbed", "epig"];

/**
 * Scores of any part of a pool by models that are fitted already; the same whichever part a candidate is in.
 *
 * @example
 * ```ts
 * import { seededStream } from "fairbed";
 * import { createRanker } from "fairbed/active";
 * import { forest } from "fairbed/learners";
 *
 * const features = { values: Float32Array.from({ length: 60 }, (_, i) => i), rows: 60, columns: 1 };
 * const labels = Int32Array.from({ length: 60 }, (_, row) => (row < 30 ? 0 : 1));
 * const rows = Int32Array.of(0, 59); // the two that are labelled
 * const target = forest({ trees: 20 }).fit({ features, rows, labels: Int32Array.of(0, 1), classes: 2 }, seededStream(1));
 * const ranker = createRanker({ method: "epig", beta: 0, target, sensitive: [], targets: features, stream: seededStream(2) });
 * console.log(ranker.score(features, 0).score.length, labels.length); // 60 60
 * ```
 */
export const createRanker = (options: RankerOptions): Ranker => {
  const { method, beta, combine, target, sensitive, joint, targets, labelled, stream } = options;
  const strategy = strategies[method];
  const used = strategy.uses.sensitive ? sensitive : [];
  const targetMembers = target.predictMembers(targets);
  const sensitiveMembers = used.map((each) => ({
    targets: each.predictMembers(targets),
    ...(strategy.uses.labelled && labelled !== undefined ? { labelled: each.predictMembers(labelled) } : {}),
  }));
  const jointTargets = strategy.uses.joint ? joint?.classifier.predictMembers(targets) : undefined;
  const predictions = (candidates: FeatureMatrix, own: RandomStream) => {
    const corrected = (correction: Correction | undefined) =>
      correction === undefined ? {} : { correction, stream: own.split("correction") };
    return {
      target: {
        pool: target.predictMembers(candidates),
        targets: targetMembers,
        ...corrected(options.correction),
      },
      sensitive: used.map((each, i) => ({
        pool: each.predictMembers(candidates),
        ...sensitiveMembers[i],
        ...corrected(options.sensitiveCorrection),
      })),
      joint:
        joint === undefined || jointTargets === undefined
          ? undefined
          : {
              pool: joint.classifier.predictMembers(candidates),
              targets: jointTargets,
              sensitiveClasses: joint.sensitiveClasses,
              ...corrected(options.correction),
            },
    };
  };
  const inputFor = (candidates: FeatureMatrix, part: number): AcquisitionInput => {
    const own = stream.split(part);
    return {
      ...predictions(candidates, own),
      groups: options.groups,
      beta,
      combine,
      stream: own.split("random"),
    };
  };
  const draws = [options.correction, options.sensitiveCorrection].includes("permutation");
  return {
    score: (candidates, part) => strategy.score(inputFor(candidates, part)),
    scoreBy: (elsewhere, candidates, part) => scoreElsewhere(strategy, inputFor(candidates, part), elsewhere),
    best(candidates, limits) {
      if (draws || !PRUNED.includes(method)) return undefined;
      const { target: prediction, sensitive: others } = predictions(candidates, stream);
      return bestCandidates(prediction, others, { ...limits, beta: others.length === 0 ? 0 : beta, combine });
    },
    members: (candidates) => [target, ...used].map((each) => each.predictMembers(candidates)),
    targetMembers: [targetMembers, ...sensitiveMembers.map((each) => each.targets)],
  };
};

/** One that may be among the best: its row in the whole pool. */
export type Ranked = Omit<Selected, "rank">;

export const bestTexts = {
  size: (given: unknown) =>
    `the number of candidates was ${String(given)}: give a whole number of at least 1`,
};

export interface BestSettings {
  /** How many are kept. */
  readonly size: number;
  /** What a unit of cost is worth, in nats; 0 unless given. */
  readonly costWeight?: number | undefined;
  /** Decides between equals, by row: the same for all parts that are to be merged. */
  readonly ties: RowKeys;
}

/**
 * The best `size` of all that are offered, in any order and in any parts: the same as of all at once, so parts may be
 * scored on different machines and merged.
 *
 * @example
 * ```ts
 * import { seededStream } from "fairbed";
 * import { createBest, tieKeys } from "fairbed/active";
 *
 * const best = createBest({ size: 2, ties: tieKeys(seededStream(0)) });
 * for (const [row, score] of [0.1, 0.5, 0.3].entries()) best.offer({ row, score, target: score, leakage: 0, cost: 0 });
 * console.log(best.ranked().map(({ row }) => row)); // [ 1, 2 ]
 * ```
 */
export const createBest = ({ size, costWeight = 0, ties }: BestSettings) => {
  if (!Number.isInteger(size) || size < 1) throw new InputError("batch-size", bestTexts.size(size));
  /** By score less what its cost is worth. */
  const isBetter = (a: Ranked, b: Ranked): boolean => {
    const [first, second] = [a.score - costWeight * a.cost, b.score - costWeight * b.cost];
    return first !== second ? first > second : goesFirst(ties, a.row, b.row);
  };
  // A heap with the worst on top.
  const heap: Ranked[] = [];
  const worse = (i: number, j: number): boolean => isBetter(heap[j], heap[i]);
  const swap = (i: number, j: number): void => {
    [heap[i], heap[j]] = [heap[j], heap[i]];
  };
  const sink = (): void => {
    for (let at = 0; ; ) {
      const [left, right] = [2 * at + 1, 2 * at + 2];
      let worst = at;
      if (left < heap.length && worse(left, worst)) worst = left;
      if (right < heap.length && worse(right, worst)) worst = right;
      if (worst === at) return;
      swap(at, worst);
      at = worst;
    }
  };
  return {
    offer(candidate: Ranked): void {
      if (heap.length === size) {
        if (!isBetter(candidate, heap[0])) return;
        heap[0] = candidate;
        sink();
        return;
      }
      heap.push(candidate);
      for (let at = heap.length - 1; at > 0; ) {
        const parent = (at - 1) >> 1;
        if (!worse(at, parent)) return;
        swap(at, parent);
        at = parent;
      }
    },
    /** Best first. */
    ranked(): Selected[] {
      return [...heap].sort((a, b) => (isBetter(a, b) ? -1 : 1)).map((each, i) => ({ ...each, rank: i + 1 }));
    },
  };
};
