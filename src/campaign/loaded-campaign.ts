/** A campaign as it stands in memory: its items and the fold over its log, up to its head. */

import { takesJointBatch } from "../active/strategies.js";
import { InputError } from "../core/errors.js";
import { type RandomStream, seededStream } from "../core/random.js";
import type { Model } from "../design/model.js";
import { type ModelIdentity, shippedModel } from "../design/model-catalogue.js";
import { decodePolicy, type PolicyFile } from "../design/policy-file.js";
import type { Label } from "../tables/label.js";
import { asCategorical, columnCell, columnNamed, type Table } from "../tables/table.js";
import type { Task } from "../tables/task.js";
import { type AcquisitionOptions, acquisitionTask, settingsOf } from "../workflows/acquisition-plan.js";
import { recommendedFor } from "../workflows/acquisition-settings.js";
import { groupsBy, groupValuesOf, quotasByGroup } from "../workflows/groups-by.js";
import { createDesignState, type DesignState } from "./design-state.js";
import {
  type CreatedBody,
  EMPTY_LOG,
  headOf,
  type LogEvent,
  type LogHead,
  type StoredItem,
} from "./events.js";
import type { AskingRules } from "./next-question.js";
import { createPoolState, type PoolState } from "./pool-state.js";
import { tableOfItems } from "./pool-table.js";
import { CAMPAIGN_FORMAT, type CampaignSettings, changedSettings, type SettingsChange } from "./settings.js";

export const loadedTexts = {
  format: (given: string) =>
    `the campaign has the format "${given}" and this version reads "${CAMPAIGN_FORMAT}": use the version that wrote it`,
  noStart:
    "the log of the campaign does not begin with its creation: fairbed campaign verify says what is wrong",
  model: (name: string) =>
    `the policy is for the model ${name}, which is not shipped: give the model, with --model FILE on the command line`,
};

/** A pool, as far as its table and its settings go. */
export interface PoolContent {
  readonly kind: "pool";
  readonly state: PoolState;
  readonly table: Table;
  readonly rowOf: Int32Array;
  readonly itemOf: Int32Array;
  readonly task: Task;
  readonly sensitive: readonly Label[];
  idOf(item: number): string | undefined;
  itemOfId(id: string): number | undefined;
  readonly options: AcquisitionOptions;
  readonly rules: AskingRules;
}

export interface DesignContent {
  readonly kind: "design";
  readonly state: DesignState;
  readonly policy: PolicyFile;
  readonly model: Model;
  /** Of a participant's own random stream. */
  seedOf(participant: string): number;
}

export interface LoadedCampaign {
  readonly name: string;
  readonly head: LogHead;
  readonly created: CreatedBody;
  readonly createdAt: number;
  readonly settings: CampaignSettings;
  /** The last event that changed the settings or the pool: rankings from before it are void. */
  readonly generation: number;
  readonly withdrawn: number;
  /** Changes of the settings, in their order; `at` in milliseconds since 1970. */
  readonly configured: readonly { readonly at: number; readonly change: SettingsChange }[];
  readonly content: PoolContent | DesignContent;
  event(id: string): LogEvent | undefined;
  /** Events that are about somebody. */
  eventsAbout(subject: string): readonly LogEvent[];
  /** The next event; throws where it takes away what is already counted, and all has to be loaded again. */
  apply(event: LogEvent): void;
}

/** Something was erased that this state still holds. */
export class StateIsStale extends Error {
  override readonly message = "the state holds what was erased since: it is loaded again";
}

/**
 * Options of `acquisition` as the settings have them. A ranking serves many questions before the next one is made, so its
 * candidates are chosen jointly where the method can: no two that say the same.
 */
export const acquisitionOptions = ({ acquisition, budget, seed }: CampaignSettings): AcquisitionOptions => {
  if (acquisition === undefined) throw new Error("a campaign of designs has no acquisition");
  const { method = recommendedFor("fairbed").method, sensitiveModel, sensitiveCorrection } = acquisition;
  const joint =
    takesJointBatch(method) && !Array.isArray(sensitiveModel) && sensitiveCorrection !== "permutation";
  return { batchKind: joint ? "joint" : "top", ...acquisition, budget, seed };
};

/** Without quotas on values that nobody has any more: the last one may have withdrawn. */
const withQuotasOf = (table: Table, options: AcquisitionOptions): AcquisitionOptions => {
  if (options.quotas === undefined) return options;
  const { column, quotas } = options.quotas;
  const { levels } = asCategorical(columnNamed(table, column));
  return { ...options, quotas: { column, quotas: quotas.filter(({ value }) => levels.includes(value)) } };
};

const costReader = (table: Table, rowOf: Int32Array, { acquisition, costPerLabel = 0 }: CampaignSettings) => {
  const column = acquisition?.costs;
  if (column === undefined) return () => costPerLabel;
  const cell = columnCell(columnNamed(table, column));
  return (item: number): number => Number(cell(rowOf[item]) ?? 0);
};

const rulesOf = (
  settings: CampaignSettings,
  stream: RandomStream,
  table: Table,
  rowOf: Int32Array,
): AskingRules => {
  const costOf = costReader(table, rowOf, settings);
  const { method, randomPart = 0, goal } = settingsOf(acquisitionOptions(settings));
  const { lease, opinions, opinionsPart } = settings;
  return {
    stream,
    random: method === "random",
    randomPart,
    lease,
    opinions,
    opinionsPart,
    costOf,
    isFull: quotaCheck(settings, table, rowOf),
    followsGoal: !("beta" in goal),
  };
};

/** Whether the group of an item has as many as its quota allows, of all that were asked for and not refused. */
const quotaCheck = (
  { acquisition }: CampaignSettings,
  table: Table,
  rowOf: Int32Array,
): AskingRules["isFull"] => {
  if (acquisition?.quotas === undefined) return undefined;
  const groups = groupsBy(table, groupValuesOf(acquisition.quotas));
  const most = new Map(quotasByGroup(acquisition.quotas).map(({ group, atMost }) => [group, atMost]));
  return (item, state, at) => {
    const group = groups[rowOf[item]];
    const limit = most.get(group);
    if (limit === undefined) return false;
    const own = (other: number) => rowOf[other] >= 0 && groups[rowOf[other]] === group;
    const answered = [...state.answered].filter((other) => own(other) && !state.refused.has(other)).length;
    return answered + state.pending(at).filter((each) => own(each.item)).length >= limit;
  };
};

const loadPool = (
  created: CreatedBody,
  items: readonly StoredItem[],
  settings: () => CampaignSettings,
): PoolContent => {
  const { table, itemOf, rowOf } = tableOfItems(created.settings.columns ?? [], items);
  const { task, sensitive } = acquisitionTask(table, acquisitionOptions(created.settings));
  const ids = items.map(({ id }) => id ?? undefined);
  const itemOfId = new Map(ids.flatMap((id, item) => (id === undefined ? [] : [[id, item] as const])));
  const { labels } = task.target;
  const stream = seededStream(created.settings.seed).split("campaign");
  const state = createPoolState({
    items: items.length,
    isInPool: (item) => rowOf[item] >= 0 && labels[rowOf[item]] < 0,
  });
  let rules: { readonly of: CampaignSettings; readonly rules: AskingRules } | undefined;
  return {
    kind: "pool",
    state,
    table,
    rowOf,
    itemOf,
    task,
    sensitive,
    idOf: (item) => ids[item],
    itemOfId: (id) => itemOfId.get(id),
    get options() {
      return withQuotasOf(table, acquisitionOptions(settings()));
    },
    get rules() {
      const now = settings();
      if (rules?.of !== now) rules = { of: now, rules: rulesOf(now, stream, table, rowOf) };
      return rules.rules;
    },
  };
};

/** The model that a policy is for: one that is given, or a shipped one. */
export const modelOf = (identity: ModelIdentity | undefined, given: Model | undefined): Model => {
  if (given !== undefined) return given;
  if (identity === undefined) throw new InputError("model", loadedTexts.model("of its own"));
  if (identity.file !== undefined) throw new InputError("model", loadedTexts.model(identity.name));
  return shippedModel(identity.name, identity.options);
};

export const policyBytes = (base64: string): Uint8Array =>
  Uint8Array.from(atob(base64), (letter) => letter.charCodeAt(0));

const loadDesign = ({ settings }: CreatedBody, given: Model | undefined): DesignContent => {
  const model = modelOf(settings.model, given);
  const stream = seededStream(settings.seed).split("campaign").split("participant");
  return {
    kind: "design",
    state: createDesignState(),
    policy: decodePolicy(policyBytes(settings.policy ?? "")),
    model,
    seedOf: (participant) => stream.split(participant).uint32(),
  };
};

/** From the store's items and the first event; the others are applied one by one. */
export const loadCampaign = (
  name: string,
  items: readonly StoredItem[],
  first: LogEvent | undefined,
  given: { readonly model?: Model | undefined } = {},
): LoadedCampaign => {
  if (first === undefined || first.kind !== "created" || first.body === null) {
    throw new InputError("log", loadedTexts.noStart);
  }
  const created = JSON.parse(first.body) as CreatedBody;
  if (created.format !== CAMPAIGN_FORMAT) {
    throw new InputError("format", loadedTexts.format(String(created.format)));
  }
  let settings = created.settings;
  let head: LogHead = EMPTY_LOG;
  let generation = first.seq;
  let withdrawn = 0;
  const configured: { readonly at: number; readonly change: SettingsChange }[] = [];
  const content =
    settings.policy === undefined
      ? loadPool(created, items, () => settings)
      : loadDesign(created, given.model);
  const byId = new Map<string, LogEvent>();
  const bySubject = new Map<string, LogEvent[]>();
  const apply = (event: LogEvent): void => {
    const { kind, id, subject, body } = event;
    if (id !== null) byId.set(id, event);
    if (subject !== null) {
      const own = bySubject.get(subject) ?? [];
      own.push(event);
      bySubject.set(subject, own);
    }
    if (kind === "configured" && body !== null) {
      const change = JSON.parse(body) as SettingsChange;
      settings = changedSettings(settings, change);
      configured.push({ at: event.at, change });
      generation = event.seq;
    } else if (kind === "withdrawn") {
      withdrawn += 1;
      generation = event.seq;
    } else content.state.apply(event);
    head = headOf(event);
  };
  apply(first);
  return {
    name,
    created,
    createdAt: first.at,
    configured,
    content,
    get head() {
      return head;
    },
    get settings() {
      return settings;
    },
    get generation() {
      return generation;
    },
    get withdrawn() {
      return withdrawn;
    },
    event: (id) => byId.get(id),
    eventsAbout: (subject) => bySubject.get(subject) ?? [],
    apply,
  };
};
