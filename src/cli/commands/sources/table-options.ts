/** The options that every command which reads a table shares, and what they mean to `readTask`. */
import type { Roles } from "../../../sources/read-task.js";
import type { ReadOptions } from "../../../sources/source.js";
import { SMALL_GROUPS, type SmallGroups } from "../../../tables/small-groups.js";
import type { OptionValues } from "../../command.js";
import { choice, flag, optionalInteger, text, texts } from "../../options.js";

const HEADERS = ["auto", "yes", "no"] as const;
const ESCAPES = ["auto", "quote", "backslash"] as const;

/** How a file is read. */
export const readOptions = {
  query: text("--query <sql>", 'SQL on the file, as the table "data", or on a database file'),
  delimiter: text("--delimiter <text>", "what separates the columns of a CSV file; guessed"),
  header: choice("--header <which>", "whether the first line names the columns", HEADERS, "auto"),
  missing: texts("--missing <texts>", "texts that stand for nothing (NA,N/A,NaN,null,?)"),
  escape: choice("--escape <which>", "what stands before a quote inside quotes", ESCAPES, "auto"),
  encoding: text("--encoding <name>", "encoding of a text file, such as utf-8 or windows-1252; detected"),
  sheet: text("--sheet <name>", "sheet of an Excel workbook; the first"),
};

/** Which columns have which role. */
export const roleOptions = {
  target: text("--target <column>", "what is to be predicted: a column, column=value or column>=number"),
  sensitive: texts("--sensitive <columns>", "what must not be given away, in the same form"),
  intersect: flag("--intersect", "several sensitive columns as one, a class for each combination"),
  features: texts("--features <columns>", "exactly these columns to learn from"),
  exclude: texts("--exclude <columns>", 'columns to leave out of the features; "a,b" is one column'),
  weights: text("--weights <column>", "how much each row counts"),
  id: text("--id <column>", "the column that names the rows"),
  categorical: texts("--categorical <columns>", "columns of numbers that are codes of categories"),
  numeric: texts("--numeric <columns>", "columns of text that are numbers; what is none counts as missing"),
  keep: texts("--keep <columns>", "columns to learn from though nearly every row has a text of its own"),
  minLevel: optionalInteger(
    "--min-level <rows>",
    "values of a category with fewer rows are taken as one (10, of more than 100 values)",
    { min: 1 },
  ),
  minGroup: optionalInteger("--min-group <rows>", "sensitive groups of fewer rows are merged or left out", {
    min: 1,
  }),
  smallGroups: choice<SmallGroups>(
    "--small-groups <what>",
    "merge smaller groups into one, or leave them out",
    SMALL_GROUPS,
    "merge",
  ),
};

/** Of commands that compare groups. */
export const referenceOption = {
  referenceGroup: text("--reference-group <name>", "the sensitive group that others are held against"),
};

export const tableOptions = {
  ...roleOptions,
  task: text("--task <name>", "one of the paper's tasks instead of a table: see fairbed data list"),
  ...readOptions,
};

export type ReadOptionValues = OptionValues<typeof readOptions>;
/** As a command gets them; one that leaves an option out leaves it undefined. */
export type RoleOptionValues = Partial<OptionValues<typeof roleOptions & typeof referenceOption>> & {
  readonly task?: string | undefined;
};

/** How a file is read, by the options. */
export const readingOf = (options: ReadOptionValues): ReadOptions => ({
  query: options.query,
  delimiter: options.delimiter === "\\t" ? "\t" : options.delimiter,
  header: options.header === "auto" ? undefined : options.header === "yes",
  missing: options.missing,
  escape: options.escape === "auto" ? undefined : options.escape,
  encoding: options.encoding,
  sheet: options.sheet,
});

/** The roles of the columns, by the options: `readTask(path, rolesOf(options), readingOf(options))`. */
export const rolesOf = ({
  target,
  sensitive,
  intersect,
  features,
  exclude,
  weights,
  id,
  categorical,
  numeric,
  keep,
  minLevel,
  minGroup,
  smallGroups,
  referenceGroup,
  task,
}: RoleOptionValues): Roles => ({
  target,
  sensitive,
  combineSensitive: intersect,
  features,
  exclude,
  weights,
  id,
  categorical,
  numeric,
  keep,
  minLevel,
  minGroup,
  referenceGroup,
  // What it is unless it is given, and a task of the paper says its roles itself.
  smallGroups: smallGroups === "merge" ? undefined : smallGroups,
  task,
});
