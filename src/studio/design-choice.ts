/** What the design screen is about: a shipped model and what is wanted of its designs. */
import type { ModelOptions } from "../design/model-catalogue.js";
import type { ObjectiveKind } from "../design/quantity.js";
import { QUICK_SEARCH, TRAIN_POLICY_DEFAULTS } from "../workflows/policy-defaults.js";

export interface DesignChoice {
  readonly model: string;
  readonly options: ModelOptions;
  readonly horizon: number;
  readonly beta: number;
  readonly objective: ObjectiveKind;
  readonly seed: number;
  readonly search: SearchName;
}

export type SearchName = "quick" | "thorough";

/** How long designs are looked for. */
export const SEARCHES = {
  quick: QUICK_SEARCH,
  thorough: {
    steps: TRAIN_POLICY_DEFAULTS.static.steps,
    starts: TRAIN_POLICY_DEFAULTS.static.starts,
    evaluation: {},
  },
} as const;

/** [horizon][variables] */
export type Designs = readonly (readonly number[])[];

/** The models that the page knows, by what people call them. */
export const MODEL_TITLES: Readonly<Record<string, { readonly title: string; readonly about: string }>> = {
  location: {
    title: "Location finding",
    about:
      "Where to listen for a hidden source: how far across it is (theta) is wanted, how far up (phi) is not.",
  },
  psychometric: {
    title: "Detection threshold",
    about: "How strong a stimulus to show: the threshold is wanted, a group's shift is not.",
  },
  pharmacokinetics: {
    title: "Blood samples after a dose",
    about: "When to draw blood: clearance is wanted, the effect of a genotype is not.",
  },
  "linear-gaussian": {
    title: "Weighted sum",
    about: "How much weight each part gets; everything has a closed form.",
  },
};

const MOST_OBSERVATIONS = 20;
const USUAL_OBSERVATIONS = 5;

const numberIn = (text: string | undefined, usual: number, low: number, high: number): number => {
  const value = Number(text);
  return text === undefined || text === "" || !Number.isFinite(value)
    ? usual
    : Math.min(high, Math.max(low, value));
};

const optionsIn = (text: string | undefined): ModelOptions => {
  try {
    const value: unknown = JSON.parse(text ?? "{}");
    return typeof value === "object" && value !== null && !Array.isArray(value)
      ? (value as ModelOptions)
      : {};
  } catch {
    return {};
  }
};

/** What the address says, with what is usual where it says nothing that can be used. */
export const designChoiceIn = (settings: Readonly<Record<string, string>>): DesignChoice => {
  const model = Object.hasOwn(MODEL_TITLES, settings.model ?? "") ? settings.model : "location";
  return {
    model,
    options: optionsIn(settings.options),
    horizon: Math.round(numberIn(settings.observations, USUAL_OBSERVATIONS, 1, MOST_OBSERVATIONS)),
    beta: numberIn(settings.beta, TRAIN_POLICY_DEFAULTS.beta, 0, 100),
    objective: settings.leakage === "alone" ? "unconditional" : TRAIN_POLICY_DEFAULTS.objective,
    seed: Math.round(numberIn(settings.seed, TRAIN_POLICY_DEFAULTS.seed, 0, Number.MAX_SAFE_INTEGER)),
    search: settings.search === "thorough" ? "thorough" : "quick",
  };
};

export const designLimits = { observations: MOST_OBSERVATIONS };
