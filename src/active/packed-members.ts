/** Members row by row as plain numbers, so that a candidate can carry its own from one process to another. */
import { type Members, wordsPerRow } from "./members.js";

/** What the rows of a model's members have in common. */
export interface MembersShape {
  readonly kind: "votes" | "float32" | "float64";
  readonly members: number;
  readonly classes: number;
}

export const shapeOf = (given: Members): MembersShape => {
  const { members, classes } = given;
  if (given.kind === "votes") return { kind: "votes", members, classes };
  return { kind: given.values instanceof Float32Array ? "float32" : "float64", members, classes };
};

/** The numbers of each row: words of votes, or probabilities. [rows][numbers] */
export const packMembers = (given: Members): readonly (readonly number[])[] => {
  const values = given.kind === "votes" ? given.words : given.values;
  const width = given.kind === "votes" ? wordsPerRow(given.members) : given.members * given.classes;
  return Array.from({ length: given.rows }, (_, row) =>
    Array.from(values.subarray(row * width, (row + 1) * width)),
  );
};

/** The same the other way round. */
export const unpackMembers = (
  { kind, members, classes }: MembersShape,
  rows: readonly (readonly number[])[],
): Members => {
  const numbers = rows.flat();
  const shape = { rows: rows.length, members };
  switch (kind) {
    case "votes":
      return { ...shape, kind, classes: 2, words: Uint32Array.from(numbers) };
    case "float32":
      return { ...shape, kind: "dense", classes, values: Float32Array.from(numbers) };
    case "float64":
      return { ...shape, kind: "dense", classes, values: Float64Array.from(numbers) };
  }
};
