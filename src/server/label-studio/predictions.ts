/**
 * What Label Studio is told of its tasks: how urgent each is, and nothing else. "Uncertainty sampling" takes the lowest
 * score first, so that the score is -R(x) (facts of the protocol: one result for each task, whatever it is about).
 * No sensitive value, no prediction of one and no leakage leaves this server; R(x) alone is one number for both sides.
 */
import type { Campaign } from "../../campaign/campaign.js";
import type { CampaignRanking } from "../../campaign/next-question.js";
import type { TaskReading } from "./connection.js";
import { itemIn } from "./payload.js";

export interface SentTask {
  readonly data?: Readonly<Record<string, unknown>> | undefined;
}

export interface LabelStudioPrediction {
  readonly result: readonly {
    readonly from_name: string;
    readonly to_name: string;
    readonly type: "choices";
    readonly value: { readonly choices: readonly string[] };
  }[];
  readonly score: number;
  readonly model_version: string;
}

/** The choice that a model of the target expects, by the item's id. Annotators are swayed by it: only where wanted. */
export type TargetPredictor = (
  campaign: Campaign,
  ids: readonly string[],
) => Promise<ReadonlyMap<string, string>>;

/** The last ranking, where it still holds. */
const rankingOf = async ({ store, name, now }: Campaign): Promise<CampaignRanking | undefined> => {
  const body = await store.getDocument("ranking", name);
  if (body === undefined) return undefined;
  const ranking = JSON.parse(body) as CampaignRanking;
  return ranking.basis >= now.generation ? ranking : undefined;
};

const versionOf = (ranking: CampaignRanking | undefined): string => `fairbed-${ranking?.basis ?? 0}`;

/** Changes with every ranking: tasks that the current version has predicted are not asked for again. */
export const modelVersion = async (campaign: Campaign): Promise<string> =>
  versionOf(await rankingOf(campaign));

export const predictionsFor = async (
  campaign: Campaign,
  tasks: readonly SentTask[],
  { fromName, toName, field }: TaskReading,
  predictTarget?: TargetPredictor,
): Promise<{ readonly results: readonly LabelStudioPrediction[]; readonly model_version: string }> => {
  const { content } = campaign.now;
  const ranking = await rankingOf(campaign);
  const model_version = versionOf(ranking);
  const scores = new Map((ranking?.rows ?? []).map(({ item, score }) => [item, -score]));
  // After all that are ranked.
  const last = [...scores.values()].reduce((most, score) => Math.max(most, score), 0);
  const ids = tasks.map(({ data }) => itemIn(data, field));
  const items = ids.map((id) =>
    id === undefined || content.kind !== "pool" ? undefined : content.itemOfId(id),
  );
  const known = ids.filter((id, i): id is string => id !== undefined && items[i] !== undefined);
  const choices = predictTarget === undefined ? undefined : await predictTarget(campaign, known);
  const results = ids.map((id, i): LabelStudioPrediction => {
    const item = items[i];
    const choice = item === undefined || id === undefined ? undefined : choices?.get(id);
    const result =
      choice === undefined
        ? []
        : [
            {
              from_name: fromName,
              to_name: toName,
              type: "choices" as const,
              value: { choices: [choice] },
            },
          ];
    return { result, score: (item === undefined ? undefined : scores.get(item)) ?? last, model_version };
  });
  return { results, model_version };
};
