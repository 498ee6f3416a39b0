/** Questions that wait for an answer, in the order in which they were asked. */
import { questionOf as designQuestion } from "./design-answers.js";
import type { AskedBody, LogEvent } from "./events.js";
import type { LoadedCampaign } from "./loaded-campaign.js";
import { questionOf as poolQuestion } from "./pool-answers.js";
import type { Question } from "./question.js";

export interface OutstandingQuestion extends Question {
  /** The event that it was asked with. */
  readonly seq: number;
}

const bodyOf = ({ body }: LogEvent): AskedBody => JSON.parse(body ?? "{}") as AskedBody;

const pendingEvents = ({ content, eventsAbout }: LoadedCampaign, at: number): readonly LogEvent[] => {
  if (content.kind === "pool") {
    return content.state
      .pending(at)
      .flatMap(({ item, ask }) => eventsAbout(String(item)).filter(({ seq }) => seq === ask.seq));
  }
  return [...content.state.participants()].flatMap(([participant, { asked }]) =>
    asked === undefined || asked.until < at
      ? []
      : eventsAbout(participant)
          .filter(({ kind }) => kind === "asked")
          .slice(-1),
  );
};

/** At most `limit` of those that were asked after the event `after`, at this time. */
export const outstandingQuestions = (
  campaign: LoadedCampaign,
  at: number,
  { after = 0, limit = Infinity }: { readonly after?: number; readonly limit?: number } = {},
): readonly OutstandingQuestion[] => {
  const { content } = campaign;
  return pendingEvents(campaign, Math.max(at, campaign.head.at))
    .filter(({ seq }) => seq > after)
    .sort((a, b) => a.seq - b.seq)
    .slice(0, limit)
    .map((event) => ({
      seq: event.seq,
      ...(content.kind === "pool"
        ? poolQuestion(content, event, bodyOf(event))
        : designQuestion(event, bodyOf(event))),
    }));
};
