/** Tasks by name, read once in a process. */
import { InputError } from "../core/errors.js";
import { loadPaperTask } from "../sources/paper-tasks.js";
import { columnsOfRule } from "../tables/label.js";
import { syntheticPool } from "../tables/synthetic.js";
import { type Column, columnOfTexts } from "../tables/table.js";
import { defineTask, type Task } from "../tables/task.js";
import type { FeatureChoice, TaskName } from "./cell.js";

const SYNTHETIC_ROWS = 1200;

export interface TaskRequest {
  readonly name: TaskName;
  readonly dataSeed: number;
  readonly features?: FeatureChoice | undefined;
  /** Where the data is; the usual folder unless given. */
  readonly root?: string | undefined;
}

export const loadTaskTexts = {
  features: (name: string) =>
    `other features are known for students alone, not for ${name}: use the version of fairbed that made these cells`,
};

/** Of Student Graduation: numbers that stand for something else, by the dataset's description. */
const STUDENT_CODES = new Set([
  "Marital status",
  "Application mode",
  "Course",
  "Previous qualification",
  "Nacionality",
  "Mother's qualification",
  "Father's qualification",
  "Mother's occupation",
  "Father's occupation",
]);
/** Known only after a semester. */
const STUDENT_RESULTS = /^Curricular units/;

const withFeatures = (task: Task, choice: FeatureChoice): Task => {
  switch (choice) {
    case "codes-as-categories":
      return { ...task, table: { ...task.table, columns: task.table.columns.map(asCategories) } };
    case "sensitive-too":
      return {
        ...task,
        features: [...task.features, ...task.sensitive.flatMap(({ rule }) => columnsOfRule(rule))],
      };
    case "known-at-start":
      return { ...task, features: task.features.filter((name) => !STUDENT_RESULTS.test(name)) };
  }
};

const asCategories = (column: Column): Column =>
  column.kind === "numeric" && STUDENT_CODES.has(column.name)
    ? columnOfTexts(
        column.name,
        Array.from(column.values, (value) => (Number.isNaN(value) ? undefined : String(value))),
      )
    : column;

const read = async ({ name, dataSeed: seed, features, root }: TaskRequest): Promise<Task> => {
  if (features !== undefined && name !== "students") {
    throw new InputError("features", loadTaskTexts.features(name));
  }
  if (name === "synthetic") {
    const { table, settings } = syntheticPool({ rows: SYNTHETIC_ROWS, seed, bias: 1 });
    return defineTask(table, settings);
  }
  const { task } = await loadPaperTask(name, { seed, root });
  return features === undefined ? task : withFeatures(task, features);
};

const tasks = new Map<string, Promise<Task>>();

export const loadTask = (request: TaskRequest): Promise<Task> => {
  const { name, dataSeed, features, root } = request;
  const key = JSON.stringify([name, dataSeed, features, root]);
  const known = tasks.get(key);
  if (known !== undefined) return known;
  const task = read(request);
  tasks.set(key, task);
  // The next cell may find the data that this one missed.
  task.catch(() => tasks.delete(key));
  return task;
};
