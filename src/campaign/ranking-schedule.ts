/**
 * When models are fitted anew, and how long a question waits for it: never longer than it says. One ranking is made at a
 * time, of a state that is written down with it; meanwhile questions are served from the last one.
 */
import type { RunOptions } from "../core/options.js";
import type { Table } from "../tables/table.js";
import type { AcquisitionOptions } from "../workflows/acquisition-plan.js";
import {
  type AcquiredSoFar,
  type AcquisitionRanking,
  acquisitionRanker,
  type ForecastChoice,
} from "../workflows/acquisition-ranking.js";
import { type AuditOptions, auditTable, type TableAudit } from "../workflows/audit-table.js";
import type { PoolEstimate } from "../workflows/estimate-acquired.js";
import type { Forecast } from "../workflows/forecast.js";
import type { LoadedCampaign, PoolContent } from "./loaded-campaign.js";
import type { CampaignRanking } from "./next-question.js";

/** What computes: in this thread, or in one of its own. */
export interface PoolModels {
  /** The table and the options from now on. */
  prepare(table: Table, options: AcquisitionOptions): void;
  rank(soFar: AcquiredSoFar, size: number, name: number): Promise<AcquisitionRanking>;
  estimate(soFar: AcquiredSoFar, run?: RunOptions): Promise<PoolEstimate>;
  forecast(soFar: AcquiredSoFar, choice: ForecastChoice, run?: RunOptions): Promise<Forecast>;
  audit(table: Table, options: AuditChoice, run?: RunOptions): Promise<TableAudit>;
  close(): Promise<void>;
}

/** What an audit is asked for. */
export type AuditChoice = Omit<AuditOptions, keyof RunOptions>;

/** In this thread, letting go of it now and then. */
export const modelsInThread = (): PoolModels => {
  let made: ReturnType<typeof acquisitionRanker> | undefined;
  let given: { readonly table: Table; readonly options: AcquisitionOptions } | undefined;
  const ranker = () => {
    if (given === undefined) throw new Error("models were asked for before they were told of a table");
    made ??= acquisitionRanker(given.table, given.options);
    return made;
  };
  return {
    prepare(table, options) {
      given = { table, options };
      made = undefined;
    },
    rank: async (soFar, size, name) => ranker().rank(soFar, size, name),
    estimate: async (soFar, run) => ranker().estimate(soFar, run),
    forecast: async (soFar, choice, run) => ranker().forecast(soFar, { ...choice, ...run }),
    audit: (table, options, run) => auditTable(table, { ...options, ...run }),
    close: async () => {},
  };
};

const pause = (milliseconds: number): Promise<void> =>
  new Promise((resolve) => {
    setTimeout(resolve, Math.max(0, milliseconds));
  });

/** A ranking is at least and at most so long. */
const SHORTEST = 64;
const LONGEST = 1024;

export interface RankingSchedule {
  /** The last ranking, where it still holds. */
  readonly ranking: CampaignRanking | undefined;
  /** When it was finished, by this process's clock. */
  readonly finishedAt: number | undefined;
  /** What went wrong with the last attempt. */
  readonly failure: unknown;
  /** Begins a ranking where one is due, and waits for it, at most so many milliseconds and only where it may help. */
  freshen(wait: number): Promise<void>;
  /** Waits until the ranking knows all that is told. */
  settle(): Promise<void>;
  /** Takes a ranking that another process made. */
  adopt(ranking: CampaignRanking, madeAt: number | undefined): void;
  /** Answers that the ranking does not know of yet. */
  answersSince(): number;
  /** Makes sure that the models know the table and the options. */
  prepared(): PoolContent;
}

export interface ScheduleOptions {
  readonly now: () => LoadedCampaign;
  readonly models: PoolModels;
  readonly clock: () => number;
  readonly onRanking: (ranking: CampaignRanking) => void;
}

const isUsable = (ranking: CampaignRanking | undefined, { generation }: LoadedCampaign): boolean =>
  ranking !== undefined && ranking.basis >= generation;

const countAfter = (ascending: readonly number[], seq: number): number => {
  let [low, high] = [0, ascending.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (ascending[middle] > seq) high = middle;
    else low = middle + 1;
  }
  return ascending.length - low;
};

export const createRankingSchedule = ({
  now,
  models,
  clock,
  onRanking,
}: ScheduleOptions): RankingSchedule => {
  let last: CampaignRanking | undefined;
  let finishedAt: number | undefined;
  let failure: unknown;
  let running: Promise<void> | undefined;
  /** Milliseconds that rankings take, lately; and before when no other one is begun, so that half the time is left. */
  let duration: number | undefined;
  let startedAt = 0;
  let restUntil = 0;
  let size = SHORTEST;
  let preparedFor: { readonly content: unknown; readonly generation: number } | undefined;

  const poolOf = (campaign: LoadedCampaign): PoolContent => {
    if (campaign.content.kind !== "pool") throw new Error("a campaign of designs has no ranking");
    return campaign.content;
  };
  const prepared = (): PoolContent => {
    const campaign = now();
    const pool = poolOf(campaign);
    if (preparedFor?.content !== pool || preparedFor.generation !== campaign.generation) {
      models.prepare(pool.table, pool.options);
      preparedFor = { content: pool, generation: campaign.generation };
    }
    return pool;
  };
  const current = (): CampaignRanking | undefined => (isUsable(last, now()) ? last : undefined);
  const openLeft = (ranking: CampaignRanking): number => {
    const { state } = poolOf(now());
    const at = clock();
    return ranking.rows.filter(({ item }) => state.isOpen(item, at)).length;
  };
  /** One that is cold is as good as it gets. */
  const hasAnyLeft = (ranking: CampaignRanking | undefined): boolean => {
    if (ranking === undefined || ranking.cold) return ranking !== undefined;
    const { state } = poolOf(now());
    const at = clock();
    return ranking.rows.some(({ item }) => state.isOpen(item, at));
  };
  const answersSince = (): number => {
    const { state } = poolOf(now());
    return last === undefined ? state.changes.length : countAfter(state.changes, last.basis);
  };
  const isDue = (): boolean => {
    const campaign = now();
    const { rules, options, state } = poolOf(campaign);
    if (rules.random) return false;
    const ranking = current();
    if (ranking === undefined) return true;
    if (answersSince() >= (options.batch ?? 1)) return true;
    if (ranking.cold || campaign.head.seq === ranking.basis) return false;
    // Nearly used up, while there are more to rank.
    return openLeft(ranking) * 4 < ranking.rows.length && state.openCount(clock()) > openLeft(ranking);
  };
  const begin = (): Promise<void> => {
    running ??= (async () => {
      startedAt = performance.now();
      const pool = prepared();
      const { places } = pool.state;
      const { head } = now();
      const soFar = pool.state.soFar(head.at, pool.rowOf);
      const wanted = size;
      try {
        const { rows, ...rest } = await models.rank(soFar, wanted, head.seq);
        const ranking = {
          ...rest,
          basis: head.seq,
          size: wanted,
          rows: rows.map(({ row, ...each }) => ({ item: pool.itemOf[row], ...each })),
        };
        failure = undefined;
        // Next time there is enough for what is asked while one is made, and rested.
        const served = poolOf(now()).state.places - places;
        size = SHORTEST;
        while (size < 3 * served && size < LONGEST) size *= 2;
        if (!isUsable(last, now()) || ranking.basis >= (last?.basis ?? 0)) {
          last = ranking;
          finishedAt = clock();
          onRanking(ranking);
        }
      } catch (error) {
        failure = error;
      } finally {
        const took = performance.now() - startedAt;
        duration = duration === undefined ? took : 0.7 * duration + 0.3 * took;
        restUntil = performance.now() + took;
        running = undefined;
      }
    })();
    return running;
  };
  return {
    get ranking() {
      return current();
    },
    get finishedAt() {
      return finishedAt;
    },
    get failure() {
      return failure;
    },
    answersSince,
    prepared,
    adopt(ranking, madeAt) {
      if (!isUsable(ranking, now()) || ranking.basis <= (current()?.basis ?? 0)) return;
      last = ranking;
      finishedAt = madeAt;
    },
    async freshen(wait) {
      if (!isDue()) return;
      const empty = !hasAnyLeft(current());
      const until = performance.now() + wait;
      const rest = running !== undefined || empty ? 0 : Math.max(0, restUntil - performance.now());
      const already = running === undefined ? 0 : performance.now() - startedAt;
      // How long it takes is not known before the first one.
      const isQuick = duration === undefined || rest + duration - already <= wait;
      if (rest > 0) {
        if (!isQuick) return;
        await pause(rest);
      }
      const done = begin();
      if (wait > 0 && isQuick) await Promise.race([done, pause(until - performance.now())]);
    },
    async settle() {
      if (running !== undefined) await running;
      if (isDue()) await begin();
    },
  };
};
