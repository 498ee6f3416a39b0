/** A sweep's results as rows: one for each cell, and means over seeds. */
import { meanEstimate } from "../../../core/stats.js";
import { INFORMATION_NAMES } from "../../../design/quantity.js";
import type { FrontierRow, MeanWithError } from "../../../report/design-charts.js";
import { csvText } from "../../../tables/csv.js";
import type { PolicyReport } from "../../../workflows/evaluate-policy.js";
import type { FullSettings } from "../../../workflows/policy-settings.js";

/** A finished cell. */
export interface FinishedCell {
  readonly settings: FullSettings;
  readonly report: PolicyReport;
  readonly designs: readonly (readonly number[])[];
  /** The policy's file, in the sweep's folder. */
  readonly policy: string;
}

const RATIOS = ["sensitive", "sensitiveGivenTarget"] as const;

/** One line for each cell, in nats. */
export const csvOf = (cells: readonly FinishedCell[]): string => {
  const header = [
    "beta",
    "horizon",
    "seed",
    ...INFORMATION_NAMES.flatMap((name) => [`${name}_lower`, `${name}_upper`, `${name}_se`]),
    ...RATIOS.flatMap((name) => [`${name}_ratio_lower`, `${name}_ratio_upper`, `${name}_ratio_paper`]),
    ...["conditional", "unconditional"].flatMap((name) => [`${name}_lower`, `${name}_upper`, `${name}_se`]),
    "policy",
  ];
  const lines = cells.map(({ settings, report, policy }) => [
    settings.beta,
    settings.horizon,
    settings.seed,
    ...[...INFORMATION_NAMES.map((name) => report[name])].flatMap(({ lower, upper, standardError }) => [
      lower,
      upper,
      standardError,
    ]),
    ...RATIOS.flatMap((name) => [...report.ratios[name].interval, report.ratios[name].paper]),
    ...[report.objectives.conditional, report.objectives.unconditional].flatMap(
      ({ lower, upper, standardError }) => [lower, upper, standardError],
    ),
    policy,
  ]);
  return csvText([header, ...lines]);
};

export interface SummaryRow extends FrontierRow {
  readonly seeds: number;
  readonly objective: MeanWithError;
  /** In the paper's form: lower bounds over lower bounds. */
  readonly ratios: Readonly<Record<(typeof RATIOS)[number], MeanWithError>>;
}

/** Means over seeds for every beta and horizon, of the middle of the bounds. */
export const summarise = (cells: readonly FinishedCell[]): readonly SummaryRow[] => {
  const groups = new Map<string, FinishedCell[]>();
  for (const cell of cells) {
    const key = JSON.stringify([cell.settings.horizon, cell.settings.beta]);
    groups.set(key, [...(groups.get(key) ?? []), cell]);
  }
  return [...groups.values()].map((group) => {
    const over = (
      value: (report: PolicyReport) => number,
      error: (report: PolicyReport) => number,
    ): MeanWithError => meanOver(group.map(({ report }) => ({ value: value(report), error: error(report) })));
    const information = (name: (typeof INFORMATION_NAMES)[number]) =>
      over(
        (report) => (report[name].lower + report[name].upper) / 2,
        (report) => report[name].standardError,
      );
    const ratio = (name: (typeof RATIOS)[number]) =>
      over(
        ({ ratios }) => ratios[name].paper,
        ({ ratios }) => ratios[name].paperError,
      );
    const { beta, horizon, objective } = group[0].settings;
    return {
      beta,
      horizon,
      seeds: group.length,
      target: information("target"),
      sensitive: information("sensitive"),
      sensitiveGivenTarget: information("sensitiveGivenTarget"),
      objective: over(
        ({ objectives }) => objectives[objective].lower,
        ({ objectives }) => objectives[objective].standardError,
      ),
      ratios: { sensitive: ratio("sensitive"), sensitiveGivenTarget: ratio("sensitiveGivenTarget") },
    };
  });
};

/** Over seeds; a single one has only its own sampling error. A ratio without an end has no mean. */
const meanOver = (values: readonly { readonly value: number; readonly error: number }[]): MeanWithError => {
  if (!values.every(({ value }) => Number.isFinite(value)))
    return { mean: Number.NaN, standardError: Number.NaN };
  if (values.length === 1) return { mean: values[0].value, standardError: values[0].error };
  const { mean, standardError } = meanEstimate(values.map(({ value }) => value));
  return { mean, standardError };
};
