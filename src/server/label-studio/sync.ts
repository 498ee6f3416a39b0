/**
 * Keeps a project of Label Studio stocked with the tasks that a campaign wants to have answered next, and takes the
 * answers in. With sequential sampling annotators get them in that order.
 *
 * A task is imported once and answered by as many as the project's overlap says, which is to be the campaign's number of
 * opinions. Questions are asked of nobody in particular: whoever annotates is named by the answer.
 */
import type { Campaign } from "../../campaign/campaign.js";
import { randomHex } from "../../campaign/chain.js";
import { valuesOf } from "../../campaign/pool-answers.js";
import { type Pause, pause as pauseFor } from "../pause.js";
import { askName, poolOf } from "./annotation-log.js";
import type { LabelStudioClient, TaskData } from "./label-studio-client.js";
import { itemIn, type ListedTask } from "./payload.js";
import { type Reconciled, reconcileTasks } from "./reconcile.js";

export interface SyncRound extends Reconciled {
  /** Tasks that wait for annotators, before any were added. */
  readonly open: number;
  readonly imported: number;
}

/** What annotators see: the features, none of which is a sensitive column, and the item's id. */
const dataOf = (campaign: Campaign, item: number, field: string): TaskData => {
  const pool = poolOf(campaign.now);
  return { ...valuesOf(pool, item), [field]: pool.idOf(item) ?? "" };
};

/** Items that were asked for in the name of this project and wait for an answer: a crash may have kept them from it. */
const askedFor = (campaign: Campaign, project: number, at: number): readonly number[] => {
  const { now } = campaign;
  const names = new Map<number, string>();
  const pending = poolOf(now).state.pending(at);
  for (const { item } of pending) {
    for (const { seq, id } of now.eventsAbout(String(item))) if (id !== null) names.set(seq, id);
  }
  return pending
    .filter(({ ask }) => names.get(ask.seq)?.startsWith(askName(project)) === true)
    .map(({ item }) => item);
};

/** Tasks that annotators still have to do, each item once. */
const openItems = (campaign: Campaign, tasks: readonly ListedTask[], field: string): ReadonlySet<number> => {
  const pool = poolOf(campaign.now);
  return new Set(
    tasks
      .filter(({ is_labeled, annotations }) => !(is_labeled ?? (annotations ?? []).length > 0))
      .flatMap(({ data }) => pool.itemOfId(itemIn(data, field) ?? "") ?? []),
  );
};

/** Takes in what the project has, then adds what is missing. */
export const syncOnce = async (
  campaign: Campaign,
  client: LabelStudioClient,
  batch: number,
  { signal, clock = Date.now }: { readonly signal?: AbortSignal; readonly clock?: () => number } = {},
): Promise<SyncRound> => {
  const { project, field } = client.connection;
  let tasks: readonly ListedTask[] = [];
  const list = async () => {
    tasks = await client.tasks(signal);
    return tasks;
  };
  const reconciled = await reconcileTasks(campaign, client, list, signal);
  const there = new Set(tasks.flatMap(({ data }) => itemIn(data, field) ?? []));
  const isMissing = (item: number): boolean => !there.has(poolOf(campaign.now).idOf(item) ?? "");
  const open = openItems(campaign, tasks, field).size;
  const wanted = askedFor(campaign, project, clock()).filter(isMissing);
  const chosen = new Set(wanted);
  // Where several opinions are wanted, an item comes more than once.
  for (let times = 0; times < batch && batch > open + chosen.size; times++) {
    const lacking = batch - open - chosen.size;
    const { questions } = await campaign.ask(lacking, { request: `${askName(project)}${randomHex()}` });
    const pool = poolOf(campaign.now);
    for (const { id } of questions) {
      const item = pool.itemOfId(id);
      if (item !== undefined && isMissing(item)) chosen.add(item);
    }
    if (questions.length < lacking) break;
  }
  const data = [...chosen].map((item) => dataOf(campaign, item, field));
  const imported = await client.importTasks(data, signal);
  return { ...reconciled, open, imported };
};

export interface SyncOptions {
  readonly campaign: Campaign;
  readonly client: LabelStudioClient;
  /** Tasks to keep open. */
  readonly batch: number;
  readonly intervalSeconds: number;
  readonly signal: AbortSignal;
  readonly clock?: (() => number) | undefined;
  readonly pause?: Pause | undefined;
  readonly onRound?: ((round: SyncRound) => void) | undefined;
  /** What went wrong in a round; the next one is tried all the same. */
  readonly onTrouble?: ((error: unknown) => void) | undefined;
}

/** Round after round until the signal ends it. */
export const labelStudioSync = async (options: SyncOptions): Promise<void> => {
  const { campaign, client, batch, intervalSeconds, signal, clock, pause = pauseFor } = options;
  while (!signal.aborted) {
    try {
      options.onRound?.(await syncOnce(campaign, client, batch, { signal, ...(clock && { clock }) }));
    } catch (error) {
      if (signal.aborted) return;
      options.onTrouble?.(error);
    }
    await pause(1000 * intervalSeconds, signal);
  }
};
