/**
 * Is this dataset fair? What its features give away about a sensitive attribute, in nats per record, in the worst
 * case over a set of adversaries (section 3 of the paper, on a table):
 *
 *     F_u = max_m H(phi) - E[-log m(phi | x)],   F_c = the same given the target, averaged over its values
 *
 * on rows that the adversaries have not seen.
 */
import { InputError } from "../core/errors.js";
import { pacer } from "../core/options.js";
import { isRare, rareClasses } from "../core/rare-values.js";
import { defaultAdversaries } from "./leakage/adversaries.js";
import { columnLeakage, groupColumns, refitRows } from "./leakage/columns.js";
import type { FitSettings, Watch } from "./leakage/cross-fit.js";
import { SVM_ROWS } from "./leakage/defaults.js";
import { type LeakageFigures, type LeakageFinding, teller } from "./leakage/findings.js";
import {
  joined,
  type LeakageAuditInput,
  type LeakageAuditOptions,
  type LeakageSettings,
  leakageSettings,
  requireInput,
  withoutGroups,
} from "./leakage/input.js";
import { type Estimated, leakageOver, leastRows, type NamedAdversary } from "./leakage/over-strata.js";
import { type LeakageAudit, type LeakageEstimate, rowLeakage, summariseGroups } from "./leakage/result.js";
import { type Stratum, stratumOf } from "./leakage/stratum.js";
import { leakageNotes, leakageTexts } from "./leakage/texts.js";

export { type Adversaries, defaultAdversaries } from "./leakage/adversaries.js";
export { type BinnedAttribute, binByCuts, quantileBins } from "./leakage/attribute.js";
export type { ColumnLeakage } from "./leakage/columns.js";
export type { Adversary } from "./leakage/cross-fit.js";
export { type ComparedLeakage, leakageDifference } from "./leakage/difference.js";
export type { AdversaryEstimate } from "./leakage/estimate.js";
export type { LeakageFigures, LeakageFinding } from "./leakage/findings.js";
export type { LeakageAuditInput, LeakageAuditOptions } from "./leakage/input.js";
export { lookup } from "./leakage/lookup.js";
export {
  auditParity,
  type ParityAudit,
  type ParityAuditInput,
  type ParityAuditOptions,
  type PredictorParity,
  parityFits,
  parityReasons,
} from "./leakage/predictors.js";
export type {
  GroupSummary,
  LeakageAudit,
  LeakageEstimate,
  LeakageRecords,
  RowLeakage,
} from "./leakage/result.js";
export { leakageNotes, leakageTexts } from "./leakage/texts.js";

/** About how many rows models learn from in all: how often a planted leak has to be tried again is not known before. */
const expectedRows = (
  { features: { rows, columns }, sourceColumns, target, test }: LeakageAuditInput,
  adversaries: readonly NamedAdversary[],
  { folds, plants, plantRows, plantAdversaries, mostRows = rows }: LeakageSettings,
): number => {
  const all = folds;
  const before = test === undefined ? ((all - 1) * all) / 2 : all + Math.ceil(all / 2);
  const without = (test === undefined ? all - 1 : all) * (all - 1);
  const crossFits = adversaries.reduce(
    (sum, [, adversary]) =>
      sum + Math.min(rows * (before + without), (adversary.mostRows ?? mostRows) * (2 * all) * all) / all,
    0,
  );
  const planted =
    plants *
    Math.min(rows, plantRows) *
    (test === undefined ? (all - 1) / 2 : 1) *
    Math.min(plantAdversaries, adversaries.length);
  const refits = refitRows(rows, folds, sourceColumns === undefined ? columns : new Set(sourceColumns).size);
  return (target === undefined ? 1 : 2) * (crossFits + planted) + refits;
};

/** What is known before anything is estimated: who is left out, and why. */
const firstNotes = (
  input: LeakageAuditInput,
  options: LeakageAuditOptions,
  { folds, mostRows }: LeakageSettings,
) => {
  const notes: string[] = [];
  const { rows } = input.features;
  if (options.adversaries === undefined && rows > SVM_ROWS) notes.push(leakageNotes.noSvm(rows));
  const unknown = input.sensitive.filter((group) => group < 0).length;
  if (unknown > 0) notes.push(leakageNotes.unknown(unknown));
  const trained = Math.floor((rows * (folds - 1)) / folds);
  if (mostRows !== undefined && trained > mostRows) notes.push(leakageNotes.cap(trained, mostRows));
  const small = rareClasses(input.sensitive, input.groupNames.length).filter(Boolean).length;
  if (small > 0) notes.push(leakageNotes.rareGroups(small));
  const fewValues = rareClasses(input.target ?? [], input.targetNames?.length ?? 0).filter(Boolean).length;
  if (fewValues > 0) notes.push(leakageNotes.rareTargets(fewValues));
  return notes;
};

/**
 * The audit of one attribute: F_u and, where there is a target, F_c, each the largest over the adversaries, with a
 * simultaneous interval, an exact test and the smallest leakage that so many rows could have shown; and the columns
 * and rows that carry it.
 *
 * `features` is [rows, columns]; `sensitive` and `target` are [rows], -1 where unknown. The same input and stream give
 * the same numbers on any number of threads; the stream does not move.
 *
 * @example
 * ```ts
 * import { auditLeakage, lookup, seededStream } from "fairbed/fairness";
 *
 * const rows = 60;
 * const sensitive = Int32Array.from({ length: rows }, (_, row) => row % 2);
 * const values = Float32Array.from(sensitive); // a column that is the attribute
 * const { leakage, columns } = await auditLeakage(
 *   { features: { values, rows, columns: 1 }, sourceColumns: ["copy"], sensitive, groupNames: ["a", "b"] },
 *   { stream: seededStream(0), adversaries: { lookup: lookup() }, plants: 0, permutations: 99, replicates: 100 },
 * );
 * const { nats, entropy, pValue } = leakage.unconditional;
 * console.log(nats > 0.9 * entropy, pValue < 0.01, columns[0].proxy); // true true true
 * ```
 */
export const auditLeakage = async (
  input: LeakageAuditInput,
  options: LeakageAuditOptions,
): Promise<LeakageAudit> => {
  const { stream, attribution = true } = options;
  const settings = leakageSettings(options, input.features.rows);
  const adversaries = Object.entries(options.adversaries ?? defaultAdversaries(input.features.rows));
  requireInput(input, settings, adversaries.length);
  const rare = rareClasses(input.sensitive, input.groupNames.length);
  const { features, sensitive, target, own, tested } = joined(withoutGroups(input, rare));
  const { groupNames, targetNames = [] } = input;
  const least = leastRows(settings.folds);
  const watch = watchOf(options, expectedRows(input, adversaries, settings));
  const mostRows = settings.mostRows ?? features.rows;
  const fitting: FitSettings = { features, mostRows, watch };
  const notes = firstNotes(input, options, settings);
  const firstRow = tested === undefined ? 0 : own.length;
  const tell = teller<LeakageFinding>(options.onFound, options.signal);
  const over = async (
    strata: readonly Stratum[],
    givenTarget: boolean,
    into: string[],
  ): Promise<Estimated> => {
    const own = stream.split(givenTarget ? "conditional" : "unconditional");
    const estimated = await leakageOver(
      strata,
      adversaries,
      settings,
      fitting,
      own,
      into,
      firstRow,
      tell && ((adversary, entropy) => tell({ kind: "adversary", givenTarget, adversary, entropy })),
    );
    await tell?.({ kind: "leakage", givenTarget, leakage: withoutRecords(estimated.leakage) });
    return estimated;
  };
  const stratum = (rows: Int32Array, test: Int32Array | undefined, where: string, into: string[]): Stratum =>
    stratumOf({ sensitive, groupNames, rows, test, where, leastRows: least }, into);

  const unconditionalNotes: string[] = [];
  const whole = stratum(own, tested, "", unconditionalNotes);
  if (whole.groups.length < 2) {
    const text = leakageTexts.fewRows("The attribute", own.length, groupNames.length, least);
    throw new InputError("few-rows", text);
  }
  if (tested !== undefined) {
    const present = new Set(Array.from(tested, (row) => sensitive[row]));
    for (const group of whole.groups) {
      if (!present.has(group)) notes.push(leakageNotes.absentInTest(groupNames[group]));
    }
    if ((whole.test?.length ?? 0) < 2) throw new InputError("no-test-rows", leakageTexts.noTestRows);
  }
  const unconditional = await over([whole], false, unconditionalNotes);
  // Before what takes as long again: a reader wants to know first where it comes from.
  const names =
    input.sourceColumns ?? Array.from({ length: features.columns }, (_, column) => `column ${column}`);
  const columns = attribution
    ? await columnLeakage(features, groupColumns(names), unconditional.strata, unconditional.winner, {
        level: settings.level,
        idle: unconditional.idle,
        adversary: unconditional.adversary,
        stream: stream.split("columns"),
        watch,
        tell: tell && ((found, finished) => tell({ kind: "columns", columns: found, finished })),
      })
    : [];

  let conditional: Estimated | undefined;
  if (target !== undefined) {
    const conditionalNotes: string[] = [];
    const strata = targetNames.flatMap((name, value) => {
      const of = (rows: Int32Array) => rows.filter((row) => target[row] === value);
      const rows = of(own);
      // Too few to be held out, and to be named in a note.
      if (isRare(rows.length)) return [];
      const test = tested === undefined ? undefined : of(tested);
      return [stratum(rows, test, ` where the target is "${name}"`, conditionalNotes)];
    });
    if (strata.some(({ groups }) => groups.length >= 2)) {
      conditional = await over(strata, true, conditionalNotes);
    } else notes.push(leakageNotes.noConditional);
  }

  notes.push(...new Set([...unconditional.leftOut, ...(conditional?.leftOut ?? [])]));
  return {
    leakage: { unconditional: unconditional.leakage, conditional: conditional?.leakage },
    groups: summariseGroups(input, settings.level),
    columns,
    rows: rowLeakage(unconditional.leakage),
    notes,
    settings: { ...settings, adversaries: adversaries.map(([name]) => name) },
  };
};

const withoutRecords = ({ records, ...figures }: LeakageEstimate): LeakageFigures => figures;

const watchOf = (options: LeakageAuditOptions, total: number): Watch => {
  const pace = pacer(options);
  let learnt = 0;
  return {
    fit(rows) {
      const done = Math.min(learnt, total);
      learnt += rows;
      return pace.step({ done, total, label: "measuring the leakage" });
    },
    pause: () => pace.pause(),
  };
};
