/** What was said of items and participants, event by event, corrections after what they correct; nothing erased. */
import type { AdjudicatedBody, AnnotatorBody, LogEvent, ToldBody } from "./events.js";
import type { LoadedCampaign } from "./loaded-campaign.js";
import type { CampaignStore } from "./store.js";

const ANSWER_KINDS = ["told", "corrected", "skipped", "retracted", "adjudicated"] as const;
export type LoggedAnswerKind = (typeof ANSWER_KINDS)[number];

export interface LoggedAnswer extends Omit<Partial<ToldBody>, "annotator"> {
  readonly seq: number;
  /** ISO 8601. */
  readonly at: string;
  readonly kind: LoggedAnswerKind;
  readonly event: string;
  readonly id: string;
  readonly annotator: string;
}

export interface LoggedAnswers {
  readonly answers: readonly LoggedAnswer[];
  /** The event that the next part begins after; null where this is the last part. */
  readonly next: number | null;
}

/** Events that are read at once. */
const PAGE = 1000;

const isAnswer = (kind: LogEvent["kind"]): kind is LoggedAnswerKind =>
  ANSWER_KINDS.some((each) => each === kind);

const answerOf = ({ content }: LoadedCampaign, event: LogEvent): LoggedAnswer | undefined => {
  const { seq, at, kind, id, subject, body } = event;
  if (!isAnswer(kind) || id === null || subject === null || body === null) return undefined;
  const own = content.kind === "pool" ? content.idOf(Number(subject)) : subject;
  if (own === undefined) return undefined;
  const said = JSON.parse(body) as ToldBody | AnnotatorBody | AdjudicatedBody;
  return { seq, at: new Date(at).toISOString(), kind, event: id, id: own, ...said };
};

export const loggedAnswers = async (
  store: CampaignStore,
  campaign: LoadedCampaign,
  { after, limit }: { readonly after: number; readonly limit: number },
): Promise<LoggedAnswers> => {
  const answers: LoggedAnswer[] = [];
  for (let from = after; ; ) {
    const events = await store.read(campaign.name, from, PAGE);
    for (const event of events) {
      const answer = answerOf(campaign, event);
      if (answer === undefined) continue;
      // There is one more.
      if (answers.length === limit) return { answers, next: answers[limit - 1].seq };
      answers.push(answer);
    }
    if (events.length < PAGE) return { answers, next: null };
    from = events[events.length - 1].seq;
  }
};
