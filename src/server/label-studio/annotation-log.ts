/**
 * Annotations of Label Studio as events of a campaign. What is known of an annotation stands in the log alone, in the
 * names of its events: `ls:<project>:<task>:<annotation>:<when it was changed>`. So nothing has to be kept beside it, and
 * a withdrawal erases this too.
 */
import type { Campaign } from "../../campaign/campaign.js";
import { campaignTexts } from "../../campaign/campaign.js";
import type { AnnotatorBody, LogEvent } from "../../campaign/events.js";
import type { LoadedCampaign, PoolContent } from "../../campaign/loaded-campaign.js";
import { InputError } from "../../core/errors.js";
import type { AnnotationFact } from "./payload.js";

/** What became of an annotation. `unknown`: it is about nobody in the pool, or about somebody who withdrew. */
export type Applied = "told" | "corrected" | "skipped" | "retracted" | "unchanged" | "unknown";

export interface KnownAnnotation {
  readonly annotation: string;
  readonly task: string;
  readonly item: number;
  readonly annotator: string;
  /** The newest of its changes that is in the log. */
  readonly updatedAt: string;
  /** Numbers of its events. */
  readonly events: ReadonlySet<number>;
  readonly deleted: boolean;
}

export const annotationTexts = {
  noItem: "the task's data does not say which item it is about",
  noAnnotator: "the annotation does not say who made it",
  noChoice: "the annotation has no single choice of the control",
};

const DELETED = "deleted";
const NAME = /^ls:(\d+):(\d+):(\d+):(.*?)(?::(?:again-\d+|cancelled))?$/;

/** The events of tasks that were imported. */
export const askName = (project: number | string): string => `ls:${project}:ask:`;

export const eventName = (project: string, { task, annotation, updatedAt }: AnnotationFact): string =>
  `ls:${project}:${task}:${annotation}:${updatedAt}`;

const deletionName = (project: string, { task, annotation }: KnownAnnotation): string =>
  `ls:${project}:${task}:${annotation}:${DELETED}`;

/** Whether a time is later than another: Label Studio writes microseconds, which a Date does not keep. */
export const isLater = (time: string, than: string): boolean => {
  const [a, b] = [Date.parse(time), Date.parse(than)];
  if (Number.isNaN(a) || Number.isNaN(b) || a === b) return time > than;
  return a > b;
};

const annotatorOf = ({ body }: LogEvent): string => (JSON.parse(body ?? "{}") as AnnotatorBody).annotator;

const collect = (found: Map<string, KnownAnnotation>, events: readonly LogEvent[], project: string): void => {
  for (const event of events) {
    const [, own, task, annotation, when] = NAME.exec(event.id ?? "") ?? [];
    if (own !== project) continue;
    const before = found.get(annotation);
    const isDeletion = when === DELETED;
    const newest =
      isDeletion || (before !== undefined && isLater(before.updatedAt, when))
        ? (before?.updatedAt ?? "")
        : when;
    found.set(annotation, {
      annotation,
      task,
      item: Number(event.subject),
      annotator: annotatorOf(event),
      updatedAt: newest,
      events: new Set([...(before?.events ?? []), event.seq]),
      deleted: isDeletion || before?.deleted === true,
    });
  }
};

export const poolOf = ({ content }: LoadedCampaign): PoolContent => {
  if (content.kind !== "pool") throw new InputError("design", campaignTexts.wantsPool);
  return content;
};

/** All annotations of a project that the log knows, by their number. */
export const knownAnnotations = (
  now: LoadedCampaign,
  project: string,
): ReadonlyMap<string, KnownAnnotation> => {
  const found = new Map<string, KnownAnnotation>();
  for (const item of poolOf(now).state.touched()) collect(found, now.eventsAbout(String(item)), project);
  return found;
};

const knownAnnotation = (
  now: LoadedCampaign,
  project: string,
  item: number,
  annotation: string,
): KnownAnnotation | undefined => {
  const found = new Map<string, KnownAnnotation>();
  collect(found, now.eventsAbout(String(item)), project);
  return found.get(annotation);
};

/** The last event of an item that is an annotator's. */
const lastEventOf = (now: LoadedCampaign, item: number, annotator: string): LogEvent | undefined =>
  now
    .eventsAbout(String(item))
    .findLast((event) => event.kind !== "asked" && event.body !== null && annotatorOf(event) === annotator);

/**
 * Takes an annotation in: as an answer, a correction, or as passed on. The same one again, or an older state of it than
 * the log has, changes nothing.
 */
export const applyAnnotation = async (
  campaign: Campaign,
  project: string,
  fact: AnnotationFact,
): Promise<Applied> => {
  const { now } = campaign;
  const pool = poolOf(now);
  if (fact.item === undefined) throw new InputError("annotation", annotationTexts.noItem);
  if (fact.annotator === "") throw new InputError("annotation", annotationTexts.noAnnotator);
  const item = pool.itemOfId(fact.item);
  if (item === undefined) return "unknown";
  const known = knownAnnotation(now, project, item, fact.annotation);
  if (known?.deleted === true) return "unchanged";
  if (known !== undefined && isLater(known.updatedAt, fact.updatedAt)) return "unchanged";
  const own = pool.state.item(item);
  const opinion = own?.opinions.get(fact.annotator);
  const isOwnOpinion = opinion !== undefined && known?.events.has(opinion.seq) === true;
  const name = eventName(project, fact);
  if (fact.skipped) {
    // First: after a crash in between, the event that says that all was done is missing.
    if (isOwnOpinion) await campaign.retract(fact.item, fact.annotator, `${name}:cancelled`);
    if (now.event(name) !== undefined || own?.skipped.has(fact.annotator) === true) {
      return isOwnOpinion ? "retracted" : "unchanged";
    }
    await campaign.skip(fact.item, fact.annotator, name);
    return "skipped";
  }
  if (fact.label === undefined && isOwnOpinion) {
    await campaign.retract(fact.item, fact.annotator, name);
    return "retracted";
  }
  if (fact.label === undefined || fact.label === null) {
    throw new InputError("annotation", annotationTexts.noChoice);
  }
  const [{ status }] = await campaign.tell([
    { id: fact.item, label: fact.label, annotator: fact.annotator, event: againName(now, item, fact, name) },
  ]);
  return status === "answer" ? "told" : status === "correction" ? "corrected" : "unchanged";
};

/**
 * An annotator who has two annotations of an item and deletes the newer one is back at the older one, which the log has
 * already: then it is told under another name. So it is where an older state of the annotation came in after it.
 */
const againName = (now: LoadedCampaign, item: number, fact: AnnotationFact, name: string): string => {
  if (now.event(name) === undefined) return name;
  const last = lastEventOf(now, item, fact.annotator);
  const [, , , annotation, when] = NAME.exec(last?.id ?? "") ?? [];
  const isBehind =
    annotation !== undefined &&
    (last?.kind === "retracted" || (annotation === fact.annotation && isLater(fact.updatedAt, when)));
  return isBehind ? `${name}:again-${last?.seq}` : name;
};

/** Takes an annotation back that was deleted, unless the annotator has said something else since. */
export const retractAnnotation = async (
  campaign: Campaign,
  project: string,
  known: KnownAnnotation,
): Promise<Applied> => {
  const pool = poolOf(campaign.now);
  const id = pool.idOf(known.item);
  if (id === undefined || pool.itemOfId(id) === undefined) return "unknown";
  const opinion = pool.state.item(known.item)?.opinions.get(known.annotator);
  if (known.deleted || opinion === undefined || !known.events.has(opinion.seq)) return "unchanged";
  await campaign.retract(id, known.annotator, deletionName(project, known));
  return "retracted";
};
