/**
 * Whether a way of asking gains anything over drawing at random on this table: differences of the same seeds (the same
 * split and initial labels), with intervals that hold for all of them together (Bonferroni), so that one of many
 * comparisons does not look like a gain by chance.
 */

import type { StrategyName } from "../active/strategy-names.js";
import { listed } from "../core/list-in-words.js";
import { between, fixed, signed } from "../core/number-text.js";
import { ANYWHERE, DIFFERENCE_RANGE, type Interval, meanEstimate } from "../core/stats.js";
import type { Evaluation } from "./evaluation.js";

/** What is compared, after the last label and for the first sensitive attribute. */
const MEASURES = [
  { measure: "accuracy", words: "accuracy", more: true },
  { measure: "accuracyAtParity", words: "accuracy at parity", more: true },
  { measure: "dpRatio", words: "parity", more: true },
  { measure: "leakage", words: "leakage", more: false },
] as const satisfies readonly { measure: keyof Evaluation; words: string; more: boolean }[];

export type ComparedMeasure = (typeof MEASURES)[number]["measure"];

/** The method's value less that of random, over the seeds in which both have one. */
export interface MeasureDifference {
  readonly measure: ComparedMeasure;
  readonly mean: number | null;
  readonly standardError: number | null;
  /** At the level that all comparisons hold together at; null with fewer than two seeds. */
  readonly interval: readonly [number, number] | null;
  readonly n: number;
  readonly verdict: "better" | "worse" | "open";
}

export interface MethodAgainstRandom {
  readonly method: StrategyName;
  /** Of all measures: "mixed" where one is better and one worse, "open" where none can be told from random's. */
  readonly verdict: "better" | "worse" | "mixed" | "open";
  readonly measures: readonly MeasureDifference[];
  readonly sentence: string;
}

export interface AgainstRandom {
  /** Whether random acquisition was among the methods; it was run beside them where not. */
  readonly asked: boolean;
  /** The level that all intervals hold together at, and how many there are. */
  readonly level: number;
  readonly comparisons: number;
  readonly methods: readonly MethodAgainstRandom[];
}

export const againstRandomTexts = {
  oneSeed:
    "One seed says nothing about what is gained over random acquisition: no comparison was made (--seeds 8 makes one).",
  gains: (method: string, better: string, other: string) =>
    `${method} is better than random acquisition on this table: ${better}${other}.`,
  loses: (method: string, worse: string, other: string) =>
    `${method} is worse than random acquisition on this table: ${worse}${other}.`,
  mixed: (method: string, better: string, worse: string, other: string) =>
    `${method} is better than random acquisition on this table in one thing and worse in another: ${better}; ${worse}${other}.`,
  open: (method: string, all: string) =>
    `${method} shows no gain over random acquisition on these seeds; the differences are within chance: ${all}.`,
  together: (comparisons: number, level: number) =>
    `Differences from random acquisition are seed by seed; the ${comparisons} intervals hold together at ${fixed(100 * level, 0)} %.`,
};

const LEVEL = 0.95;

const differenceOf = (
  { measure, more }: (typeof MEASURES)[number],
  own: readonly Evaluation[],
  random: readonly Evaluation[],
  level: number,
): MeasureDifference => {
  const differences = own.flatMap((each, seed) => {
    const [value, other] = [each[measure], random[seed][measure]];
    return value === undefined || other === undefined ? [] : [value - other];
  });
  const n = differences.length;
  if (n < 2) {
    return { measure, mean: differences[0] ?? null, standardError: null, interval: null, n, verdict: "open" };
  }
  const { mean, standardError, interval: student } = meanEstimate(differences, level);
  const [least, most] = measure === "leakage" ? ANYWHERE : DIFFERENCE_RANGE;
  const interval: Interval = [Math.max(least, student[0]), Math.min(most, student[1])];
  const [low, high] = interval;
  const above = low > 0;
  const verdict = !above && !(high < 0) ? "open" : above === more ? "better" : "worse";
  return { measure, mean, standardError, interval, n, verdict };
};

const inWords = ({ measure, mean, interval }: MeasureDifference): string => {
  const { words } = MEASURES.find((each) => each.measure === measure) ?? { words: measure };
  const value = mean === null ? "no value" : signed(mean, 3);
  return `${words} ${value}${interval === null ? "" : ` (${between(interval)})`}`;
};

const sentenceOf = (method: string, measures: readonly MeasureDifference[]): string => {
  const of = (verdict: MeasureDifference["verdict"]) =>
    listed(measures.filter((each) => each.verdict === verdict).map(inWords));
  const [better, worse, open] = [of("better"), of("worse"), of("open")];
  const other = open === "" ? "" : `; not to be told from random's: ${open}`;
  if (better !== "" && worse !== "") return againstRandomTexts.mixed(method, better, worse, other);
  if (better !== "") return againstRandomTexts.gains(method, better, other);
  return worse !== ""
    ? againstRandomTexts.loses(method, worse, other)
    : againstRandomTexts.open(method, open);
};

const verdictOf = (measures: readonly MeasureDifference[]): MethodAgainstRandom["verdict"] => {
  const has = (verdict: string) => measures.some((each) => each.verdict === verdict);
  if (has("better")) return has("worse") ? "mixed" : "better";
  return has("worse") ? "worse" : "open";
};

/** Every method with the evaluations of its seeds, against those of random acquisition, [seeds] each. */
export const compareWithRandom = (
  methods: readonly { readonly method: StrategyName; readonly evaluations: readonly Evaluation[] }[],
  random: readonly Evaluation[],
  asked: boolean,
): AgainstRandom => {
  const compared = methods.filter(({ method }) => method !== "random");
  const comparisons = compared.length * MEASURES.length;
  const level = 1 - (1 - LEVEL) / Math.max(1, comparisons);
  return {
    asked,
    level: LEVEL,
    comparisons,
    methods: compared.map(({ method, evaluations }) => {
      const measures = MEASURES.map((each) => differenceOf(each, evaluations, random, level));
      return { method, verdict: verdictOf(measures), measures, sentence: sentenceOf(method, measures) };
    }),
  };
};
