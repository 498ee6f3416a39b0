/** Labels asked for while they are collected: whom to ask next, what was answered, and all of it in one file. */

import { strategies } from "../active/strategies.js";
import { isGpuFailure } from "../compute/webgpu/failure.js";
import { InputError } from "../core/errors.js";
import { pacer, type RunOptions, type StopSignal } from "../core/options.js";
import { VERSION } from "../core/version.js";
import type { MemberProbabilities } from "../learners/classifier.js";
import { columnNames, columnOfNumbers, type Table, tableOfColumns } from "../tables/table.js";
import { tableHash } from "../tables/table-hash.js";
import { type Candidate, candidateReader } from "./acquisition-candidates.js";
import {
  type AcquisitionOptions,
  type AcquisitionPlan,
  planAcquisition,
  pretrainedOn,
} from "./acquisition-plan.js";
import {
  estimateInput,
  estimateLabels,
  fitAcquired,
  forecastLabels,
  taskNow,
} from "./acquisition-ranking.js";
import { DEFAULT_DEVICE, deviceTexts } from "./device.js";
import type { PoolEstimate } from "./estimate-acquired.js";
import type { FittedModel } from "./fitted-model.js";
import type { Forecast, ForecastOptions } from "./forecast.js";
import { createRowSession, type RowSession, type RowSessionState, rowSessionTexts } from "./row-session.js";
import { openScores, type ScoreDevice, type ScoreWork, USUAL_TARGETS, USUAL_TREES } from "./score-device.js";
import type { RevealedModelName } from "./sensitive-models.js";
import { createToldLog, type Told } from "./told-log.js";
import type { LabelValue, LabelValues } from "./told-values.js";

export type { Candidate } from "./acquisition-candidates.js";
export type { AcquisitionOptions, SensitiveModelChoice } from "./acquisition-plan.js";
export type { Told } from "./told-log.js";
export type { LabelValue, LabelValues } from "./told-values.js";

/** Models of the sensitive attribute that a session can be saved with. */
export type NamedModels = RevealedModelName | readonly RevealedModelName[];

export const ACQUISITION_FORMAT = "fairbed-acquisition-1";

/** A session as plain data, for JSON. It holds what was told, and no other value of the table. */
export interface SavedAcquisition extends RowSessionState {
  readonly format: typeof ACQUISITION_FORMAT;
  /** Of the library that wrote it. */
  readonly version: string;
  /** Which table it is about, by its content; and the others that it was given. */
  readonly table: string;
  readonly targets?: string | undefined;
  readonly pretrained?: string | undefined;
  readonly supplied?: string | undefined;
  readonly options: Omit<AcquisitionOptions, "targets" | "sensitiveModel"> & {
    readonly sensitiveModel?: NamedModels | undefined;
  };
  readonly told: readonly Told[];
  readonly notes: readonly string[];
}

export interface AcquisitionRunOptions extends RunOptions {
  /** Answers: the label as it stands in the column, or "refused"; with the sensitive label where it came too. */
  readonly oracle: (candidate: Candidate) => OracleAnswer | Promise<OracleAnswer>;
  /** How many labels to acquire in this run; what is left of the session's budget unless given. */
  readonly budget?: number | undefined;
  /** How many are asked for at once; the session's batch (1) unless given. */
  readonly batch?: number | undefined;
}

export type OracleAnswer =
  | LabelValue
  | { readonly label: LabelValue; readonly sensitive?: LabelValue | LabelValues | undefined };

export interface AcquisitionSession {
  /** The next to be asked for, at most `count`; none where all that are left have been asked and not answered. */
  ask(count?: number, options?: RunOptions): Promise<readonly Candidate[]>;
  /**
   * The answer of a candidate, or of any row by its id: the label as it stands in the column, "refused", or nothing
   * where only the sensitive label came. A second one corrects the first.
   */
  tell(
    candidate: Candidate | string | number,
    label: LabelValue | undefined,
    options?: { readonly sensitive?: LabelValue | LabelValues | undefined },
  ): void;
  /** The sensitive label, whenever it is known: one value, or by column where there are several columns. */
  tellSensitive(candidate: Candidate | string | number, value: LabelValue | LabelValues): void;
  /** Rows that have a label. */
  readonly labelled: number;
  /** Rows that were asked for and have neither a label nor a refusal. */
  readonly pending: number;
  /** Rows that may still be asked for. */
  readonly pool: number;
  /** The pending ones. */
  readonly questions: readonly Candidate[];
  /** The beta of the next question, and whether a goal for it is met. */
  readonly beta: number;
  readonly met: boolean;
  /** What a reader should know, one sentence each. */
  readonly notes: readonly string[];
  /**
   * The table with the labels that were told filled in; with the probabilities of those drawn at random in a new column
   * where it is named, which `fitModel` takes to choose a fair rule by.
   */
  table(options?: { readonly probability?: string | undefined }): Table;
  /** A model of the target from all labels so far, and what it is worth in every group: see `fitModel`. */
  model(options?: RunOptions): Promise<FittedModel>;
  /**
   * What a model of all labels so far is worth on the whole pool, and what they give away about the first sensitive
   * attribute, with intervals: from the part that was drawn at random, since labels that were chosen cannot say.
   */
  estimate(options?: RunOptions): Promise<PoolEstimate>;
  /**
   * What further labels are expected to bring, whether to stop, and whether a parity can be met: from the campaign's own
   * learning curve, judged as `estimate` does. The budget is the session's unless given; too early is an answer, no error.
   */
  forecast(options?: ForecastOptions): Promise<Forecast>;
  /** Asks, waits for the oracle and tells, until the budget is used up or nobody is left. */
  run(options: AcquisitionRunOptions): Promise<void>;
  toJSON(): SavedAcquisition;
}

export const acquisitionTexts = {
  cold: (classes: number) =>
    `${classes === 0 ? "no row has a label" : "all labels are of one class"} so far, so the first candidates are drawn at random`,
  budget: "a run needs a budget: say how many labels to acquire",
  format: (reason: string) =>
    `this is no saved acquisition (${reason}): give what toJSON of an acquisition's session gave`,
  otherTable: (what: string) =>
    `${what} is not the one that the acquisition began with (its columns or values differ): give that one`,
  column: (name: string) =>
    `the table has a column "${name}" already: name another one for the probabilities`,
  missing: (what: string) => `the acquisition was given ${what}: give it again`,
};

/** Tables and members that cannot be saved with a session, to be given again. */
export type ResumeOptions = Pick<AcquisitionOptions, "targets" | "sensitiveModel" | "device">;

const membersHash = (members: readonly MemberProbabilities[]): string =>
  members
    .map((each) => {
      const values = each.kind === "dense" ? each.values : each.words;
      return tableHash(
        tableOfColumns([columnOfNumbers(`${each.kind} ${each.members} ${each.classes}`, values)]),
      );
    })
    .join(" ");

const hashOf = (table: Table | undefined): string | undefined =>
  table === undefined ? undefined : tableHash(table);

const hashesOf = (table: Table, { targets, sensitiveModel }: ResumeOptions) => ({
  table: tableHash(table),
  targets: hashOf(targets),
  pretrained: hashOf(pretrainedOn(sensitiveModel)),
  supplied:
    typeof sensitiveModel === "object" && "supplied" in sensitiveModel
      ? membersHash(sensitiveModel.supplied)
      : undefined,
});

const createSession = (
  table: Table,
  options: AcquisitionOptions,
  saved?: SavedAcquisition,
): AcquisitionSession => {
  const plan = planAcquisition(table, options);
  const { task, settings } = plan;
  const { device = DEFAULT_DEVICE } = options;
  let scores: Promise<ScoreDevice> | undefined;
  const rows = createRowSession(
    device === "cpu"
      ? plan.rows
      : {
          ...plan.rows,
          elsewhere: async (...part) => (await scores)?.elsewhere?.(...part),
        },
    saved,
  );
  const log = createToldLog(table, plan, rows);
  for (const one of saved?.told ?? []) log.take(one);
  const { candidateOf, rowOf } = candidateReader(task, settings.method);
  const notes: string[] = [...(saved?.notes ?? [...task.table.notes, ...task.notes])];
  const note = (text: string): void => {
    if (!notes.includes(text)) notes.push(text);
  };
  const forgetting = <T>(work: Promise<T>): Promise<T> =>
    work.catch((error: unknown) => {
      if (isGpuFailure(error)) scores = undefined;
      throw error;
    });
  const ask = async (count: number, run: RunOptions): Promise<readonly Candidate[]> => {
    // One that could not be opened, or was lost, is looked for again by the next question.
    scores ??= openScores(device, workOf(plan));
    const opened = await forgetting(scores);
    const { batch, warning, cold } = await forgetting(rows.ask(count, pacer(run)));
    const used = opened.used();
    if (device !== "cpu" && !cold) note(deviceTexts.used(used).replace(/\.$/, ""));
    if (cold) note(acquisitionTexts.cold(rows.labelled().length));
    if (warning !== undefined) note(warning);
    if (batch.length === 0 && rows.pending().length === 0) {
      const refused = plan.rows.pool.filter((row) => rows.isRefused(row)).length;
      throw new InputError("no-candidates", rowSessionTexts.none(rows.labelled().length, refused));
    }
    return batch.map(candidateOf);
  };
  /** What estimates and forecasts rest on. */
  const acquiredSoFar = () => estimateInput(plan, rows, options.seed);
  let asking: Promise<unknown> = Promise.resolve();
  let hashes: ReturnType<typeof hashesOf> | undefined;
  const session: AcquisitionSession = {
    ask(count = settings.batch, run = {}) {
      // One question after the other: two at once would be about the same people.
      const next = asking.then(() => ask(count, run));
      asking = next.catch(() => undefined);
      return next;
    },
    tell: (candidate, label, { sensitive } = {}) => log.tell(rowOf(candidate), label, sensitive),
    tellSensitive: (candidate, value) => log.tell(rowOf(candidate), undefined, value),
    get labelled() {
      return rows.labelled().length;
    },
    get pending() {
      return rows.pending().length;
    },
    get pool() {
      return rows.pool().length;
    },
    get questions() {
      return rows.pending().map(candidateOf);
    },
    get beta() {
      return rows.beta;
    },
    get met() {
      return rows.met;
    },
    get notes() {
      return [...notes];
    },
    table: ({ probability } = {}) =>
      probability === undefined ? log.table() : withProbabilities(log.table(), probability, rows),
    model: (run = {}) => fitAcquired(plan, taskNow(task, rows, log.table()), { ...run, seed: options.seed }),
    estimate: (run = {}) => estimateLabels({ ...run, ...acquiredSoFar() }),
    forecast: (run = {}) =>
      forecastLabels({ ...run, ...acquiredSoFar(), budget: run.budget ?? options.budget }),
    run: (run) => runSession(session, options, settings.batch, run),
    toJSON() {
      hashes ??= hashesOf(table, options);
      return {
        format: ACQUISITION_FORMAT,
        version: VERSION,
        ...hashes,
        // With who is asked, so that later defaults change nothing.
        options: { ...savedOptions(options), shares: settings.shares, randomPart: settings.randomPart },
        ...rows.state,
        told: [...log.entries],
        notes: [...notes],
      };
    },
  };
  return session;
};

/** What a question has to score. */
const workOf = ({ rows, settings, task }: AcquisitionPlan): ScoreWork => ({
  method: settings.method,
  candidates: rows.pool.length,
  targets: rows.targetsPerStep ?? USUAL_TARGETS,
  members: settings.forest.trees ?? USUAL_TREES,
  times: 1 + (strategies[settings.method].uses.sensitive ? task.sensitive.length : 0),
});

/** With one more column: the probability of rows that were drawn at random and answered. */
const withProbabilities = (table: Table, name: string, rows: RowSession): Table => {
  if (columnNames(table).includes(name)) throw new InputError("column", acquisitionTexts.column(name));
  const values = new Float64Array(table.rows).fill(Number.NaN);
  for (const { row, probability } of rows.asked) {
    if (probability !== undefined && rows.labelOf(row) >= 0) values[row] = probability;
  }
  return { ...table, columns: [...table.columns, columnOfNumbers(name, values)] };
};

/** Tables and members are given again; names of models are saved. */
const savedOptions = ({
  targets: _,
  device: __,
  sensitiveModel,
  ...rest
}: AcquisitionOptions): SavedAcquisition["options"] =>
  namesModels(sensitiveModel) ? { ...rest, sensitiveModel } : rest;

const namesModels = (model: AcquisitionOptions["sensitiveModel"]): model is NamedModels =>
  typeof model === "string" || (Array.isArray(model) && model.every((each) => typeof each === "string"));

/** A signal that tells when it is aborted, as those of the platform do. */
interface TellingSignal extends StopSignal {
  readonly addEventListener?: ((type: "abort", listener: () => void) => unknown) | undefined;
  readonly removeEventListener?: ((type: "abort", listener: () => void) => unknown) | undefined;
}

/** Rejects as soon as the signal is aborted, whatever the promise does. */
const untilAborted = <T>(promise: Promise<T>, signal: TellingSignal | undefined): Promise<T> =>
  new Promise((resolve, reject) => {
    const stop = (): void => {
      try {
        signal?.throwIfAborted();
      } catch (reason) {
        reject(reason);
      }
    };
    signal?.addEventListener?.("abort", stop);
    stop(); // it may have been aborted already
    promise.then(resolve, reject).finally(() => signal?.removeEventListener?.("abort", stop));
  });

const runSession = async (
  session: AcquisitionSession,
  options: AcquisitionOptions,
  usual: number,
  { oracle, budget, batch = usual, signal, onProgress }: AcquisitionRunOptions,
): Promise<void> => {
  const start = session.labelled;
  const wanted = budget ?? options.budget;
  if (wanted === undefined) throw new InputError("budget", acquisitionTexts.budget);
  const pace = pacer({ signal, onProgress });
  const acquired = () => session.labelled - start;
  const answer = async (questions: readonly Candidate[]): Promise<void> => {
    const answers = await untilAborted(
      Promise.allSettled(questions.map(async (candidate) => oracle(candidate))),
      signal,
    );
    // In the order of the questions, so that a slow answer changes nothing; whoever failed stays pending.
    answers.forEach((each, i) => {
      if (each.status === "rejected") return;
      const { value } = each;
      if (typeof value === "object") session.tell(questions[i], value.label, { sensitive: value.sensitive });
      else session.tell(questions[i], value);
    });
    const failed = answers.find((each) => each.status === "rejected");
    if (failed !== undefined) throw failed.reason;
    await pace.step({ done: acquired(), total: wanted, label: "asking" });
  };
  // What was asked before and not answered comes first.
  if (session.pending > 0) await answer(session.questions);
  while (acquired() < wanted && session.pool > 0) {
    await answer(await session.ask(Math.min(batch, wanted - acquired()), { signal }));
  }
};

const requireSaved = (saved: SavedAcquisition): SavedAcquisition => {
  const wrong =
    typeof saved !== "object" || saved === null || saved.format !== ACQUISITION_FORMAT
      ? "its format"
      : !Array.isArray(saved.asked) || !Array.isArray(saved.told) || typeof saved.options !== "object"
        ? "its contents"
        : undefined;
  if (wrong !== undefined) throw new InputError("saved", acquisitionTexts.format(wrong));
  return saved;
};

const resume = (table: Table, given: SavedAcquisition, again: ResumeOptions = {}): AcquisitionSession => {
  const saved = requireSaved(given);
  const now = hashesOf(table, again);
  const names = {
    table: "the table",
    targets: "the table of targets",
    pretrained: "the table that the sensitive model learns from",
    supplied: "the sensitive model's members",
  } as const;
  for (const [key, what] of Object.entries(names) as [keyof typeof names, string][]) {
    if (saved[key] === now[key]) continue;
    if (now[key] === undefined) throw new InputError("saved", acquisitionTexts.missing(what));
    throw new InputError("saved", acquisitionTexts.otherTable(what));
  }
  // Sessions that are older than shares and a random part have neither.
  return createSession(table, { shares: "none", randomPart: 0, ...saved.options, ...again }, saved);
};

/**
 * A live acquisition: the rows of `table` whose target is missing are the pool, the others are labelled already. Each
 * `ask` fits the models on all labels so far and chooses the candidates whose labels say most about the target and
 * least about the sensitive attributes (the paper's section 5); `tell` takes the answers, in any order and at any time.
 *
 * `JSON.stringify(session)` is all that `acquisition.resume(table, JSON.parse(text))` needs to go on with the same bits
 * as a session that was never interrupted, pending questions included. The table is the one that it began with; another
 * one is refused. Weights count in every fit. As long as fewer than two classes are labelled, candidates are drawn at
 * random and `notes` says so.
 *
 * @example
 * ```ts
 * import { acquisition, tableOf } from "fairbed";
 *
 * const people = Array.from({ length: 80 }, (_, i) => ({
 *   skill: i % 8,
 *   city: i % 3,
 *   sex: i % 3 === 0 ? "f" : "m",
 *   hired: i < 6 ? (i % 8 > 3 ? "yes" : "no") : null, // the others are not known yet
 * }));
 * const table = tableOf(people);
 * let session = acquisition(table, { target: "hired=yes", sensitive: ["sex"] });
 * for (const candidate of await session.ask(3)) session.tell(candidate, candidate.row % 8 > 3 ? "yes" : "no");
 * session = acquisition.resume(table, JSON.parse(JSON.stringify(session)));
 * const [next] = await session.ask(1);
 * session.tell(next, "refused"); // never asked again
 * console.log(session.labelled, session.pending, session.pool); // 9 0 70
 * ```
 */
export const acquisition: {
  (table: Table, options: AcquisitionOptions): AcquisitionSession;
  /** Goes on from what `toJSON` gave; tables and members that were given beside the table are given again. */
  resume(table: Table, saved: SavedAcquisition, again?: ResumeOptions): AcquisitionSession;
} = Object.assign((table: Table, options: AcquisitionOptions) => createSession(table, options), { resume });
