/**
 * The log of a campaign: what happened, one event after the other, each bound to the one before it by a hash.
 *
 * All of a campaign's state is a fold over these events and its items. What is about one person stands in `body`, `id`
 * and `subject` alone, which a withdrawal takes away; the rest stays, so that the chain can still be checked.
 */
import type { AskedRow } from "../workflows/row-session.js";
import type { NamedNumbers } from "../workflows/run-policy.js";
import type { LabelValue, LabelValues } from "../workflows/told-values.js";
import type { CampaignSettings, SettingsChange } from "./settings.js";

export const EVENT_KINDS = [
  "created",
  "configured",
  "asked",
  "told",
  "corrected",
  "skipped",
  "retracted",
  "adjudicated",
  "withdrawn",
] as const;
export type EventKind = (typeof EVENT_KINDS)[number];

/** The first event. */
export interface CreatedBody {
  readonly format: string;
  /** Of the library that wrote it. */
  readonly version: string;
  readonly settings: CampaignSettings;
  /** Rows of the pool, and the hash over the digests of all; none for a campaign of designs. */
  readonly items: number;
  readonly itemsDigest: string;
}

/** One question: an item of the pool, or the next design of a participant. */
export interface AskedBody extends Partial<Omit<AskedRow, "row" | "rank">> {
  /** Who was asked; the only one where nobody is named. */
  readonly annotator: string;
  /** The item was asked as so many-th, from 0; not counted for second opinions. */
  readonly place?: number | undefined;
  readonly reason: AskReason;
  /** Items that the annotator had seen were allowed to come again. */
  readonly again?: true | undefined;
  /** Not asked again before this time, in milliseconds since 1970. */
  readonly until: number;
  /** The ranking that it was taken from: as of which event, and how long. */
  readonly basis?: number | undefined;
  readonly size?: number | undefined;
  /** What the ranking showed, where beta follows a goal. */
  readonly parity?: number | undefined;
  readonly leastLeakage?: number | undefined;
  /** Of a campaign of designs: which observation of the participant, from 0, and the design. */
  readonly step?: number | undefined;
  readonly design?: NamedNumbers | undefined;
}

/**
 * Why something is asked: by its score; drawn at random, as a part of all is; drawn at random because no ranking was
 * ready; for a second opinion; to settle a disagreement; or because the policy says so.
 */
export type AskReason = "score" | "random" | "no-ranking" | "second-opinion" | "adjudication" | "policy";

/** An answer; `told` the first time, `corrected` where it changes what the same annotator said before. */
export interface ToldBody {
  readonly annotator: string;
  /** As it stands in the column. */
  readonly label?: LabelValue | undefined;
  readonly refused?: true | undefined;
  /** Sensitive labels by column. */
  readonly sensitive?: LabelValues | undefined;
  /** Nobody had asked for it. */
  readonly unasked?: true | undefined;
  /** Of a campaign of designs. */
  readonly step?: number | undefined;
  readonly design?: NamedNumbers | undefined;
  readonly outcome?: NamedNumbers | undefined;
}

/** An annotator passes a question on, or takes an answer back. */
export interface AnnotatorBody {
  readonly annotator: string;
}

/** A person's decision where annotators disagree. */
export interface AdjudicatedBody extends AnnotatorBody {
  readonly label: LabelValue;
}

/** What is left of somebody who withdrew: how much was erased, and of whom nothing. */
export interface WithdrawnBody {
  /** Events whose content was erased. */
  readonly events: number;
  /** Whether there was an answer among them. */
  readonly answered: boolean;
}

export interface EventBodies {
  readonly created: CreatedBody;
  readonly configured: SettingsChange;
  readonly asked: AskedBody;
  readonly told: ToldBody;
  readonly corrected: ToldBody;
  readonly skipped: AnnotatorBody;
  readonly retracted: AnnotatorBody;
  readonly adjudicated: AdjudicatedBody;
  readonly withdrawn: WithdrawnBody;
}

/** What is to be written: the store's lock gives it its place, its time and its hash. */
export type EventDraft = {
  readonly [Kind in EventKind]: {
    readonly kind: Kind;
    /** What the caller calls it: a second event of the same id is the first one again. */
    readonly id: string;
    /** Whom it is about: the item's number, or the participant. */
    readonly subject?: string | undefined;
    readonly body: EventBodies[Kind];
  };
}[EventKind];

/** An event as it is stored: plain data, the body as the very text that was hashed. */
export interface LogEvent {
  /** From 1, without gaps. */
  readonly seq: number;
  /** Milliseconds since 1970; never before the event in front. */
  readonly at: number;
  readonly kind: EventKind;
  /** Null once erased, like the three below. */
  readonly id: string | null;
  readonly subject: string | null;
  /** JSON. */
  readonly body: string | null;
  /** Random, so that a digest tells nothing of an erased body, however few values it could have had. */
  readonly salt: string | null;
  /** SHA-256 of salt, id, subject and body, in hexadecimal. */
  readonly digest: string;
  /** SHA-256 of the hash in front, seq, at, kind and digest. */
  readonly hash: string;
}

/** A row of the pool as it is stored. Cells are JSON: one value for each column, null where missing. */
export interface StoredItem {
  /** Its number, from 0. */
  readonly item: number;
  /** From the id column, else its number as text; null once erased, like the two below. */
  readonly id: string | null;
  readonly cells: string | null;
  readonly salt: string | null;
  /** SHA-256 of salt, id and cells. */
  readonly digest: string;
}

/** Where a log ends. */
export interface LogHead {
  readonly seq: number;
  readonly at: number;
  readonly hash: string;
}

/** Before the first event. */
export const EMPTY_LOG: LogHead = { seq: 0, at: 0, hash: "" };

export const headOf = ({ seq, at, hash }: LogEvent): LogHead => ({ seq, at, hash });
