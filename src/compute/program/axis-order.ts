/** How arrays are laid out: an input as its own list of axes says, an output as the lists of all inputs say. */
import { InputError } from "../../core/errors.js";
import type { InputAxes } from "../graph/trace.js";

export const axisOrderTexts = {
  undecided: (output: string, one: string, other: string) =>
    `the output "${output}" varies along "${one}" and "${other}", and the lists of the inputs do not say which of them is outside: give the option axes, such as ["${one}", "${other}"]`,
  option: (given: readonly string[], axes: readonly string[]) =>
    `the option axes was ${quoted(given)}: name each of ${quoted(axes)} once, outermost first`,
};

const quoted = (names: readonly string[]): string => names.map((name) => `"${name}"`).join(", ") || "none";

/** For every axis, those that stand behind it in some list, directly or by way of others. */
const insideOf = (lists: readonly (readonly string[])[]): ReadonlyMap<string, ReadonlySet<string>> => {
  const direct = new Map<string, Set<string>>();
  for (const list of lists) {
    list.forEach((axis, i) => {
      const inside = direct.get(axis) ?? new Set();
      direct.set(axis, inside);
      for (const other of list.slice(i + 1)) inside.add(other);
    });
  }
  return new Map(
    [...direct].map(([axis, first]) => {
      const found = new Set(first);
      // A set that grows while it is walked is walked to its end.
      for (const other of found) for (const next of direct.get(other) ?? []) found.add(next);
      return [axis, found];
    }),
  );
};

/** Puts the axes of an output in order, outermost first. */
export type AxisOrder = (output: string, axes: readonly string[]) => readonly string[];

/**
 * The order of axes in outputs, which does not depend on the order in which inputs are declared: that of the option
 * `axes` where it is given, and else the one order that the lists of the inputs agree on. Where they leave it open
 * or contradict each other, an output along both axes is an error.
 */
export const axisOrder = (inputs: InputAxes, given: readonly string[] | undefined): AxisOrder => {
  if (given !== undefined) {
    const all = new Set(Object.values(inputs).flat());
    if (
      new Set(given).size !== given.length ||
      given.length !== all.size ||
      !given.every((a) => all.has(a))
    ) {
      throw new InputError("axes", axisOrderTexts.option(given, [...all]));
    }
    return (_, axes) => given.filter((axis) => axes.includes(axis));
  }
  const inside = insideOf(Object.values(inputs));
  const isInside = (axis: string, outer: string): boolean => inside.get(outer)?.has(axis) ?? false;
  return (output, axes) => {
    for (const [i, one] of axes.entries()) {
      const other = axes.slice(i + 1).find((each) => isInside(each, one) === isInside(one, each));
      if (other !== undefined) throw new InputError("axes", axisOrderTexts.undecided(output, one, other));
    }
    return [...axes].sort((a, b) => (isInside(b, a) ? -1 : 1));
  };
};
