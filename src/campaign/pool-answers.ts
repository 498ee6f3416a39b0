/** Asking and telling in a campaign about a pool: what is checked, and which events come of it. */
import { InputError } from "../core/errors.js";
import { columnsOfRule } from "../tables/label.js";
import { columnCell, columnNamed } from "../tables/table.js";
import { checkTold } from "../workflows/told-log.js";
import type { LabelValue, LabelValues } from "../workflows/told-values.js";
import { isSameEvent } from "./chain.js";
import type { AskedBody, EventDraft, LogEvent, ToldBody } from "./events.js";
import type { LoadedCampaign, PoolContent } from "./loaded-campaign.js";
import type { Writing } from "./log-writer.js";
import {
  ANYONE,
  type AskRequest,
  type CampaignRanking,
  type NextQuestion,
  nextQuestion,
} from "./next-question.js";
import { answeredAsk, outcomeOf } from "./pool-state.js";
import { type Question, whyAsked } from "./question.js";

/** One answer, as people give it. */
export interface PoolAnswer {
  readonly id: string | number;
  /** As it stands in the column. */
  readonly label?: LabelValue | undefined;
  /** No answer will come. */
  readonly refused?: boolean | undefined;
  /** One value, or by column where there are several: with the label, later, or never. */
  readonly sensitive?: LabelValue | LabelValues | undefined;
  readonly annotator?: string | undefined;
  /** What this answer is called: told again under the same name, it is the same answer. */
  readonly event?: string | undefined;
}

/**
 * What became of an answer: a first one, one that changes an earlier one, the same as before, told again under the same
 * name, or nothing but a sensitive label.
 */
export type AnswerStatus = "answer" | "correction" | "same" | "duplicate" | "sensitive";

export interface TakenAnswer {
  readonly event: string;
  readonly id: string;
  readonly status: AnswerStatus;
  /** Nobody had asked this annotator. */
  readonly unasked: boolean;
}

export const answerTexts = {
  noItem:
    "there is no item with the id that was given: give the id of a row of the pool; whoever withdrew has none",
  atIndex: (index: number, reason: string) => `answer ${index + 1}: ${reason}`,
  eventTaken:
    "the event id that was given is that of another answer: give each answer an id of its own, or leave it out",
  requestTaken:
    "the request id that was given is that of something else in the log: give each request an id of its own, or leave it out",
  two: "a label and a refusal were both given: give one of them",
  notAnswered:
    "there is no answer of this annotator to take back: give the id and the annotator of an answer",
  /** `waiting` are questions without an answer yet, which count too. */
  budget: (budget: number, waiting: number) =>
    waiting === 0
      ? `the budget of ${budget} labels is used up: raise it to go on`
      : `the budget of ${budget} labels is used up, counting ${waiting} that wait for an answer: tell those, or raise it to go on`,
  cost: (budget: number) =>
    `the next label would cost more than is left of the budget of ${budget}: raise it to go on`,
  nobody: "nobody is left to ask: all are answered, refused or waiting for an answer",
  nothingDisputed: "there is nothing more on which annotators disagree",
};

/** One of several answers cannot be taken, and so none of them is. */
export class AnswerRefused extends InputError {
  /** Which one, from 0, and why. */
  readonly index: number;
  readonly reason: string;

  constructor(index: number, { code, message }: InputError) {
    super(code, answerTexts.atIndex(index, message));
    this.index = index;
    this.reason = message;
  }
}

/** Says which of several answers it was that could not be taken. */
export const ofAnswer = <Result>(index: number, count: number, take: () => Result): Result => {
  try {
    return take();
  } catch (error) {
    throw error instanceof InputError && count > 1 ? new AnswerRefused(index, error) : error;
  }
};

export const itemOf = (content: PoolContent, id: string | number): number => {
  const item = content.itemOfId(String(id));
  if (item === undefined) throw new InputError("id", answerTexts.noItem);
  return item;
};

/** The features of an item, without a sensitive column even where one is learnt from. */
export const valuesOf = ({ table, task, sensitive, rowOf }: PoolContent, item: number) => {
  const hidden = new Set(sensitive.flatMap(({ rule }) => columnsOfRule(rule)));
  return Object.fromEntries(
    task.features
      .filter((name) => !hidden.has(name))
      .map((name) => [name, columnCell(columnNamed(table, name))(rowOf[item]) ?? null]),
  );
};

export const questionOf = (
  content: PoolContent,
  { id, subject }: Pick<LogEvent, "id" | "subject">,
  body: AskedBody,
): Question => {
  const item = Number(subject);
  const scored = body.reason === "score";
  const share = body.group === undefined ? null : (content.sensitive[0]?.classes[body.group] ?? null);
  const why = {
    reason: body.reason,
    score: scored ? (body.score ?? null) : null,
    target: scored ? (body.target ?? null) : null,
    leakage: scored ? (body.leakage ?? null) : null,
    share,
  };
  return {
    question: id ?? "",
    id: content.idOf(item) ?? "",
    annotator: body.annotator,
    ...why,
    why: whyAsked(why),
    cost: body.cost ?? 0,
    probability: body.probability ?? null,
    until: new Date(body.until).toISOString(),
    values: valuesOf(content, item),
  };
};

/** Events of all kinds share their names: one that is no question cannot be asked again. */
export const requireAsked = ({ kind }: Pick<LogEvent, "kind">): void => {
  if (kind !== "asked") throw new InputError("request", answerTexts.requestTaken);
};

/** Paid for, or about to be: a label for everybody who answered or may still answer, refusals apart. */
export const labelsUsed = ({ state }: PoolContent, at: number): number =>
  state.answered.size - state.refused.size + state.pending(at).length;

export const costUsed = ({ state, rules }: PoolContent, at: number): number => {
  let cost = 0;
  for (const item of state.touched()) {
    const labels = [...(state.item(item)?.opinions.values() ?? [])].filter(
      ({ label }) => label !== undefined,
    );
    cost += labels.length * rules.costOf(item);
  }
  return state.pending(at).reduce((sum, { item }) => sum + rules.costOf(item), cost);
};

/** Why a question that costs so much is not asked any more; undefined where there is room. */
const budgetNote = (
  { settings: { budget, costBudget } }: LoadedCampaign,
  content: PoolContent,
  { body: { place, cost = 0 } }: NextQuestion,
  at: number,
): string | undefined => {
  // A second opinion is of a label that is counted already, and costs as much.
  const isNew = place !== undefined;
  if (isNew && budget !== undefined && labelsUsed(content, at) >= budget)
    return answerTexts.budget(budget, content.state.pending(at).length);
  if (costBudget === undefined) return undefined;
  return costUsed(content, at) + cost > costBudget ? answerTexts.cost(costBudget) : undefined;
};

export interface PoolAsked {
  readonly questions: readonly Question[];
  readonly notes: readonly string[];
}

/** Asks up to `count` questions under the lock. Asked again under the same name, they are the same. */
export const askPool = (
  { now, at, write }: Writing,
  content: PoolContent,
  count: number,
  name: string,
  request: AskRequest,
  ranking: CampaignRanking | undefined,
): PoolAsked => {
  const questions: Question[] = [];
  const bodyOf = ({ body }: LogEvent): AskedBody => JSON.parse(body ?? "{}") as AskedBody;
  for (let i = 0; i < count; i++) {
    const known = now.event(`${name}/${i}`);
    if (known === undefined) break;
    requireAsked(known);
    questions.push(questionOf(content, known, bodyOf(known)));
  }
  if (questions.length > 0) return { questions, notes: [] };
  for (let i = 0; i < count; i++) {
    const next = nextQuestion(content.state, request, content.rules, ranking, at);
    if (next === undefined) {
      return { questions, notes: [request.adjudicate ? answerTexts.nothingDisputed : answerTexts.nobody] };
    }
    const spent = request.adjudicate ? undefined : budgetNote(now, content, next, at);
    if (spent !== undefined) return { questions, notes: [spent] };
    const event = write({ kind: "asked", id: `${name}/${i}`, subject: String(next.item), body: next.body });
    questions.push(questionOf(content, event, next.body));
  }
  return { questions, notes: [] };
};

interface CheckedAnswer {
  readonly item: number;
  readonly annotator: string;
  readonly name: string;
  readonly label: LabelValue | undefined;
  readonly refused: boolean;
  readonly sensitive: LabelValues | undefined;
}

const checkAnswer = (content: PoolContent, answer: PoolAnswer, name: string): CheckedAnswer => {
  const { label, refused = false, sensitive, annotator = ANYONE } = answer;
  if (refused && label !== undefined) throw new InputError("label", answerTexts.two);
  const item = itemOf(content, answer.id);
  const told = checkTold(content, refused ? "refused" : label, sensitive);
  const gone = told.label === "refused";
  return {
    item,
    annotator,
    name,
    label: gone ? undefined : told.label,
    refused: gone,
    sensitive: told.sensitive,
  };
};

const sameSensitive = (known: LabelValues | undefined, told: LabelValues | undefined): boolean =>
  told === undefined || Object.entries(told).every(([name, value]) => known?.[name] === value);

/** Takes answers in, all or none of them. `names` are what they are called where they have no name of their own. */
export const tellPool = (
  { now, write }: Writing,
  content: PoolContent,
  answers: readonly PoolAnswer[],
  names: readonly string[],
): readonly TakenAnswer[] => {
  const checked = answers.map((answer, i) =>
    ofAnswer(i, answers.length, () => checkAnswer(content, answer, names[i])),
  );
  return checked.map((each, i) => {
    const taken = (status: AnswerStatus, unasked = false): TakenAnswer => ({
      event: each.name,
      id: content.idOf(each.item) ?? "",
      status,
      unasked,
    });
    const known = now.event(each.name);
    if (known !== undefined) {
      ofAnswer(i, checked.length, () => {
        if (!isRetold(known, each)) throw new InputError("event", answerTexts.eventTaken);
      });
      return taken("duplicate");
    }
    const own = content.state.item(each.item);
    const before = own?.opinions.get(each.annotator);
    const answersSomething = each.label !== undefined || each.refused;
    const same =
      (!answersSomething || (before !== undefined && before.label === each.label)) &&
      sameSensitive(own?.sensitive, each.sensitive);
    if (same) return taken("same");
    // A question to nobody in particular is one to everybody.
    const wasAsked = own?.asks.some(
      ({ annotator }) => annotator === each.annotator || annotator === ANYONE || each.annotator === ANYONE,
    );
    const unasked = answersSomething && before === undefined && wasAsked !== true;
    const corrects = answersSomething && before !== undefined && before.label !== each.label;
    write(draftOf(each, corrects ? "corrected" : "told", unasked));
    if (!answersSomething) return taken("sensitive");
    return taken(corrects ? "correction" : "answer", unasked);
  });
};

const draftOf = (
  { item, annotator, name, label, refused, sensitive }: CheckedAnswer,
  kind: "told" | "corrected",
  unasked: boolean,
): EventDraft => {
  const body: ToldBody = {
    annotator,
    ...(label === undefined ? {} : { label }),
    ...(refused ? { refused: true } : {}),
    ...(sensitive === undefined ? {} : { sensitive }),
    ...(unasked ? { unasked: true } : {}),
  };
  return { kind, id: name, subject: String(item), body };
};

/** Whether an event of the same name says the same; how it was marked then does not matter. */
const isRetold = (known: LogEvent, answer: CheckedAnswer): boolean =>
  [true, false].some((unasked) => isSameEvent(known, draftOf(answer, "told", unasked)));

/** What the data card and the export say of an item. */
export const acquiredAs = (content: PoolContent, item: number) => {
  const own = content.state.item(item);
  if (own === undefined) return undefined;
  return { state: own, outcome: outcomeOf(own), ask: answeredAsk(own) };
};
