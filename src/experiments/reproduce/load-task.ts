/** Tasks by name, read once in a process. */
import { loadPaperTask } from "../../data/paper-tasks.js";
import { syntheticPool } from "../../data/synthetic.js";
import { defineTask, type Task } from "../../data/task.js";
import type { TaskName } from "./cell.js";

const SYNTHETIC_ROWS = 1200;

const read = async (name: TaskName, seed: number, root: string | undefined): Promise<Task> => {
  if (name === "synthetic") {
    const { table, settings } = syntheticPool({ rows: SYNTHETIC_ROWS, seed, bias: 1 });
    return defineTask(table, settings);
  }
  return (await loadPaperTask(name, { seed, ...(root === undefined ? {} : { root }) })).task;
};

const tasks = new Map<string, Promise<Task>>();

export const loadTask = (name: TaskName, seed: number, root?: string): Promise<Task> => {
  const key = JSON.stringify([name, seed, root]);
  const known = tasks.get(key);
  if (known !== undefined) return known;
  const task = read(name, seed, root);
  tasks.set(key, task);
  // The next cell may find the data that this one missed.
  task.catch(() => tasks.delete(key));
  return task;
};
