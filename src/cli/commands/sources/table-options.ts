/** The options that every command which reads a table shares, and the task that they describe. */
import { InputError } from "../../../core/errors.js";
import type { ReadOptions } from "../../../sources/source.js";
import type { LabelChoice } from "../../../tables/label.js";
import type { Task } from "../../../tables/task.js";
import { choice, flag, text, texts } from "../../options.js";

const HEADERS = ["auto", "yes", "no"] as const;

/** How a file is read. */
export const readOptions = {
  query: text("--query <sql>", 'SQL on the file, as the table "data", or on a database file'),
  delimiter: text("--delimiter <text>", "what separates the columns of a CSV file; guessed"),
  header: choice("--header <which>", "whether the first line names the columns", HEADERS, "auto"),
  missing: texts("--missing <texts>", "texts that stand for nothing (NA,N/A,NaN,null,?)"),
};

export const tableOptions = {
  target: text("--target <column>", "what is to be predicted: a column, column=value or column>=number"),
  sensitive: texts("--sensitive <columns>", "what must not be given away, in the same form"),
  combined: flag("--combined", "several sensitive columns as one, a class for each combination"),
  features: texts("--features <columns>", "exactly these columns to learn from"),
  exclude: texts("--exclude <columns>", "columns to leave out of the features"),
  weights: text("--weights <column>", "how much each row counts"),
  id: text("--id <column>", "the column that names the rows"),
  task: text("--task <name>", "one of the paper's tasks instead of a table: see fairbed data list"),
  ...readOptions,
};

export interface ReadWords {
  readonly query: string | undefined;
  readonly delimiter: string | undefined;
  readonly header: (typeof HEADERS)[number];
  readonly missing: readonly string[] | undefined;
}

export interface TableWords extends ReadWords {
  readonly target: string | undefined;
  readonly sensitive: readonly string[] | undefined;
  readonly combined: boolean;
  readonly features: readonly string[] | undefined;
  readonly exclude: readonly string[] | undefined;
  readonly weights: string | undefined;
  readonly id: string | undefined;
  readonly task: string | undefined;
}

export const tableOptionTexts = {
  noTable: "name a table, such as people.csv, or one of the paper's tasks with --task students",
  tableAndTask: "give a table or --task, not both",
  noTarget: "say what is to be predicted with --target, such as --target income=high",
  noSensitive: "say what must not be given away with --sensitive, such as --sensitive sex",
  taskHasLabels: (option: string) =>
    `--task says what the ${option} is: leave out --${option}, or give the table itself`,
};

export const readSettings = ({ query, delimiter, header, missing }: ReadWords): ReadOptions => ({
  query,
  ...(delimiter === undefined ? {} : { delimiter: delimiter === "\\t" ? "\t" : delimiter }),
  ...(header === "auto" ? {} : { header: header === "yes" }),
  ...(missing === undefined ? {} : { missing }),
});

/** What the words say of a task, without its table. */
export const taskSettings = (words: TableWords) => {
  const { target, sensitive, combined, features, exclude, weights, id } = words;
  if (target === undefined) throw new InputError("no-target", tableOptionTexts.noTarget);
  if (sensitive === undefined) throw new InputError("no-sensitive", tableOptionTexts.noSensitive);
  return {
    target: target as LabelChoice,
    sensitive: sensitive as readonly LabelChoice[],
    combineSensitive: combined,
    features,
    exclude,
    weights,
    id,
  };
};

/** The task of a command: of its table, or one of the paper's. `seed` decides what a paper's task draws. */
export const readTask = async (
  path: string | undefined,
  words: TableWords,
  seed: number,
): Promise<{ readonly task: Task; readonly name: string }> => {
  if (words.task !== undefined) return paperTask(words.task, path, words, seed);
  if (path === undefined) throw new InputError("no-table", tableOptionTexts.noTable);
  const settings = taskSettings(words);
  const { readTable } = await import("../../../sources/source.js");
  const { defineTask } = await import("../../../tables/task.js");
  // Long identifiers are no numbers: two that differ in their last digits would be the same.
  const asText = words.id === undefined ? [] : [words.id];
  const table = await readTable(path, { ...readSettings(words), asText });
  return { task: defineTask(table, settings), name: table.name };
};

const paperTask = async (name: string, path: string | undefined, words: TableWords, seed: number) => {
  if (path !== undefined) throw new InputError("table-and-task", tableOptionTexts.tableAndTask);
  for (const option of ["target", "sensitive"] as const) {
    if (words[option] !== undefined) throw new InputError("task", tableOptionTexts.taskHasLabels(option));
  }
  const { loadPaperTask } = await import("../../../sources/paper-tasks.js");
  const { exclude, features } = words;
  const { task } = await loadPaperTask(name, {
    seed,
    exclude,
    features,
  });
  return { task, name };
};
