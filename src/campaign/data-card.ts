/**
 * A data card: what a campaign was to find, how its labels were collected, who is among them and what to know before they
 * are used. Plain data, without an id or a value of anybody, and without the name of an annotator.
 */
import { FairbedError } from "../core/errors.js";
import type { RunOptions } from "../core/options.js";
import type { Agreement } from "../core/stats/agreement.js";
import type { Interval } from "../core/stats.js";
import { VERSION } from "../core/version.js";
import type { FairMetric } from "../mitigation/fair-rule.js";
import { columnNames } from "../tables/table.js";
import { settingsOf as acquisitionSettings } from "../workflows/acquisition-plan.js";
import type { SharesChoice } from "../workflows/acquisition-settings.js";
import type { TableAudit } from "../workflows/audit-table.js";
import type { EstimatedValue, PoolEstimate } from "../workflows/estimate-acquired.js";
import { agreementOf } from "./agreement.js";
import { auditCampaign, type CampaignAudit } from "./audit-campaign.js";
import type { Campaign } from "./campaign.js";
import { type CardChange, cardChanges } from "./card-changes.js";
import { type CardComposition, cardComposition } from "./card-composition.js";
import { cardNotes } from "./card-notes.js";
import { acquisitionOptions, type LoadedCampaign, type PoolContent } from "./loaded-campaign.js";
import { askedLabels, type ProvenanceColumn, provenanceNames } from "./pool-export.js";
import { type CampaignCounts, statusOf } from "./status.js";
import { type Verification, verifyCampaign } from "./verify.js";

/** What a data card says it is. */
export const DATA_CARD_FORMAT = "fairbed-data-card-1";

/** What only people know. */
export interface CardOwner {
  /** What the data is and what it is for, in a sentence or two. */
  readonly description?: string | undefined;
  readonly licence?: string | undefined;
  /** Whom to ask. */
  readonly contact?: string | undefined;
}

export interface DataCardOptions extends CardOwner {
  /** From `auditCampaign`, or an audit of the exported table. */
  readonly audit?: CampaignAudit | TableAudit | undefined;
  /** From `campaign.estimate()`, or why there is none. */
  readonly estimate?: PoolEstimate | { readonly reason: string } | undefined;
  /** From `verifyCampaign`. */
  readonly verification?: Verification | undefined;
}

/** What was asked for, and how. */
export interface CardPurpose {
  readonly target: string | null;
  readonly sensitive: readonly string[];
  readonly method: string;
  /** What a nat of leakage costs; null where a goal finds it, or the method has none. */
  readonly beta: number | null;
  /** What beta was found for. */
  readonly goal: string | null;
  readonly shares: string | null;
  readonly randomPart: number | null;
  readonly seed: number;
  readonly budget: number | null;
  readonly costBudget: number | null;
  readonly opinions: number;
  readonly opinionsPart: number;
  readonly requirement: { readonly metric: FairMetric; readonly level: number } | null;
  /** Of a campaign of designs. */
  readonly policy: { readonly model: string; readonly horizon: number } | null;
}

export interface CardCounts extends CampaignCounts {
  /** Items or participants who were asked about, and all questions. */
  readonly asked: number;
  readonly questions: number;
  /** Times that an annotator passed a question on. */
  readonly skipped: number;
  /** Labels that were asked for, by how they were chosen. */
  readonly drawn: number;
  readonly chosen: number;
}

/** Nats per record. */
export interface CardLeakage {
  readonly nats: number;
  readonly interval: Interval;
  readonly pValue: number;
  /** The smallest that would have been found 4 times in 5; null where it is not known. */
  readonly detectable: number | null;
  /** All there is to know. */
  readonly entropy: number;
}

export interface CardAudit {
  readonly rows: number;
  readonly attributes: readonly {
    readonly attribute: string;
    readonly features: CardLeakage;
    /** Once the target is known. */
    readonly givenTarget: CardLeakage | null;
  }[];
}

/** What was looked for, or why it could not be; both null where nobody looked. */
export type CardResult<Result> = { readonly result: Result | null; readonly reason: string | null };

export interface CardEstimate {
  readonly accuracy: EstimatedValue;
  readonly dpRatio: EstimatedValue | null;
  readonly leakageAuc: EstimatedValue | null;
  readonly leakage: EstimatedValue | null;
  readonly rows: PoolEstimate["rows"];
}

export interface CampaignCard {
  readonly format: typeof DATA_CARD_FORMAT;
  readonly version: string;
  readonly name: string;
  readonly kind: "pool" | "design";
  readonly description: string | null;
  readonly licence: string | null;
  readonly contact: string | null;
  /** ISO 8601, like the three below. What the card says is as of `asOf`, the last event. */
  readonly createdAt: string;
  readonly asOf: string;
  readonly firstAnswerAt: string | null;
  readonly lastAnswerAt: string | null;
  readonly purpose: CardPurpose;
  readonly counts: CardCounts;
  /** Null in a campaign of designs, and where nobody gave a second opinion. */
  readonly agreement: Agreement | null;
  readonly composition: readonly CardComposition[];
  readonly changes: readonly CardChange[];
  /** What the columns are called that an export adds; null in a campaign of designs. */
  readonly columns: Readonly<Record<ProvenanceColumn, string>> | null;
  readonly estimate: CardResult<CardEstimate>;
  readonly audit: CardResult<CardAudit>;
  readonly integrity: {
    readonly events: number;
    /** At the end of the log. */
    readonly hash: string;
    /** Null where nobody checked. */
    readonly verified: boolean | null;
    readonly reason: string | null;
  };
  /** What to know before the data is used, one sentence each. */
  readonly notes: readonly string[];
}

export const sharesInWords = (shares: SharesChoice | undefined): string | null => {
  if (shares === undefined || shares === "none") return null;
  if (shares === "population") return "as in the pool";
  if (shares === "equal") return "equal";
  // Not by their names, which may be those of groups of a few.
  return `given for ${Object.keys(shares).length} groups`;
};

const iso = (time: number): string => new Date(time).toISOString();

/** Of what still stands in the log: what was erased is no part of the data. */
const answerTimes = (now: LoadedCampaign): readonly number[] => {
  const { content } = now;
  const subjects =
    content.kind === "pool"
      ? [...content.state.touched()].map(String)
      : [...content.state.participants()].map(([participant]) => participant);
  let [first, last] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
  for (const subject of subjects) {
    for (const { kind, at } of now.eventsAbout(subject)) {
      if (kind !== "told" && kind !== "corrected" && kind !== "adjudicated") continue;
      first = Math.min(first, at);
      last = Math.max(last, at);
    }
  }
  return first > last ? [] : [first, last];
};

const poolPurpose = ({ settings }: LoadedCampaign, { task, sensitive }: PoolContent) => {
  const { method, goal, shares, randomPart } = acquisitionSettings(acquisitionOptions(settings));
  const isRandom = method === "random";
  const goalText =
    "leakageBudget" in goal
      ? `a leakage of at most ${goal.leakageBudget} nats`
      : "parityAtLeast" in goal
        ? `a parity of at least ${goal.parityAtLeast}`
        : null;
  return {
    target: task.target.name,
    sensitive: sensitive.map(({ name }) => name),
    method,
    beta: "beta" in goal && method.startsWith("fairbed") ? goal.beta : null,
    goal: goalText,
    shares: isRandom ? null : sharesInWords(shares),
    randomPart: isRandom ? 1 : (randomPart ?? 0),
    policy: null,
  };
};

const purposeOf = (now: LoadedCampaign): CardPurpose => {
  const { settings, content } = now;
  const { seed, budget, costBudget, opinions, opinionsPart, requirement } = settings;
  const own =
    content.kind === "pool"
      ? poolPurpose(now, content)
      : {
          target: null,
          sensitive: [],
          method: content.policy.kind,
          beta: null,
          goal: null,
          shares: null,
          randomPart: null,
          policy: { model: settings.model?.name ?? "", horizon: content.policy.horizon },
        };
  return {
    ...own,
    seed,
    budget: budget ?? null,
    costBudget: costBudget ?? null,
    opinions,
    opinionsPart,
    requirement: requirement ?? null,
  };
};

const countsOf = (now: LoadedCampaign): CardCounts => {
  const { counts } = statusOf(now, now.head.at, null);
  const { content } = now;
  if (content.kind === "design") {
    const participants = [...content.state.participants()].map(([, each]) => each);
    const asks = participants.map((each) => each.asks);
    return {
      ...counts,
      asked: asks.filter((count) => count > 0).length,
      questions: asks.reduce((sum, count) => sum + count, 0),
      skipped: 0,
      drawn: 0,
      chosen: 0,
    };
  }
  let [asked, questions, skipped] = [0, 0, 0];
  for (const item of content.state.touched()) {
    const own = content.state.item(item);
    if (own === undefined) continue;
    asked += Number(own.asks.length > 0);
    questions += own.asks.length;
    skipped += now.eventsAbout(String(item)).filter(({ kind }) => kind === "skipped").length;
  }
  const labels = askedLabels(content);
  const drawn = labels.filter(({ ask }) => ask.probability !== undefined).length;
  return { ...counts, asked, questions, skipped, drawn, chosen: labels.length - drawn };
};

const agreementIn = (now: LoadedCampaign): Agreement | null => {
  if (now.content.kind === "design") return null;
  const { annotators: _, ...agreement } = agreementOf(now);
  return agreement.units === 0 ? null : agreement;
};

const auditIn = (given: DataCardOptions["audit"]): CardResult<CardAudit> => {
  if (given === undefined) return { result: null, reason: null };
  const audit = "attributes" in given ? given : given.audit;
  if (audit === null) return { result: null, reason: "reason" in given ? given.reason : null };
  const leakageIn = (
    leakage: TableAudit["attributes"][number]["audit"]["leakage"]["unconditional"],
  ): CardLeakage => ({
    nats: leakage.nats,
    interval: leakage.interval,
    pValue: leakage.pValue,
    detectable: leakage.detectable ?? null,
    entropy: leakage.entropy,
  });
  return {
    reason: null,
    result: {
      rows: audit.rows,
      attributes: audit.attributes.map(({ name, audit: { leakage } }) => ({
        attribute: name,
        features: leakageIn(leakage.unconditional),
        givenTarget: leakage.conditional === undefined ? null : leakageIn(leakage.conditional),
      })),
    },
  };
};

const estimateIn = (given: DataCardOptions["estimate"]): CardResult<CardEstimate> => {
  if (given === undefined) return { result: null, reason: null };
  if ("reason" in given) return { result: null, reason: given.reason };
  const { accuracy, dpRatio, leakageAuc, leakage, rows } = given;
  return { result: { accuracy, dpRatio, leakageAuc, leakage, rows }, reason: null };
};

/** What the log says, with what was computed or checked beside it. */
export const dataCard = (campaign: Campaign, options: DataCardOptions = {}): CampaignCard => {
  const { now } = campaign;
  const [first, last] = answerTimes(now);
  const { verification } = options;
  const card: Omit<CampaignCard, "notes"> = {
    format: DATA_CARD_FORMAT,
    version: VERSION,
    name: now.name,
    kind: now.content.kind,
    description: options.description ?? null,
    licence: options.licence ?? null,
    contact: options.contact ?? null,
    createdAt: iso(now.createdAt),
    asOf: iso(now.head.at),
    firstAnswerAt: first === undefined ? null : iso(first),
    lastAnswerAt: last === undefined ? null : iso(last),
    purpose: purposeOf(now),
    counts: countsOf(now),
    agreement: agreementIn(now),
    composition: now.content.kind === "pool" ? cardComposition(now.content) : [],
    changes: cardChanges(now),
    columns: now.content.kind === "pool" ? provenanceNames(columnNames(now.content.table)) : null,
    estimate: estimateIn(options.estimate),
    audit: auditIn(options.audit),
    integrity: {
      events: now.head.seq,
      hash: now.head.hash,
      // Of this very log, and not of one that has grown since.
      verified:
        verification === undefined || (verification.fault === null && verification.hash !== now.head.hash)
          ? null
          : verification.fault === null,
      reason: verification?.reason ?? null,
    },
  };
  return { ...card, notes: cardNotes(card) };
};

const estimateOrReason = async (
  campaign: Campaign,
  run: RunOptions,
): Promise<NonNullable<DataCardOptions["estimate"]>> => {
  try {
    return await campaign.estimate(run);
  } catch (error) {
    // Too few were drawn at random.
    if (error instanceof FairbedError) return { reason: error.message };
    throw error;
  }
};

/** The card with everything on it: checks the log, estimates for the whole pool and audits the labels. May take minutes. */
export const completeDataCard = async (
  campaign: Campaign,
  { signal, onProgress, ...owner }: CardOwner & RunOptions = {},
): Promise<CampaignCard> => {
  const run = { signal, onProgress };
  const verification = await verifyCampaign(campaign.store, campaign.name);
  if (campaign.kind === "design") return dataCard(campaign, { ...owner, verification });
  const estimate = await estimateOrReason(campaign, run);
  const audit = await auditCampaign(campaign, run);
  return dataCard(campaign, { ...owner, verification, estimate, audit });
};
