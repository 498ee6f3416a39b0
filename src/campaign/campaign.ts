/**
 * A campaign: data collection that runs for weeks, with answers that come late, twice, out of order, corrected or never.
 * The one stateful class. Its state is a fold over an append-only log in a store; its numerics are `acquisition` and
 * `runPolicy`.
 */
import { InputError } from "../core/errors.js";
import type { RunOptions } from "../core/options.js";
import { VERSION } from "../core/version.js";
import type { Model } from "../design/model.js";
import { identityOf } from "../design/model-catalogue.js";
import { encodePolicy, matchModel, type PolicyFile } from "../design/policy-file.js";
import type { Table } from "../tables/table.js";
import { type ForecastChoice, requireAcquisition } from "../workflows/acquisition-ranking.js";
import type { PoolEstimate } from "../workflows/estimate-acquired.js";
import type { Forecast } from "../workflows/forecast.js";
import type { Recipe } from "../workflows/recipe.js";
import type { LabelValue } from "../workflows/told-values.js";
import { agreementOf, type CampaignAgreement } from "./agreement.js";
import { itemsDigest, randomHex, sealEvent } from "./chain.js";
import { askDesign, type DesignAnswer, proposeDesign, tellDesign } from "./design-answers.js";
import { designTexts } from "./design-state.js";
import { EMPTY_LOG, type EventKind, type LogEvent, type LogHead, type StoredItem } from "./events.js";
import {
  acquisitionOptions,
  type DesignContent,
  type LoadedCampaign,
  loadCampaign,
  modelOf,
  type PoolContent,
} from "./loaded-campaign.js";
import { createLogWriter, type LogWriter } from "./log-writer.js";
import { ANYONE, type CampaignRanking } from "./next-question.js";
import {
  answerTexts,
  askPool,
  itemOf,
  ofAnswer,
  type PoolAnswer,
  type TakenAnswer,
  tellPool,
} from "./pool-answers.js";
import { checkLabel, tableOfCampaign } from "./pool-content.js";
import { columnsOf, itemsOf } from "./pool-table.js";
import type { Question } from "./question.js";
import {
  createRankingSchedule,
  modelsInThread,
  type PoolModels,
  type RankingSchedule,
} from "./ranking-schedule.js";
import {
  CAMPAIGN_FORMAT,
  type CampaignAcquisition,
  type CampaignOptions,
  type CampaignSettings,
  changedSettings,
  requireSettings,
  type SettingsChange,
  settingsOf,
} from "./settings.js";
import { type CampaignStatus, statusOf } from "./status.js";
import { requireKey } from "./storable-text.js";
import { type CampaignStore, requireName } from "./store.js";

export type Answer = PoolAnswer | DesignAnswer;

/** How a campaign is run here, beside what its log says. */
export interface OpenOptions {
  /** Fits and scores; in this thread unless given. */
  readonly models?: PoolModels | undefined;
  /** Of a policy whose model is not shipped. */
  readonly model?: Model | undefined;
  /** Milliseconds since 1970. */
  readonly clock?: (() => number) | undefined;
}

/** A campaign about a pool: people or records to ask about, some of which may have labels already. */
export interface PoolCampaign extends CampaignOptions {
  readonly table: Table;
  /** Which columns have which role, and how to ask: options of `acquisition`. The recipe's are its defaults. */
  readonly acquisition: CampaignAcquisition;
}

/** A campaign of designs: participants who each go through a policy. */
export interface DesignCampaign extends Omit<CampaignOptions, "recipe"> {
  readonly policy: PolicyFile;
}

export interface AskOptions {
  /** Who answers: nobody gets an item twice. Without a name, whoever asks is one and the same. */
  readonly annotator?: string | undefined;
  /** Of a campaign of designs: whose next design it is. */
  readonly participant?: string | undefined;
  /** Items that this annotator has seen already may come again (false). */
  readonly again?: boolean | undefined;
  /** Only items on which annotators disagree (false). */
  readonly adjudicate?: boolean | undefined;
  /** What this request is called: made again under the same name, it gets the same questions. */
  readonly request?: string | undefined;
  /** Milliseconds to wait at most for models that are being fitted (100). */
  readonly wait?: number | undefined;
}

export interface Asked {
  readonly questions: readonly Question[];
  /** How old the ranking is that they come from; null where there was none, or none is needed. */
  readonly ranking: RankingAge | null;
  /** Why there are fewer than were asked for, and what else a reader should know; one sentence each. */
  readonly notes: readonly string[];
}

export interface RankingAge {
  /** The event that it knows all up to. */
  readonly basis: number;
  /** Answers that have come since, and seconds since it was made. */
  readonly answersSince: number;
  readonly seconds: number;
}

/** What listeners are told: never what an event says. */
export type CampaignNews =
  | { readonly type: "event"; readonly seq: number; readonly kind: EventKind; readonly at: number }
  | { readonly type: "ranking"; readonly basis: number };

export interface Withdrawn {
  /** Events whose content was erased. */
  readonly events: number;
}

/** What a campaign refuses, and why. */
export const campaignTexts = {
  count: (given: unknown) => `${String(given)} questions were asked for: give a whole number from 1 to 10000`,
  wantsPool: "this is a campaign of designs: give outcomes, and leave out what is about labels",
  wantsDesigns: "this is a campaign about a pool: give labels, and leave out participants and outcomes",
  noAnswers: "no answer was given: give one or more",
  text: (what: string) => `the ${what} is empty or longer than 200 characters: give a shorter text`,
  nobody: "there is nobody of that id: whoever withdrew before has none any more",
  waiting:
    "the last design of this participant waits for its outcome: tell it, or wait until its time is over",
  done: (horizon: number) => `all ${horizon} observations of this participant are made`,
};

const MOST_QUESTIONS = 10_000;
const WAIT_MS = 100;
const LONGEST_TEXT = 200;
const RANKING = "ranking";

const requireText = (text: string, what: string): string => {
  if (text.length < 1 || text.length > LONGEST_TEXT) throw new InputError("text", campaignTexts.text(what));
  // Here and not by the store, where it would end a transaction of many.
  requireKey(`the ${what}`, text);
  return text;
};

/** The seconds since a time, not below 0 where the clock was set back. */
const secondsSince = (time: number, now: number): number => Math.max(0, now - time) / 1000;

const poolSettings = ({ table, acquisition, ...options }: PoolCampaign): CampaignSettings => {
  const recipe: Recipe | undefined = options.recipe;
  return requireSettings({
    ...settingsOf(options),
    columns: columnsOf(table),
    acquisition: { ...recipe?.acquisition, ...definedOf(acquisition) },
  });
};

/** Without what is left undefined: JSON has no other way to say so. */
const definedOf = <Given extends object>(given: Given): Given =>
  Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined)) as Given;

const designSettings = (
  { policy, ...options }: DesignCampaign,
  model: Model | undefined,
): { readonly settings: CampaignSettings; readonly model: Model } => {
  const made = modelOf(policy.model, model);
  matchModel(policy, made, "the policy");
  const bytes = encodePolicy(policy);
  return {
    model: made,
    settings: requireSettings({
      ...settingsOf(options),
      policy: btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join("")),
      model: policy.model ?? identityOf(made),
    }),
  };
};

/**
 * A collection of labels, or of outcomes of designs, that runs for weeks: who is asked, what they answer, who withdraws.
 * Its state is a fold over a log of events, which a store keeps; several handles may work on one at the same time.
 */
export class Campaign {
  readonly name: string;
  readonly store: CampaignStore;
  private readonly log: LogWriter;
  private readonly schedule: RankingSchedule | undefined;
  /**
   * What fits and scores for it.
   *
   * @internal
   */
  readonly models: PoolModels;
  private readonly clock: () => number;
  private readonly listeners: Set<(news: CampaignNews) => void>;
  /** The last ranking on its way into the store. */
  private keeping: Promise<void> = Promise.resolve();

  private constructor(parts: {
    readonly name: string;
    readonly store: CampaignStore;
    readonly log: LogWriter;
    readonly models: PoolModels;
    readonly clock: () => number;
    readonly listeners: Set<(news: CampaignNews) => void>;
  }) {
    this.name = parts.name;
    this.store = parts.store;
    this.log = parts.log;
    this.models = parts.models;
    this.clock = parts.clock;
    this.listeners = parts.listeners;
    if (this.log.now.content.kind === "pool") {
      this.schedule = createRankingSchedule({
        now: () => this.log.now,
        models: this.models,
        clock: this.clock,
        onRanking: (ranking) => this.keepRanking(ranking),
      });
    }
  }

  /**
   * Begins a campaign: `{ table, acquisition }` about a pool, or `{ policy }` of designs. Whatever cannot work is said
   * now, and nothing is stored then.
   */
  static async create(
    store: CampaignStore,
    name: string,
    given: PoolCampaign | DesignCampaign,
    options: OpenOptions = {},
  ): Promise<Campaign> {
    requireName(name);
    const { clock = Date.now } = options;
    let items: readonly StoredItem[] = [];
    let settings: CampaignSettings;
    let model = options.model;
    if ("table" in given) {
      settings = poolSettings(given);
      // All that can be wrong with the table and the options.
      requireAcquisition(given.table, acquisitionOptions(settings));
      items = itemsOf(given.table, settings.acquisition?.id);
    } else ({ settings, model } = designSettings(given, options.model));
    const body = {
      format: CAMPAIGN_FORMAT,
      version: VERSION,
      settings,
      items: items.length,
      itemsDigest: itemsDigest(items),
    };
    await store.create(name, items, [
      sealEvent(EMPTY_LOG, { kind: "created", id: "created", body }, clock()),
    ]);
    return Campaign.open(store, name, { ...options, model });
  }

  /** Goes on with a campaign that is in the store, beside whoever else does. */
  static async open(store: CampaignStore, name: string, options: OpenOptions = {}): Promise<Campaign> {
    const { models = modelsInThread(), clock = Date.now, model } = options;
    const listeners = new Set<(news: CampaignNews) => void>();
    const load = async (): Promise<LoadedCampaign> => {
      const [first] = await store.read(name, 0, 1);
      return loadCampaign(name, await store.items(name), first, { model });
    };
    const onEvents = (events: readonly LogEvent[]): void => {
      for (const { seq, kind, at } of events) {
        for (const listener of listeners) listener({ type: "event", seq, kind, at });
      }
    };
    const log = await createLogWriter({ store, name, load, clock, onEvents });
    const campaign = new Campaign({ name, store, log, models, clock, listeners });
    await campaign.adoptRanking();
    return campaign;
  }

  /**
   * The state as far as it is known here: see `sync`.
   *
   * @internal
   */
  get now(): LoadedCampaign {
    return this.log.now;
  }

  /** Where the log ends; changes with everything that happens. */
  get head(): LogHead {
    return this.log.now.head;
  }

  get settings(): CampaignSettings {
    return this.log.now.settings;
  }

  get kind(): "pool" | "design" {
    return this.log.now.content.kind;
  }

  /** Takes in what other processes wrote. */
  sync(): Promise<void> {
    return this.log.sync();
  }

  /** Is told of every event and ranking; returns what ends that. */
  listen(listener: (news: CampaignNews) => void): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }

  /** The next to be asked, at most `count`, each with its reasons. */
  async ask(count = 1, options: AskOptions = {}): Promise<Asked> {
    if (!Number.isInteger(count) || count < 1 || count > MOST_QUESTIONS) {
      throw new InputError("count", campaignTexts.count(count));
    }
    const request = options.request === undefined ? randomHex() : requireText(options.request, "request id");
    if (this.kind === "design") return this.askParticipant(options, request);
    if (options.participant !== undefined) throw new InputError("participant", campaignTexts.wantsDesigns);
    if (options.annotator !== undefined) requireText(options.annotator, "annotator's name");
    if (options.adjudicate !== true) await this.schedule?.freshen(options.wait ?? WAIT_MS);
    const ranking = this.schedule?.ranking;
    const asked = await this.log.commit((writing) =>
      askPool(
        writing,
        this.poolIn(writing.now),
        count,
        request,
        {
          annotator: options.annotator ?? ANYONE,
          again: options.again ?? false,
          adjudicate: options.adjudicate ?? false,
        },
        ranking !== undefined && ranking.basis >= writing.now.generation ? ranking : undefined,
      ),
    );
    // For the next one.
    this.freshenSoon();
    return { ...asked, ranking: this.rankingAge() };
  }

  /** Takes answers in: all of them, or none and the reason. Resolves once they are stored. */
  async tell(given: Answer | readonly Answer[]): Promise<readonly TakenAnswer[]> {
    const answers: readonly Answer[] = Array.isArray(given) ? given : [given as Answer];
    if (answers.length === 0) throw new InputError("answers", campaignTexts.noAnswers);
    const names = answers.map(({ event }) =>
      event === undefined ? randomHex() : requireText(event, "event id"),
    );
    for (const answer of answers) {
      if ("annotator" in answer && answer.annotator !== undefined && answer.annotator !== "") {
        requireText(answer.annotator, "annotator's name");
      }
    }
    const taken = await this.log.commit((writing) => {
      const { content } = writing.now;
      if (content.kind === "design") {
        return answers.map((answer, i) =>
          ofAnswer(i, answers.length, () => {
            if (!("outcome" in answer)) throw new InputError("outcome", designTexts.outcome);
            requireText(String(answer.id), "participant");
            return tellDesign(writing, content, answer, names[i]);
          }),
        );
      }
      if (answers.some((answer) => "outcome" in answer && answer.outcome !== undefined)) {
        throw new InputError("label", campaignTexts.wantsDesigns);
      }
      return tellPool(writing, content, answers as readonly PoolAnswer[], names);
    });
    this.freshenSoon();
    return taken;
  }

  /** An annotator passes on a question: somebody else may get it at once, and this one does not get it again. */
  async skip(id: string | number, annotator: string = ANYONE, event: string = randomHex()): Promise<void> {
    requireText(event, "event id");
    await this.log.commit(({ now, write }) => {
      const item = itemOf(this.poolIn(now), id);
      if (now.event(event) !== undefined) return;
      write({ kind: "skipped", id: event, subject: String(item), body: { annotator } });
    });
  }

  /** An annotator takes an answer back: the item may be asked again. */
  async retract(id: string | number, annotator: string = ANYONE, event: string = randomHex()): Promise<void> {
    requireText(event, "event id");
    await this.log.commit(({ now, write }) => {
      const pool = this.poolIn(now);
      const item = itemOf(pool, id);
      if (now.event(event) !== undefined) return;
      if (pool.state.item(item)?.opinions.has(annotator) !== true) {
        throw new InputError("retract", answerTexts.notAnswered);
      }
      write({ kind: "retracted", id: event, subject: String(item), body: { annotator } });
    });
    this.freshenSoon();
  }

  /** Settles what an item's label is, whatever annotators say. */
  async adjudicate(
    id: string | number,
    label: LabelValue,
    annotator: string = ANYONE,
    event: string = randomHex(),
  ): Promise<void> {
    requireText(event, "event id");
    await this.log.commit(({ now, write }) => {
      const pool = this.poolIn(now);
      const item = itemOf(pool, id);
      if (now.event(event) !== undefined) return;
      const checked = checkLabel(pool, label);
      write({ kind: "adjudicated", id: event, subject: String(item), body: { annotator, label: checked } });
    });
    this.freshenSoon();
  }

  /**
   * Everything about a person is erased: from this state, from the store and from all exports to come. What stays is an
   * event that says how much there was, and of whom nothing.
   */
  async withdraw(id: string | number): Promise<Withdrawn> {
    const withdrawn = await this.log.commitErasure(({ now, write }) => {
      const { content } = now;
      const item = content.kind === "pool" ? content.itemOfId(String(id)) : undefined;
      const subject = content.kind === "pool" ? (item === undefined ? undefined : String(item)) : String(id);
      const events = subject === undefined ? [] : now.eventsAbout(subject);
      if (subject === undefined || (item === undefined && events.length === 0)) {
        throw new InputError("id", campaignTexts.nobody);
      }
      const answered = events.some(({ kind }) => kind === "told" || kind === "corrected");
      write({ kind: "withdrawn", id: randomHex(), body: { events: events.length, answered } });
      return { result: { events: events.length }, erase: { subject, item } };
    });
    await this.store.deleteDocument(RANKING, this.name);
    await this.log.sync();
    this.freshenSoon();
    return withdrawn;
  }

  /**
   * Changes settings from now on. Models are fitted anew where that is needed. `check` sees the head under the lock, and
   * throws where it is not the one that the change was meant for.
   */
  async configure(change: SettingsChange, check?: (head: LogHead) => void): Promise<CampaignSettings> {
    // What cannot work with the pool takes too long to find out under the lock.
    const { content, settings } = this.log.now;
    const changed = changedSettings(settings, change);
    if (content.kind === "pool") requireAcquisition(content.table, acquisitionOptions(changed));
    await this.log.commit(({ now, write }) => {
      check?.(now.head);
      changedSettings(now.settings, change);
      write({ kind: "configured", id: randomHex(), body: definedOf(change) });
    });
    this.freshenSoon();
    return this.settings;
  }

  status(): CampaignStatus {
    return statusOf(this.log.now, this.clock(), this.rankingAge());
  }

  /** How far annotators agree who answered the same items. */
  agreement(): CampaignAgreement {
    return agreementOf(this.log.now);
  }

  /** Waits until the ranking knows all answers; throws what went wrong with it. */
  async settle(): Promise<void> {
    await this.schedule?.settle();
    await this.keeping;
    if (this.schedule?.failure !== undefined) throw this.schedule.failure;
  }

  /** The pool with all labels filled in, row by row; erased items are not in it. */
  table(): Table {
    return tableOfCampaign(this.poolIn(this.log.now), this.head.at);
  }

  /** What a model of all labels so far is worth on the whole pool: see `acquisition`'s `estimate`. */
  estimate(run: RunOptions = {}): Promise<PoolEstimate> {
    this.poolIn(this.log.now);
    const pool = this.schedule?.prepared();
    if (pool === undefined) throw new InputError("design", campaignTexts.wantsPool);
    return this.models.estimate(pool.state.soFar(this.head.at, pool.rowOf), run);
  }

  /**
   * What further labels are expected to bring, whether to stop, and whether the requirement can be met; the budget, the
   * requirement and the cost of a label are the campaign's unless given.
   */
  forecast(choice: ForecastChoice = {}, run: RunOptions = {}): Promise<Forecast> {
    this.poolIn(this.log.now);
    const pool = this.schedule?.prepared();
    if (pool === undefined) throw new InputError("design", campaignTexts.wantsPool);
    const { budget, costPerLabel, requirement } = this.settings;
    const own: ForecastChoice = {
      budget,
      costPerLabel,
      // Equal opportunity is not forecast: its rates need labels that few rows have.
      requirement: requirement?.metric === "dp" ? { metric: "dp", level: requirement.level } : undefined,
    };
    return this.models.forecast(
      pool.state.soFar(this.head.at, pool.rowOf),
      { ...own, ...definedOf(choice) },
      run,
    );
  }

  async close(): Promise<void> {
    this.listeners.clear();
    await this.models.close();
    await this.keeping;
  }

  /** For the next one who asks; what goes wrong is said by `settle`, and meanwhile questions are drawn at random. */
  private freshenSoon(): void {
    this.schedule?.freshen(0).catch(() => {});
  }

  private poolIn({ content }: LoadedCampaign): PoolContent {
    if (content.kind !== "pool") throw new InputError("design", campaignTexts.wantsPool);
    return content;
  }

  private async askParticipant({ participant, annotator }: AskOptions, request: string): Promise<Asked> {
    const own = requireText(participant ?? annotator ?? "participant", "participant");
    for (;;) {
      const content = this.log.now.content as DesignContent;
      const proposal = await proposeDesign(content, own);
      if (proposal === undefined) {
        return { questions: [], ranking: null, notes: [campaignTexts.done(content.policy.horizon)] };
      }
      const questions = await this.log.commit((writing) =>
        askDesign(writing, writing.now.content as DesignContent, own, request, proposal),
      );
      if (questions === undefined) continue;
      return { questions, ranking: null, notes: questions.length === 0 ? [campaignTexts.waiting] : [] };
    }
  }

  private rankingAge(): RankingAge | null {
    const ranking = this.schedule?.ranking;
    if (ranking === undefined || this.schedule === undefined) return null;
    return {
      basis: ranking.basis,
      answersSince: this.schedule.answersSince(),
      seconds: secondsSince(this.schedule.finishedAt ?? this.clock(), this.clock()),
    };
  }

  /** For whoever opens the campaign next; nothing is lost where it cannot be kept. */
  private keepRanking(ranking: CampaignRanking): void {
    for (const listener of this.listeners) listener({ type: "ranking", basis: ranking.basis });
    this.keeping = this.store
      .putDocument(RANKING, this.name, JSON.stringify({ ...ranking, madeAt: this.clock() }))
      .catch(() => {});
  }

  private async adoptRanking(): Promise<void> {
    if (this.schedule === undefined) return;
    const text = await this.store.getDocument(RANKING, this.name);
    if (text === undefined) return;
    const { madeAt, ...ranking } = JSON.parse(text) as CampaignRanking & { readonly madeAt?: number };
    this.schedule.adopt(ranking, madeAt);
  }
}
