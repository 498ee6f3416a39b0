/** `fairbed campaign ask`: whom to ask next, and why. */
import type { Asked } from "../../../campaign/campaign.js";
import type { Question } from "../../../campaign/question.js";
import { type InformationUnit, unitOf } from "../../../core/information-unit.js";
import { fixed } from "../../../core/number-text.js";
import { bitsOption } from "../../bits-option.js";
import { defineCommand } from "../../command.js";
import { flag, grouped, integer, real, text } from "../../options.js";
import { rightAligned, short } from "../../text-table.js";
import { atMinute, rankingInWords, shellWord } from "./campaign-words.js";
import { campaignArguments, campaignOptions, withCampaign } from "./open-campaign.js";
import { withNotice } from "./slow-notice.js";

export const askTexts = {
  working: (seconds: number) => `working out what to ask, ${seconds} s so far`,
};

/** More questions than this are not printed: --json has them all. */
const SHOWN = 25;
const MOST = 10_000;

export const ask = defineCommand({
  name: "campaign ask",
  group: "Campaigns",
  summary: "whom to ask next, and why",
  examples: [
    { line: "campaign ask hiring -n 5", description: "five people, with reasons" },
    { line: "campaign ask hiring -n 5 --json", description: "a list for another program" },
    { line: "campaign ask hiring --annotator ann", description: "something that ann has not seen" },
  ],
  arguments: campaignArguments,
  options: {
    count: integer("-n, --count <number>", "at most so many questions", 1, { min: 1, max: MOST }),
    annotator: text("--annotator <name>", "who answers: nobody gets an item twice"),
    wait: real("--wait <seconds>", "how long to wait for models that are being fitted", 0.1, {
      min: 0,
      max: 3600,
    }),
    bits: bitsOption,
    ...grouped("Which questions", {
      again: flag("--again", "items that this annotator has seen already may come again"),
      adjudicate: flag("--adjudicate", "only items on which annotators disagree"),
      participant: text("--participant <id>", "of a campaign of designs: whose next design it is"),
      request: text(
        "--request <id>",
        "what this request is called: made again under the same name, it gets the same questions",
      ),
    }),
    ...campaignOptions,
  },
  reportsProgress: true,
  run: ({ arguments: { name }, options, context }) =>
    withCampaign(name, options, async (campaign) => {
      const { annotator, again, adjudicate, participant, request, wait } = options;
      const asked = await withNotice(context, askTexts.working, () =>
        campaign.ask(options.count, {
          annotator,
          again,
          adjudicate,
          participant,
          request,
          wait: 1000 * wait,
        }),
      );
      const { content } = campaign.now;
      const outcomes = content.kind === "pool" ? [] : content.model.outcomes;
      return { campaign: name, kind: campaign.kind, outcomes, ...asked };
    }),
  // A list of questions and nothing around it, so that a program can go through it at once.
  json: ({ kind, questions, ranking, notes }) => ({
    value: questions,
    notes: [...notes.map(sentence), ...(kind === "pool" ? [rankingInWords(ranking)] : [])],
  }),
  print: ({ campaign, kind, outcomes, ...asked }, { bits }) =>
    (kind === "pool"
      ? poolLines(campaign, asked, unitOf(bits))
      : designLines(campaign, asked, outcomes)
    ).join("\n"),
});

const sentence = (note: string): string => `${note[0].toUpperCase()}${note.slice(1)}.`;

const poolLines = (campaign: string, { questions, ranking, notes }: Asked, unit: InformationUnit) => {
  const [first] = questions;
  return [
    ...(first === undefined
      ? []
      : [
          ...questionTable(questions.slice(0, SHOWN), unit),
          ...(questions.length > SHOWN ? [`and ${questions.length - SHOWN} more`] : []),
          "",
          `Scores are in ${unit.name}. Each waits for its answer until ${atMinute(first.until)}:`,
          `  fairbed campaign ${first.reason === "adjudication" ? "adjudicate" : "tell"} ${campaign} --id ${shellWord(first.id)} --label VALUE${first.annotator === "" ? "" : ` --annotator ${shellWord(first.annotator)}`}`,
        ]),
    ...notes.map(sentence),
    rankingInWords(ranking),
  ];
};

const REASONS = {
  score: "by its score",
  random: "drawn at random",
  "no-ranking": "drawn at random: no ranking",
  "second-opinion": "second opinion",
  adjudication: "annotators disagree",
  policy: "the policy",
} as const satisfies Record<Question["reason"], string>;

const questionTable = (questions: readonly Question[], { of }: InformationUnit): string[] => {
  const value = (nats: number | null): string => (nats === null ? "-" : fixed(of(nats), 4));
  const hasCosts = questions.some(({ cost }) => cost !== 0);
  const hasShares = questions.some(({ share }) => share !== null);
  const rows = rightAligned([
    ["id", "score", "target", "leakage", ...(hasCosts ? ["cost"] : []), ...(hasShares ? ["share of"] : [])],
    ...questions.map(({ id, score, target, leakage, cost, share }) => [
      id,
      ...[score, target, leakage].map(value),
      ...(hasCosts ? [short(cost)] : []),
      ...(hasShares ? [share ?? "-"] : []),
    ]),
  ]);
  const why = ["why", ...questions.map(({ reason }) => REASONS[reason])];
  return rows.map((row, i) => `${row}  ${why[i]}`);
};

/** As --outcome takes it: of several outcomes, each by its name. */
const outcomeWord = (outcomes: readonly string[]): string =>
  outcomes.length === 1 ? "NUMBER" : shellWord(outcomes.map((name) => `${name}=NUMBER`).join(","));

const designLines = (
  campaign: string,
  { questions, notes }: Asked,
  outcomes: readonly string[],
): readonly string[] => [
  ...questions.flatMap(({ id, step = 0, design = {}, until }) => [
    `Observation ${step + 1} of ${id}:`,
    ...Object.entries(design).map(([variable, value]) => `  ${variable} = ${short(value)}`),
    `It waits for its outcome until ${atMinute(until)}:`,
    `  fairbed campaign tell ${campaign} --id ${shellWord(id)} --outcome ${outcomeWord(outcomes)}`,
  ]),
  ...notes.map(sentence),
];
