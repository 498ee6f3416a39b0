/**
 * Holds a campaign against its project in Label Studio, because webhooks get lost: whatever is missing is told, what was
 * changed is corrected, what was deleted is taken back.
 */
import type { Campaign } from "../../campaign/campaign.js";
import { InputError } from "../../core/errors.js";
import {
  type Applied,
  applyAnnotation,
  isLater,
  knownAnnotations,
  retractAnnotation,
} from "./annotation-log.js";
import type { ShownConnection } from "./connection.js";
import { keepDeadLetter } from "./dead-letters.js";
import type { LabelStudioClient } from "./label-studio-client.js";
import { type AnnotationFact, factOf, type ListedTask } from "./payload.js";

/** Annotations by what became of them; `notUnderstood` ones are kept aside. */
export interface Reconciled extends Readonly<Record<Applied | "notUnderstood", number>> {
  readonly tasks: number;
}

/** What the project says: of each annotator and item the annotation that was changed last. */
const factsIn = (tasks: readonly ListedTask[], connection: ShownConnection): readonly AnnotationFact[] => {
  const latest = new Map<string, AnnotationFact>();
  for (const task of tasks) {
    for (const annotation of task.annotations ?? []) {
      const fact = factOf(annotation, task, connection);
      const whose = JSON.stringify(
        fact.item === undefined || fact.annotator === "" ? [fact.annotation] : [fact.item, fact.annotator],
      );
      const before = latest.get(whose);
      if (before === undefined || !isLater(before.updatedAt, fact.updatedAt)) latest.set(whose, fact);
    }
  }
  // As if they had come in their order.
  return [...latest.values()].sort((a, b) =>
    a.updatedAt === b.updatedAt ? 0 : isLater(a.updatedAt, b.updatedAt) ? 1 : -1,
  );
};

/** Tasks that are about nobody here are left alone, whatever is wrong with them. */
const isOwn = (campaign: Campaign, { item }: AnnotationFact): boolean =>
  item !== undefined &&
  campaign.now.content.kind === "pool" &&
  campaign.now.content.itemOfId(item) !== undefined;

export const reconcileTasks = async (
  campaign: Campaign,
  client: LabelStudioClient,
  list: () => Promise<readonly ListedTask[]>,
  signal?: AbortSignal,
): Promise<Reconciled> => {
  const { connection } = client;
  const project = String(connection.project);
  const counts: Record<Applied | "notUnderstood", number> = {
    told: 0,
    corrected: 0,
    skipped: 0,
    retracted: 0,
    unchanged: 0,
    unknown: 0,
    notUnderstood: 0,
  };
  await campaign.sync();
  // Before the project is listed: what comes in meanwhile is not missed in the list.
  const before = knownAnnotations(campaign.now, project);
  const tasks = await list();
  for (const fact of factsIn(tasks, connection)) {
    signal?.throwIfAborted();
    if (!isOwn(campaign, fact)) {
      counts.unknown += 1;
      continue;
    }
    try {
      counts[await applyAnnotation(campaign, project, fact)] += 1;
    } catch (error) {
      if (!(error instanceof InputError)) throw error;
      counts.notUnderstood += 1;
      // Under the same name each time that it is seen.
      await keepDeadLetter(campaign.store, campaign.name, `seen-${project}-${fact.annotation}`, {
        reason: error.message,
        at: Date.now(),
        payload: JSON.stringify({
          action: "SEEN",
          annotation: { id: fact.annotation, completed_by: fact.annotator, updated_at: fact.updatedAt },
          task: { id: fact.task, data: { [connection.field]: fact.item } },
        }),
      });
    }
  }
  const there = new Set(tasks.flatMap(({ annotations }) => (annotations ?? []).map(({ id }) => id)));
  for (const known of before.values()) {
    if (known.deleted || there.has(known.annotation)) continue;
    // Pages shift while tasks are deleted, so that one may be missing from the list only.
    if (await client.hasAnnotation(known.annotation, signal)) continue;
    const current = knownAnnotations(campaign.now, project).get(known.annotation);
    if (current !== undefined) counts[await retractAnnotation(campaign, project, current)] += 1;
  }
  // An annotator's other annotation, older than the deleted one, counts again.
  if (counts.retracted > 0) {
    for (const fact of factsIn(tasks, connection)) {
      if (!isOwn(campaign, fact) || fact.label === undefined || fact.label === null) continue;
      const applied = await applyAnnotation(campaign, project, fact).catch(() => "unchanged" as const);
      if (applied !== "unchanged") counts[applied] += 1;
    }
  }
  return { tasks: tasks.length, ...counts };
};

/** One comparison of a campaign with its project. */
export const reconcile = (
  campaign: Campaign,
  client: LabelStudioClient,
  signal?: AbortSignal,
): Promise<Reconciled> => reconcileTasks(campaign, client, () => client.tasks(signal), signal);
