/** Every acquisition by its name, in one shape. */
import { InputError } from "../core/errors.js";
import type { RandomStream } from "../core/random.js";
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
import { bald, predictiveEntropy, randomScores } from "./scores.js";

export interface AcquisitionInput extends Partial<FairnessOptions> {
  /** The model of the target label. */
  readonly target: Prediction;
  /** The models of the sensitive labels, for strategies that use them. */
  readonly sensitive?: readonly Prediction[] | undefined;
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
    readonly stream: boolean;
  };
  score(input: AcquisitionInput): ScoreParts;
}

export const strategyTexts = {
  stream: (name: string) =>
    `the strategy "${name}" draws and was given no random stream: pass one as \`stream\``,
  beta: (name: string) => `the strategy "${name}" was given no beta: give a finite number of at least 0`,
};

const alone = (score: Float64Array): ScoreParts => combineParts(score, new Float64Array(score.length), 0);

/** What the fair ones need beyond the target model. */
const fair = (name: string, { sensitive = [], beta, combine }: AcquisitionInput) => {
  if (beta === undefined) throw new InputError("beta", strategyTexts.beta(name));
  requireBeta(beta);
  return { sensitive, options: { beta, combine } };
};

const NOTHING = { targets: false, sensitive: false, labelled: false, stream: false };

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
} as const satisfies Record<string, Strategy>;

export type StrategyName = keyof typeof strategies;
export const strategyNames = Object.keys(strategies) as StrategyName[];
