/** What a token limits beyond its scope: the name that it acts under, and what labellers may ask and tell. */
import type { Answer, Asked, AskOptions, Campaign } from "../campaign/campaign.js";
import { ANYONE } from "../campaign/next-question.js";
import type { TakenAnswer } from "../campaign/pool-answers.js";
import { type AnnotatorQuestion, forAnnotator } from "../campaign/question.js";
import { InputError } from "../core/errors.js";
import type { Principal } from "./authentication.js";
import { Problem } from "./problem.js";
import { covers } from "./scope.js";

export const labellerTexts = {
  annotator:
    "the token acts under a name of its own: leave out the annotator and the participant, or give that name",
  adjudicate: "a token for label may not settle disagreements: use one for collect",
  sensitive: "the token may not tell sensitive values: leave them out, or use a token that may",
  count: (most: number) => `a token for label gets at most ${most} questions at once: ask for fewer`,
  notAsked: "the token may only answer questions that it was given: ask for questions first",
};

/** So many questions a labeller may hold at once by one request. */
const MOST_QUESTIONS = 100;

const forbidden = (code: string, message: string): Problem => new Problem(403, code, message);

/** The name to act under: the token's, where it has one. */
export const annotatorFor = ({ token }: Principal, given: string | undefined): string | undefined => {
  const own = token?.annotator;
  if (own === undefined) return given;
  if (given !== undefined && given !== own) throw forbidden("annotator", labellerTexts.annotator);
  return own;
};

export interface AskRequestBody
  extends Pick<AskOptions, "annotator" | "participant" | "again" | "adjudicate" | "request"> {
  readonly count?: number | undefined;
}

export const askingOptions = (principal: Principal, { count = 1, ...asked }: AskRequestBody): AskOptions => {
  if (principal.scope === "label") {
    if (asked.adjudicate === true) throw forbidden("adjudicate", labellerTexts.adjudicate);
    if (count > MOST_QUESTIONS) throw new Problem(422, "count", labellerTexts.count(MOST_QUESTIONS));
  }
  const { participant } = asked;
  return {
    ...asked,
    annotator: annotatorFor(principal, asked.annotator),
    participant: participant === undefined ? undefined : annotatorFor(principal, participant),
  };
};

/** What is shown of questions: all of it, or what an annotator may see. */
export const shownAsked = (
  { scope }: Principal,
  asked: Asked,
): Asked | { readonly questions: readonly AnnotatorQuestion[]; readonly notes: readonly string[] } =>
  scope === "label" ? { questions: asked.questions.map(forAnnotator), notes: asked.notes } : asked;

/** Throws where a labeller was not asked about it; the same whether there is such an item or not. */
export const requireAskedOf = (
  { scope }: Principal,
  { now: { content } }: Campaign,
  id: string | number,
  annotator: string = ANYONE,
): void => {
  if (scope !== "label") return;
  const asked = (): boolean => {
    if (content.kind === "design") return content.state.participant(String(id)) !== undefined;
    const item = content.itemOfId(String(id));
    const own = item === undefined ? undefined : content.state.item(item);
    return own?.asks.some((ask) => ask.annotator === annotator) === true;
  };
  if (!asked()) throw forbidden("not-asked", labellerTexts.notAsked);
};

/** Labellers do only where their token says so. */
export const tellsSensitive = ({ scope, token }: Principal): boolean =>
  covers(scope, "collect") || (scope === "label" && token?.sensitive === true);

/** Answers under the name that the token acts under, as far as it may tell them. */
export const answersFor = (
  principal: Principal,
  campaign: Campaign,
  answers: readonly Answer[],
): readonly Answer[] =>
  answers.map((answer) => {
    const { scope } = principal;
    if ("outcome" in answer && answer.outcome !== undefined) {
      // In a campaign of designs whoever answers is the participant.
      if (scope === "label") annotatorFor(principal, String(answer.id));
      requireAskedOf(principal, campaign, answer.id);
      return answer;
    }
    const { annotator: given, sensitive, ...rest } = answer as Exclude<Answer, { readonly outcome: unknown }>;
    if (sensitive !== undefined && !tellsSensitive(principal)) {
      throw forbidden("sensitive", labellerTexts.sensitive);
    }
    const annotator = annotatorFor(principal, given);
    requireAskedOf(principal, campaign, answer.id, annotator);
    return {
      ...rest,
      ...(annotator === undefined ? {} : { annotator }),
      ...(sensitive === undefined ? {} : { sensitive }),
    };
  });

/** Without a name of its own a labeller must not learn what others said before: every answer is a first one. */
export const shownTaken = (
  { scope, token }: Principal,
  taken: readonly TakenAnswer[],
): readonly TakenAnswer[] =>
  scope !== "label" || token?.annotator !== undefined
    ? taken
    : taken.map((each) =>
        each.status === "same" || each.status === "correction"
          ? { ...each, status: "answer", unasked: false }
          : each,
      );

/**
 * Takes an answer back: any, or with a token for label one of an item that the same annotator was asked about. Without a
 * name of its own a labeller does not learn whether there was one.
 */
export const retractFor = async (
  principal: Principal,
  campaign: Campaign,
  id: string | number,
  {
    annotator: given,
    event,
  }: { readonly annotator?: string | undefined; readonly event?: string | undefined },
): Promise<void> => {
  const annotator = annotatorFor(principal, given);
  requireAskedOf(principal, campaign, id, annotator);
  try {
    await campaign.retract(id, annotator, event);
  } catch (error) {
    const isNameless = principal.scope === "label" && principal.token?.annotator === undefined;
    if (!(isNameless && error instanceof InputError && error.code === "retract")) throw error;
  }
};
