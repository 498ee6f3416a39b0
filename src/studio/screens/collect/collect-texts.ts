/** What the collect screen says. */

import type { CampaignStatus } from "../../../campaign/status.js";
import { between, fixed } from "../../../core/number-text.js";
import type { Forecast, MeasureForecast } from "../../../workflows/forecast.js";

const plural = (count: number, one: string, many = `${one}s`): string =>
  `${count.toLocaleString("en")} ${count === 1 ? one : many}`;

const withDot = (sentence: string): string => `${sentence[0].toUpperCase()}${sentence.slice(1)}.`;

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
  finished: "Nobody is left to ask.",
  progress: ({ counts: { labelled }, budget }: CampaignStatus) =>
    budget === null
      ? `${plural(labelled, "label")} collected.`
      : `${labelled.toLocaleString("en")} of ${plural(budget, "label")} collected.`,
  advice: ({ advice }: Forecast) => withDot(advice.reason),
  measure: ({ today, at }: MeasureForecast) => {
    const end = at.at(-1);
    const now = `${fixed(today.value, 2)} (${between(today.interval, 2)}) today`;
    return end === undefined
      ? now
      : `${now}, ${fixed(end.value, 2)} (${between(end.interval, 2)}) after ${end.further} more`;
  },
  agreement: (alpha: number, interval: readonly [number, number] | null) =>
    `Annotators agree beyond chance by ${fixed(alpha, 2)}${interval === null ? "" : ` (${between(interval, 2)})`}, where 1 is always.`,
};
