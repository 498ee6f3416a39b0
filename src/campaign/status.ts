/** Where a campaign stands: counts and shares, and nothing of anybody. */
import { type AttributeComposition, compositionOf } from "../fairness/composition.js";
import type { Label } from "../tables/label.js";
import { settingsOf as acquisitionSettings } from "../workflows/acquisition-plan.js";
import { classOfRow } from "../workflows/told-values.js";
import type { RankingAge } from "./campaign.js";
import type { LoadedCampaign, PoolContent } from "./loaded-campaign.js";
import { costUsed } from "./pool-answers.js";
import { outcomeOf } from "./pool-state.js";

export interface CampaignCounts {
  /** Items of the pool, without those that withdrew; participants so far in a campaign of designs. */
  readonly subjects: number;
  /** Labels that the pool came with, and those collected since (observations, in a campaign of designs). */
  readonly initial: number;
  readonly labelled: number;
  readonly refused: number;
  /** Annotators disagree about them. */
  readonly disputed: number;
  /** Questions that wait for an answer, and those that ran out without one. */
  readonly pending: number;
  readonly expired: number;
  /** Items that may still be asked for. */
  readonly open: number;
  /** Answers that nobody had asked for, and that changed an earlier one. */
  readonly unasked: number;
  readonly corrections: number;
  readonly withdrawn: number;
  /** Who asked or answered by name. */
  readonly annotators: number;
}

export interface CampaignStatus {
  readonly name: string;
  readonly kind: "pool" | "design";
  /** ISO 8601. */
  readonly createdAt: string;
  readonly lastEventAt: string;
  readonly events: number;
  /** The hash at the end of the log: the same in two copies that are the same. */
  readonly hash: string;
  readonly target: string | null;
  readonly sensitive: readonly string[];
  readonly method: string | null;
  readonly counts: CampaignCounts;
  /** Labels that the budget allows in all; null where there is no limit. */
  readonly budget: number | null;
  readonly cost: number;
  readonly costBudget: number | null;
  /** Who was labelled, beside the whole pool. */
  readonly composition: readonly AttributeComposition[];
  readonly ranking: RankingAge | null;
}

/** The classes of a sensitive label of every row, by what is known by now. */
export const labelsNow = ({ table, state, itemOf }: PoolContent, label: Label): Int32Array => {
  const labels = label.labels.slice(0, table.rows);
  for (let row = 0; row < table.rows; row++) {
    const told = state.item(itemOf[row])?.sensitive;
    if (told !== undefined) labels[row] = classOfRow(label.rule, table, row, told);
  }
  return labels;
};

/** Rows of the table whose label was collected. */
export const collectedRows = ({ state, rowOf }: PoolContent): Int32Array =>
  Int32Array.from(
    [...state.answered].filter((item) => {
      const own = state.item(item);
      return own !== undefined && outcomeOf(own).kind === "label";
    }),
    (item) => rowOf[item],
  ).sort();

export const compositionNow = (pool: PoolContent): readonly AttributeComposition[] => {
  const acquired = collectedRows(pool);
  if (acquired.length === 0 || pool.sensitive.length === 0) return [];
  return compositionOf({
    attributes: pool.sensitive.map((label) => ({
      name: label.name,
      classes: label.classes,
      labels: labelsNow(pool, label),
    })),
    acquired,
    population: Int32Array.from({ length: pool.table.rows }, (_, row) => row),
  });
};

const poolCounts = (pool: PoolContent, at: number, withdrawn: number): CampaignCounts => {
  const { state, table, task } = pool;
  const pending = state.pending(at).length;
  let [labelled, unasked, corrections, expired] = [0, 0, 0, 0];
  const annotators = new Set<string>();
  for (const item of state.touched()) {
    const own = state.item(item);
    if (own === undefined) continue;
    if (outcomeOf(own).kind === "label" && state.answered.has(item)) labelled += 1;
    unasked += Number(own.unasked);
    corrections += own.corrections;
    if (own.asks.length > 0 && state.isOpen(item, at)) expired += 1;
    for (const { annotator } of [...own.asks, ...own.opinions.values()]) annotators.add(annotator);
  }
  annotators.delete("");
  return {
    subjects: table.rows,
    initial: task.target.labels.reduce((sum, label) => sum + Number(label >= 0), 0),
    labelled,
    refused: state.refused.size,
    disputed: state.disputed.size,
    pending,
    expired,
    open: state.openCount(at),
    unasked,
    corrections,
    withdrawn,
    annotators: annotators.size,
  };
};

export const statusOf = (
  { name, content, settings, createdAt, head, withdrawn }: LoadedCampaign,
  clock: number,
  ranking: RankingAge | null,
): CampaignStatus => {
  const at = Math.max(clock, head.at);
  const common = {
    name,
    kind: content.kind,
    createdAt: new Date(createdAt).toISOString(),
    lastEventAt: new Date(head.at).toISOString(),
    events: head.seq,
    hash: head.hash,
    budget: settings.budget ?? null,
    costBudget: settings.costBudget ?? null,
    ranking,
  };
  if (content.kind === "pool") {
    return {
      ...common,
      target: content.task.target.name,
      sensitive: content.sensitive.map((label) => label.name),
      method: acquisitionSettings(content.options).method,
      counts: poolCounts(content, at, withdrawn),
      cost: costUsed(content, at),
      composition: compositionNow(content),
    };
  }
  const participants = [...content.state.participants()].map(([, each]) => each);
  const sum = (of: (each: (typeof participants)[number]) => number) =>
    participants.reduce((total, each) => total + of(each), 0);
  const labelled = sum(({ history }) => history.length);
  return {
    ...common,
    target: null,
    sensitive: [],
    method: content.policy.kind,
    counts: {
      subjects: participants.length,
      initial: 0,
      labelled,
      refused: 0,
      disputed: 0,
      pending: sum(({ asked }) => Number(asked !== undefined && asked.until >= at)),
      expired: sum(({ asked }) => Number(asked !== undefined && asked.until < at)),
      open: sum(({ history }) => content.policy.horizon - history.length),
      unasked: sum((each) => each.unasked),
      corrections: sum((each) => each.corrections),
      withdrawn,
      annotators: 0,
    },
    cost: labelled * (settings.costPerLabel ?? 0),
    composition: [],
  };
};
