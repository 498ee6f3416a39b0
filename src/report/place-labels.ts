/** Labels beside points: each where nothing else is, or none. */
import { textWidth } from "./text-width.js";

export interface LabelledPoint {
  /** In pixels of the plot, from its upper left corner. */
  readonly x: number;
  readonly y: number;
  /** Nothing is written for an empty text. */
  readonly text: string;
  /** Those that come first have the first choice. */
  readonly rank: number;
}

/** Where a label begins: its left end, and the middle of its line. */
export interface PlacedLabel {
  readonly x: number;
  readonly y: number;
}

interface Box {
  readonly left: number;
  readonly right: number;
  readonly top: number;
  readonly bottom: number;
}

const apart = (a: Box, b: Box): boolean =>
  a.right <= b.left || b.right <= a.left || a.bottom <= b.top || b.bottom <= a.top;

/** How far a point reaches, and how far from it a label stands. */
const RADIUS = 4;
const GAP = 2;
/** Around a point: right, left, above, below, and between these; then farther away. */
const DIRECTIONS = [
  [1, -0.7],
  [1, 0.7],
  [1, 0],
  [-1, 0],
  [-1, -0.7],
  [-1, 0.7],
  [0, -1],
  [0, 1],
] as const;
const DISTANCES = [RADIUS + GAP, RADIUS + 9];

/**
 * A place for every label that has one: inside the plot, off every point and every other label, and not under what is
 * `taken`. Undefined where there is none.
 */
export const placeLabels = (
  points: readonly LabelledPoint[],
  {
    width,
    height,
    fontSize,
    taken = [],
  }: {
    readonly width: number;
    readonly height: number;
    readonly fontSize: number;
    readonly taken?: readonly Box[] | undefined;
  },
): (PlacedLabel | undefined)[] => {
  const marks = points.map(({ x, y }) => ({
    left: x - RADIUS,
    right: x + RADIUS,
    top: y - RADIUS,
    bottom: y + RADIUS,
  }));
  const written: Box[] = [...taken];
  const placed: (PlacedLabel | undefined)[] = points.map(() => undefined);
  const lineHeight = 1.2 * fontSize;
  const order = [...points.keys()].toSorted((a, b) => points[a].rank - points[b].rank || a - b);
  for (const at of order) {
    const { x, y, text } = points[at];
    if (text === "") continue;
    const wide = textWidth(text, fontSize);
    const places = DISTANCES.flatMap((distance) =>
      DIRECTIONS.map(([right, down]) => {
        const left = right > 0 ? x + distance : right < 0 ? x - distance - wide : x - wide / 2;
        const middle = y + down * (right === 0 ? distance + lineHeight / 2 : distance);
        return { left, right: left + wide, top: middle - lineHeight / 2, bottom: middle + lineHeight / 2 };
      }),
    );
    const free = places.find(
      (box) =>
        box.left >= 0 &&
        box.right <= width &&
        box.top >= 0 &&
        box.bottom <= height &&
        marks.every((mark) => apart(box, mark)) &&
        written.every((other) => apart(box, other)),
    );
    if (free === undefined) continue;
    written.push(free);
    placed[at] = { x: free.left, y: (free.top + free.bottom) / 2 };
  }
  return placed;
};

/** A white edge around letters, so that they are read on a line too: for a layer below theirs. */
export const HALO = {
  color: "white",
  stroke: "white",
  strokeWidth: 3,
  strokeJoin: "round",
  aria: false,
} as const;

/** Between the values of an axis and the pixels of a plot; `up` for a vertical axis, whose values grow upwards. */
export const axisScale = ([low, high]: readonly [number, number], length: number, up = false) => ({
  toPixels: (value: number): number => {
    const share = (value - low) / (high - low);
    return length * (up ? 1 - share : share);
  },
  toValue: (pixels: number): number => low + (high - low) * (up ? 1 - pixels / length : pixels / length),
});

/**
 * Labels for points of a chart, in the units of its axes, and how many found no room. The ends of the lines that points
 * are joined to come first.
 */
export const chartLabels = <
  Point extends { readonly x: number; readonly y: number; readonly text: string; readonly rank: number },
>(
  points: readonly Point[],
  {
    xDomain,
    yDomain,
    width,
    height,
    fontSize,
    taken,
  }: {
    readonly xDomain: readonly [number, number];
    readonly yDomain: readonly [number, number];
    readonly width: number;
    readonly height: number;
    readonly fontSize: number;
    readonly taken?: readonly Box[] | undefined;
  },
): {
  readonly labels: (Point & { readonly labelX: number; readonly labelY: number })[];
  readonly missing: number;
} => {
  const [across, upwards] = [axisScale(xDomain, width), axisScale(yDomain, height, true)];
  const places = placeLabels(
    points.map((point) => ({
      ...point,
      x: across.toPixels(point.x),
      y: upwards.toPixels(point.y),
    })),
    { width, height, fontSize, taken },
  );
  return {
    labels: points.flatMap((point, at) => {
      const place = places[at];
      if (place === undefined) return [];
      return [{ ...point, labelX: across.toValue(place.x), labelY: upwards.toValue(place.y) }];
    }),
    missing: points.filter(({ text }, at) => text !== "" && places[at] === undefined).length,
  };
};
