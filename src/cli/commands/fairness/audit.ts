/** `fairbed audit`: is this dataset fair? */
import { InputError } from "../../../core/errors.js";
import type { Adversaries, Leakage, LeakageAudit } from "../../../fairness/leakage.js";
import type {
  AttributeAudit,
  AuditComparison,
  AuditInputFile,
  AuditReport,
} from "../../../report/audit-report.js";
import { type CommandContext, defineCommand } from "../../command.js";
import { flag, integer, optionalArgument, real, text, texts } from "../../options.js";
import { requireFolder } from "../../out-folder.js";
import { version } from "../../version.js";
import { tableOptions } from "../sources/table-options.js";
import type { AuditTable, AuditTest } from "./audit-table.js";

export const auditCommandTexts = {
  adversary: (given: string, known: readonly string[]) =>
    `there is no adversary "${given}": choose from ${known.join(", ")}.`,
  otherAttributes: (first: string, second: string) =>
    `${second} has other groups than ${first}: two tables are compared by the same sensitive columns with the same values.`,
  taskAndSecond: "--task audits one of the paper's tasks: leave it out to compare two tables",
};

/** How long to go on before Ctrl-C is heard. */
const YIELD_MS = 100;

const leakageJson = (leakage: Leakage, bits: boolean) => {
  const { records: _, ...shown } = leakage;
  if (!bits) return shown;
  const inBits = (nats: number) => nats / Math.LN2;
  return {
    ...shown,
    bits: inBits(shown.nats),
    bitsInterval: shown.interval.map(inBits),
    detectableBits: shown.detectable === undefined ? undefined : inBits(shown.detectable),
  };
};

const attributeJson = ({ name, audit, parity }: AttributeAudit, bits: boolean) => ({
  sensitive: name,
  leakage: {
    unconditional: leakageJson(audit.leakage.unconditional, bits),
    conditional:
      audit.leakage.conditional === undefined ? null : leakageJson(audit.leakage.conditional, bits),
  },
  groups: audit.groups,
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

const estimateOf = ({ nats, interval }: Leakage) => ({ nats, interval });

/** About how many models will be fitted: how often a planted leak has to be tried again is not known before. */
const expectedFits = (
  { task, encoded }: AuditTable,
  adversaries: number,
  { folds, plants }: { readonly folds: number; readonly plants: number },
  tested: boolean,
): number => {
  const crossFits = tested ? folds + 1 : (folds * (folds - 1)) / 2 + folds;
  const stages = tested ? 1 : folds - 1;
  const strata = 1 + task.target.classes.length;
  const planted = 2 * plants * stages * Math.min(2, adversaries);
  return (
    strata * (adversaries * (crossFits + stages) + planted) + new Set(encoded.sourceColumns).size + 2 * folds
  );
};

/** Calls back every now and then, so that Ctrl-C is heard. */
const yielding = (context: CommandContext, label: string, expected: number) => {
  let last = performance.now();
  let fits = 0;
  const progress = context.progress(label, expected);
  return {
    async onFit() {
      fits++;
      if (performance.now() - last < YIELD_MS) return;
      progress.update(Math.min(fits, expected));
      await context.checkpoint();
      last = performance.now();
    },
    end() {
      // How many it takes is only guessed: what is done is whole.
      progress.update(expected);
      progress.end();
    },
  };
};

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
    ...tableOptions,
    test: text("--test <file>", "rows to judge on that nothing is learnt from"),
    givenTarget: flag("--given-target", "put the leakage given the target first"),
    out: text("--out <file>", "write the report there, and its certificate beside it"),
    bits: flag("--bits", "bits as well as nats"),
    bins: integer("--bins <number>", "classes that a sensitive quantity is cut into", 4, { min: 2, max: 20 }),
    adversaries: texts("--adversaries <names>", "logistic, forest, boosting, mlp, svm, lookup (all)"),
    folds: integer("--folds <number>", "parts that are held out in turn", 5, { min: 3, max: 20 }),
    level: real("--level <share>", "of the intervals", 0.95, { min: 0.5, max: 0.999 }),
    permutations: integer("--permutations <number>", "shuffles in every fold", 999, { min: 99 }),
    plants: integer("--plants <number>", "planted leaks, to see how small a one is found", 8, { min: 2 }),
    mostRows: integer("--most-rows <number>", "rows that an adversary learns from at most", 5000, {
      min: 50,
    }),
    seed: integer("--seed <number>", "where the random streams start", 0, { min: 0 }),
  },
  reportsProgress: true,
  async run({ arguments: { table: path, second: secondPath }, options, context }) {
    const started = performance.now();
    const { readAuditTable, readAuditTest } = await import("./audit-table.js");
    const { auditLeakage, auditParity, defaultAdversaries, leakageDifference } = await import(
      "../../../fairness/leakage.js"
    );
    const { randomStream } = await import("../../../core/random.js");
    const { forest } = await import("../../../learners/forest.js");
    const { auditHtml, certifiedLeakage, verdict, impossibility } = await import(
      "../../../report/audit-report.js"
    );
    if (options.out !== undefined) {
      await requireFolder(options.out);
      await (await import("../../../report/render.js")).requireCharts();
    }
    if (options.task !== undefined && secondPath !== undefined) {
      throw new InputError("task-and-second", auditCommandTexts.taskAndSecond);
    }
    const named =
      options.adversaries === undefined ? undefined : chosen(defaultAdversaries(), options.adversaries);
    const { seed, bins, folds, level, permutations, plants, mostRows, bits } = options;
    const first = await readAuditTable(path, options, { seed, bins });
    const test =
      options.test === undefined ? undefined : await readAuditTest(options.test, options, first, bins);
    const stream = randomStream(seed).split("audit");
    const measure = async (of: AuditTable, tested: AuditTest | undefined): Promise<AttributeAudit[]> => {
      const attributes: AttributeAudit[] = [];
      for (const [at, label] of of.sensitive.entries()) {
        const { onFit, end } = yielding(
          context,
          `auditing ${label.name}`,
          expectedFits(
            of,
            Object.keys(named ?? defaultAdversaries(of.encoded.rows)).length,
            options,
            tested !== undefined,
          ),
        );
        const input = {
          features: of.encoded,
          sourceColumns: of.encoded.sourceColumns,
          sensitive: label.labels,
          groupNames: label.classes,
          target: of.task.target.labels,
          targetNames: of.task.target.classes,
        };
        // The same stream for both tables: what is drawn is then the same where the rows are.
        const own = stream.split(label.name);
        const audited: LeakageAudit = await auditLeakage(
          {
            ...input,
            test:
              tested === undefined
                ? undefined
                : { features: tested.encoded, sensitive: tested.sensitive[at], target: tested.target },
          },
          {
            stream: own,
            adversaries: named,
            folds,
            level,
            permutations,
            plants,
            mostRows,
            onFit,
          },
        );
        const parity = await auditParity(input, {
          stream: own.split("parity"),
          predictor: forest({ minLeaf: 5 }),
          folds,
          level,
          mostRows,
          onFit,
        });
        end();
        attributes.push({ name: label.name, audit: audited, parity });
      }
      return attributes;
    };
    const attributes = await measure(first, test);
    const inputs: AuditInputFile[] = [inputOf("table", first)];
    if (test !== undefined)
      inputs.push({ role: "test", name: test.name, rows: test.rows, sha256: test.sha256 });

    let comparison: AuditComparison | undefined;
    if (secondPath !== undefined) {
      const second = await readAuditTable(secondPath, options, { seed, bins, cuts: first.cuts });
      requireSameGroups(first, second);
      const secondTest =
        options.test === undefined ? undefined : await readAuditTest(options.test, options, second, bins);
      inputs.push(inputOf("second table", second));
      const others = await measure(second, secondTest);
      const paired = test !== undefined || sameRecords(first, second);
      comparison = {
        table: second.name,
        attributes: attributes.map(({ name, audit: one }, at) => {
          const two = others[at].audit;
          const conditional =
            one.leakage.conditional === undefined || two.leakage.conditional === undefined
              ? undefined
              : leakageDifference(one.leakage.conditional, two.leakage.conditional, { level, paired });
          return {
            name,
            first: one.leakage.unconditional.nats,
            second: two.leakage.unconditional.nats,
            unconditional: leakageDifference(one.leakage.unconditional, two.leakage.unconditional, {
              level,
              paired,
            }),
            conditional,
          };
        }),
      };
    }
    const report: AuditReport = {
      table: first.name,
      rows: first.task.table.rows,
      target: first.task.target.name,
      features: first.task.features.length,
      attributes,
      comparison,
      givenTarget: options.givenTarget,
      bits,
      notes: first.notes,
      certificate: {
        format: "fairbed-audit-1",
        version: version(),
        seed,
        inputs,
        settings: {
          target: first.task.target.name,
          sensitive: first.task.sensitive.map(({ name }) => name),
          features: first.task.features,
          exclude: options.exclude ?? [],
          task: options.task,
          bins,
          folds,
          level,
          permutations,
          plants,
          mostRows,
          adversaries: Object.keys(named ?? defaultAdversaries(first.encoded.rows)),
        },
        results: attributes.map(({ name, audit: { leakage } }) => ({
          attribute: name,
          unconditional: certifiedLeakage(leakage.unconditional),
          conditional: leakage.conditional === undefined ? undefined : certifiedLeakage(leakage.conditional),
        })),
      },
    };
    const written: string[] = [];
    if (options.out !== undefined) {
      const certificate = `${options.out.replace(/\.html?$/i, "")}.certificate.json`;
      await context.writeFile(options.out, await auditHtml(report));
      await context.writeFile(certificate, `${JSON.stringify(report.certificate, null, 2)}\n`);
      written.push(options.out, certificate);
    }
    // Of several attributes the last is their intersection, which holds what each gives away.
    const whole = attributes[attributes.length - 1];
    return {
      table: report.table,
      target: report.target,
      unit: "nats",
      ...attributeJson(whole, bits),
      ...(attributes.length > 1 ? { attributes: attributes.map((each) => attributeJson(each, bits)) } : {}),
      ...(comparison === undefined ? {} : { comparison }),
      verdicts: attributes.flatMap(({ name, audit: { leakage }, parity }) => {
        const { unconditional, conditional } = leakage;
        const said = [
          verdict(unconditional, name, bits, false),
          ...(conditional === undefined ? [] : [verdict(conditional, name, bits, true)]),
        ];
        return [...(options.givenTarget ? said.reverse() : said), impossibility(parity)];
      }),
      tableNotes: first.notes,
      certificate: report.certificate,
      written,
      seconds: (performance.now() - started) / 1000,
    };
  },
  print: ({ table, target, groups, verdicts, columns, comparison, notes, tableNotes, written, seconds }) =>
    [
      `${table}, target ${target}`,
      ...groups.map((group) => {
        const rates = group.baseRates?.map(
          ({ target: value, rate }) => `${value} ${(100 * rate).toFixed(1)} %`,
        );
        return `  ${group.name}: ${group.rows} ${group.rows === 1 ? "row" : "rows"}${rates === undefined ? "" : ` (${rates.join(", ")})`}`;
      }),
      "",
      ...verdicts.flatMap((line) => [line, ""]),
      ...(columns.some(({ proxy }) => proxy)
        ? [
            `Columns that stand in for it, the most first: ${columns
              .filter(({ proxy }) => proxy)
              .slice(0, 5)
              .map(({ name, alone }) => `${name} (${alone.nats.toFixed(4)})`)
              .join(", ")}.`,
            "",
          ]
        : []),
      ...(comparison?.attributes.map(
        ({ name, unconditional: { nats, interval, paired } }) =>
          `${comparison.table} against ${table}, ${name}: ${nats.toFixed(4)} nats per record (${interval[0].toFixed(4)} to ${interval[1].toFixed(4)}${paired ? ", the same records" : ""}); below 0, the second gives away less.`,
      ) ?? []),
      ...[...notes, ...tableNotes].map((note) => `Note: ${note.replace(/\.$/, "")}.`),
      ...written.map((file) => `Wrote ${file}.`),
      `In ${seconds.toFixed(1)} s.`,
    ].join("\n"),
});

const inputOf = (role: AuditInputFile["role"], { name, task, sha256 }: AuditTable): AuditInputFile => ({
  role,
  name,
  rows: task.table.rows,
  sha256,
});

const chosen = (all: Adversaries, names: readonly string[] | undefined): Adversaries => {
  if (names === undefined) return all;
  return Object.fromEntries(
    names.map((name) => {
      const found = all[name];
      if (found === undefined) {
        throw new InputError("adversary", auditCommandTexts.adversary(name, Object.keys(all)));
      }
      return [name, found];
    }),
  );
};

const sameLabels = (a: Int32Array, b: Int32Array): boolean =>
  a.length === b.length && a.every((label, i) => label === b[i]);

/** The same people in the same order, as far as the labels tell. */
const sameRecords = (first: AuditTable, second: AuditTable): boolean =>
  sameLabels(first.task.target.labels, second.task.target.labels) &&
  first.sensitive.every(({ labels }, at) => sameLabels(labels, second.sensitive[at].labels));

const requireSameGroups = (first: AuditTable, second: AuditTable): void => {
  const same = first.sensitive.every(({ classes }, at) => {
    const other = second.sensitive[at]?.classes ?? [];
    return classes.length === other.length && classes.every((name, i) => name === other[i]);
  });
  if (!same) {
    throw new InputError("other-groups", auditCommandTexts.otherAttributes(first.name, second.name));
  }
};
