/** Asking and telling in a campaign of designs: each participant goes through the policy on their own. */
import { InputError } from "../core/errors.js";
import { readHistory } from "../design/history-file.js";
import { type GivenNumbers, type NamedNumbers, runPolicy } from "../workflows/run-policy.js";
import { isSameEvent } from "./chain.js";
import { designTexts, outcomePlace } from "./design-state.js";
import type { AskedBody, LogEvent, ToldBody } from "./events.js";
import type { DesignContent } from "./loaded-campaign.js";
import type { Writing } from "./log-writer.js";
import { type AnswerStatus, answerTexts, requireAsked, type TakenAnswer } from "./pool-answers.js";
import { type Question, questionTexts } from "./question.js";

/** One outcome, as people give it. */
export interface DesignAnswer {
  /** The participant's. */
  readonly id: string | number;
  /** As the model records it. */
  readonly outcome: GivenNumbers;
  /** The design that was really used, where it is not the one that was asked for. */
  readonly design?: GivenNumbers | undefined;
  /** Which observation, from 0; the next one unless given. An earlier one is corrected. */
  readonly step?: number | undefined;
  readonly event?: string | undefined;
}

export const questionOf = ({ id, subject }: Pick<LogEvent, "id" | "subject">, body: AskedBody): Question => ({
  question: id ?? "",
  id: subject ?? "",
  annotator: body.annotator,
  reason: "policy",
  why: questionTexts.policy,
  score: null,
  target: null,
  leakage: null,
  share: null,
  cost: 0,
  probability: null,
  until: new Date(body.until).toISOString(),
  step: body.step,
  design: body.design,
});

export interface Proposal {
  readonly step: number;
  readonly design: NamedNumbers;
}

/** The next design of a participant, by the policy: may take a while, so not under the lock. */
export const proposeDesign = async (
  { model, policy, seedOf, state }: DesignContent,
  participant: string,
): Promise<Proposal | undefined> => {
  const own = state.participant(participant);
  const history = own?.history ?? [];
  const session = runPolicy(model, policy, { seed: seedOf(participant), history });
  if (session.done) return undefined;
  // The same design until an outcome comes.
  if (own?.asked?.step === history.length) return own.asked;
  return { step: history.length, design: await session.next() };
};

/** Under the lock: undefined where something was told since the design was proposed. */
export const askDesign = (
  { now, at, write }: Writing,
  { state }: DesignContent,
  participant: string,
  name: string,
  proposal: Proposal,
): readonly Question[] | undefined => {
  const known = now.event(`${name}/0`);
  if (known !== undefined) {
    requireAsked(known);
    return [questionOf(known, JSON.parse(known.body ?? "{}") as AskedBody)];
  }
  const own = state.participant(participant);
  if ((own?.history.length ?? 0) !== proposal.step) return undefined;
  const waits = own?.asked?.step === proposal.step && own.asked.until >= at;
  if (waits) return [];
  const body: AskedBody = {
    annotator: "",
    reason: "policy",
    until: at + now.settings.lease * 1000,
    step: proposal.step,
    design: proposal.design,
  };
  const event = write({ kind: "asked", id: `${name}/0`, subject: participant, body });
  return [questionOf(event, body)];
};

/** Outcomes and designs by name, checked against the model. */
const namedIn = (
  { model }: DesignContent,
  design: GivenNumbers,
  outcome: GivenNumbers,
): { readonly design: NamedNumbers; readonly outcome: NamedNumbers } => {
  const { designs, outcomes } = readHistory([{ design, outcome }], model, "the answer");
  const named = (names: readonly string[], values: Float64Array): NamedNumbers =>
    Object.fromEntries(names.map((name, i) => [name, values[i]]));
  return {
    design: named(
      model.design.map(({ name }) => name),
      designs,
    ),
    outcome: named(model.outcomes, outcomes),
  };
};

const anyDesign = ({ model }: DesignContent): NamedNumbers =>
  Object.fromEntries(model.design.map(({ name }) => [name, 0]));

const isSameNumbers = (a: NamedNumbers | undefined, b: NamedNumbers): boolean =>
  a !== undefined && Object.entries(b).every(([name, value]) => a[name] === value);

export const tellDesign = (
  { now, write }: Writing,
  content: DesignContent,
  answer: DesignAnswer,
  name: string,
): TakenAnswer => {
  const participant = String(answer.id ?? "");
  if (participant === "") throw new InputError("id", designTexts.participant);
  if (answer.outcome === undefined) throw new InputError("outcome", designTexts.outcome);
  const given =
    answer.design === undefined ? undefined : namedIn(content, answer.design, answer.outcome).design;
  const known = now.event(name);
  const taken = (status: AnswerStatus, unasked = false): TakenAnswer => ({
    event: name,
    id: participant,
    status,
    unasked,
  });
  if (known !== undefined) {
    const before = JSON.parse(known.body ?? "{}") as ToldBody;
    const again: ToldBody = {
      ...before,
      ...namedIn(content, given ?? before.design ?? anyDesign(content), answer.outcome),
    };
    const same = (["told", "corrected"] as const).some((kind) =>
      isSameEvent(known, { kind, id: name, subject: participant, body: again }),
    );
    if (!same) throw new InputError("event", answerTexts.eventTaken);
    return taken("duplicate");
  }
  const own = content.state.participant(participant);
  const { horizon } = content.policy;
  const place = outcomePlace(own, { step: answer.step, design: given }, horizon);
  const { design, outcome } = namedIn(content, place.design, answer.outcome);
  const before = own?.history[place.step];
  if (place.corrects && isSameNumbers(before?.outcome, outcome) && isSameNumbers(before?.design, design)) {
    return taken("same");
  }
  write({
    kind: place.corrects ? "corrected" : "told",
    id: name,
    subject: participant,
    body: {
      annotator: "",
      step: place.step,
      design,
      outcome,
      ...(place.unasked ? { unasked: true } : {}),
    },
  });
  return taken(place.corrects ? "correction" : "answer", place.unasked);
};
