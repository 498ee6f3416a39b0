/**
 * What was measured so far, as plain data: `[{ "design": [x, y], "outcome": 0.3 }, ...]`, or by name:
 * `{ "design": { "x": 1, "y": 2 }, "outcome": { "reading": 0.3 } }`. An outcome is given as the model records it: a
 * log-normal one by its logarithm.
 */
import { InputError } from "../core/errors.js";
import type { Model } from "./model.js";
import { outcomeKinds, whyImpossible } from "./outcome-kinds.js";
import type { History } from "./policy.js";
import { checkDesigns } from "./policy-file.js";

export const historyTexts = {
  notList: (name: string) =>
    `${name} is no history: give a list such as [{"design": [1, 2], "outcome": 0.3}], empty before the first experiment`,
  notEntry: (name: string, index: number) =>
    `entry ${index} of ${name} is no experiment: give {"design": ..., "outcome": ...}`,
  missing: (name: string, index: number, what: string, expected: readonly string[]) =>
    `entry ${index} of ${name} has no ${what} for ${expected.join(", ")}: give every one a number`,
  unknown: (name: string, index: number, what: string, given: string, expected: readonly string[]) =>
    `entry ${index} of ${name} has the ${what} "${given}", which the model does not: it has ${expected.join(", ")}`,
  width: (name: string, index: number, what: string, given: number, expected: readonly string[]) =>
    `entry ${index} of ${name} has ${given} ${given === 1 ? "number" : "numbers"} as its ${what}: give ${expected.length}, for ${expected.join(", ")}`,
  notFinite: (name: string, index: number, what: string, given: unknown) =>
    `entry ${index} of ${name} has ${JSON.stringify(given)} in its ${what}: give finite numbers`,
  impossible: (name: string, index: number, outcome: string, given: number, expected: string) =>
    `entry ${index} of ${name} has ${given} as its outcome "${outcome}", which the model cannot give: it is ${expected}`,
  full: (name: string, given: number, horizon: number) =>
    `${name} has ${given} experiments and the policy plans ${horizon}: give at most as many`,
};

/**
 * The history of one experimenter from plain data: `outer` is 1, designs are [1, steps, variables] and outcomes
 * [1, steps, outcomes], in the model's order. `name` is what messages call it.
 *
 * @example
 * ```ts
 * import { locationFinding, readHistory } from "fairbed/design";
 *
 * const { steps, designs } = readHistory([{ design: { y: 2, x: 1 }, outcome: 0.3 }], locationFinding());
 * console.log(steps, designs.join()); // 1 1,2
 * ```
 */
export const readHistory = (value: unknown, model: Model, name = "the history"): History => {
  if (!Array.isArray(value)) throw new InputError("history", historyTexts.notList(name));
  const variables = model.design.map((each) => each.name);
  const rows = value.map((entry: unknown, i) => {
    if (typeof entry !== "object" || entry === null || !("design" in entry) || !("outcome" in entry)) {
      throw new InputError("history", historyTexts.notEntry(name, i + 1));
    }
    return {
      design: numbersIn(entry.design, "design", variables, name, i + 1),
      outcome: numbersIn(entry.outcome, "outcome", model.outcomes, name, i + 1),
    };
  });
  checkDesigns(
    rows.map(({ design }) => design),
    model,
    name,
  );
  requirePossible(
    rows.map(({ outcome }) => outcome),
    model,
    name,
  );
  return {
    outer: 1,
    steps: rows.length,
    designs: Float64Array.from(rows.flatMap(({ design }) => design)),
    outcomes: Float64Array.from(rows.flatMap(({ outcome }) => outcome)),
  };
};

/** Refuses outcomes that the model gives no probability whatever the parameters: a 7 where the answer is yes or no. */
const requirePossible = (rows: readonly (readonly number[])[], model: Model, name: string): void => {
  if (rows.length === 0) return;
  const kinds = outcomeKinds(model);
  for (const [i, row] of rows.entries()) {
    for (const [k, outcome] of model.outcomes.entries()) {
      const expected = whyImpossible(kinds[outcome], row[k]);
      if (expected !== undefined) {
        throw new InputError("history", historyTexts.impossible(name, i + 1, outcome, row[k], expected));
      }
    }
  }
};

/** One number for each name: alone where there is one name, in a list, or by name. */
const numbersIn = (
  value: unknown,
  what: "design" | "outcome",
  names: readonly string[],
  file: string,
  index: number,
): readonly number[] => {
  const listed = listOf(value, what, names, file, index);
  if (listed.length !== names.length) {
    throw new InputError("history", historyTexts.width(file, index, what, listed.length, names));
  }
  return listed.map((each) => {
    if (typeof each === "number" && Number.isFinite(each)) return each;
    throw new InputError("history", historyTexts.notFinite(file, index, what, each));
  });
};

const listOf = (
  value: unknown,
  what: string,
  names: readonly string[],
  file: string,
  index: number,
): readonly unknown[] => {
  if (Array.isArray(value)) return value;
  if (typeof value !== "object" || value === null) return [value];
  const given = value as Readonly<Record<string, unknown>>;
  const unknown = Object.keys(given).find((key) => !names.includes(key));
  if (unknown !== undefined) {
    throw new InputError("history", historyTexts.unknown(file, index, what, unknown, names));
  }
  const missing = names.filter((key) => given[key] === undefined);
  if (missing.length > 0) throw new InputError("history", historyTexts.missing(file, index, what, missing));
  return names.map((key) => given[key]);
};
