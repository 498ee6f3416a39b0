/** Which rows a plan reports on, and which it may look at while it chooses. */
import { InputError } from "../core/errors.js";
import type { RandomStream } from "../core/random.js";
import type { FairMetric } from "../mitigation/fair-rule.js";
import type { Label } from "../tables/label.js";
import { selectRows } from "../tables/table.js";
import type { Task } from "../tables/task.js";
import { LEAST_OF_GROUP, LEAST_ROWS, planningTexts } from "./plan-settings.js";

/** The share that is reported on, and at most so many: more would say the same. */
const OUTER = { share: 0.3, most: 6000 };
/** Of all rows, the share that choices are made on, and at most so many. */
const INNER = { share: 0.2, most: 3000 };

export interface PlanRows {
  /** Reported on, in ascending order: no model, rule or choice sees their labels. The same for every seed. */
  readonly outer: Int32Array;
  /** The task without the labels of the outer rows: all that simulations and choices get. */
  readonly development: Task;
  /** The share of the other rows that a seed chooses on: its test rows. */
  readonly innerFraction: number;
  readonly known: number;
}

/** More rows would make every simulation slower, and none of its sets larger. */
const MOST_ROWS = 20_000;

/** The task as it is, or of rows drawn at random where it has many. */
export const thinnedTask = (
  task: Task,
  stream: RandomStream,
): { readonly task: Task; readonly note?: string | undefined } => {
  const { table, target, sensitive, weights } = task;
  const known = Int32Array.from(target.labels.keys()).filter(
    (row) => target.labels[row] >= 0 && sensitive.every(({ labels }) => labels[row] >= 0),
  );
  if (known.length <= MOST_ROWS) return { task };
  const rows = Int32Array.from(stream.choice(known.length, MOST_ROWS), (at) => known[at]).sort();
  const of = <One extends Label>(label: One): One => ({
    ...label,
    labels: rows.map((row) => label.labels[row]),
  });
  return {
    task: {
      ...task,
      table: selectRows(table, rows),
      target: of(target),
      sensitive: sensitive.map(of),
      weights: weights === undefined ? undefined : Float64Array.from(rows, (row) => weights[row]),
    },
    note: planningTexts.thinned(MOST_ROWS, known.length),
  };
};

/** Fails where the table is not one that a plan can be made for. */
export const requirePlanTask = ({ target, sensitive }: Task): void => {
  if (sensitive.length !== 1)
    throw new InputError("sensitive", planningTexts.attributes(sensitive.map(({ name }) => name)));
  if (target.classes.length > 2)
    throw new InputError("target", planningTexts.classes(target.name, target.classes.length));
};

export const splitPlanRows = (task: Task, metric: FairMetric, stream: RandomStream): PlanRows => {
  requirePlanTask(task);
  const { target } = task;
  const [attribute] = task.sensitive;
  const known = Int32Array.from(target.labels.keys()).filter(
    (row) => target.labels[row] >= 0 && attribute.labels[row] >= 0,
  );
  if (known.length < LEAST_ROWS) throw new InputError("rows", planningTexts.fewRows(known.length));
  if (new Set(known.map((row) => target.labels[row])).size < 2)
    throw new InputError("target", planningTexts.oneClass(target.name));
  if (new Set(known.map((row) => attribute.labels[row])).size < 2)
    throw new InputError("sensitive", planningTexts.oneGroup(attribute.name));
  const order = stream.permutation(known.length);
  const count = Math.min(OUTER.most, Math.round(OUTER.share * known.length));
  const outer = Int32Array.from(order.subarray(0, count), (at) => known[at]).sort();
  requireGroups(task, outer, metric);
  const labels = target.labels.slice();
  for (const row of outer) labels[row] = -1;
  const rest = known.length - count;
  return {
    outer,
    development: { ...task, target: { ...target, labels } },
    innerFraction: Math.min(INNER.most, Math.round(INNER.share * known.length)) / rest,
    known: known.length,
  };
};

const requireGroups = ({ target, sensitive }: Task, outer: Int32Array, metric: FairMetric): void => {
  const [{ name, classes, labels }] = sensitive;
  for (const [group, value] of classes.entries()) {
    if (!labels.includes(group)) continue;
    const rows = outer.filter(
      (row) => labels[row] === group && (metric === "dp" || target.labels[row] === 1),
    );
    if (rows.length < LEAST_OF_GROUP)
      throw new InputError("groups", planningTexts.fewOfGroup(name, value, rows.length, metric === "eopp"));
  }
};
