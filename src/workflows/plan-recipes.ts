/** The recipes that a plan tries out: how labels are asked for, and what is made of them. */

import { isFair, type StrategyName, strategyNames } from "../active/strategy-names.js";
import { shortest } from "../core/number-text.js";
import type { LearnerName } from "../learners/learner-names.js";
import { recommendedFor } from "./acquisition-settings.js";
import type { RecipeAcquisition } from "./recipe.js";

/** One recipe; the level that its rule aims at is found on inner rows. */
export interface PlannedParts {
  readonly acquisition: RecipeAcquisition;
  readonly learner: LearnerName;
  readonly reweigh: boolean;
  readonly rule: boolean;
}

/** Who is asked, how the groups are kept, and from the simplest on. */
const ASKING: readonly { readonly method: string; readonly shares: "population" | "equal" | "none" }[] = [
  { method: "random", shares: "none" },
  { method: "epig", shares: "population" },
  { method: "epig", shares: "equal" },
  { method: "epig-minimax", shares: "population" },
  { method: "epig-boundary", shares: "population" },
  { method: "fairbed", shares: "population" },
  { method: "fairbed-set", shares: "population" },
];

/** Of every active acquisition: what is drawn at random is the only sample of the population that it has. */
const RANDOM_PART = 0.25;

/** The methods that are tried unless others are named. */
export const PLANNED_METHODS: readonly StrategyName[] = strategyNames.filter((name) =>
  ASKING.some(({ method }) => method === name),
);

/** Every recipe of these methods and learners, the simplest of each kind first. */
export const recipesOf = (
  methods: readonly StrategyName[],
  learners: readonly LearnerName[],
  batch: number,
): readonly PlannedParts[] => {
  const known = ASKING.map(({ method }) => method);
  const asking = [
    ...ASKING,
    ...methods
      .filter((method) => !known.includes(method))
      .map((method) => ({ method, shares: "population" as const })),
  ];
  return asking.flatMap(({ method: name, shares }) =>
    methods
      .filter((method) => method === name)
      .flatMap((method) =>
        [false, true].flatMap((reweigh) =>
          learners.flatMap((learner) =>
            [false, true].map((rule): PlannedParts => {
              const beta = isFair(method) ? recommendedFor(method).goal.beta : undefined;
              const acquisition: RecipeAcquisition = {
                method,
                ...(beta === undefined ? {} : { beta }),
                shares,
                randomPart: method === "random" ? 0 : RANDOM_PART,
                // Nothing is learnt while people are drawn at random.
                reweigh: reweigh && method !== "random",
                batch,
              };
              return { acquisition, learner, reweigh, rule };
            }),
          ),
        ),
      ),
  );
};

/** One acquisition serves every recipe that asks alike. */
export const askingId = ({ method, shares, reweigh }: RecipeAcquisition): string =>
  [
    method,
    typeof shares === "string" ? shares : JSON.stringify(shares),
    ...(reweigh ? ["reweighed"] : []),
  ].join(" ");

/** A short name of its own for every recipe. */
export const recipeId = ({ acquisition, learner, reweigh, rule }: PlannedParts): string => {
  const { method, shares } = acquisition;
  return [
    method,
    ...(shares === "none" ? [] : [`shares ${typeof shares === "string" ? shares : "given"}`]),
    learner,
    ...(reweigh ? ["reweighed"] : []),
    rule ? "fair rule" : "no rule",
  ].join(", ");
};

/**
 * How much there is to a recipe: drawing at random is simpler than EPIG, that than all others, and then every part
 * counts. Between learners nothing is said.
 */
export const complexityOf = ({ acquisition: { method, shares }, reweigh, rule }: PlannedParts): number => {
  const asking = method === "random" ? 0 : method === "epig" ? 1 : 2;
  const kept = method === "random" ? shares !== "none" : shares !== "population";
  return 10 * asking + Number(kept) + Number(reweigh) + Number(rule);
};

const ASKED: Readonly<Partial<Record<string, string>>> = {
  random: "draw people at random",
  entropy: "ask whoever the model is least sure of (entropy)",
  bald: "ask whoever says most about the model (BALD)",
  epig: "ask whoever says most about the outcome of others (EPIG)",
  "epig-minimax": "ask whoever says most about the group that is known least (group-minimax EPIG)",
  "epig-boundary":
    "ask whoever says most about people near the fair decision's boundary (EPIG at the fair boundary)",
  fairbed: "ask whoever says most about the outcome and least about the group (FairBED)",
  "fairbed-set": "ask whoever says most about the outcome and stands out least by group (FairBED, whole set)",
};

const LEARNT: Readonly<Record<LearnerName, string>> = {
  forest: "a forest",
  logistic: "logistic regression",
  boosting: "boosted trees",
  mlp: "a neural network",
  svm: "a support vector machine",
};

/** A recipe in a sentence. `aim` is what its rule aims at, where it has one. */
export const recipeInWords = (
  { acquisition, learner, reweigh, rule }: PlannedParts,
  aim?: number | undefined,
): string => {
  const { method, shares, randomPart, beta } = acquisition;
  const kept =
    shares === "population"
      ? ", with every group at its share of the candidates"
      : shares === "equal"
        ? ", as many of every group"
        : typeof shares === "string"
          ? ""
          : ", with the groups at the shares given";
  const drawn =
    randomPart > 0 && randomPart < 1
      ? ` and ${Math.round(100 * randomPart)} % of the labels drawn at random`
      : "";
  const cost = beta === undefined ? "" : `, beta ${beta}`;
  const fitted = `fit ${LEARNT[learner]}${reweigh ? " to rows reweighed so that outcome and group are independent" : ""}`;
  const decided = rule
    ? `decide by the fair rule${aim === undefined ? "" : `, set to ${shortest(aim, 3)}`}`
    : "decide by the usual threshold";
  return `${ASKED[method] ?? `ask by ${method}`}${cost}${kept}${drawn}; ${fitted}; ${decided}`;
};

/** The same in a few words, for charts and tables. */
export const recipeName = ({ acquisition, learner, reweigh, rule }: PlannedParts): string => {
  const { method, shares } = acquisition;
  const asked = NAMES[method] ?? method;
  const usual = method === "random" ? "none" : "population";
  return [
    shares === usual ? asked : `${asked} (${shares === "equal" ? "equal groups" : "other shares"})`,
    learner,
    ...(reweigh ? ["reweighed"] : []),
    ...(rule ? ["fair rule"] : []),
  ].join(" + ");
};

const NAMES: Readonly<Partial<Record<string, string>>> = {
  random: "random",
  epig: "EPIG",
  "epig-minimax": "minimax EPIG",
  "epig-boundary": "fair boundary",
  fairbed: "FairBED",
  "fairbed-set": "whole set",
};
