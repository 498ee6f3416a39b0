/** Every decision of a campaign computed again from its log and its seed, and held against what was asked. */
import { pacer, type RunOptions } from "../core/options.js";
import type { Model } from "../design/model.js";
import { proposeDesign } from "./design-answers.js";
import type { AskedBody, LogEvent } from "./events.js";
import { type LoadedCampaign, loadCampaign } from "./loaded-campaign.js";
import { type CampaignRanking, nextQuestion } from "./next-question.js";
import { modelsInThread, type PoolModels } from "./ranking-schedule.js";
import { type CampaignStore, unknownCampaign } from "./store.js";

export interface Replay {
  /** Questions that were asked, in all. */
  readonly decisions: number;
  /** Computed again, with the same outcome. */
  readonly agreeing: number;
  /** Computed again, with another outcome: the event, and what differs. */
  readonly differing: readonly { readonly seq: number; readonly what: readonly string[] }[];
  /** Asked before the last withdrawal: they rest on data that is erased, and cannot be computed again. */
  readonly erased: number;
  /** Rankings that were made again. */
  readonly rankings: number;
}

export interface ReplayOptions extends RunOptions {
  readonly models?: PoolModels | undefined;
  readonly model?: Model | undefined;
}

const rankingKey = ({ basis, size }: Pick<AskedBody, "basis" | "size">): string | undefined =>
  basis === undefined ? undefined : `${basis}/${size}`;

const bodyOf = ({ body }: LogEvent): AskedBody => JSON.parse(body ?? "{}") as AskedBody;

/** Names of what differs; bits count, as the same seed gives the same bits. */
const differences = (recorded: object, computed: object): readonly string[] => {
  const names = [...new Set([...Object.keys(recorded), ...Object.keys(computed)])];
  const of = (from: object, name: string) => JSON.stringify((from as Record<string, unknown>)[name]);
  return names.filter((name) => of(recorded, name) !== of(computed, name));
};

/** Which rankings are needed, by the event that they know all up to. */
const rankingsNeeded = (events: readonly LogEvent[], from: number): Map<number, Set<number>> => {
  const needed = new Map<number, Set<number>>();
  for (const event of events) {
    if (event.kind !== "asked" || event.body === null || event.seq <= from) continue;
    const { basis, size } = bodyOf(event);
    if (basis === undefined || size === undefined) continue;
    needed.set(basis, (needed.get(basis) ?? new Set()).add(size));
  }
  return needed;
};

/**
 * Makes every decision of a campaign again from its log, and compares. What rests on data that was erased since cannot
 * be made again, and is counted apart.
 */
export const replayCampaign = async (
  store: CampaignStore,
  name: string,
  { models = modelsInThread(), model, ...run }: ReplayOptions = {},
): Promise<Replay> => {
  const events = await store.read(name, 0);
  if (events.length === 0) throw unknownCampaign(name);
  const campaign = loadCampaign(name, await store.items(name), events[0], { model });
  const lastErasure = events.findLast(({ kind }) => kind === "withdrawn")?.seq ?? 0;
  const needed = rankingsNeeded(events, lastErasure);
  const rankings = new Map<string, CampaignRanking>();
  const differing: { seq: number; what: readonly string[] }[] = [];
  let [decisions, agreeing, erased, made] = [0, 0, 0, 0];
  let generation = -1;
  const pace = pacer(run);

  const rank = async (now: LoadedCampaign): Promise<void> => {
    const sizes = needed.get(now.head.seq);
    if (sizes === undefined || now.content.kind !== "pool") return;
    const { table, options, state, rowOf, itemOf } = now.content;
    if (generation !== now.generation) models.prepare(table, options);
    generation = now.generation;
    for (const size of sizes) {
      const { rows, ...rest } = await models.rank(state.soFar(now.head.at, rowOf), size, now.head.seq);
      made += 1;
      rankings.set(`${now.head.seq}/${size}`, {
        ...rest,
        basis: now.head.seq,
        size,
        rows: rows.map(({ row, ...each }) => ({ item: itemOf[row], ...each })),
      });
    }
  };

  const check = async (event: LogEvent): Promise<void> => {
    decisions += 1;
    if (event.seq <= lastErasure || event.body === null) {
      erased += 1;
      return;
    }
    const recorded = bodyOf(event);
    const { content, settings } = campaign;
    if (content.kind === "design") {
      const proposal = await proposeDesign(content, event.subject ?? "");
      const { step, design, until } = recorded;
      const what = differences(
        { step, design, until },
        { step: proposal?.step, design: proposal?.design, until: event.at + settings.lease * 1000 },
      );
      if (what.length === 0) agreeing += 1;
      else differing.push({ seq: event.seq, what });
      return;
    }
    const key = rankingKey(recorded);
    const computed = nextQuestion(
      content.state,
      {
        annotator: recorded.annotator,
        again: recorded.again === true,
        adjudicate: recorded.reason === "adjudication",
      },
      content.rules,
      key === undefined ? undefined : rankings.get(key),
      event.at,
    );
    const what = differences(
      { subject: event.subject, ...recorded },
      { subject: computed === undefined ? null : String(computed.item), ...computed?.body },
    );
    if (what.length === 0) agreeing += 1;
    else differing.push({ seq: event.seq, what });
  };

  await rank(campaign);
  for (const [i, event] of events.slice(1).entries()) {
    if (event.kind === "asked") await check(event);
    campaign.apply(event);
    await rank(campaign);
    await pace.step({ done: i + 1, total: events.length - 1, label: "computing decisions again" });
  }
  return { decisions, agreeing, differing, erased, rankings: made };
};
