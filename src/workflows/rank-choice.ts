/** Which of the best candidates of all parts are asked for, within quotas or shares. */
import { type Selected, selectBatch } from "../active/batch.js";
import { jointBatchSteps } from "../active/joint-batch.js";
import { unpackMembers } from "../active/packed-members.js";
import type { Quota } from "../active/quotas.js";
import { apportion } from "../active/shares.js";
import type { Pacer } from "../core/options.js";
import { quotasByGroup } from "./groups-by.js";
import { type Candidate, costWeightOf, type PackedModel, rankStream, rankTies } from "./rank-plan.js";
import type { RankSettings } from "./rank-settings.js";

export interface RankChoice {
  /** The best of every group by their scores, in the order of their rows. */
  readonly all: readonly (Candidate & { readonly group: number })[];
  readonly size: number;
  readonly shares: readonly number[] | undefined;
  /** Of the target and of the sensitive attributes, where the batch is chosen jointly. */
  readonly models: readonly PackedModel[] | undefined;
  readonly settings: RankSettings;
}

/** Label configurations of each model in a joint batch. */
const CONFIGURATIONS = 32;

/** In the order in which they were chosen; `row` is a place in `all`. */
export const chooseAmong = async (
  { all, size, shares, models, settings }: RankChoice,
  pace?: Pacer | undefined,
): Promise<Selected[]> => {
  const numbers = (of: (each: (typeof all)[number]) => number) => Float64Array.from(all, of);
  const ties = rankTies(settings);
  const options = {
    ties: (at: number) => ties(all[at].row),
    size,
    costs: numbers(({ cost }) => cost),
    costWeight: costWeightOf(settings),
    groups: numbers(({ group }) => group),
    quotas: shares === undefined ? givenQuotas(settings) : shareQuotas(all, size, shares),
  };
  if (models === undefined || size === 1) {
    return selectBatch(
      {
        score: numbers(({ score }) => score),
        target: numbers(({ target }) => target),
        leakage: numbers(({ leakage }) => leakage),
      },
      options,
    );
  }
  const [target, ...sensitive] = models.map((model, m) => ({
    pool: unpackMembers(
      model,
      all.map(({ members = [] }) => members[m] ?? []),
    ),
    targets: unpackMembers(model, model.targets),
    // Of the sensitive models, as in the scores.
    ...(m === 0 ? {} : { correction: settings.correction }),
  }));
  const steps = jointBatchSteps(target, sensitive, {
    ...options,
    beta: sensitive.length === 0 ? 0 : settings.beta,
    combine: settings.combine,
    configurations: CONFIGURATIONS,
    // Where it was said what labels cost, one that repeats another may be worth its price.
    repeats: costWeightOf(settings) > 0,
    stream: rankStream(settings).split("batch"),
  });
  for (;;) {
    const { done, value } = steps.next();
    if (done === true) return value;
    await pace?.step({ done: value, total: size, label: "choosing" });
  }
};

const givenQuotas = ({ quotas }: RankSettings): readonly Quota[] =>
  quotas === undefined ? [] : quotasByGroup(quotas);

/** As many of each group as keep these candidates at the shares. */
const shareQuotas = (
  all: readonly { readonly group: number }[],
  size: number,
  shares: readonly number[],
): readonly Quota[] => {
  const available = shares.map((_, g) => all.filter(({ group }) => group === g).length);
  const have = shares.map(() => 0);
  return apportion({ shares, have, available, size }).map((count, group) => ({
    group,
    atLeast: count,
    atMost: count,
  }));
};
