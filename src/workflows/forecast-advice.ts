/** What a forecast means for a campaign: whether to go on, and whether a requirement can be met. */
import { between, fixed } from "../core/number-text.js";
import type { Interval } from "../core/stats.js";

/** The least gain in accuracy that is worth asking for, unless another is given. */
export const FORECAST_WORTHWHILE = 0.005;

/** A ratio of selection rates that the model must reach, without a decision rule. */
export interface ForecastRequirement {
  readonly metric: "dp";
  /** The least ratio. */
  readonly level: number;
}

export interface RequirementForecast extends ForecastRequirement {
  /**
   * "met": today's interval is not below the level, and more labels are not expected to change that. "out-of-reach": even
   * the upper end at the end of the budget is below it. "unlikely": so is the upper end of an 80 % interval. Else "open".
   */
  readonly verdict: "met" | "open" | "unlikely" | "out-of-reach";
  /** One sentence, with what to do next. */
  readonly reason: string;
}

/** What further labels are expected to add to the accuracy. */
export interface ForecastGain {
  /** So many: what is left of the budget, or as many again as there are where there is none. */
  readonly further: number;
  readonly value: number;
  /** 95 %. */
  readonly interval: Interval;
  /** Of those labels, where the cost of one was given. */
  readonly cost: number | null;
}

export interface ForecastAdvice {
  readonly action: "go-on" | "stop" | "too-early";
  /** One sentence. */
  readonly reason: string;
  /** The least gain that is worth asking for. */
  readonly worthwhile: number;
  /** Null where it is too early to say, or where nobody is left to ask. */
  readonly gain: ForecastGain | null;
}

/** The parity of a model of a number of labels. */
export interface ParityAt {
  readonly value: number;
  readonly interval: Interval;
}

const rule = (level: number) => `fit with the fair decision rule (--rule dp --parity ${level})`;

export const forecastTexts = {
  tooEarly: (drawn: number, needed: number) =>
    `${drawn} of at least ${needed} labels that are drawn at random have been answered: ask for more before a forecast`,
  used: (labels: number) =>
    `the budget is used up, or nobody is left to ask: fit a model of the ${labels} labels`,
  plateau: ({ further, interval }: ForecastGain, worthwhile: number) =>
    `${further} more labels are expected to add at most ${fixed(interval[1], 4)} to the accuracy, less than the ${worthwhile} that is worthwhile: fit a model of what is there`,
  plateauOutOfReach: ({ further, interval }: ForecastGain, worthwhile: number, level: number) =>
    `${further} more labels are expected to add at most ${fixed(interval[1], 4)} to the accuracy, less than the ${worthwhile} that is worthwhile, and do not bring the ratio of selection rates to ${level}: ${rule(level)} instead`,
  plateauUnmet: ({ further }: ForecastGain, level: number) =>
    `${further} more labels are expected to add little to the accuracy, but whether the ratio of selection rates reaches ${level} is not known yet: go on, with a random part`,
  rising: ({ further, value, interval }: ForecastGain, worthwhile: number) =>
    `${further} more labels are expected to add ${fixed(value, 3)} (${between(interval)}) to the accuracy, and ${worthwhile} is worthwhile: go on`,
  uncertain: ({ further, value, interval }: ForecastGain, worthwhile: number) =>
    `${further} more labels are expected to add ${fixed(value, 3)} to the accuracy, but could add up to ${fixed(interval[1], 3)}, and ${worthwhile} is worthwhile: it is too early to stop, so go on`,
  met: (level: number, { interval }: ParityAt) =>
    `the ratio of selection rates is ${between(interval, 2)} today, at or above ${level}, and is expected to stay there: no rule is needed`,
  open: (level: number, { value, interval }: ParityAt) =>
    `the ratio of selection rates is expected at ${fixed(value, 2)} (${between(interval, 2)}), on both sides of ${level}: get more labels that are drawn at random to tell, or ${rule(level)}`,
  unlikely: (level: number, { value, interval }: ParityAt) =>
    `the ratio of selection rates is expected at ${fixed(value, 2)} (${between(interval, 2)}), and is unlikely to reach ${level} by asking for more: ${rule(level)}, or lower the level`,
  outOfReach: (level: number, { value, interval }: ParityAt) =>
    `the ratio of selection rates is expected at ${fixed(value, 2)} (${between(interval, 2)}) at the end, below ${level}, and asking differently moves it little: ${rule(level)}, or lower the level`,
  noParity: (level: number) =>
    `nobody is selected by the model so far, so that nothing can be said about a ratio of ${level}: get more labels`,
  requirementEarly: (level: number) =>
    `too few labels that are drawn at random have been answered to say whether ${level} can be met: ask for more`,
  noGroups:
    "a requirement of parity was given and there is no sensitive attribute with a target of two classes: name the attribute, or leave the requirement out",
  level: (given: number) => `the level of the requirement was ${given}: give a ratio above 0 and at most 1`,
  worthwhile: (given: number) => `the least worthwhile gain was ${given}: give a number of at least 0`,
  count: (name: string, given: number) => `${name} was ${given}: give a whole number of at least 1`,
  cost: (given: number) => `the cost of a label was ${given}: give a number of at least 0`,
};

/** `upperOf80`: the upper end of an 80 % interval at the end. */
export const requirementForecast = (
  requirement: ForecastRequirement,
  parity: { readonly today: ParityAt; readonly end: ParityAt; readonly upperOf80: number } | undefined,
): RequirementForecast => {
  const { level } = requirement;
  if (parity === undefined) return { ...requirement, verdict: "open", reason: forecastTexts.noParity(level) };
  const { today, end, upperOf80 } = parity;
  if (end.interval[1] < level)
    return { ...requirement, verdict: "out-of-reach", reason: forecastTexts.outOfReach(level, end) };
  if (today.interval[0] >= level && end.value >= level)
    return { ...requirement, verdict: "met", reason: forecastTexts.met(level, today) };
  if (upperOf80 < level)
    return { ...requirement, verdict: "unlikely", reason: forecastTexts.unlikely(level, end) };
  return { ...requirement, verdict: "open", reason: forecastTexts.open(level, end) };
};

export const adviceOf = (
  gain: ForecastGain | null,
  worthwhile: number,
  labels: number,
  requirement: RequirementForecast | null,
): ForecastAdvice => {
  const advice = (action: ForecastAdvice["action"], reason: string) => ({ action, reason, worthwhile, gain });
  if (gain === null) return advice("stop", forecastTexts.used(labels));
  if (gain.value >= worthwhile) return advice("go-on", forecastTexts.rising(gain, worthwhile));
  if (gain.interval[1] >= worthwhile) return advice("go-on", forecastTexts.uncertain(gain, worthwhile));
  if (requirement === null || requirement.verdict === "met")
    return advice("stop", forecastTexts.plateau(gain, worthwhile));
  if (requirement.verdict === "out-of-reach")
    return advice("stop", forecastTexts.plateauOutOfReach(gain, worthwhile, requirement.level));
  return advice("go-on", forecastTexts.plateauUnmet(gain, requirement.level));
};
