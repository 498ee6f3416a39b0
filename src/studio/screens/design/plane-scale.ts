/** From designs to places of the picture and back. */
import { shortest } from "../../../core/number-text.js";

export type Range = readonly [number, number];

const MARGIN = 0.06;

/** A range that has all values in it, with room around those that lie outside of what is usually shown. */
export const rangeWith = ([low, high]: Range, values: readonly number[]): Range => {
  const room = MARGIN * (high - low);
  const [least, most] = [Math.min(...values), Math.max(...values)];
  return [least < low ? least - room : low, most > high ? most + room : high];
};

/** Both ranges so that a unit is as long across as up: the one that is too short for its side is widened. */
export const sameScale = (
  across: Range,
  up: Range,
  width: number,
  height: number,
): readonly [Range, Range] => {
  const units = [(across[1] - across[0]) / width, (up[1] - up[0]) / height];
  const unit = Math.max(...units);
  const widened = ([low, high]: Range, side: number): Range => {
    const extra = (unit * side - (high - low)) / 2;
    return [low - extra, high + extra];
  };
  return [widened(across, width), widened(up, height)];
};

/** Round numbers inside a range, about so many. */
export const ticksIn = ([low, high]: Range, about: number): readonly number[] => {
  const rough = (high - low) / Math.max(1, about);
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = ([1, 2, 5, 10].find((factor) => factor * power >= rough) ?? 10) * power;
  const first = Math.ceil(low / step - 1e-9);
  const last = Math.floor(high / step + 1e-9);
  return Array.from({ length: Math.max(0, last - first + 1) }, (_, i) =>
    Number(shortest((first + i) * step, 12)),
  );
};

/** A linear scale: place = from + (value - low) / (high - low) (to - from). */
export const scaleOf = ([low, high]: Range, from: number, to: number) => ({
  place: (value: number): number => from + ((value - low) / (high - low)) * (to - from),
  value: (place: number): number => low + ((place - from) / (to - from)) * (high - low),
});
