/** A table with its roles, from wherever it comes: what every command reads. */
import { InputError } from "../core/errors.js";
import type { LabelChoice } from "../tables/label.js";
import { appendRows, type Table } from "../tables/table.js";
import { defineTask, type Task, type TaskSettings } from "../tables/task.js";
import { preparePaperTask } from "./paper-tasks.js";
import { type ReadOptions, readTable } from "./source.js";

/** Which columns of a table have which role, or the name of one of the paper's tasks, which says so itself. */
export interface Roles extends Omit<TaskSettings, "target" | "sensitive"> {
  readonly target?: LabelChoice | undefined;
  readonly sensitive?: readonly LabelChoice[] | undefined;
  /** One of the paper's tasks instead of a table: `students`, `census`, `adult`, `german`, `bank` or `celeba`. */
  readonly task?: string | undefined;
}

export interface ReadTaskOptions extends ReadOptions {
  /** A second table with the same columns, put below the first: rows to test on. */
  readonly test?: string | undefined;
  /** Decides which rows a task of the paper draws; 0 unless given. */
  readonly seed?: number | undefined;
}

export interface TableWithRoles {
  /** What the table is called in messages and reports. */
  readonly name: string;
  readonly table: Table;
  /** What `defineTask` and the workflows take beside the table. */
  readonly roles: TaskSettings;
  /** The first row of the test table, where one was given. */
  readonly testFrom?: number | undefined;
}

export const readTaskTexts = {
  noTable: "name a table, such as people.csv, or one of the paper's tasks with --task students",
  tableAndTask: "give a table or --task, not both",
  noTarget: "say what is to be predicted with --target, such as --target income=high",
  noSensitive: "say what must not be given away with --sensitive, such as --sensitive sex",
  taskHasRole: (option: string) =>
    `--task says itself what its columns are for: leave out --${option}, or give the table itself`,
  testWithTask: "--task has its own rows to test on: leave out --test, or give the table itself",
};

/** The roles of a table: throws where the target or the sensitive columns are not said. */
export const requireRoles = ({ task: _, target, sensitive, ...others }: Roles): TaskSettings => {
  if (target === undefined) throw new InputError("no-target", readTaskTexts.noTarget);
  if (sensitive === undefined) throw new InputError("no-sensitive", readTaskTexts.noSensitive);
  return { ...others, target, sensitive };
};

/** Reads a table so that the ids in it stay the texts that they are: see `idsOf`. */
export const readTableWithIds = (
  source: string,
  id: string | undefined,
  reading: ReadOptions = {},
): Promise<Table> =>
  readTable(source, { ...reading, asText: [...(reading.asText ?? []), ...(id === undefined ? [] : [id])] });

/**
 * Reads the table of a job with its roles, before anything is made of them: `source` is a path, a web address or a
 * database (see `readTable`), and undefined where `roles.task` names one of the paper's tasks.
 *
 * Ids are read as text, so that `007` and `7` are two people and no digit of a long number is lost.
 */
export const readWithRoles = async (
  source: string | undefined,
  roles: Roles,
  { test, seed, ...reading }: ReadTaskOptions = {},
): Promise<TableWithRoles> => {
  if (roles.task !== undefined) {
    if (test !== undefined) throw new InputError("test-with-task", readTaskTexts.testWithTask);
    return paperTable(roles.task, source, roles, seed);
  }
  if (source === undefined) throw new InputError("no-table", readTaskTexts.noTable);
  const required = requireRoles(roles);
  const table = await readTableWithIds(source, roles.id, reading);
  if (test === undefined) return { name: table.name, table, roles: required };
  const below = await readTableWithIds(test, roles.id, reading);
  return { name: table.name, table: appendRows(table, below), roles: required, testFrom: table.rows };
};

/** The same, as a task: the labels and the features of the table by its roles. */
export const readTask = async (
  source: string | undefined,
  roles: Roles,
  options: ReadTaskOptions = {},
): Promise<TableWithRoles & { readonly task: Task }> => {
  const read = await readWithRoles(source, roles, options);
  return { ...read, task: defineTask(read.table, read.roles) };
};

/** What a task of the paper leaves to the caller. */
const FREE = [
  "exclude",
  "features",
  "categorical",
  "numeric",
  "keep",
  "minLevel",
  "minGroup",
  "smallGroups",
  "referenceGroup",
] as const satisfies readonly (keyof TaskSettings)[];

const paperTable = async (
  name: string,
  source: string | undefined,
  { task: _, ...roles }: Roles,
  seed: number | undefined,
): Promise<TableWithRoles> => {
  if (source !== undefined) throw new InputError("table-and-task", readTaskTexts.tableAndTask);
  for (const role of Object.keys(roles) as (keyof TaskSettings)[]) {
    const isFree = FREE.some((free) => free === role);
    if (!isFree && roles[role] !== undefined && roles[role] !== false) {
      throw new InputError("task", readTaskTexts.taskHasRole(OPTION_OF[role] ?? role));
    }
  }
  const { exclude, features, ...others } = roles;
  const { table, settings } = await preparePaperTask(name, { seed, exclude, features });
  const given = Object.fromEntries(Object.entries(others).filter(([, value]) => value !== undefined));
  return { name, table, roles: { ...given, ...settings } };
};

/** What a role is called on the command line, where it is called something else. */
const OPTION_OF: Partial<Record<keyof TaskSettings, string>> = { combineSensitive: "intersect" };
