/** `fairbed campaign ask`: whom to ask next, and why. */
import type { Asked, Campaign } from "../../../campaign/campaign.js";
import type { Question } from "../../../campaign/question.js";
import { InputError } from "../../../core/errors.js";
import { type InformationUnit, unitOf } from "../../../core/information-unit.js";
import { fixed } from "../../../core/number-text.js";
import { bitsOption } from "../../bits-option.js";
import { defineCommand } from "../../command.js";
import { flag, grouped, integer, real, text } from "../../options.js";
import { rightAligned, short } from "../../text-table.js";
import { atMinute, counted, rankingInWords, shellWord } from "./campaign-words.js";
import { campaignArguments, campaignOptions, withCampaign } from "./open-campaign.js";
import { withNotice } from "./slow-notice.js";

export const askTexts = {
  working: (seconds: number) => `working out what to ask, ${seconds} s so far`,
  listing: (name: string) => `see what waits for an answer with fairbed campaign ask ${name} --waiting`,
  /** What Ctrl-C says once questions were stored. */
  stored: (count: number, name: string) =>
    `${counted(count, "question was", "questions were")} asked: ${askTexts.listing(name)}`,
  noneWaiting: "no question waits for an answer",
  waitingAnd: (flags: string) =>
    `${flags} is about new questions, and --waiting asks for none: leave out one of the two`,
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
    { line: "campaign ask hiring --waiting", description: "what was asked and has no answer yet" },
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
      waiting: flag(
        "--waiting",
        "ask for nothing new: list the questions that wait for an answer, all unless -n",
      ),
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
  run: ({ arguments: { name }, options, given, context }) =>
    withCampaign(name, options, async (campaign) => {
      const { content } = campaign.now;
      const outcomes = content.kind === "pool" ? [] : content.model.outcomes;
      const result = { campaign: name, kind: campaign.kind, outcomes, waiting: options.waiting };
      if (options.waiting) {
        const flags = ["again", "adjudicate", "request", "wait"].find((each) => given.has(each));
        if (flags !== undefined) throw new InputError("waiting", askTexts.waitingAnd(`--${flags}`));
        const most = given.has("count") ? options.count : MOST;
        return { ...result, ...(await waitingOf(campaign, options, most)) };
      }
      // Nothing is asked for once Ctrl-C was pressed.
      await context.checkpoint();
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
      const { questions } = asked;
      if (questions.length > 0) context.saysHowToGoOn(askTexts.stored(questions.length, name));
      const hasOthers = asked.notes.length > 0 && campaign.status().counts.pending > questions.length;
      return { ...result, ...asked, notes: [...asked.notes, ...(hasOthers ? [askTexts.listing(name)] : [])] };
    }),
  // A list of questions and nothing around it, so that a program can go through it at once.
  json: ({ kind, questions, waiting, ranking, notes }) => ({
    value: questions,
    notes: [...notes.map(sentence), ...(kind === "pool" && !waiting ? [rankingInWords(ranking)] : [])],
  }),
  print: ({ campaign, kind, outcomes, waiting, ...asked }, { bits }) =>
    (kind === "pool"
      ? waiting
        ? waitingLines(campaign, asked, unitOf(bits))
        : poolLines(campaign, asked, unitOf(bits))
      : designLines(campaign, asked, outcomes)
    ).join("\n"),
});

/** In the order in which they were asked, of one annotator or participant where one is named. */
const waitingOf = async (
  campaign: Campaign,
  {
    annotator,
    participant,
  }: { readonly annotator?: string | undefined; readonly participant?: string | undefined },
  most: number,
): Promise<Asked> => {
  const { campaignTexts } = await import("../../../campaign/campaign.js");
  const { outstandingQuestions } = await import("../../../campaign/outstanding-questions.js");
  const isPool = campaign.kind === "pool";
  if (isPool && participant !== undefined) throw new InputError("participant", campaignTexts.wantsDesigns);
  const whom = isPool ? annotator : (participant ?? annotator);
  const questions = outstandingQuestions(campaign.now, Date.now())
    .filter((each) => whom === undefined || whom === (isPool ? each.annotator : each.id))
    .slice(0, most)
    .map(({ seq: _, ...question }) => question);
  return { questions, ranking: null, notes: questions.length === 0 ? [askTexts.noneWaiting] : [] };
};

const sentence = (note: string): string => `${note[0].toUpperCase()}${note.slice(1)}.`;

const poolLines = (campaign: string, { questions, ranking, notes }: Asked, unit: InformationUnit) => {
  const [first] = questions;
  return [
    ...(first === undefined
      ? []
      : [
          ...questionTable(questions.slice(0, SHOWN), unit),
          ...(questions.length > SHOWN
            ? [`and ${questions.length - SHOWN} more: ${askTexts.listing(campaign)}`]
            : []),
          "",
          `Scores are in ${unit.name}. Each waits for its answer until ${atMinute(first.until)}:`,
          tellLine(campaign, first),
        ]),
    ...notes.map(sentence),
    rankingInWords(ranking),
  ];
};

/** How the answer to a question is told. */
const tellLine = (campaign: string, { reason, id, annotator }: Question): string =>
  `  fairbed campaign ${reason === "adjudication" ? "adjudicate" : "tell"} ${campaign} --id ${shellWord(id)} --label VALUE${annotator === "" ? "" : ` --annotator ${shellWord(annotator)}`}`;

/** All of them: whoever asks for a list wants no part of it. */
const waitingLines = (campaign: string, { questions, notes }: Asked, unit: InformationUnit) => {
  const [first] = questions;
  return [
    ...(first === undefined
      ? []
      : [
          ...questionTable(questions, unit, true),
          "",
          `Scores are in ${unit.name}. To tell an answer:`,
          tellLine(campaign, first),
        ]),
    ...notes.map(sentence),
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

/** `asWaiting` adds of whom a question was asked, and until when it waits. */
const questionTable = (
  questions: readonly Question[],
  { of }: InformationUnit,
  asWaiting = false,
): string[] => {
  const value = (nats: number | null): string => (nats === null ? "-" : fixed(of(nats), 4));
  const hasCosts = questions.some(({ cost }) => cost !== 0);
  const hasNames = asWaiting && questions.some(({ annotator }) => annotator !== "");
  const hasShares = questions.some(({ share }) => share !== null);
  const rows = rightAligned([
    [
      "id",
      "score",
      "target",
      "leakage",
      ...(hasCosts ? ["cost"] : []),
      ...(hasShares ? ["share of"] : []),
      ...(hasNames ? ["annotator"] : []),
      ...(asWaiting ? ["waits until"] : []),
    ],
    ...questions.map(({ id, score, target, leakage, cost, share, annotator, until }) => [
      id,
      ...[score, target, leakage].map(value),
      ...(hasCosts ? [short(cost)] : []),
      ...(hasShares ? [share ?? "-"] : []),
      ...(hasNames ? [annotator === "" ? "-" : annotator] : []),
      ...(asWaiting ? [atMinute(until)] : []),
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
