/** Opens tables: a file that is read as a stream, or the built-in example; what the page shows of them. */
import { countClasses } from "../../core/rare-values.js";
import { toCsv } from "../../tables/csv.js";
import { describeTable } from "../../tables/describe-table.js";
import { examplePeople } from "../../tables/example-people.js";
import { labelChoices } from "../../tables/label-choices.js";
import { readTable } from "../../tables/read-in-page.js";
import { suggestRoles } from "../../tables/suggest-roles.js";
import { tableWarnings } from "../../tables/table-warnings.js";
import { defineTask } from "../../tables/task.js";
import type { OpenTable } from "../open-table.js";
import { type Roles, taskOf } from "../roles.js";
import type { TaskRun } from "./task.js";

export const dataTasks = {
  async open(
    { file }: { readonly file: File | undefined },
    run: TaskRun,
  ): Promise<{ readonly table: OpenTable; readonly roles: Roles; readonly reasons: readonly string[] }> {
    const table =
      file === undefined
        ? examplePeople().table
        : await readTable(file, { name: file.name, signal: run.signal, onProgress: run.emit });
    // Another one was chosen, and may be open already.
    run.signal.throwIfAborted();
    run.open(table);
    const { target, sensitive, id, reasons } = suggestRoles(table);
    const { name, rows, columns, notes } = describeTable(table);
    return {
      table: {
        ...{ name, rows, notes },
        columns: columns.map((column, at) => ({ ...column, choices: labelChoices(table.columns[at]) })),
        source: file === undefined ? "example" : "file",
      },
      roles: { target: target ?? "", sensitive, exclude: [], id: id ?? "" },
      reasons,
    };
  },

  /** What to look at before anything is computed, for the roles that were chosen. */
  async warnings({ roles }: { readonly roles: Roles }, run: TaskRun) {
    const table = await run.table();
    const settings = taskOf(roles);
    const task = defineTask(table, settings);
    return {
      warnings: tableWarnings(table, settings),
      groups: task.sensitive.map(({ name, classes, labels }) => {
        const counts = countClasses(labels, classes.length);
        return { attribute: name, groups: classes.map((group, at) => ({ name: group, rows: counts[at] })) };
      }),
    };
  },

  /** The open table as CSV text, for the example that has no file. */
  async csv(_: undefined, run: TaskRun): Promise<string> {
    return toCsv(await run.table());
  },
};
