/**
 * Whom to ask next: a function of the state, of a ranking and of the time, so that a replay comes to the same question.
 *
 * A known part of all places is drawn at random from everybody who is left, at the moment of asking; the others are
 * filled from the ranking, however old. Where it has nobody left, the place is drawn at random too: such a draw is as
 * good for estimates as any other.
 */
import type { RandomStream } from "../core/random.js";
import type { AcquisitionRanking } from "../workflows/acquisition-ranking.js";
import { isDrawnPlace } from "../workflows/row-session.js";
import type { AskedBody, AskReason } from "./events.js";
import type { PoolState } from "./pool-state.js";
import { outcomeOf } from "./pool-state.js";

/** A ranking as a campaign keeps it: by items, and as of which event. */
export interface CampaignRanking extends Omit<AcquisitionRanking, "rows"> {
  readonly basis: number;
  readonly size: number;
  readonly rows: readonly (Omit<AcquisitionRanking["rows"][number], "row"> & { readonly item: number })[];
}

/** What a question depends on beside the state. */
export interface AskingRules {
  readonly stream: RandomStream;
  /** Everybody is drawn at random. */
  readonly random: boolean;
  readonly randomPart: number;
  readonly lease: number;
  readonly opinions: number;
  readonly opinionsPart: number;
  readonly costOf: (item: number) => number;
  /** Whether an item is of a group that has as many as a quota allows; undefined where there are no quotas. */
  readonly isFull?: ((item: number, state: PoolState, at: number) => boolean) | undefined;
  /** The beta that candidates are scored by follows a goal, which is judged by what a ranking showed. */
  readonly followsGoal: boolean;
}

export interface AskRequest {
  readonly annotator: string;
  /** Items that this annotator has seen already may come again. */
  readonly again: boolean;
  /** Only items on which annotators disagree. */
  readonly adjudicate: boolean;
}

export interface NextQuestion {
  readonly item: number;
  readonly body: AskedBody;
}

/** Whoever asks and answers without a name. */
export const ANYONE = "";

/** So many tries at hitting one that is left before they are listed. */
const TRIES = 64;

/** One of those that are left, each equally likely, and with which probability. The order of events does not matter. */
const drawn = (
  state: PoolState,
  at: number,
  isBarred: (item: number) => boolean,
  barred: ReadonlySet<number>,
  stream: RandomStream,
): { readonly item: number; readonly probability: number } | undefined => {
  let count = state.openCount(at);
  for (const item of barred) if (isBarred(item) && state.isOpen(item, at)) count -= 1;
  if (count <= 0) return undefined;
  const may = (item: number) => state.isOpen(item, at) && !isBarred(item);
  for (let i = 0; i < TRIES; i++) {
    const item = stream.integer(state.items);
    if (may(item)) return { item, probability: 1 / count };
  }
  const left: number[] = [];
  for (let item = 0; item < state.items; item++) if (may(item)) left.push(item);
  return { item: left[stream.integer(left.length)], probability: 1 / left.length };
};

/** One of those that are left and whose quotas have room: not everybody has the same chance then, so it has none. */
const drawnWithin = (
  state: PoolState,
  at: number,
  may: (item: number) => boolean,
  stream: RandomStream,
): { readonly item: number; readonly probability?: undefined } | undefined => {
  const left: number[] = [];
  for (let item = 0; item < state.items; item++) if (state.isOpen(item, at) && may(item)) left.push(item);
  return left.length === 0 ? undefined : { item: left[stream.integer(left.length)] };
};

/** How many opinions are wanted of an item: the same for all who ask. */
const wantedOpinions = (item: number, { stream, opinions, opinionsPart }: AskingRules): number =>
  opinions > 1 && (opinionsPart >= 1 || stream.split("opinions").split(item).uniform() < opinionsPart)
    ? opinions
    : 1;

/** An item that was begun, wants further opinions and has too few on their way. */
const secondOpinion = (
  state: PoolState,
  at: number,
  rules: AskingRules,
  may: (item: number) => boolean,
): number | undefined => {
  if (rules.opinions < 2) return undefined;
  for (const item of state.begun) {
    const own = state.item(item);
    if (own === undefined || own.adjudicated !== undefined || !may(item)) continue;
    if (outcomeOf(own).kind === "refused") continue;
    const wanted = wantedOpinions(item, rules);
    if (wanted < 2 || own.opinions.size >= wanted) continue;
    const busy = own.asks.filter(
      ({ until, annotator }) => until >= at && !own.opinions.has(annotator) && !own.skipped.has(annotator),
    ).length;
    // What ran out without any answer is open, and asked for anew.
    if (own.opinions.size + busy > 0 && own.opinions.size + busy < wanted) return item;
  }
  return undefined;
};

/** The next question of an annotator at this time; undefined where there is none. */
export const nextQuestion = (
  state: PoolState,
  request: AskRequest,
  rules: AskingRules,
  ranking: CampaignRanking | undefined,
  at: number,
): NextQuestion | undefined => {
  const { annotator, again, adjudicate } = request;
  const seen = state.seenBy(annotator);
  // Whoever gives no name may be somebody else each time: a question that ran out may come again.
  const isBarred = (item: number): boolean => {
    const own = state.item(item);
    if (own?.opinions.has(annotator)) return true;
    if (again) return false;
    return annotator === ANYONE ? own?.skipped.has(annotator) === true : seen.has(item);
  };
  const common = {
    annotator,
    until: at + rules.lease * 1000,
    ...(again ? { again: true as const } : {}),
  };
  const repeated = (item: number, reason: AskReason): NextQuestion => ({
    item,
    body: { ...common, reason, cost: rules.costOf(item) },
  });
  if (adjudicate) {
    for (const item of state.disputed) {
      const busy = state
        .item(item)
        ?.asks.some(({ reason, until }) => reason === "adjudication" && until >= at);
      if (!busy) return repeated(item, "adjudication");
    }
    return undefined;
  }
  const second = secondOpinion(state, at, rules, (item) => !isBarred(item));
  if (second !== undefined) return repeated(second, "second-opinion");
  const place = state.places;
  const atRandom = rules.random || isDrawnPlace(place, rules.randomPart);
  if (!atRandom) {
    const best = ranking?.rows.find(
      ({ item }) => state.isOpen(item, at) && !isBarred(item) && rules.isFull?.(item, state, at) !== true,
    );
    if (best !== undefined && ranking !== undefined) {
      const { item, ...why } = best;
      return {
        item,
        body: {
          ...common,
          place,
          reason: "score",
          score: why.score,
          ...(why.target === null ? {} : { target: why.target }),
          ...(why.leakage === null ? {} : { leakage: why.leakage }),
          cost: rules.costOf(item),
          ...(why.group === undefined ? {} : { group: why.group }),
          basis: ranking.basis,
          size: ranking.size,
          ...(rules.followsGoal ? { leastLeakage: ranking.leastLeakage } : {}),
          ...(rules.followsGoal && ranking.parity !== undefined ? { parity: ranking.parity } : {}),
        },
      };
    }
  }
  const stream = rules.stream.split("drawn").split(place);
  const { isFull } = rules;
  const found =
    isFull === undefined
      ? drawn(state, at, isBarred, seen, stream)
      : drawnWithin(state, at, (item) => !isBarred(item) && !isFull(item, state, at), stream);
  if (found === undefined) return undefined;
  return {
    item: found.item,
    body: {
      ...common,
      place,
      reason: atRandom || ranking?.cold === true ? "random" : "no-ranking",
      drawn: true,
      ...(found.probability === undefined ? {} : { probability: found.probability }),
      cost: rules.costOf(found.item),
      // Which ranking had nobody left.
      ...(atRandom || ranking === undefined ? {} : { basis: ranking.basis, size: ranking.size }),
    },
  };
};
