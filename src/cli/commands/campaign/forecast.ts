/** `fairbed campaign forecast`: what further labels are expected to bring, and whether to stop. */
import { type InformationUnit, unitOf } from "../../../core/information-unit.js";
import type { Forecast } from "../../../workflows/forecast.js";
import { FORECAST_WORTHWHILE } from "../../../workflows/forecast-advice.js";
import { bitsOption } from "../../bits-option.js";
import { defineCommand } from "../../command.js";
import { integers, optionalReal, real } from "../../options.js";
import { withProgress } from "../../run-options.js";
import { rightAligned, short } from "../../text-table.js";
import { type Measure, measureNames, shownValue } from "./estimate.js";
import { campaignArguments, campaignOptions, withCampaign } from "./open-campaign.js";

export const forecastCommandTexts = {
  today: (campaign: string) =>
    `Today's values are read off the learning curve too; those of fairbed campaign estimate ${campaign} are of one fit, and vary more by chance.`,
};

export const forecast = defineCommand({
  name: "campaign forecast",
  group: "Campaigns",
  summary: "what more labels would bring, and whether to stop",
  examples: [
    { line: "campaign forecast hiring", description: "up to the end of its budget" },
    { line: "campaign forecast hiring --at 100,500", description: "with 100 and with 500 labels more" },
  ],
  arguments: campaignArguments,
  options: {
    at: integers(
      "--at <numbers>",
      "so many further labels (a quarter, a half and as many again as there are, and the budget's end)",
      undefined,
      { min: 1 },
    ),
    worthwhile: real(
      "--worthwhile <gain>",
      "the least gain in accuracy that is worth the rest of the budget",
      FORECAST_WORTHWHILE,
      { min: 0 },
    ),
    parity: optionalReal(
      "--parity <ratio>",
      "whether the ratio of selection rates can reach this; the campaign's own requirement unless given",
      { above: 0, max: 1 },
    ),
    bits: bitsOption,
    ...campaignOptions,
  },
  reportsProgress: true,
  run: ({ arguments: { name }, options, context }) =>
    withCampaign(name, options, async (campaign) => {
      const choice = {
        at: options.at,
        worthwhile: options.worthwhile,
        requirement:
          options.parity === undefined ? undefined : ({ metric: "dp", level: options.parity } as const),
      };
      const made = await withProgress(context, "forecasting", (run) => campaign.forecast(choice, run));
      return { campaign: name, unit: "nats", ...made };
    }),
  print: ({ campaign, ...made }, { bits }) => forecastLines(campaign, made, unitOf(bits)).join("\n"),
});

/** The reason says itself where to go on. */
const ACTIONS = {
  "go-on": "Advice",
  stop: "Stop",
  "too-early": "Too early to say",
} as const satisfies Record<Forecast["advice"]["action"], string>;

const forecastLines = (campaign: string, made: Forecast, unit: InformationUnit): readonly string[] => {
  const { labels, advice, requirement } = made;
  return [
    `${campaign}: ${labels.known} labels, ${labels.drawn} of them drawn at random; ${labels.left} can still be had`,
    "",
    ...forecastTable(made, unit),
    ...(made.estimate === null ? [] : [forecastCommandTexts.today(campaign)]),
    `${ACTIONS[advice.action]}: ${advice.reason}.`,
    ...(advice.gain?.cost == null
      ? []
      : [`Those ${advice.gain.further} labels would cost ${short(advice.gain.cost)}.`]),
    ...(requirement === null ? [] : [`The requirement: ${requirement.reason}.`]),
  ];
};

/** A row for each measure and number of labels, with its interval. */
const forecastTable = (made: Forecast, unit: InformationUnit): readonly string[] => {
  const rows = (Object.entries(measureNames(unit)) as [Measure, string][]).flatMap(([measure, name]) => {
    const found = made[measure];
    if (found === null) return [];
    return [
      [name, "today", ...shownValue(measure, found.today, unit), ""],
      ...found.at.map((point) => [
        "",
        `+${point.further}`,
        ...shownValue(measure, point, unit),
        found.shape === "level" ? "stays as it is" : found.shape,
      ]),
    ];
  });
  if (rows.length === 0) return [];
  return [...rightAligned([["", "labels", "expected", "95 % interval", "curve"], ...rows]), ""];
};
