/** Every acquisition by its name, in one shape. */
import { InputError } from "../core/errors.js";
import type { RandomStream } from "../core/random.js";
import { conditionalFairbedEpig } from "./conditional.js";
import { epig } from "./epig.js";
import {
  combineParts,
  type FairnessOptions,
  fairbedBald,
  fairbedEpig,
  fairbedSet,
  hfe,
  type Prediction,
  requireBeta,
  type ScoreParts,
} from "./fairbed.js";
import { requireMembers } from "./members.js";
import { minimaxEpig } from "./minimax.js";
import { bald, predictiveEntropy, randomScores } from "./scores.js";
import type { StrategyName } from "./strategy-names.js";

/** Class c is the pair (c / sensitiveClasses, c % sensitiveClasses) of a target and a sensitive class. */
export interface JointPrediction extends Prediction {
  readonly sensitiveClasses: number;
}

export interface AcquisitionInput extends Partial<FairnessOptions> {
  /** The model of the target label. */
  readonly target: Prediction;
  /** The models of the sensitive labels, for strategies that use them. */
  readonly sensitive?: readonly Prediction[] | undefined;
  /** One model of the target and a sensitive label together, for strategies that use it: see `conditional.ts`. */
  readonly joint?: JointPrediction | undefined;
  /** P(group | target input) of each group, [groups][targets], for strategies that look at each group's targets. */
  readonly groups?: readonly ArrayLike<number>[] | undefined;
  /** For strategies that draw. */
  readonly stream?: RandomStream | undefined;
}

export interface Strategy {
  /** What of the input the score depends on, beside the target model's pool. */
  readonly uses: {
    readonly targets: boolean;
    readonly sensitive: boolean;
    /** The members of the sensitive models on what is labelled. */
    readonly labelled: boolean;
    /** One model of both labels, instead of one of each. */
    readonly joint: boolean;
    /** What a sensitive model says of the group of each target. */
    readonly groups: boolean;
    /** Targets near the boundary of the fair decision rule, instead of any. */
    readonly boundary: boolean;
    readonly stream: boolean;
  };
  score(input: AcquisitionInput): ScoreParts;
}

export const strategyTexts = {
  stream: (name: string) =>
    `the strategy "${name}" draws and was given no random stream: pass one as \`stream\``,
  joint: (name: string) =>
    `the strategy "${name}" was given no model of both labels together: pass its predictions as \`joint\``,
  beta: (name: string) => `the strategy "${name}" was given no beta: give a finite number of at least 0`,
};

const alone = (score: Float64Array): ScoreParts => combineParts(score, new Float64Array(score.length), 0);

/** What the fair ones need beyond the target model. */
const fair = (name: string, { sensitive = [], beta, combine }: AcquisitionInput) => {
  if (beta === undefined) throw new InputError("beta", strategyTexts.beta(name));
  requireBeta(beta);
  return { sensitive, options: { beta, combine } };
};

const NOTHING = {
  targets: false,
  sensitive: false,
  labelled: false,
  joint: false,
  groups: false,
  boundary: false,
  stream: false,
};

/** Every way of asking, by its name: how it scores candidates, and what it needs for that. */
export const strategies = {
  random: {
    uses: { ...NOTHING, stream: true },
    score: ({ target: { pool }, stream }) => {
      requireMembers("the pool", pool);
      if (stream === undefined) throw new InputError("stream", strategyTexts.stream("random"));
      return alone(randomScores(pool.rows, stream));
    },
  },
  entropy: { uses: NOTHING, score: ({ target }) => alone(predictiveEntropy(target.pool)) },
  bald: { uses: NOTHING, score: ({ target }) => alone(bald(target.pool)) },
  epig: {
    uses: { ...NOTHING, targets: true },
    score: ({ target: { pool, targets, labelled: _, ...options } }) => alone(epig(pool, targets, options)),
  },
  "epig-minimax": {
    uses: { ...NOTHING, targets: true, groups: true },
    score: ({ target, groups = [] }) => alone(minimaxEpig(target, groups)),
  },
  "epig-boundary": {
    uses: { ...NOTHING, targets: true, boundary: true },
    score: ({ target: { pool, targets, labelled: _, ...options } }) => alone(epig(pool, targets, options)),
  },
  hfe: {
    uses: { ...NOTHING, sensitive: true },
    score: (input) => {
      const { sensitive, options } = fair("hfe", input);
      return hfe(
        input.target.pool,
        sensitive.map(({ pool }) => pool),
        options,
      );
    },
  },
  fairbed: {
    uses: { ...NOTHING, targets: true, sensitive: true },
    score: (input) => {
      const { sensitive, options } = fair("fairbed", input);
      return fairbedEpig(input.target, sensitive, options);
    },
  },
  "fairbed-set": {
    uses: { ...NOTHING, targets: true, sensitive: true, labelled: true },
    score: (input) => {
      const { sensitive, options } = fair("fairbed-set", input);
      return fairbedSet(input.target, sensitive, options);
    },
  },
  "fairbed-conditional": {
    uses: { ...NOTHING, targets: true, joint: true },
    score: ({ joint, ...input }) => {
      const { options } = fair("fairbed-conditional", input);
      if (joint === undefined) throw new InputError("joint", strategyTexts.joint("fairbed-conditional"));
      const { sensitiveClasses, ...prediction } = joint;
      return conditionalFairbedEpig(prediction, { beta: options.beta, sensitiveClasses });
    },
  },
  "fairbed-bald": {
    uses: { ...NOTHING, sensitive: true },
    score: (input) => {
      const { sensitive, options } = fair("fairbed-bald", input);
      return fairbedBald(
        input.target.pool,
        sensitive.map(({ pool }) => pool),
        options,
      );
    },
  },
} as const satisfies Record<StrategyName, Strategy>;

/** Whether batches of the method can be chosen jointly: single labels that say something of targets, a model of each. */
export const takesJointBatch = (method: StrategyName): boolean => {
  const { targets, labelled, joint, groups } = strategies[method].uses;
  return targets && !labelled && !joint && !groups;
};
