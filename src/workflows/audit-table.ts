/** Is this dataset fair: what its columns give away about the sensitive attributes, and what predictors make of it. */
import { InputError } from "../core/errors.js";
import { type LeftOutGroup, leftOutGroups, leftOutTexts } from "../core/left-out.js";
import { paced, pacer, type RunOptions } from "../core/options.js";
import { type RandomStream, seededStream } from "../core/random.js";
import { countClasses, namesToShow } from "../core/rare-values.js";
import { groupMetricsSteps } from "../fairness/group-metrics.js";
import { defaultFolds } from "../fairness/leakage/defaults.js";
import { teller } from "../fairness/leakage/findings.js";
import { leastRows } from "../fairness/leakage/over-strata.js";
import {
  type Adversaries,
  auditLeakage,
  auditParity,
  type ComparedLeakage,
  defaultAdversaries,
  type LeakageAudit,
  type LeakageEstimate,
  leakageDifference,
  type ParityAudit,
} from "../fairness/leakage.js";
import { learnerNamed } from "../learners/by-name.js";
import { idReader } from "../tables/ids.js";
import type { Label } from "../tables/label.js";
import { selectRows, type Table } from "../tables/table.js";
import type { Task, TaskSettings } from "../tables/task.js";
import { type AgainstReference, againstReference } from "./against-reference.js";
import { AUDIT_DEFAULTS } from "./audit-defaults.js";
import { type AuditFinding, groupsFinding } from "./audit-finding.js";
import { type AuditInput, type AuditTestInput, auditInputOf, auditTestOf } from "./audit-inputs.js";

/**
 * The roles of the columns, and how they are audited. Every row counts the same: the tests and intervals of an audit
 * are of rows that can be exchanged, which rows of different weights are not, so there are no weights here.
 */
export interface AuditOptions extends RunOptions, Omit<TaskSettings, "weights"> {
  /**
   * Another table with the same columns and groups, to see whether it gives away less. The same people, in the same
   * order or by `id`, are compared in pairs.
   */
  readonly second?: Table | undefined;
  /** Rows to judge on that nothing is learnt from; without them every row is judged by models of the others. */
  readonly test?: Table | undefined;
  /** Classes that a sensitive quantity is cut into at its quantiles (4). */
  readonly bins?: number | undefined;
  /** Names of those that look for a leak: of logistic, forest, boosting, mlp, svm, lookup, all unless given. */
  readonly adversaries?: readonly string[] | undefined;
  /** Parts that are held out in turn (5; 3 from 50,000 rows on), at least 3. */
  readonly folds?: number | undefined;
  /** Of the intervals (0.95). */
  readonly level?: number | undefined;
  /** Shuffles in every fold for the test (999). */
  readonly permutations?: number | undefined;
  /** Planted leaks, to see how small a one is found (8). */
  readonly plants?: number | undefined;
  /** Rows that an adversary or a predictor learns from at most; all unless given, 20,000 for predictors. */
  readonly mostRows?: number | undefined;
  /** Where the random streams start (0). */
  readonly seed?: number | undefined;
  /**
   * Told what has been found so far while the audit runs, so that a page can fill in; what it returns is waited for.
   * The answer is the same with or without it.
   */
  readonly onFound?: ((found: AuditFinding) => unknown) | undefined;
}

export type { AuditFinding };

/** One sensitive attribute, or the intersection of several. */
export interface AttributeAudit {
  readonly name: string;
  readonly audit: LeakageAudit;
  readonly parity: ParityAudit;
  /** Groups that the leakage, the rates or both do not cover. */
  readonly leftOut: readonly LeftOutGroup[];
  /** The base rate of every group held against the group that was named for it; absent where none was. */
  readonly against?: AgainstReference | undefined;
}

/** The second table against the first, by attribute: below 0 where the second gives away less. */
export interface AuditComparison {
  /** What the second table is called. */
  readonly table: string;
  readonly attributes: readonly {
    readonly name: string;
    /** Nats per record of each. */
    readonly first: number;
    readonly second: number;
    readonly unconditional: ComparedLeakage;
    readonly conditional: ComparedLeakage | undefined;
  }[];
}

/** What {@link auditTable} gives: what reports, certificates and JSON are made from. */
export interface TableAudit {
  /** What the table is called, and how many rows it has. */
  readonly table: string;
  readonly rows: number;
  /** What is predicted. */
  readonly target: string;
  readonly targetNames: readonly string[];
  /** The sensitive attributes that were asked for. */
  readonly sensitive: readonly string[];
  /** Names of the columns that were learnt from. */
  readonly features: readonly string[];
  /** One entry for each attribute, and where there are several their intersection as the last. */
  readonly attributes: readonly AttributeAudit[];
  /** Present where there is a second table. */
  readonly comparison?: AuditComparison | undefined;
  /** What was left out or changed, and why: one sentence each. */
  readonly notes: readonly string[];
  /** With every default filled in. */
  readonly settings: {
    readonly bins: number;
    readonly folds: number;
    readonly level: number;
    readonly permutations: number;
    readonly plants: number;
    readonly mostRows: number | undefined;
    readonly seed: number;
    readonly adversaries: readonly string[];
  };
}

export const auditTableTexts = {
  adversary: (given: string, known: readonly string[]) =>
    `there is no adversary "${given}": choose from ${known.join(", ")}.`,
  otherAttributes: (first: string, second: string) =>
    `${second} has other groups than ${first}: two tables are compared by the same sensitive columns with the same values.`,
};

/**
 * Audits the sensitive attributes of a table, each by itself and last their intersection: what the features give away
 * about them (F_u, and F_c given the target, in nats per record), which columns and rows carry it, and how predictors
 * of the target treat the groups. With `second` both tables are audited with the same random draws and compared.
 *
 * Sensitive numbers with more than ten values are cut into classes. The same table, options and seed give the same
 * numbers on any number of threads, in Node and in a browser.
 *
 * @example
 * ```ts
 * import { auditTable, tableOf } from "fairbed";
 *
 * const people = Array.from({ length: 80 }, (_, i) => ({
 *   sex: i % 2 === 0 ? "f" : "m",
 *   size: 165 + 12 * (i % 2) + (i % 7), // says much about it
 *   skill: i % 5,
 *   hired: i % 5 > 2 ? "yes" : "no",
 * }));
 * const { attributes } = await auditTable(tableOf(people), {
 *   target: "hired=yes",
 *   sensitive: ["sex"],
 *   adversaries: ["logistic"],
 *   plants: 2,
 *   permutations: 99,
 * });
 * const { leakage, columns } = attributes[0].audit;
 * console.log(leakage.unconditional.nats > 0.5, columns[0].name); // true size
 * ```
 */
export const auditTable = async (table: Table, options: AuditOptions): Promise<TableAudit> => {
  const settings = settingsOf(table, options);
  const { bins, seed, level } = settings;
  const first = auditInputOf(table, options, bins);
  const second =
    options.second === undefined
      ? undefined
      : auditInputOf(inOrderOf(table, options.second, options.id), options, bins, first.cuts);
  if (second !== undefined) requireSameGroups(table, first, options.second ?? table, second);
  const testOf = (of: AuditInput) =>
    options.test === undefined ? undefined : auditTestOf(options.test, of, options, bins);
  const stream = seededStream(seed).split("audit");
  const phases = first.sensitive.length * (second === undefined ? 1 : 2);
  const tell = teller(options.onFound, options.signal);
  const run = (of: AuditInput, tested: AuditTestInput | undefined, from: number) =>
    auditAttributes(
      of,
      tested,
      settings,
      stream,
      watched(options, phases),
      from,
      tell && ((attribute, found) => tell({ attribute, table: from === 0 ? "first" : "second", ...found })),
    );
  const attributes = await run(first, testOf(first), 0);
  let comparison: AuditComparison | undefined;
  if (second !== undefined) {
    const others = await run(second, testOf(second), first.sensitive.length);
    const paired = options.test !== undefined || sameRecords(first, second);
    comparison = {
      table: options.second?.name ?? "",
      attributes: attributes.map((each, at) => compare(each, others[at], level, paired)),
    };
  }
  const { task } = first;
  return {
    table: table.name,
    rows: task.table.rows,
    target: task.target.name,
    targetNames: task.target.classes,
    sensitive: task.sensitive.map(({ name }) => name),
    features: task.features,
    attributes,
    comparison,
    notes: first.notes,
    settings: {
      ...settings,
      adversaries: Object.keys(settings.adversaries ?? defaultAdversaries(first.encoded.rows)),
    },
  };
};

interface Settings extends Omit<TableAudit["settings"], "adversaries"> {
  readonly adversaries: Adversaries | undefined;
}

const settingsOf = (table: Table, options: AuditOptions): Settings => ({
  bins: options.bins ?? AUDIT_DEFAULTS.bins,
  folds: options.folds ?? defaultFolds(table.rows),
  level: options.level ?? AUDIT_DEFAULTS.level,
  permutations: options.permutations ?? AUDIT_DEFAULTS.permutations,
  plants: options.plants ?? AUDIT_DEFAULTS.plants,
  mostRows: options.mostRows,
  seed: options.seed ?? AUDIT_DEFAULTS.seed,
  adversaries: options.adversaries === undefined ? undefined : adversariesNamed(options.adversaries),
});

/** Throws where a name is none of `ADVERSARY_NAMES`; for a surface that wants to know before it reads tables. */
export const adversariesNamed = (names: readonly string[]): Adversaries => {
  const all = defaultAdversaries();
  return Object.fromEntries(
    names.map((name) => {
      const found = Object.hasOwn(all, name) ? all[name] : undefined;
      if (found === undefined)
        throw new InputError("adversary", auditTableTexts.adversary(name, Object.keys(all)));
      return [name, found];
    }),
  );
};

/** The run options of one of several audits and its parts, so that their progress is that of the whole. */
type WatchedPart = (phase: number, half: number, label: string) => RunOptions;

const PARTS = 1000;

/** Most of an attribute's time goes into its leakage, the rest into its predictors. */
const SHARES = [
  [0, 0.9],
  [0.9, 1],
] as const;

const watched =
  ({ signal, onProgress }: RunOptions, phases: number): WatchedPart =>
  (phase, half, label) => ({
    signal,
    onProgress:
      onProgress === undefined
        ? undefined
        : ({ done, total }) => {
            const [from, to] = SHARES[half];
            const share = phase + from + (to - from) * Math.min(1, done / Math.max(1, total));
            return onProgress({ done: Math.floor(PARTS * share), total: PARTS * phases, label });
          },
  });

type FoundOf<Finding> = Finding extends unknown ? Omit<Finding, "attribute" | "table"> : never;
type TellAttribute = (attribute: string, found: FoundOf<AuditFinding>) => Promise<void>;

const auditAttributes = async (
  { encoded, task, sensitive, leftOut: sized }: AuditInput,
  tested: AuditTestInput | undefined,
  { folds, level, permutations, plants, mostRows, adversaries }: Settings,
  stream: RandomStream,
  run: WatchedPart,
  from: number,
  tell: TellAttribute | undefined,
): Promise<AttributeAudit[]> => {
  const inputs = sensitive.map((label, at) => ({
    label,
    leftOut: leftOutOf(label, sized, folds),
    input: {
      features: encoded,
      sourceColumns: encoded.sourceColumns,
      sensitive: label.labels,
      groupNames: label.classes,
      target: task.target.labels,
      targetNames: task.target.classes,
    },
    test:
      tested === undefined
        ? undefined
        : { features: tested.encoded, sensitive: tested.sensitive[at], target: tested.target },
  }));
  if (tell !== undefined) {
    for (const { label, leftOut, input, test } of inputs) {
      await tell(label.name, groupsFinding({ ...input, test }, level, leftOut));
    }
  }
  const attributes: AttributeAudit[] = [];
  for (const [at, { label, leftOut, input, test }] of inputs.entries()) {
    // The same stream for both tables: what is drawn is then the same where the rows are.
    const own = stream.split(label.name);
    const audit = await auditLeakage(
      { ...input, test },
      {
        ...run(from + at, 0, label.name),
        stream: own,
        adversaries,
        folds,
        level,
        permutations,
        plants,
        mostRows,
        onFound: tell && ((found) => tell(label.name, found)),
      },
    );
    const parity = await auditParity(input, {
      ...run(from + at, 1, label.name),
      stream: own.split("parity"),
      predictor: learnerNamed("forest", { minLeaf: 5 }),
      folds,
      level,
      mostRows,
    });
    const reference = own.split("reference");
    const against = await baseRatesAgainst(task, label, level, reference, run(from + at, 1, label.name));
    attributes.push({ name: label.name, audit, parity, leftOut, against });
    await tell?.(label.name, { kind: "parity", parity, against });
  }
  return attributes;
};

/** The base rates against those of the reference group, where the attribute has it. */
const baseRatesAgainst = async (
  { target, referenceGroup }: Task,
  { classes, labels }: Label,
  level: number,
  stream: RandomStream,
  { signal }: RunOptions,
): Promise<AgainstReference | undefined> => {
  const reference = referenceGroup === undefined ? -1 : classes.indexOf(referenceGroup);
  if (reference < 0) return undefined;
  const known = Int32Array.from(labels.keys()).filter((row) => labels[row] >= 0 && target.labels[row] >= 0);
  const actual = known.map((row) => target.labels[row]);
  const groups = known.map((row) => labels[row]);
  const positive = Math.min(1, target.classes.length - 1);
  const groupNames = namesToShow(classes, labels, "group");
  const metrics = await paced(
    groupMetricsSteps(
      { predicted: actual, actual, groups, groupNames, positive },
      { stream, reference, level },
    ),
    pacer({ signal }),
  );
  return againstReference(metrics, ["baseRate"], target.classes[positive]);
};

/** Groups of the attribute that were asked to be left out, and those of too few rows to hold some out. */
const leftOutOf = (
  { name: attribute, classes, labels }: Label,
  sized: readonly LeftOutGroup[],
  folds: number,
): readonly LeftOutGroup[] => {
  const counts = countClasses(labels, classes.length);
  const least = leastRows(folds);
  const small = classes
    .map((name, group) => ({ name, rows: counts[group] }))
    .filter(({ rows }) => rows < least);
  return [
    ...sized.filter((each) => each.attribute === attribute),
    ...leftOutGroups(attribute, small, leftOutTexts.fewerThan(least)),
  ];
};

const compare = (
  { name, audit: { leakage: one } }: AttributeAudit,
  { audit: { leakage: two } }: AttributeAudit,
  level: number,
  paired: boolean,
): AuditComparison["attributes"][number] => {
  const between = (first: LeakageEstimate, second: LeakageEstimate) =>
    leakageDifference(first, second, { level, paired });
  return {
    name,
    first: one.unconditional.nats,
    second: two.unconditional.nats,
    unconditional: between(one.unconditional, two.unconditional),
    conditional:
      one.conditional === undefined || two.conditional === undefined
        ? undefined
        : between(one.conditional, two.conditional),
  };
};

/** The second table in the order of the first where both have the same people by id, so that they are paired. */
const inOrderOf = (first: Table, second: Table, id: string | undefined): Table => {
  const idsOf = (table: Table) => {
    const column = table.columns.find(({ name }) => name === id);
    if (column === undefined) return undefined;
    const idOf = idReader(column);
    return Array.from({ length: table.rows }, (_, row) => idOf(row));
  };
  const [wanted, given] = [idsOf(first), idsOf(second)];
  if (wanted === undefined || given === undefined || wanted.length !== given.length) return second;
  const rowOf = new Map(given.map((each, row) => [each, row]));
  const rows = wanted.map((each) => rowOf.get(each));
  const known = rows.filter((row) => row !== undefined);
  return new Set(known).size === first.rows ? selectRows(second, known) : second;
};

const sameLabels = (a: Int32Array, b: Int32Array): boolean =>
  a.length === b.length && a.every((label, i) => label === b[i]);

/** The same people in the same order, as far as the labels tell. */
const sameRecords = (first: AuditInput, second: AuditInput): boolean =>
  sameLabels(first.task.target.labels, second.task.target.labels) &&
  first.sensitive.every(({ labels }, at) => sameLabels(labels, second.sensitive[at].labels));

const requireSameGroups = (table: Table, first: AuditInput, other: Table, second: AuditInput): void => {
  const same = first.sensitive.every(({ classes }, at) => {
    const others = second.sensitive[at]?.classes ?? [];
    return classes.length === others.length && classes.every((name, i) => name === others[i]);
  });
  if (!same) throw new InputError("other-groups", auditTableTexts.otherAttributes(table.name, other.name));
};
