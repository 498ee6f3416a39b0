/** Labels asked for while they are collected: whom to ask next, what was answered, and all of it in one file. */
import { informationParts } from "../active/strategies.js";
import { InputError } from "../core/errors.js";
import { pacer, type RunOptions, type StopSignal } from "../core/options.js";
import { VERSION } from "../core/version.js";
import type { MemberProbabilities } from "../learners/classifier.js";
import { columnsOfRule, type Label, type LabelRule } from "../tables/label.js";
import { columnCell, columnNamed, numericColumn, type Table, tableOfColumns } from "../tables/table.js";
import { tableHash } from "../tables/table-hash.js";
import type { Task } from "../tables/task.js";
import { type AcquisitionOptions, type AcquisitionPlan, planAcquisition } from "./acquisition-plan.js";
import { fitTask } from "./fit-model.js";
import type { FittedModel } from "./fitted-model.js";
import { type AskedRow, createRowSession, type RowSessionState, rowSessionTexts } from "./row-session.js";
import {
  checkedValue,
  classOfRow,
  type LabelValue,
  type LabelValues,
  toldTexts,
  withTold,
} from "./told-values.js";

export type { AcquisitionOptions, SensitiveModelChoice } from "./acquisition-plan.js";
export type { LabelValue, LabelValues } from "./told-values.js";

export const ACQUISITION_FORMAT = "fairbed-acquisition-1";

/** One to be asked for, with why. */
export interface Candidate {
  /** From the id column, else the number of the row. */
  readonly id: string | number;
  /** Its row in the table, from 0. */
  readonly row: number;
  /** What candidates are chosen by, without cost: target - beta * leakage for the methods of FairBED. */
  readonly score: number;
  /** In nats, what the label tells about the target; null where the method's score is no information. */
  readonly target: number | null;
  /** In nats, what it gives away; null where the method does not look at it. */
  readonly leakage: number | null;
  /** What its label costs; 0 unless costs are given. */
  readonly cost: number;
  /** 1 for the first that was ever asked for. */
  readonly rank: number;
  /** Its features, by column; null where missing. */
  readonly values: Readonly<Record<string, string | number | null>>;
}

/** What was told of one row at once. */
export interface Told {
  readonly row: number;
  /** As it stands in the column; "refused" where no answer will come. */
  readonly label?: LabelValue | undefined;
  readonly sensitive?: LabelValues | undefined;
}

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
  readonly options: Omit<AcquisitionOptions, "targets" | "sensitiveModel">;
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
  /** The table with the labels that were told filled in. */
  table(): Table;
  /** A model of the target from all labels so far, and what it is worth in every group: see `fitModel`. */
  model(options?: RunOptions): Promise<FittedModel>;
  /** Asks, waits for the oracle and tells, until the budget is used up or nobody is left. */
  run(options: AcquisitionRunOptions): Promise<void>;
  toJSON(): SavedAcquisition;
}

export const acquisitionTexts = {
  id: "there is no row with the id that was given: give the id of a candidate, or of a row of the table",
  nothing: "neither a label nor a sensitive label was told: give one of them",
  noSensitive: "a sensitive label was told and the acquisition has no sensitive column: leave it out",
  cold: (classes: number) =>
    `${classes === 0 ? "no row has a label" : "all labels are of one class"} so far, so the first candidates are drawn at random`,
  budget: "a run needs a budget: say how many labels to acquire",
  format: (reason: string) =>
    `this is no saved acquisition (${reason}): give what toJSON of an acquisition's session gave`,
  otherTable: (what: string) =>
    `${what} is not the one that the acquisition began with (its columns or values differ): give that one`,
  missing: (what: string) => `the acquisition was given ${what}: give it again`,
};

/** Tables and members that cannot be saved with a session, to be given again. */
export type ResumeOptions = Pick<AcquisitionOptions, "targets" | "sensitiveModel">;

const membersHash = (members: readonly MemberProbabilities[]): string =>
  members
    .map((each) => {
      const values = each.kind === "dense" ? each.values : each.words;
      return tableHash(
        tableOfColumns([numericColumn(`${each.kind} ${each.members} ${each.classes}`, values)]),
      );
    })
    .join(" ");

const hashesOf = (table: Table, { targets, sensitiveModel }: ResumeOptions) => ({
  table: tableHash(table),
  targets: targets === undefined ? undefined : tableHash(targets),
  pretrained:
    typeof sensitiveModel === "object" && "pretrained" in sensitiveModel
      ? tableHash(sensitiveModel.pretrained)
      : undefined,
  supplied:
    typeof sensitiveModel === "object" && "supplied" in sensitiveModel
      ? membersHash(sensitiveModel.supplied)
      : undefined,
});

/** From an id as anyone may write it to its row. */
const rowFinder = ({
  table,
  id,
}: Task): { idOf(row: number): string | number; rowOf(id: string | number): number } => {
  if (id === undefined) {
    return {
      idOf: (row) => row,
      rowOf: (given) => (String(given).trim() === "" ? -1 : Number(given)),
    };
  }
  const cell = columnCell(columnNamed(table, id));
  const rows = new Map(Array.from({ length: table.rows }, (_, row) => [String(cell(row)), row]));
  return { idOf: (row) => cell(row) ?? row, rowOf: (given) => rows.get(String(given)) ?? -1 };
};

type SingleRule = Exclude<LabelRule, { kind: "combination" }>;
const singleRules = (rule: LabelRule): readonly SingleRule[] =>
  rule.kind === "combination" ? rule.parts.flatMap(singleRules) : [rule];

/** Sensitive values by column, each checked against what its column holds. */
const sensitiveValues = (
  table: Table,
  labels: readonly Label[],
  given: LabelValue | LabelValues,
): LabelValues => {
  const rules = labels.flatMap(({ rule }) => singleRules(rule));
  if (rules.length === 0) throw new InputError("sensitive", acquisitionTexts.noSensitive);
  const columns = [...new Set(rules.map(({ column }) => column))];
  const byColumn = typeof given === "object" ? given : columns.length === 1 ? { [columns[0]]: given } : {};
  const names = Object.keys(byColumn);
  if (names.length === 0 || names.some((name) => !columns.includes(name))) {
    throw new InputError("sensitive", toldTexts.columns(columns));
  }
  return Object.fromEntries(
    names.map((name) => {
      const rule = rules.find(({ column }) => column === name) as SingleRule;
      return [name, checkedValue(rule, columnNamed(table, name), byColumn[name])];
    }),
  );
};

const createSession = (
  table: Table,
  options: AcquisitionOptions,
  saved?: SavedAcquisition,
): AcquisitionSession => {
  const plan: AcquisitionPlan = planAcquisition(table, options);
  const { task, settings, sensitive } = plan;
  const rows = createRowSession(plan.rows, saved);
  const { idOf, rowOf } = rowFinder(task);
  const told: Told[] = [];
  /** The last values of each row, by column. */
  const values = new Map<number, LabelValues>();
  const notes: string[] = [...(saved?.notes ?? [...task.table.notes, ...task.notes])];
  const [targetColumn] = columnsOfRule(task.target.rule);
  const features = task.features.map((name) => [name, columnCell(columnNamed(table, name))] as const);
  let asking: Promise<unknown> = Promise.resolve();

  const note = (text: string): void => {
    if (!notes.includes(text)) notes.push(text);
  };
  const candidateOf = ({ drawn, row, ...each }: AskedRow): Candidate => ({
    id: idOf(row),
    row,
    score: each.score,
    ...informationParts(drawn ? "random" : settings.method, each),
    cost: each.cost,
    rank: each.rank,
    values: Object.fromEntries(features.map(([name, cell]) => [name, cell(row) ?? null])),
  });
  const rowFor = (given: Candidate | string | number): number => {
    const row = typeof given === "object" ? given.row : rowOf(given);
    if (!Number.isInteger(row) || row < 0 || row >= table.rows)
      throw new InputError("id", acquisitionTexts.id);
    return row;
  };
  /** One told, whoever tells it: a person now, or a file of what was told before. */
  const take = (one: Told): void => {
    const { row, label } = one;
    told.push(one);
    const before = values.get(row) ?? {};
    const now: LabelValues = { ...before, ...one.sensitive };
    if (one.sensitive !== undefined) {
      sensitive.forEach(({ rule }, i) => {
        if (!columnsOfRule(rule).some((name) => one.sensitive?.[name] !== undefined)) return;
        rows.tellSensitive(row, i, classOfRow(rule, table, row, now));
      });
    }
    if (label === "refused") {
      rows.refuse(row);
      const { [targetColumn]: _, ...rest } = now;
      values.set(row, rest);
      return;
    }
    if (label !== undefined)
      rows.tell(row, classOfRow(task.target.rule, table, row, { [targetColumn]: label }));
    values.set(row, label === undefined ? now : { ...now, [targetColumn]: label });
  };
  for (const one of saved?.told ?? []) take(one);

  const ask = async (count: number, run: RunOptions): Promise<readonly Candidate[]> => {
    const { batch, warning, cold } = await rows.ask(count, pacer(run));
    if (cold) note(acquisitionTexts.cold(rows.labelled().length));
    if (warning !== undefined) note(warning);
    if (batch.length === 0 && rows.pending().length === 0) {
      const refused = plan.rows.pool.filter((row) => rows.isRefused(row)).length;
      throw new InputError("no-candidates", rowSessionTexts.none(rows.labelled().length, refused));
    }
    return batch.map(candidateOf);
  };
  const currentTable = (): Table => {
    const names = new Set([...values.values()].flatMap(Object.keys));
    const toldOf = (name: string): Map<number, LabelValue> =>
      new Map([...values].flatMap(([row, each]) => (each[name] === undefined ? [] : [[row, each[name]]])));
    const gone = plan.rows.initial.filter((row) => rows.isRefused(row));
    const columns = table.columns.map((column) => {
      const kept = column.name === targetColumn ? withoutValues(column, gone) : column;
      return names.has(column.name) ? withTold(kept, toldOf(column.name)) : kept;
    });
    return { ...table, columns };
  };

  const session: AcquisitionSession = {
    ask(count = settings.batch, run = {}) {
      // One question after the other: two at once would be about the same people.
      const next = asking.then(
        () => ask(count, run),
        () => ask(count, run),
      );
      asking = next.catch(() => undefined);
      return next;
    },
    tell(candidate, label, { sensitive: also } = {}) {
      if (label === undefined && also === undefined) throw new InputError("label", acquisitionTexts.nothing);
      const { rule } = task.target as { rule: SingleRule };
      take({
        row: rowFor(candidate),
        label:
          label === undefined || label === "refused"
            ? label
            : checkedValue(rule, columnNamed(table, targetColumn), label),
        sensitive: also === undefined ? undefined : sensitiveValues(table, sensitive, also),
      });
    },
    tellSensitive: (candidate, value) => session.tell(candidate, undefined, { sensitive: value }),
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
    table: currentTable,
    model: (run = {}) => {
      const now = currentTable();
      const labels = new Int32Array(table.rows).fill(-1);
      for (const row of rows.labelled()) labels[row] = rows.labelOf(row);
      return fitTask(
        {
          ...task,
          table: now,
          target: { ...task.target, labels },
          sensitive: task.sensitive.map((label, i) => ({
            ...label,
            labels: rows.sensitiveOf(i, table.rows),
          })),
        },
        { ...run, learnerOptions: settings.forest, categories: settings.categories, seed: options.seed },
      );
    },
    run: (run) => runSession(session, options, settings.batch, run),
    toJSON: () => ({
      format: ACQUISITION_FORMAT,
      version: VERSION,
      ...hashes(),
      options: savedOptions(options),
      ...rows.state,
      told: [...told],
      notes: [...notes],
    }),
  };
  let known: ReturnType<typeof hashesOf> | undefined;
  const hashes = () => {
    known ??= hashesOf(table, options);
    return known;
  };
  return session;
};

const savedOptions = ({ targets: _, sensitiveModel: __, ...rest }: AcquisitionOptions) => rest;

/** The column with these rows missing. */
const withoutValues = (column: Table["columns"][number], rows: Int32Array): Table["columns"][number] => {
  if (rows.length === 0) return column;
  if (column.kind === "numeric") {
    const values = column.values.slice();
    for (const row of rows) values[row] = Number.NaN;
    return { ...column, values };
  }
  const codes = column.codes.slice();
  for (const row of rows) codes[row] = -1;
  return { ...column, codes };
};

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
  return createSession(table, { ...saved.options, ...again }, saved);
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
