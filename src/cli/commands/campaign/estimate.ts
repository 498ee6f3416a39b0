/** `fairbed campaign estimate`: what a model of the labels so far is worth on the whole pool. */
import { type InformationUnit, unitOf } from "../../../core/information-unit.js";
import { between, fixed } from "../../../core/number-text.js";
import type { EstimatedValue, PoolEstimate } from "../../../workflows/estimate-acquired.js";
import { bitsOption } from "../../bits-option.js";
import { defineCommand } from "../../command.js";
import { withProgress } from "../../run-options.js";
import { rightAligned } from "../../text-table.js";
import { campaignArguments, campaignOptions, withCampaign } from "./open-campaign.js";

export const estimate = defineCommand({
  name: "campaign estimate",
  group: "Campaigns",
  summary: "what a model of the labels so far is worth",
  examples: [{ line: "campaign estimate hiring", description: "on the whole pool, with 95 % intervals" }],
  arguments: campaignArguments,
  options: { bits: bitsOption, ...campaignOptions },
  reportsProgress: true,
  run: ({ arguments: { name }, options, context }) =>
    withCampaign(name, options, async (campaign) => ({
      campaign: name,
      unit: "nats",
      ...(await withProgress(context, "estimating", (run) => campaign.estimate(run))),
    })),
  print: ({ campaign, rows, ...result }, { bits }) =>
    [
      `${campaign}: a model of the labels so far, judged on the whole pool`,
      "",
      ...estimateTable(result, unitOf(bits)),
      "",
      `This rests on ${rows.drawn} labels that were drawn at random; ${rows.chosen} were chosen by their score, of ${rows.pool} that could be asked for.`,
    ].join("\n"),
});

export const measureNames = ({ name }: InformationUnit) =>
  ({
    accuracy: "accuracy",
    dpRatio: "ratio of selection rates",
    leakageAuc: "AUC of guessing the sensitive label",
    leakage: `leakage in ${name}`,
  }) as const;

export type Measure = keyof ReturnType<typeof measureNames>;

/** A value and its interval, in the unit that it is shown in. */
export const shownValue = (
  measure: Measure,
  given: Omit<EstimatedValue, "labels"> | null,
  { of }: InformationUnit,
): readonly [value: string, interval: string] => {
  if (given === null) return ["-", "-"];
  const scale = measure === "leakage" ? of : (value: number) => value;
  const [low, high] = given.interval;
  return [fixed(scale(given.value), 3), between([scale(low), scale(high)])];
};

const estimateTable = (
  result: Pick<PoolEstimate, "accuracy" | "dpRatio" | "leakageAuc" | "leakage">,
  unit: InformationUnit,
): string[] =>
  rightAligned([
    ["", "estimate", "95 % interval"],
    ...(Object.entries(measureNames(unit)) as [Measure, string][]).map(([measure, name]) => [
      name,
      ...shownValue(measure, result[measure], unit),
    ]),
  ]);
