/** `fairbed campaign tell`: answers, one by one or as a table. */
import type { Answer, Campaign } from "../../../campaign/campaign.js";
import type { AnswerStatus, TakenAnswer } from "../../../campaign/pool-answers.js";
import { InputError } from "../../../core/errors.js";
import { columnsOfRule } from "../../../tables/label.js";
import type { GivenNumbers } from "../../../workflows/run-policy.js";
import type { LabelValues } from "../../../workflows/told-values.js";
import { defineCommand, type OptionDescription, type OptionValues } from "../../command.js";
import { flag, grouped, optionalInteger, optionText, text, texts } from "../../options.js";
import { readingOf, readOptions } from "../sources/table-options.js";
import { counted, rankingInWords } from "./campaign-words.js";
import { givenId } from "./given-id.js";
import { campaignArguments, campaignOptions, withCampaign } from "./open-campaign.js";
import { renewRanking } from "./renew-ranking.js";

export const tellTexts = {
  noId: "say whose answer it is with --id, such as --id 007 --label yes, or give a table with --file",
  noAnswer: "say what the answer is: --label VALUE, --refused, or --sensitive VALUE alone",
  noOutcome: "say what came of the design with --outcome, such as --outcome 0.3",
  fileAnd: (flags: string) => `${flags} is of one answer, and --file has many: leave out one of the two`,
  onlyFile: (flags: string) => `${flags} is about a table of answers: name one with --file, or leave it out`,
  ofPools: (flags: string) => `${flags} is about a pool, and this is a campaign of designs: leave it out`,
  ofDesigns: (flags: string) => `${flags} is about designs, and this campaign is about a pool: leave it out`,
  severalSensitive: (columns: readonly string[]) =>
    `--sensitive takes one value, or ${columns.map((name) => `${name}=VALUE`).join(",")}; write a comma inside a value twice`,
  stored: (count: number) => `${counted(count, "answer")} stored`,
};

/** `0.3`, `1,2`, or by name: `x=1,y=2`. */
const numbers = (flags: string, summary: string): OptionDescription<GivenNumbers | undefined> => ({
  flags,
  summary,
  parse: (given) => {
    const parts = given.split(",").map((part) => {
      const at = part.indexOf("=");
      const value = part.slice(at + 1).trim();
      return {
        name: part.slice(0, Math.max(0, at)).trim(),
        value: value === "" ? Number.NaN : Number(value),
      };
    });
    const named = parts.filter(({ name }) => name !== "").length;
    if (parts.some(({ value }) => !Number.isFinite(value)) || (named > 0 && named < parts.length)) {
      const expected = "a number, numbers with commas between them, or name=number";
      throw new InputError("option-value", optionText.wrongValue(flags, given, expected));
    }
    if (named > 0) return Object.fromEntries(parts.map(({ name, value }) => [name, value]));
    return parts.length === 1 ? parts[0].value : parts.map(({ value }) => value);
  },
  fallback: undefined,
  choices: undefined,
});

/** Of one answer about an item of a pool, and of one outcome of a design. */
const poolAnswer = {
  label: text("--label <value>", "the label, as it stands in the column"),
  refused: flag("--refused", "no answer will come"),
  sensitive: texts(
    "--sensitive <value>",
    "the sensitive label: VALUE, or column=VALUE where there are several",
  ),
  annotator: text("--annotator <name>", "who answered; nobody by name unless given"),
};
const designAnswer = grouped("Of a campaign of designs", {
  outcome: numbers("--outcome <number>", "what came of the design, as the model records it"),
  design: numbers("--design <numbers>", "the design that was really used, where it is another: x=1,y=2"),
  step: optionalInteger("--step <number>", "which observation, from 0; the next one, or one to correct", {
    min: 0,
  }),
});
const oneAnswer = {
  id: text("--id <id>", "whose answer it is: the id in the pool, or the participant's"),
  ...poolAnswer,
  event: text("--event <id>", "what this answer is called: told again under the same name, it counts once"),
  ...designAnswer,
};
const options = {
  ...oneAnswer,
  file: text(
    "--file <table>",
    "a table of answers instead: id, label, sensitive columns, annotator, event, refused",
  ),
  noRefit: flag("--no-refit", "do not renew the ranking now"),
  ...grouped("Reading the table", readOptions),
  ...campaignOptions,
};
type TellOptions = OptionValues<typeof options>;

export const tell = defineCommand({
  name: "campaign tell",
  group: "Campaigns",
  summary: "store answers, and renew the ranking",
  examples: [
    { line: "campaign tell hiring --id 007 --label yes", description: "one answer" },
    { line: "campaign tell hiring --id 007 --refused", description: "no answer will come" },
    { line: "campaign tell hiring --file answers.csv", description: "many: all of them, or none" },
    { line: "campaign tell trial --id p1 --outcome 0.3", description: "the outcome of a design" },
  ],
  arguments: campaignArguments,
  options,
  reportsProgress: true,
  run({ arguments: { name }, options: own, given, context }) {
    requireOneWay(own, given);
    return withCampaign(name, own, async (campaign) => {
      const { taken, notes } =
        own.file === undefined
          ? { taken: await campaign.tell(answerOf(own, given, campaign)), notes: [] }
          : await tellFile(own, own.file, campaign);
      context.say(tellTexts.stored(taken.length));
      const failed = given.has("noRefit") ? [] : await renewRanking(campaign, context);
      const { counts, budget, ranking } = campaign.status();
      return {
        campaign: name,
        kind: campaign.kind,
        answers: taken,
        labelled: counts.labelled,
        budget,
        ranking,
        notes: [...notes, ...failed],
      };
    });
  },
  print: ({ kind, answers, labelled, budget, ranking, notes }) =>
    [
      ...takenLines(answers),
      `${counted(labelled, kind === "pool" ? "label" : "observation")}${budget === null ? "" : ` of ${budget}`} so far.`,
      ...(kind === "pool" ? [rankingInWords(ranking)] : []),
      ...notes.map((note) => `Note: ${note}.`),
    ].join("\n"),
});

const flagOf = ({ flags }: { readonly flags: string }): string => flags.split(" ")[0];

const requireOneWay = (own: TellOptions, given: ReadonlySet<string>): void => {
  const [others, reason] =
    own.file === undefined ? [readOptions, tellTexts.onlyFile] : [oneAnswer, tellTexts.fileAnd];
  const wrong = Object.entries(others).find(([option]) => given.has(option));
  if (wrong !== undefined) throw new InputError("file", reason(flagOf(wrong[1])));
  if (own.file === undefined && own.id === undefined) throw new InputError("no-id", tellTexts.noId);
};

const answerOf = (own: TellOptions, given: ReadonlySet<string>, campaign: Campaign): Answer => {
  const { content } = campaign.now;
  const [others, reason] =
    content.kind === "pool" ? [designAnswer, tellTexts.ofDesigns] : [poolAnswer, tellTexts.ofPools];
  const wrong = Object.entries(others).find(([option]) => given.has(option));
  if (wrong !== undefined) throw new InputError("answer", reason(flagOf(wrong[1])));
  const id = givenId(campaign, own.id ?? "");
  const { event, label, refused, annotator, outcome, design, step } = own;
  if (content.kind === "design") {
    if (outcome === undefined) throw new InputError("no-outcome", tellTexts.noOutcome);
    return { id, event, outcome, design, step };
  }
  const columns = [...new Set(content.sensitive.flatMap(({ rule }) => columnsOfRule(rule)))];
  const sensitive = sensitiveOf(own.sensitive, columns);
  if (label === undefined && !refused && sensitive === undefined) {
    throw new InputError("no-answer", tellTexts.noAnswer);
  }
  return { id, event, label, refused, sensitive, annotator };
};

/** One value of the only sensitive column, or values by column. */
const sensitiveOf = (
  given: readonly string[] | undefined,
  columns: readonly string[],
): string | LabelValues | undefined => {
  if (given === undefined) return undefined;
  const named = given.map((each) => {
    const column = columns.find((name) => each.startsWith(`${name}=`));
    return column === undefined ? undefined : ([column, each.slice(column.length + 1)] as const);
  });
  if (named.every((each) => each !== undefined)) return Object.fromEntries(named);
  if (given.length > 1) throw new InputError("sensitive", tellTexts.severalSensitive(columns));
  return given[0];
};

const tellFile = async (own: TellOptions, path: string, campaign: Campaign) => {
  const { readAnswers } = await import("./answers-file.js");
  const { AnswerRefused } = await import("../../../campaign/pool-answers.js");
  const { answers, notes, refused } = await readAnswers(path, readingOf(own), campaign);
  try {
    return { taken: await campaign.tell(answers), notes };
  } catch (error) {
    if (error instanceof AnswerRefused) throw refused(error.index, error, error.reason);
    if (error instanceof InputError && answers.length === 1) throw refused(0, error, error.message);
    throw error;
  }
};

const STATUSES = {
  answer: "new",
  correction: "changed an earlier answer",
  same: "said the same as before",
  duplicate: "told before under the same event id",
  sensitive: "a sensitive label alone",
} as const satisfies Record<AnswerStatus, string>;

const takenLines = (answers: readonly TakenAnswer[]): readonly string[] => {
  const counts = Object.entries(STATUSES).flatMap(([status, words]) => {
    const count = answers.filter((each) => each.status === status).length;
    return count === 0 ? [] : [`${count} ${words}`];
  });
  const unasked = answers.filter((each) => each.unasked).length;
  return [
    `Stored: ${counted(answers.length, "answer")} (${counts.join(", ")}).`,
    ...(unasked === 0
      ? []
      : [
          `${unasked === answers.length && unasked === 1 ? "Nobody had asked for it" : `${unasked} of them nobody had asked for`}, which estimates take into account.`,
        ]),
  ];
};
