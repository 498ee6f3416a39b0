/**
 * The search for the frontier. Two groups: multipliers (-lambda, lambda) on a grid, most of it to the side of the group
 * that is selected less, then more finely beside the best one. More: steps along the gaps between the rates lead to
 * about equal ones, the line there is tried, then each group's multiplier by itself, as long as that helps.
 */
import { placesBetweenCrossings } from "../fair-rule/multipliers.js";
import type { CountedRows } from "../fair-rule/rule-rows.js";
import { type Envelope, reaches } from "./envelope.js";
import { type Line, lineOf, type ParityPoint, type Trial, tryAllCuts, tryAtRate, weighted } from "./trial.js";

export interface FrontierGoal {
  /** Where the frontier is looked at most closely. */
  readonly level: number;
  /** The share of rows to select; any unless given. */
  readonly rate: number | undefined;
}

/** Places on a line of two groups: on the side that helps, and on the other. */
const HELPING = 48;
const OTHER = 12;
/** Places on the line to equal rates, and between the neighbours of the best place, round after round. */
const LINE = 24;
const FINER = 8;
const ROUNDS = 2;
/** Steps towards equal rates, and the most rounds over the groups. */
const STEPS = 40;
const PASSES = 5;
/** A round over the groups that gains less than this is the last. */
const GAIN = 1e-3;
/** Changes of one group's multiplier, in units in which it counts as much as the scores. */
const CHANGES = [0.02, 0.05, 0.12, 0.3, 0.7, 1.5, 4];
/** With so few rows and two groups every order that multipliers can give is tried. */
const ALL_ORDERS = 60;

/** What a search goes by: accuracy where the level is reached, else how close it is. */
interface Merit {
  readonly reached: boolean;
  readonly value: number;
}
/** Multipliers, and what they are worth. */
interface Place {
  readonly multipliers: readonly number[];
  readonly merit: Merit;
}
const isBetter = (a: Merit, b: Merit): boolean => (a.reached === b.reached ? a.value > b.value : a.reached);

/** The standard deviation of values by the rows' weights. */
const spreadOf = (values: Float64Array, { weights, weight }: CountedRows): number => {
  const mean = values.reduce((sum, value, row) => sum + (weights[row] * value) / weight, 0);
  return Math.sqrt(
    values.reduce((sum, value, row) => sum + (weights[row] * (value - mean) ** 2) / weight, 0),
  );
};

/** s / (1 - s) of evenly spaced s: from the scores alone to the groups alone. */
const projective = (count: number): readonly number[] =>
  Array.from({ length: count }, (_, k) => (k + 1) / (count - k - 0.5));

/** The share of rows that the plain rule selects where it is most accurate. */
const plainShare = (trial: Trial, plain: Line): number => {
  let best: ParityPoint | undefined;
  tryAllCuts(trial, plain.at(0), (point) => {
    if (best === undefined || point.accuracy > best.accuracy) best = point;
  });
  return best?.selectionRate ?? 1;
};

/** Offers every rule that it tries to the envelope. */
export const searchFrontier = (trial: Trial, { level, rate }: FrontierGoal, envelope: Envelope): void => {
  const { counted } = trial;
  const { eta, shares } = counted;
  const present = shares.flatMap((share, g) => (share > 0 ? [g] : []));
  const none: readonly number[] = shares.map(() => 0);
  const meritOf = ({ ratio, accuracy }: ParityPoint): Merit =>
    reaches(ratio, level) ? { reached: true, value: accuracy } : { reached: false, value: ratio };

  const visit = (place: ReturnType<Line["at"]>): Merit => {
    if (rate !== undefined) {
      const { point } = tryAtRate(trial, place, rate);
      envelope.offer(point);
      return meritOf(point);
    }
    let merit: Merit = { reached: false, value: Number.NEGATIVE_INFINITY };
    const best = new Map<number, ParityPoint>();
    tryAllCuts(trial, place, (point) => {
      const own = meritOf(point);
      if (isBetter(own, merit)) merit = own;
      // Thousands of cuts: the best of each hundredth of the ratio, parted at the level.
      const bin = Math.floor(100 * point.ratio) + (own.reached ? 0.5 : 0);
      if (point.accuracy > (best.get(bin)?.accuracy ?? Number.NEGATIVE_INFINITY)) best.set(bin, point);
    });
    for (const point of best.values()) envelope.offer(point);
    return merit;
  };

  /** These places of a line, then more finely beside the best of them; the best of all. */
  const alongLine = (line: Line, places: readonly number[], rounds: number): Place => {
    const visitAll = (wanted: readonly number[]) => wanted.map((s) => ({ s, merit: visit(line.at(s)) }));
    let tried = visitAll(places).sort((a, b) => a.s - b.s);
    const bestPlace = (): number =>
      tried.reduce((best, { merit }, i) => (isBetter(merit, tried[best].merit) ? i : best), 0);
    for (let round = 0; round < rounds; round++) {
      const k = bestPlace();
      const half = FINER / 2;
      const between = (from: number, to: number): number[] =>
        Array.from({ length: half }, (_, i) => from + ((i + 1) * (to - from)) / (half + 1));
      const finer = [
        ...(k > 0 ? between(tried[k - 1].s, tried[k].s) : []),
        ...(k + 1 < tried.length ? between(tried[k].s, tried[k + 1].s) : []),
      ];
      tried = [...tried, ...visitAll(finer)].sort((a, b) => a.s - b.s);
    }
    const { s, merit } = tried[bestPlace()];
    return { multipliers: line.at(s).multipliers, merit };
  };

  /** Where a direction of multipliers counts as much as the scores; 0 where it changes nothing. */
  const unitOf = (direction: readonly number[]): number => {
    const spread = spreadOf(weighted(trial, direction), counted);
    // Constant but for rounding: nothing is bent.
    if (spread < 1e-9) return 0;
    return spreadOf(eta, counted) / spread || 1 / spread;
  };

  const plain = lineOf(trial, none, none);
  visit(plain.at(0));
  if (present.length < 2) return;
  const rateNow = rate ?? plainShare(trial, plain);
  if (present.length === 2) ofTwo(present[0], present[1]);
  else ofMany();

  function ofTwo(a: number, b: number): void {
    const { rates } = tryAtRate(trial, plain.at(0), rateNow);
    // Multipliers rise for the group that is selected more.
    const sign = rates[b] >= rates[a] ? 1 : -1;
    const direction = none.map((_, g) => (g === a ? -sign : g === b ? sign : 0));
    const unit = unitOf(direction);
    if (unit === 0) return;
    const line = lineOf(trial, none, direction);
    if (counted.rows <= ALL_ORDERS) {
      for (const s of placesBetweenCrossings(eta, weighted(trial, direction))) visit(line.at(s));
      return;
    }
    const places = [...projective(OTHER).map((s) => -s), 0, ...projective(HELPING)];
    alongLine(
      line,
      places.map((s) => s * unit),
      ROUNDS,
    );
  }

  function ofMany(): void {
    const { closest, last } = towardsEqualRates();
    const scales = Array.from({ length: LINE }, (_, k) => (1.5 * k) / (LINE - 1));
    const units = none.map((_, g) => unitOf(none.map((_, h) => Number(g === h))));
    // Where the level is not reached from one start it may be from another: the way may end where no single step helps.
    for (const start of [closest, last, none]) {
      let best = alongLine(lineOf(trial, none, start), scales, ROUNDS);
      for (let pass = 0; pass < PASSES; pass++) {
        const before = best.merit;
        for (const g of present) {
          const line = lineOf(
            trial,
            best.multipliers,
            none.map((_, h) => Number(h === g)),
          );
          const places = CHANGES.flatMap((change) => [-change * units[g], change * units[g]]);
          best = alongLine(line, [...places, 0], 1);
        }
        const { reached, value } = best.merit;
        if (reached === before.reached && value < before.value + GAIN) break;
      }
      if (best.merit.reached) return;
    }
  }

  /** Steps along the gaps between the groups' rates, ever shorter; as in `fair-rule/multipliers.ts`. */
  function towardsEqualRates(): { readonly closest: readonly number[]; readonly last: readonly number[] } {
    const { totals } = counted;
    const whole = present.reduce((sum, g) => sum + totals[g], 0);
    let multipliers = none;
    let closest: ParityPoint | undefined;
    for (let step = 0; step < STEPS; step++) {
      const { point, rates } = tryAtRate(trial, lineOf(trial, multipliers, none).at(0), rateNow);
      if (rate !== undefined) envelope.offer(point);
      if (closest === undefined || point.ratio > closest.ratio) closest = point;
      const all = present.reduce((sum, g) => sum + (totals[g] * rates[g]) / whole, 0);
      if (!(all > 0)) break;
      multipliers = multipliers.map((each, g) =>
        totals[g] > 0 ? each + ((0.05 / Math.sqrt(step + 1)) * (rates[g] - all)) / all : each,
      );
    }
    return { closest: closest?.multipliers ?? none, last: multipliers };
  }
};
