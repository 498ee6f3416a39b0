/** What `plan` recommends, as plain data that a file carries: how to ask for labels, and what to make of them. */
import { type StrategyName, strategyNames } from "../active/strategy-names.js";
import { InputError } from "../core/errors.js";
import { LEARNER_NAMES, type LearnerName } from "../learners/learner-names.js";
import type { FairMetric } from "../mitigation/fair-rule.js";
import type { SharesChoice } from "./acquisition-settings.js";

export const RECIPE_FORMAT = "fairbed-recipe-1";

/** How labels are asked for, by the names of `acquisition`'s options. */
export interface RecipeAcquisition {
  readonly method: StrategyName;
  /** What a nat of leakage costs; only for methods that look at it. */
  readonly beta?: number | undefined;
  /** What the acquired groups keep to. */
  readonly shares: SharesChoice;
  /** The share of the labels that is drawn at random with a known probability. */
  readonly randomPart: number;
  /** The model that asks learns from rows that are reweighed so that outcome and group are independent. */
  readonly reweigh: boolean;
  /** Labels asked for between two fits. */
  readonly batch: number;
}

/** What is made of the labels, by the names of `fitModel`'s options. */
export interface RecipeFit {
  readonly learner: LearnerName;
  readonly reweigh: boolean;
  /** The fair decision rule and the level that it aims at, which may differ from the one that is wanted. */
  readonly rule?: { readonly metric: FairMetric; readonly level: number } | undefined;
}

/** A number with what is known about it; JSON has no other. */
export interface RecipeNumber {
  readonly mean: number;
  readonly interval: readonly [number, number] | null;
}

export interface Recipe {
  readonly format: typeof RECIPE_FORMAT;
  /** Of the library that wrote it. */
  readonly version: string;
  /** In a sentence. */
  readonly description: string;
  /** What was asked for. */
  readonly requirement: {
    readonly metric: FairMetric;
    readonly level: number;
    readonly labels: number;
    readonly target: string;
    readonly sensitive: string;
  };
  readonly acquisition: RecipeAcquisition;
  readonly fit: RecipeFit;
  /** What it rests on: a table by its content, and what the recipe reached on rows that no choice saw. */
  readonly chosenOn: {
    readonly table: string;
    readonly rows: number;
    readonly seeds: readonly number[];
    readonly labels: number;
    readonly accuracy: RecipeNumber;
    readonly parity: RecipeNumber;
    readonly verdict: "met" | "open" | "missed";
  };
}

export const recipeTexts = {
  format: `this is no recipe: give a file that fairbed plan --recipe wrote, whose format is "${RECIPE_FORMAT}"`,
  newer: (given: string) =>
    `the recipe has the format "${given}" and this version reads "${RECIPE_FORMAT}": make it again with fairbed plan, or use the version that wrote it`,
  field: (path: string, expected: string) =>
    `the recipe's ${path} is missing or wrong: it is ${expected}; make the recipe again with fairbed plan`,
};

type Fields = Readonly<Record<string, unknown>>;

const isFields = (given: unknown): given is Fields =>
  typeof given === "object" && given !== null && !Array.isArray(given);

const require = (holds: boolean, path: string, expected: string): void => {
  if (!holds) throw new InputError("recipe", recipeTexts.field(path, expected));
};

const part = (given: Fields, name: string): Fields => {
  const own = given[name];
  if (!isFields(own)) throw new InputError("recipe", recipeTexts.field(name, "an object"));
  return own;
};

const isShare = (given: unknown): boolean => typeof given === "number" && given >= 0 && given <= 1;
const isLevel = (given: unknown): boolean => typeof given === "number" && given > 0 && given <= 1;
const isCount = (given: unknown): boolean => Number.isSafeInteger(given) && Number(given) >= 1;
const isMetric = (given: unknown): boolean => given === "dp" || given === "eopp";
const isNumber = (given: unknown): boolean =>
  isFields(given) &&
  Number.isFinite(given.mean) &&
  (given.interval === null || (Array.isArray(given.interval) && given.interval.every(Number.isFinite)));

const isShares = (given: unknown): boolean =>
  given === "population" ||
  given === "equal" ||
  given === "none" ||
  (isFields(given) && Object.keys(given).length > 0 && Object.values(given).every(isShare));

const requireAcquisition = ({ method, beta, shares, randomPart, reweigh, batch }: Fields): void => {
  const known: readonly unknown[] = strategyNames;
  require(known.includes(method), "acquisition.method", `one of ${strategyNames.join(", ")}`);
  const isBeta = beta === undefined || (typeof beta === "number" && beta >= 0 && Number.isFinite(beta));
  require(isBeta, "acquisition.beta", "a number of at least 0");
  require(isShares(shares), "acquisition.shares", "population, equal, none, or a share for each group");
  require(isShare(randomPart), "acquisition.randomPart", "a number from 0 to 1");
  require(typeof reweigh === "boolean", "acquisition.reweigh", "true or false");
  require(isCount(batch), "acquisition.batch", "a whole number of at least 1");
};

const requireFit = ({ learner, reweigh, rule }: Fields): void => {
  const known: readonly unknown[] = LEARNER_NAMES;
  require(known.includes(learner), "fit.learner", `one of ${LEARNER_NAMES.join(", ")}`);
  require(typeof reweigh === "boolean", "fit.reweigh", "true or false");
  if (rule === undefined) return;
  require(isFields(rule), "fit.rule", "an object with metric and level, or left out");
  const { metric, level } = rule as Fields;
  require(isMetric(metric), "fit.rule.metric", "dp or eopp");
  require(isLevel(level), "fit.rule.level", "a ratio above 0 and at most 1");
};

/**
 * A recipe that was read from a file, such as `readRecipe(JSON.parse(text))`; what is not one, or was damaged, is
 * refused with a sentence. `recipe.acquisition` are options of `acquisition`, `recipe.fit` of `fitModel`.
 *
 * @example
 * ```ts
 * import { InputError, readRecipe } from "fairbed";
 *
 * try {
 *   readRecipe({ format: "fairbed-recipe-1", acquisition: { method: "telepathy" } });
 * } catch (error) {
 *   console.log(error instanceof InputError); // true
 * }
 * ```
 */
export const readRecipe = (given: unknown): Recipe => {
  if (!isFields(given) || typeof given.format !== "string" || !given.format.startsWith("fairbed-recipe-"))
    throw new InputError("recipe", recipeTexts.format);
  if (given.format !== RECIPE_FORMAT) throw new InputError("recipe", recipeTexts.newer(given.format));
  requireAcquisition(part(given, "acquisition"));
  requireFit(part(given, "fit"));
  const { metric, level, labels, target, sensitive } = part(given, "requirement");
  require(isMetric(metric), "requirement.metric", "dp or eopp");
  require(isLevel(level), "requirement.level", "a ratio above 0 and at most 1");
  require(isCount(labels), "requirement.labels", "a whole number of at least 1");
  require(typeof target === "string", "requirement.target", "the name of the target");
  require(typeof sensitive === "string", "requirement.sensitive", "the name of the attribute");
  const chosen = part(given, "chosenOn");
  require(typeof chosen.table === "string", "chosenOn.table", "the table by its content");
  require(Array.isArray(chosen.seeds), "chosenOn.seeds", "a list of seeds");
  for (const name of ["accuracy", "parity"] as const)
    require(isNumber(chosen[name]), `chosenOn.${name}`, "a number with its interval");
  return given as unknown as Recipe;
};
