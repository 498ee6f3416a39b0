/** The settings of a forest; scikit-learn's defaults. */
import { InputError } from "../../core/errors.js";
import type { ClassWeights } from "../training.js";

export interface ForestOptions {
  /** How many trees (100). */
  readonly trees?: number | undefined;
  /** The most splits between the root and a leaf (unlimited). */
  readonly maxDepth?: number | undefined;
  /** The fewest distinct training rows in a leaf (1). */
  readonly minLeaf?: number | undefined;
  /** The fewest distinct training rows in a node that is split (2). */
  readonly minSplit?: number | undefined;
  /** How many features each split looks at: floor(sqrt(F)), at least 1, unless given. */
  readonly maxFeatures?: number | undefined;
  /** a of Laplace's (count + a) / (n + a C) in every leaf (0: the fractions as they are). */
  readonly leafSmoothing?: number | undefined;
  readonly classWeights?: ClassWeights | undefined;
  /** Whether each tree sees n rows drawn with replacement (yes), or all of them. */
  readonly bootstrap?: boolean | undefined;
  /** The most rows that are drawn for a tree (as many as there are): fewer make trees of many rows quick. */
  readonly maxSamples?: number | undefined;
  /** How many threads, the caller included; all cores unless given. Results do not depend on it. */
  readonly threads?: number | undefined;
}

export const forestTexts = {
  option: (name: string, given: unknown, expected: string) =>
    `the forest's ${name} was ${String(given)}: give ${expected}`,
  saved: "this is no saved forest: give what saveForest returned",
};

const requireOption = (right: boolean, name: keyof ForestOptions, given: unknown, expected: string): void => {
  if (!right) throw new InputError("forest-option", forestTexts.option(name, given, expected));
};

/** Every option that was given is usable. */
export const checkOptions = (options: ForestOptions): void => {
  const whole = (
    name: "trees" | "maxDepth" | "minLeaf" | "minSplit" | "maxFeatures" | "maxSamples" | "threads",
    least: number,
  ) => {
    const given = options[name];
    const right = given === undefined || (Number.isInteger(given) && given >= least && given < 2 ** 31);
    requireOption(right, name, given, `a whole number of at least ${least}`);
  };
  whole("trees", 1);
  whole("maxDepth", 1);
  whole("minLeaf", 1);
  whole("minSplit", 2);
  whole("maxFeatures", 1);
  whole("maxSamples", 1);
  whole("threads", 1);
  requireOption(
    options.maxSamples === undefined || options.bootstrap !== false,
    "maxSamples",
    options.maxSamples,
    "none where every tree sees all rows",
  );
  const { leafSmoothing = 0 } = options;
  requireOption(
    leafSmoothing >= 0 && leafSmoothing < Number.POSITIVE_INFINITY,
    "leafSmoothing",
    leafSmoothing,
    "a finite number of at least 0",
  );
};
