/** `fairbed data describe`: what a table was understood to be, before it is used. */
import type { LeftOutGroup } from "../../../core/left-out.js";
import { countClasses, isRare, rareTexts } from "../../../core/rare-values.js";
import type { TableDescription } from "../../../tables/describe-table.js";
import type { Label } from "../../../tables/label.js";
import type { Task } from "../../../tables/task.js";
import { defineCommand } from "../../command.js";
import { argument } from "../../options.js";
import { readingOf, readOptions, roleOptions, rolesOf } from "./table-options.js";

interface DescribedLabel {
  readonly name: string;
  readonly classes: readonly { readonly name: string; readonly rows: number }[];
  /** How many more classes there are, of so few rows that naming them may say who they are. */
  readonly rareClasses: number;
  readonly missing: number;
}

interface DescribedTask {
  readonly target: DescribedLabel;
  readonly sensitive: readonly DescribedLabel[];
  readonly features: readonly string[];
  readonly missingRule: string;
  readonly leftOut: readonly LeftOutGroup[];
  readonly notes: readonly string[];
}

interface Described extends TableDescription {
  readonly task?: DescribedTask | undefined;
}

export const describe = defineCommand({
  name: "data describe",
  group: "Data",
  summary: "show how a table is understood",
  examples: [
    { line: "data describe people.csv", description: "types, values and what is missing" },
    {
      line: "data describe people.csv --target income=high --sensitive sex,age>=40",
      description: "also the classes and the features of a task",
    },
    {
      line: 'data describe shop.duckdb --query "SELECT * FROM orders"',
      description: "the answer of a query",
    },
  ],
  arguments: { table: argument("a CSV, Parquet, JSON-lines, Arrow or database file, or postgres://...") },
  options: { ...roleOptions, ...readOptions },
  async run({ arguments: { table: path }, options }): Promise<Described> {
    const { readTableWithIds, readTask } = await import("../../../sources/read-task.js");
    const { describeTable } = await import("../../../tables/describe-table.js");
    const isTask = options.target !== undefined || options.sensitive !== undefined;
    if (!isTask) {
      const { withColumnTypes } = await import("../../../tables/column-types.js");
      const read = await readTableWithIds(path, options.id, readingOf(options));
      const { table, notes } = withColumnTypes(read, options);
      return describeTable({ ...table, notes: [...table.notes, ...notes] });
    }
    const { MISSING_RULE } = await import("../../../tables/encoder.js");
    const { task } = await readTask(path, rolesOf(options), readingOf(options));
    return { ...describeTable(task.table), task: describeTask(task, MISSING_RULE) };
  },
  print: ({ name, rows, columns, notes, task }) =>
    [
      `${name}: ${rows} rows, ${columns.length} columns`,
      ...notes.map((note) => `note: ${note}`),
      "",
      ...leftAligned([
        ["column", "type", "distinct", "missing", "values"],
        ...columns.map(({ name: column, type, distinct, missing, example }) => [
          column,
          type,
          String(distinct),
          String(missing),
          example,
        ]),
      ]),
      ...(task === undefined ? [] : ["", ...taskLines(task)]),
    ].join("\n"),
});

const describeTask = (task: Task, missingRule: string): DescribedTask => ({
  target: describeLabel(task.target),
  sensitive: task.sensitive.map(describeLabel),
  features: task.features,
  missingRule,
  leftOut: task.leftOut,
  notes: task.notes,
});

const describeLabel = ({ name, classes, labels }: Label): DescribedLabel => {
  const counts = countClasses(labels, classes.length);
  const all = classes.map((each, place) => ({ name: each, rows: counts[place] }));
  const named = all.filter(({ rows }) => !isRare(rows));
  const missing = labels.length - counts.reduce((sum, rows) => sum + rows, 0);
  return { name, classes: named, rareClasses: all.length - named.length, missing };
};

const taskLines = ({ target, sensitive, features, missingRule, notes }: DescribedTask): readonly string[] => [
  `target     ${labelLine(target)}`,
  ...sensitive.map((label) => `sensitive  ${labelLine(label)}`),
  `features   ${features.length} columns`,
  `missing    ${missingRule}`,
  ...notes.map((note) => `note: ${note}`),
];

const labelLine = ({ name, classes, rareClasses, missing }: DescribedLabel): string => {
  const parts = [
    ...classes.map((each) => `${each.name}: ${each.rows}`),
    ...(rareClasses > 0 ? [rareTexts.some("value", rareClasses)] : []),
    ...(missing > 0 ? [`missing: ${missing}`] : []),
  ];
  return `${name} (${parts.join(", ")})`;
};

/** As wide as a cell may be: a terminal's line holds the rest of the row beside it. */
const WIDEST = 44;

const leftAligned = (rows: readonly (readonly string[])[]): readonly string[] => {
  const cut = rows.map((row) =>
    row.map((cell) => (cell.length > WIDEST ? `${cell.slice(0, WIDEST - 1)}…` : cell)),
  );
  const widths = cut.reduce<readonly number[]>(
    (most, row) => row.map((cell, at) => Math.max(cell.length, most[at] ?? 0)),
    [],
  );
  return cut.map((row) =>
    row
      .map((cell, at) => cell.padEnd(widths[at]))
      .join("  ")
      .trimEnd(),
  );
};
