/** `exchange` of static-moves.ts for many starts at once: the same samples, candidates and rule. */
import type { RandomStream } from "../../core/random.js";
import type { Model } from "../model.js";
import type { Quantity } from "../quantity.js";
import { candidatesFor } from "../static-moves.js";
import { comparedMeans, comparingRows } from "./compared.js";
import type { StaticValues } from "./static-values.js";

export interface ExchangeStart {
  /** [horizon, variables] */
  readonly designs: readonly number[];
  readonly quantity: Quantity;
  readonly from: RandomStream;
}

export interface Exchanged {
  readonly designs: readonly number[];
  readonly value: number;
  readonly changed: boolean;
}

/** Gives observation t of every start the best of its values, the other observations held. */
export const exchangeStarts = async (
  values: StaticValues,
  model: Model,
  starts: readonly ExchangeStart[],
  t: number,
): Promise<Exchanged[]> => {
  const variables = model.design.length;
  const tried = starts.map(({ designs }) => [
    designs,
    ...candidatesFor(model, designs.slice(t * variables, (t + 1) * variables)).map((candidate) => {
      const moved = [...designs];
      moved.splice(t * variables, variables, ...candidate);
      return moved;
    }),
  ]);
  const means = await comparedMeans(
    values,
    starts.flatMap((start, i) => tried[i].map((designs) => comparingRows(start, designs))),
  );
  let at = 0;
  return tried.map((sets) => {
    const own = means.slice(at, at + sets.length);
    at += sets.length;
    const best = own.reduce((found, value, k) => (value > own[found] ? k : found), 0);
    return { designs: sets[best], value: own[best], changed: best > 0 };
  });
};
