/** `moveIdle` of static-moves.ts for many starts at once: the same samples, places and rule. */
import type { RandomStream } from "../../core/random.js";
import type { Model } from "../model.js";
import type { Quantity } from "../quantity.js";
import { IDLE, PLACES, placeFor } from "../static-moves.js";
import type { Reach } from "../static-starts.js";
import { comparedMeans, comparingRows } from "./compared.js";
import type { StaticValues, ValueRow } from "./static-values.js";

export interface IdleStart {
  /** [horizon, variables] */
  readonly designs: readonly number[];
  readonly quantity: Quantity;
  readonly from: RandomStream;
}

export interface Moved {
  readonly designs: readonly number[];
  /** Observations that were moved. */
  readonly moved: readonly number[];
}

interface Working {
  readonly start: IdleStart;
  designs: number[];
  best: number;
  /** The first observation that was not looked at yet. */
  next: number;
  readonly moved: number[];
}

export const moveIdleStarts = async (
  values: StaticValues,
  {
    model,
    horizon,
    reach,
  }: { readonly model: Model; readonly horizon: number; readonly reach: readonly (readonly Reach[])[] },
  starts: readonly IdleStart[],
): Promise<Moved[]> => {
  if (horizon === 1) return starts.map(({ designs }) => ({ designs, moved: [] }));
  const variables = model.design.length;
  const means = (sets: readonly ValueRow[][]): Promise<number[]> => comparedMeans(values, sets);
  const first = await means(starts.map((start) => comparingRows(start, start.designs)));
  const all = starts.map(
    (start, i): Working => ({ start, designs: [...start.designs], best: first[i], next: 0, moved: [] }),
  );
  let left = all.map((working, i) => ({ working, reach: reach[i] }));
  while (left.length > 0) {
    // What each observation that is left is worth; most inform, and then this is all there is to do.
    const without = await means(
      left.flatMap(({ working }) =>
        Array.from({ length: horizon - working.next }, (_, i) =>
          comparingRows(working.start, working.designs, working.next + i),
        ),
      ),
    );
    let at = 0;
    const idle: { readonly working: Working; readonly reach: readonly Reach[]; readonly t: number }[] = [];
    for (const { working, reach: own } of left) {
      const worth = without.slice(at, at + horizon - working.next);
      at += worth.length;
      const found = worth.findIndex((value) => !(working.best - value >= IDLE));
      if (found >= 0) idle.push({ working, reach: own, t: working.next + found });
    }
    const tried = idle.map(({ working, reach: own, t }) =>
      Array.from({ length: PLACES }, (_, k) => {
        const place = placeFor({ model, horizon, reach: own }, working.designs, t, k, working.start.from);
        const designs = [...working.designs];
        designs.splice(t * variables, variables, ...place);
        return designs;
      }),
    );
    const there = await means(
      idle.flatMap(({ working }, i) => tried[i].map((designs) => comparingRows(working.start, designs))),
    );
    for (const [i, { working, t }] of idle.entries()) {
      tried[i].forEach((designs, k) => {
        const value = there[i * PLACES + k];
        if (!(value > working.best)) return;
        working.best = value;
        working.designs = designs;
        if (!working.moved.includes(t)) working.moved.push(t);
      });
      working.next = t + 1;
    }
    left = idle.filter(({ working }) => working.next < horizon);
  }
  return all.map(({ designs, moved }) => ({ designs, moved }));
};
