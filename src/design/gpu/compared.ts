/** Designs compared on the same samples, many at once: `comparer` of static-moves.ts. */
import type { RandomStream } from "../../core/random.js";
import type { Quantity } from "../quantity.js";
import { COMPARING } from "../static-moves.js";
import type { StaticValues, ValueRow } from "./static-values.js";

/** On `COMPARING` batches each, the same for all of a start. */
export const comparingRows = (
  { quantity, from }: { readonly quantity: Quantity; readonly from: RandomStream },
  designs: readonly number[],
  skip?: number,
): ValueRow[] => {
  const { key } = from.split("compare");
  return Array.from({ length: COMPARING }, (_, number) => ({ designs, quantity, key, number, skip }));
};

/** The mean objective of each set of rows. */
export const comparedMeans = async (
  values: StaticValues,
  sets: readonly (readonly ValueRow[])[],
): Promise<number[]> => {
  const all = await values.lower(sets.flat());
  return sets.map(
    (_, i) =>
      all.slice(i * COMPARING, (i + 1) * COMPARING).reduce((sum, value) => sum + value, 0) / COMPARING,
  );
};
