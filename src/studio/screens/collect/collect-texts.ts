/** What the collect screen says. */

import { LONGEST_LEASE } from "../../../campaign/settings.js";
import type { CampaignStatus } from "../../../campaign/status.js";
import { between, fixed } from "../../../core/number-text.js";
import type { Forecast, MeasureForecast } from "../../../workflows/forecast.js";

const SECONDS_AN_HOUR = 3600;

const plural = (count: number, one: string, many = `${one}s`): string =>
  `${count.toLocaleString("en")} ${count === 1 ? one : many}`;

export const withDot = (sentence: string): string => `${sentence[0].toUpperCase()}${sentence.slice(1)}.`;

export const collectTexts = {
  nothing:
    "No campaign has begun here. Open a table whose target is not known for everybody, or try the example: you will be asked about one record after the other, the most useful first.",
  noTable: "Go on with a campaign below. To begin another one, open a table.",
  rehearsal: (rows: number, kept: number) =>
    `All ${rows.toLocaleString("en")} rows of this table have a label already. To show how it works, the campaign keeps the labels of ${kept} rows and takes the others away; the table itself stays as it is.`,
  allLabelled: (rows: number) =>
    `All ${rows.toLocaleString("en")} rows of this table have a label already, so there is nobody to ask. Add rows without one and open the table again, or try it out on a few labels:`,
  waiting: (count: number) => `${plural(count, "answer")} ${count === 1 ? "waits" : "wait"} for the server`,
  sending: (count: number) => `${plural(count, "answer")} on the way`,
  saved: (count: number) =>
    count <= 0 ? "Nothing answered in this tab yet" : `${plural(count, "answer")} saved`,
  /** Nobody is left, or those who are cost more than may be spent. */
  finished: (status: CampaignStatus | undefined) =>
    status !== undefined && status.counts.open > 0
      ? "All labels that are to be paid for are collected."
      : "Nobody is left to ask.",
  progress: ({ counts: { labelled }, budget }: CampaignStatus) =>
    budget === null || labelled > budget
      ? `${plural(labelled, "label")} collected${budget === null ? "" : `, more than the ${budget.toLocaleString("en")} to pay for`}.`
      : `${labelled.toLocaleString("en")} of ${plural(budget, "label")} collected.`,
  advice: ({ advice }: Forecast) => withDot(advice.reason),
  measure: ({ today, at }: MeasureForecast) => {
    const end = at.at(-1);
    const now = `${fixed(today.value, 2)} (${between(today.interval, 2)}) today`;
    return end === undefined
      ? now
      : `${now}, ${fixed(end.value, 2)} (${between(end.interval, 2)}) after ${end.further} more`;
  },
  disputed: (count: number) =>
    count === 1
      ? "Annotators disagree about 1 record. It has no label until somebody settles it."
      : `Annotators disagree about ${count.toLocaleString("en")} records. They have no label until somebody settles them.`,
  toSettle: (count: number, hasMore: boolean) =>
    `${hasMore ? "more than " : ""}${plural(count, "record")} to settle`,
  settled: (count: number) =>
    count === 0 ? "Nothing settled in this tab yet" : `${plural(count, "record")} settled`,
  settling: (count: number) => `${plural(count, "decision")} on the way`,
  settlementsWaiting: (count: number) =>
    `${plural(count, "decision")} ${count === 1 ? "waits" : "wait"} for the server`,
  settledAs: (label: string) => `You settled it as ${label}. That holds until you choose another label.`,
  settleWhy: "Annotators disagree about this record. What you choose becomes its label.",
  nothingDisputed: "Annotators do not disagree about anything.",
  oneOpinion:
    "Each record is answered by one person, so nobody can disagree. Raise “People who answer each” in the settings to have records answered by more.",
  allSettled: "Where people answered the same record, there is one label for each.",
  disputesAway: (reason: string) => `${reason} This page looks again by itself.`,
  noAgreement: {
    "few-units": "How far they agree can be said once two or more records have several answers.",
    "no-variation": "All gave the same label so far, so how far they agree beyond chance cannot be said.",
  },
  budget: ({ labelled, disputed, pending }: CampaignStatus["counts"], budget: number | null) => {
    if (budget === null) return "No limit: questions go on until nobody is left.";
    const used = labelled + disputed + pending;
    const more = budget - used;
    const spent = `${plural(labelled + disputed, "label")} paid for${pending === 0 ? "" : `, ${pending.toLocaleString("en")} asked for`}`;
    return more > 0
      ? `${spent}: ${more.toLocaleString("en")} more can be asked for.`
      : `${spent}: nothing more is asked.`;
  },
  hours: (given: string) =>
    `the time was ${given} hours: give a number above 0 and at most ${LONGEST_LEASE / SECONDS_AN_HOUR}, which is a year`,
  settingsAway:
    "The server does not answer, so nothing was changed. What you typed is still here: save it again when the server is back.",
  settingsSaved: "Saved. It holds from the next question on.",
  settingsKept: "Nothing was changed.",
  mayNotChange: "Changing this needs a token for admin.",
  settingsFixed:
    "The records, the target and the sensitive columns stay as they are: to change those, begin another campaign.",
  agreement: (alpha: number, interval: readonly [number, number] | null) => {
    const range = interval === null || interval[0] === interval[1] ? "" : ` (${between(interval, 2)})`;
    return alpha < 0
      ? `Annotators agree less often than chance would have it: alpha is ${fixed(alpha, 2)}${range}, where 0 is chance and 1 is always.`
      : `Annotators agree beyond chance by ${fixed(alpha, 2)}${range}, where 1 is always.`;
  },
  compared: "Compared with the label that holds in the end: what is still disputed has none.",
};
