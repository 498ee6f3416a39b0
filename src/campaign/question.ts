/** A question as whoever collects gets it: whom to ask, and why. */
import { fixed } from "../core/number-text.js";
import type { NamedNumbers } from "../workflows/run-policy.js";
import type { AskReason } from "./events.js";

export interface Question {
  /** What this question is called in the log: an answer needs it not. */
  readonly question: string;
  /** The item's id, or the participant's. */
  readonly id: string;
  readonly annotator: string;
  readonly reason: AskReason;
  /** The reason in a sentence. */
  readonly why: string;
  /** What candidates are chosen by; null where it was not chosen by a score. */
  readonly score: number | null;
  /** In nats, what the label tells about the target, and what it gives away; null where neither was looked at. */
  readonly target: number | null;
  readonly leakage: number | null;
  /** The group whose share it was taken for; null where shares are not kept to. */
  readonly share: string | null;
  readonly cost: number;
  /** With which it was drawn among all that were left; null where it was chosen. */
  readonly probability: number | null;
  /** When it may be asked of others again, as ISO 8601. */
  readonly until: string;
  /** The features of the item, by column; null where missing. Sensitive columns are never among them. */
  readonly values?: Readonly<Record<string, string | number | null>> | undefined;
  /** Of a campaign of designs: which observation, from 0, and the design to use. */
  readonly step?: number | undefined;
  readonly design?: NamedNumbers | undefined;
}

type Why = Pick<Question, "reason" | "target" | "leakage" | "score" | "share">;

const digits = (value: number): string => fixed(value, 4);

export const questionTexts = {
  random: "drawn at random, so that the whole pool can be judged by it",
  noRanking: "drawn at random, because no ranking was ready",
  secondOpinion: "asked for a second opinion",
  adjudication: "annotators disagree about it",
  policy: "what the policy proposes after the observations so far",
  score: (score: number) => `by its score of ${digits(score)}`,
  information: (target: number) => `its label is expected to tell ${digits(target)} nats about the target`,
  leakage: (leakage: number) => ` and to give away ${digits(leakage)}`,
  share: (group: string) => `; taken for the share of ${group}`,
};

/** Why a question is asked, in a sentence. */
export const whyAsked = ({ reason, target, leakage, score, share }: Why): string => {
  if (reason === "random") return questionTexts.random;
  if (reason === "no-ranking") return questionTexts.noRanking;
  if (reason === "second-opinion") return questionTexts.secondOpinion;
  if (reason === "adjudication") return questionTexts.adjudication;
  if (reason === "policy") return questionTexts.policy;
  const information =
    target === null
      ? questionTexts.score(score ?? 0)
      : questionTexts.information(target) + (leakage === null ? "" : questionTexts.leakage(leakage));
  return information + (share === null ? "" : questionTexts.share(share));
};

/** What an annotator may see: whom, what is known of them, and by when. No score, no share, no reason. */
export type AnnotatorQuestion = Pick<Question, "question" | "id" | "until" | "values" | "step" | "design">;

/** A question without what its annotator must not see. */
export const forAnnotator = ({ question, id, until, values, step, design }: Question): AnnotatorQuestion => ({
  question,
  id,
  until,
  ...(values === undefined ? {} : { values }),
  ...(step === undefined ? {} : { step }),
  ...(design === undefined ? {} : { design }),
});
