/** `fairbed audit`: is this dataset fair? */

import { InputError } from "../../../core/errors.js";
import { unitOf } from "../../../core/information-unit.js";
import { between, fixed, signed } from "../../../core/number-text.js";
import type { LeakageEstimate } from "../../../fairness/leakage.js";
import type { AuditInputFile } from "../../../report/audit-certificate.js";
import type { AuditReport } from "../../../report/audit-report.js";
import type { Table } from "../../../tables/table.js";
import { ADVERSARY_NAMES, AUDIT_DEFAULTS } from "../../../workflows/audit-defaults.js";
import type { AttributeAudit } from "../../../workflows/audit-table.js";
import { bitsOption } from "../../bits-option.js";
import { defineCommand } from "../../command.js";
import {
  flag,
  grouped,
  integer,
  optionalArgument,
  optionalInteger,
  outFile,
  real,
  text,
  texts,
} from "../../options.js";
import { withProgress } from "../../run-options.js";
import {
  type ReadOptionValues,
  type RoleOptionValues,
  readingOf,
  readOptions,
  referenceOption,
  roleOptions,
  rolesOf,
  tableOptions,
} from "../sources/table-options.js";

export const auditCommandTexts = {
  taskAndSecond: "--task audits one of the paper's tasks: leave it out to compare two tables",
  taskAndTest: "--task audits one of the paper's tasks: leave out --test, or give the table itself",
};

/** Rows of different weights cannot be exchanged, which the tests and intervals of an audit rest on. */
const { weights: _, target, sensitive, ...otherRoles } = roleOptions;
const D = AUDIT_DEFAULTS;

/** The certificate of a report stands beside it. */
const certificateBeside = (report: string): string => `${report.replace(/\.html?$/i, "")}.certificate.json`;

export const audit = defineCommand({
  name: "audit",
  group: "Fairness",
  summary: "is this dataset fair: what it gives away",
  examples: [
    {
      line: "audit people.csv --target income=high --sensitive sex --out report.html",
      description: "a report that needs no other file, and its certificate",
    },
    {
      line: "audit before.csv after.csv --target income=high --sensitive sex",
      description: "whether the second gives away less",
    },
  ],
  arguments: {
    table: optionalArgument("a CSV, Parquet or JSON-lines file; none with --task"),
    second: optionalArgument("another table, to compare"),
  },
  options: {
    target,
    sensitive,
    test: text("--test <file>", "rows to judge on that nothing is learnt from"),
    out: outFile("--out <file>", "write the report there, and its certificate beside it", {
      beside: (path) => [certificateBeside(path)],
    }),
    givenTarget: flag("--given-target", "put the leakage given the target first"),
    bits: bitsOption,
    seed: integer("--seed <number>", "random seed", D.seed, { min: 0 }),
    ...grouped("Columns", { ...otherRoles, ...referenceOption, task: tableOptions.task }),
    ...grouped("Reading the table", readOptions),
    ...grouped("Estimates", {
      bins: integer("--bins <number>", "classes that a sensitive quantity is cut into", D.bins, {
        min: 2,
        max: 20,
      }),
      adversaries: texts("--adversaries <names>", `${ADVERSARY_NAMES.join(", ")} (all)`),
      folds: optionalInteger(
        "--folds <number>",
        "parts that are held out in turn (5; 3 from 50,000 rows on)",
        {
          min: 3,
          max: 20,
        },
      ),
      level: real("--level <share>", "of the intervals", D.level, { min: 0.5, max: 0.999 }),
      permutations: integer("--permutations <number>", "shuffles in every fold", D.permutations, {
        min: 99,
      }),
      plants: integer("--plants <number>", "planted leaks, to see how small a one is found", D.plants, {
        min: 2,
      }),
      mostRows: optionalInteger(
        "--most-rows <number>",
        "rows that an adversary learns from at most (all there are)",
        { min: 50 },
      ),
    }),
  },
  reportsProgress: true,
  async run({ arguments: { table: path, second: secondPath }, options, context }) {
    const started = performance.now();
    const { adversariesNamed, auditTable } = await import("../../../workflows/audit-table.js");
    const { auditCertificate } = await import("../../../report/audit-certificate.js");
    const { auditHtml } = await import("../../../report/audit-report.js");
    const { verdictsOf } = await import("../../../report/audit-wording.js");
    if (options.out !== undefined) {
      await (await import("../../../report/render.js")).requireCharts();
    }
    if (options.task !== undefined && secondPath !== undefined)
      throw new InputError("task-and-second", auditCommandTexts.taskAndSecond);
    if (options.task !== undefined && options.test !== undefined)
      throw new InputError("task-and-test", auditCommandTexts.taskAndTest);
    if (options.adversaries !== undefined) adversariesNamed(options.adversaries);
    const { bins, adversaries, folds, level, permutations, plants, mostRows, seed, bits } = options;
    const { table, roles, second, test, inputs } = await readInputs(path, secondPath, options);
    const settings = { ...roles, bins, adversaries, folds, level, permutations, plants, mostRows, seed };
    const audited = await withProgress(context, "auditing", (run) =>
      auditTable(table, { ...settings, ...run, second, test }),
    );
    const report: AuditReport = {
      ...audited,
      givenTarget: options.givenTarget,
      bits,
      certificate: auditCertificate(audited, inputs, {
        exclude: options.exclude ?? [],
        task: options.task,
      }),
    };
    const written: string[] = [];
    if (options.out !== undefined) {
      const certificate = certificateBeside(options.out);
      await context.writeFile(options.out, await auditHtml(report));
      await context.writeFile(certificate, `${JSON.stringify(report.certificate, null, 2)}\n`);
      written.push(options.out, certificate);
    }
    const { attributes, comparison } = audited;
    // Of several attributes the last is their intersection, which holds what each gives away.
    const whole = attributes[attributes.length - 1];
    return {
      table: report.table,
      target: report.target,
      unit: "nats",
      ...attributeJson(whole),
      attributes: attributes.length > 1 ? attributes.map((each) => attributeJson(each)) : undefined,
      comparison,
      verdicts: verdictsOf(report),
      tableNotes: report.notes,
      certificate: report.certificate,
      written,
      seconds: (performance.now() - started) / 1000,
    };
  },
  print: (
    { table, target, groups, against, verdicts, columns, comparison, notes, tableNotes, written, seconds },
    { bits },
  ) =>
    [
      `${table}, target ${target}`,
      ...groups.map((group) => {
        const rates = group.baseRates?.map(({ target: value, rate }) => `${value} ${fixed(100 * rate, 1)} %`);
        return `  ${group.name}: ${group.rows} ${group.rows === 1 ? "row" : "rows"}${rates === undefined ? "" : ` (${rates.join(", ")})`}`;
      }),
      ...(against?.groups.map(
        ({ group, difference: { value, interval, reason } }) =>
          `  ${against.positive}, ${group} against ${against.reference}: ${value === undefined ? reason : `${signed(100 * value, 1)} points${interval === undefined ? "" : ` (${between([100 * interval[0], 100 * interval[1]], 1)})`}`}`,
      ) ?? []),
      "",
      ...verdicts.flatMap((line) => [line, ""]),
      ...(columns.some(({ proxy }) => proxy)
        ? [
            `Columns that stand in for it, strongest first: ${columns
              .filter(({ proxy }) => proxy)
              .slice(0, 5)
              .map(({ name, alone }) => `${name} (${fixed(unitOf(bits).of(alone.nats), 4)})`)
              .join(", ")}.`,
            "",
          ]
        : []),
      ...(comparison?.attributes.map(
        ({ name, unconditional: { nats, interval, paired } }) =>
          `${comparison.table} against ${table}, ${name}: ${fixed(unitOf(bits).of(nats), 4)} ${unitOf(bits).name} per record (${between([unitOf(bits).of(interval[0]), unitOf(bits).of(interval[1])], 4)}${paired ? ", the same records" : ""}); below 0, the second gives away less.`,
      ) ?? []),
      ...[...notes, ...tableNotes].map((note) => `Note: ${note.replace(/\.$/, "")}.`),
      ...written.map((file) => `Wrote ${file}.`),
      `In ${fixed(seconds, 1)} s.`,
    ].join("\n"),
});

type AuditReading = ReadOptionValues &
  RoleOptionValues & {
    readonly test: string | undefined;
    readonly bins: number;
    readonly seed: number;
  };

/** The tables of an audit, and what identifies each of them. */
const readInputs = async (
  path: string | undefined,
  secondPath: string | undefined,
  options: AuditReading,
) => {
  const { readTableWithIds, readWithRoles } = await import("../../../sources/read-task.js");
  const { hashOfNumbers } = await import("../../../report/audit-input-hash.js");
  // Of each file the hash of the very bytes that were read.
  const hashes = new Map<AuditInputFile["role"], string>();
  const reading = (role: AuditInputFile["role"]) => ({
    ...readingOf(options),
    onHash: (sha256: string) => hashes.set(role, sha256),
  });
  const { table, roles } = await readWithRoles(path, rolesOf(options), {
    ...reading("table"),
    seed: options.seed,
  });
  const other = (role: AuditInputFile["role"], file: string | undefined): Promise<Table> | undefined =>
    file === undefined ? undefined : readTableWithIds(file, roles.id, reading(role));
  const second = await other("second table", secondPath);
  const test = await other("test", options.test);
  const tables = { table, roles, bins: options.bins, second, test };
  const inputs: AuditInputFile[] = [];
  const add = (role: AuditInputFile["role"], read: Table | undefined) => {
    if (read === undefined) return;
    const sha256 = hashes.get(role) ?? hashOfNumbers(role, tables);
    inputs.push({ role, name: read.name, rows: read.rows, sha256 });
  };
  add("table", table);
  add("test", test);
  add("second table", second);
  return { table, roles, second, test, inputs };
};

const leakageJson = ({ records: _, ...shown }: LeakageEstimate) => shown;

const attributeJson = ({ name, audit, parity, leftOut, against }: AttributeAudit) => ({
  sensitive: name,
  leakage: {
    unconditional: leakageJson(audit.leakage.unconditional),
    conditional: audit.leakage.conditional === undefined ? null : leakageJson(audit.leakage.conditional),
  },
  groups: audit.groups,
  leftOut,
  against,
  columns: audit.columns,
  rows: audit.rows,
  parity: {
    ...parity,
    /** The two sufficient conditions of appendix A.1, as leakages. */
    conditions: {
      independent: estimateOf(audit.leakage.unconditional),
      independentGivenTarget:
        audit.leakage.conditional === undefined ? null : estimateOf(audit.leakage.conditional),
    },
  },
  notes: audit.notes,
});

const estimateOf = ({ nats, interval }: LeakageEstimate) => ({ nats, interval });
