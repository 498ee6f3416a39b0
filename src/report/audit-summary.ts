/**
 * What a page or a report shows of one attribute, from what is known so far: the answer in words, and its pictures. It
 * runs in a browser.
 */

import type { TopLevelSpec } from "vega-lite";
import { listed } from "../core/list-in-words.js";
import { percent } from "../core/number-text.js";
import type { Interval } from "../core/stats.js";
import type {
  AdversaryEstimate,
  ColumnLeakage,
  GroupSummary,
  LeakageFigures,
  PredictorParity,
} from "../fairness/leakage.js";
import {
  adversariesChart,
  type Bar,
  baseRatesChart,
  columnsChart,
  decompositionChart,
} from "./audit-charts.js";
import type { AttributeSoFar } from "./audit-so-far.js";
import {
  auditTexts,
  between,
  chance,
  levelInWords,
  short,
  type Unit,
  unitOf,
  wasFound,
} from "./audit-wording.js";
import { leftOutInWords, mostImportant, notDrawnInWords } from "./not-drawn.js";
import { shortName } from "./short-names.js";

/** A picture, and the line below it, which also says it to those who do not see it. */
export interface AuditPicture {
  readonly specification: TopLevelSpec;
  readonly caption: string;
}

export interface AuditShown {
  readonly bits?: boolean | undefined;
  /** Whether the leakage once the target is known is asked for. */
  readonly givenTarget?: boolean | undefined;
}

const amount = (unit: Unit, nats: number, interval: Interval): string =>
  `${short(unit.of(nats))} ${unit.name} (${between(interval, unit.of)})`;

export const auditSummaryTexts = {
  begins: (attribute: string): string =>
    `How much a record says about ${attribute} is being measured: the first adversary is at work.`,
  soFar: (
    unit: Unit,
    best: AdversaryEstimate,
    asked: number,
    attribute: string,
    givenTarget: boolean,
  ): string =>
    `So far ${asked === 1 ? "the first adversary" : `the best of ${asked} adversaries`}${givenTarget ? ", told the target," : ""} narrows ${attribute} down by ${amount(unit, best.nats, best.interval)}. Whether chance alone would show as much is not known yet.`,
  found: (
    unit: Unit,
    { nats, interval, entropy }: LeakageFigures,
    attribute: string,
    givenTarget: boolean,
  ): string =>
    `${givenTarget ? "Once the target is known, knowing" : "Knowing"} a record narrows down ${attribute} by ${amount(unit, nats, interval)}, ${percent(nats / entropy)} of all there is to know.`,
  noneFound: (
    unit: Unit,
    { pValue, detectable }: LeakageFigures,
    attribute: string,
    givenTarget: boolean,
  ): string =>
    `${givenTarget ? "Once the target is known, no" : "No"} sign was found that knowing a record narrows down ${attribute} (p = ${chance(pValue)}). ${auditTexts.detectable(unit, detectable)}`,
  most: (columns: readonly string[]): string => `Most of it comes from ${listed(columns)}.`,
  spread: (columns: readonly string[]): string =>
    `It comes from many columns; by ${columns.length === 1 ? "itself" : "themselves"} ${listed(columns)} ${columns.length === 1 ? "says" : "say"} most.`,
  noColumn: (attribute: string): string => `No single column clearly stands in for ${attribute}.`,
};

/** As many columns are named. */
const MOST_NAMED = 3;

/**
 * Where a leakage comes from. Columns are named that say at least half as much by themselves as the first; what they say
 * together is not less than what the first says, so they are most of it where that is half of the whole.
 */
export const originOf = (attribute: AttributeSoFar): string => {
  const { name, columns, unconditional } = attribute;
  if (columns.length === 0 || unconditional.figures === undefined) return "";
  const first = columns[0].alone.nats;
  const named = columns
    .filter(({ proxy, alone }) => proxy && alone.nats >= first / 2)
    .slice(0, MOST_NAMED)
    .map((column) => column.name);
  if (named.length === 0) return auditSummaryTexts.noColumn(name);
  return first >= unconditional.figures.nats / 2
    ? auditSummaryTexts.most(named)
    : auditSummaryTexts.spread(named);
};

/** The one that would count if no other came: that finds most on rows held out. */
const bestOf = (adversaries: readonly AdversaryEstimate[]): AdversaryEstimate | undefined =>
  adversaries.reduce<AdversaryEstimate | undefined>(
    (best, each) => (best === undefined || each.heldOut > best.heldOut ? each : best),
    undefined,
  );

/** The answer in a sentence or two, as far as it is known. */
export const answerOf = (
  attribute: AttributeSoFar,
  { bits = false, givenTarget = false }: AuditShown = {},
): string => {
  const { name } = attribute;
  const unit = unitOf(bits);
  const { adversaries, figures } = givenTarget ? attribute.conditional : attribute.unconditional;
  if (figures === undefined) {
    const best = bestOf(adversaries);
    if (best === undefined) return auditSummaryTexts.begins(name);
    return auditSummaryTexts.soFar(unit, best, adversaries.length, name, givenTarget);
  }
  if (!wasFound(figures)) return auditSummaryTexts.noneFound(unit, figures, name, givenTarget);
  const said = auditSummaryTexts.found(unit, figures, name, givenTarget);
  return givenTarget ? said : [said, originOf(attribute)].filter((text) => text !== "").join(" ");
};

const same = (x: number): number => x;

const barOf = (name: string, value: number, [low, high]: Interval, of: (x: number) => number): Bar => ({
  name,
  value: of(value),
  low: of(low),
  high: of(high),
});

const MOST_GROUPS = 40;
/** Each has six lines in a picture. */
const MOST_GAPS = 8;
const MOST_COLUMNS = 10;

/** The largest groups, and the others. */
export const groupsShown = (groups: readonly GroupSummary[]) =>
  mostImportant(groups, MOST_GROUPS, ({ rows }) => rows);

/** The columns that say most. */
export const columnsShown = (columns: readonly ColumnLeakage[]): readonly ColumnLeakage[] =>
  columns.slice(0, MOST_COLUMNS);

/** How often the target has a value in a group; undefined where it is not known. */
export const rateOf = ({ baseRates }: GroupSummary, target: string) =>
  baseRates?.find((rate) => rate.target === target);

/** How often the target is positive in each group; undefined where it is known of none. */
export const baseRatesPicture = ({
  name,
  groups,
  positive,
  level,
  leftOut,
}: AttributeSoFar): AuditPicture | undefined => {
  const { shown, others } = groupsShown(groups);
  const bars = shown.flatMap((group) => {
    const rate = rateOf(group, positive);
    return rate === undefined ? [] : [barOf(group.name, rate.rate, rate.interval, same)];
  });
  if (bars.length === 0) return undefined;
  const unknown = {
    names: [...shown.filter((group) => rateOf(group, positive) === undefined), ...others].map(
      (group) => group.name,
    ),
    why: "too few rows, or the smallest of many",
  };
  return {
    specification: baseRatesChart(bars, positive, levelInWords(level), unknown),
    caption: `Base rates by group.${notDrawnInWords(unknown)}${leftOutInWords(leftOut, name)}`,
  };
};

/** What each adversary finds that is done; undefined before the first is. */
export const adversariesPicture = (
  { unconditional, conditional, level }: AttributeSoFar,
  { bits = false }: AuditShown = {},
): AuditPicture | undefined => {
  if (unconditional.adversaries.length === 0) return undefined;
  const unit = unitOf(bits);
  const barsOf = (adversaries: readonly AdversaryEstimate[]) =>
    adversaries.map((each) => barOf(each.name, each.nats, each.interval, unit.of));
  return {
    specification: adversariesChart(
      barsOf(unconditional.adversaries),
      barsOf(conditional.adversaries),
      unit.name,
      levelInWords(level),
    ),
    caption: "What each adversary finds, extrapolated to unlimited rows.",
  };
};

/** The columns that give most away; undefined before they are looked at. */
export const columnsPicture = (
  { columns, level }: AttributeSoFar,
  { bits = false }: AuditShown = {},
): AuditPicture | undefined => {
  if (columns.length === 0) return undefined;
  const unit = unitOf(bits);
  const shown = columnsShown(columns);
  const partOf = (name: string, part: ColumnLeakage["alone"]) =>
    barOf(name, part.nats, part.interval, unit.of);
  return {
    specification: columnsChart(
      shown.map(({ name, alone, without }) => ({
        alone: partOf(name, alone),
        without: without === undefined ? undefined : partOf(name, without),
      })),
      unit.name,
      levelInWords(level),
      columns.length - shown.length,
    ),
    caption:
      "By itself: counted on rows held out, numbers in ten classes. Lost without it: what the best adversary loses when it is fitted without the column.",
  };
};

const READS = "sees the attribute";
const DOES_NOT = "does not see it";

/** After "the predictor that". */
export const predictorInWords = ({ readsAttribute }: PredictorParity): string =>
  readsAttribute ? READS : DOES_NOT;

const gapBars = (predictor: PredictorParity, left: ReadonlySet<string>) =>
  predictor.decomposition
    .filter(({ group }) => !left.has(group))
    .flatMap(({ group, gap, reading, features }) => {
      const parts = [
        ["gap", gap],
        ["by reading it", reading],
        ["by the features", features],
      ] as const;
      return parts.flatMap(([part, value]) => {
        if (value === undefined) return [];
        const name = predictor.decomposition.length > 1 ? `${shortName(group, 130)}: ${part}` : part;
        return [{ ...barOf(name, value.value, value.interval, same), kind: predictorInWords(predictor) }];
      });
    });

/** The gap between the groups' mean predictions and its two parts; undefined without predictors. */
export const gapsPicture = ({ name, parity, level, leftOut }: AttributeSoFar): AuditPicture | undefined => {
  if (parity === undefined || parity.predictors.length === 0) return undefined;
  const compared = parity.predictors[0].decomposition;
  const known = compared.filter(({ gap }) => gap !== undefined);
  const { others: alike } = mostImportant(known, MOST_GAPS, ({ gap }) => Math.abs(gap?.value ?? 0));
  const unknown = compared.filter(({ gap }) => gap === undefined);
  const left = new Set([...alike, ...unknown].map(({ group }) => group));
  const similar = {
    names: [...left],
    why: `${alike.length === 0 ? "no gap is known" : "the smallest gaps"}; the tables have them`,
  };
  return {
    specification: decompositionChart(
      parity.predictors.flatMap((predictor) => gapBars(predictor, left)),
      `bars are ${levelInWords(level)} intervals`,
      [READS, DOES_NOT],
      similar,
    ),
    caption: `The gap of the mean predicted probability, on rows held out, and its two parts.${notDrawnInWords(similar)}${leftOutInWords(leftOut, name)}`,
  };
};

/** The pictures of one attribute, as far as they can be drawn. */
export const auditPictures = (
  attribute: AttributeSoFar,
  shown: AuditShown = {},
): {
  readonly baseRates: AuditPicture | undefined;
  readonly adversaries: AuditPicture | undefined;
  readonly columns: AuditPicture | undefined;
  readonly gaps: AuditPicture | undefined;
} => ({
  baseRates: baseRatesPicture(attribute),
  adversaries: adversariesPicture(attribute, shown),
  columns: columnsPicture(attribute, shown),
  gaps: gapsPicture(attribute),
});
