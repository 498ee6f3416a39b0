/** A table or figure of the paper: what is run for it, written down before it is run, and how it is drawn. */
import type { Cell } from "./cell.js";
import type { Results } from "./store.js";
import type { Comparison, SeedMean } from "./verdict.js";

export interface Scale {
  /** A smaller protocol of the same shape, to see that everything works. */
  readonly quick: boolean;
  /** How many seeds, from 0; the protocol's own number unless given. */
  readonly seeds?: number;
}

export interface ChartValue {
  readonly mean: number;
  readonly low: number;
  readonly high: number;
}

/** Charts as plain data: whoever draws them need not know where they come from. */
export type ChartDescription =
  | {
      readonly kind: "trade-off";
      readonly points: readonly {
        readonly method: string;
        readonly beta?: number;
        /** Labels acquired by then. */
        readonly labels?: number;
        readonly x: ChartValue;
        readonly y: ChartValue;
      }[];
      readonly title: string;
      readonly xTitle: string;
      readonly yTitle: string;
      readonly better: string;
    }
  | {
      readonly kind: "curves";
      readonly points: readonly {
        readonly row: string;
        readonly column: string;
        readonly method: string;
        readonly labels: number;
        readonly value: ChartValue;
      }[];
      readonly title: string;
    }
  | {
      readonly kind: "information";
      readonly rows: readonly {
        /** What is told apart by panels, such as static designs and a policy. */
        readonly panel: string;
        readonly x: number;
        readonly about: string;
        readonly value: ChartValue;
      }[];
      readonly xTitle: string;
      readonly title: string;
    }
  | {
      readonly kind: "designs";
      readonly points: readonly { readonly seed: number; readonly x: number; readonly y: number }[];
      readonly prior: readonly [number, number];
      readonly title: string;
    };

export interface FigureDescription {
  /** Part of the file's name. */
  readonly id: string;
  readonly caption: string;
  readonly chart: ChartDescription;
}

export interface Drawing {
  readonly comparisons: readonly Comparison[];
  /** What was measured, where the paper has no numbers to compare with. */
  readonly measured: readonly { readonly row: string; readonly column: string; readonly ours: SeedMean }[];
  readonly figures: readonly FigureDescription[];
}

export interface Reproduction {
  readonly name: string;
  readonly title: string;
  /** Where it is in the paper. */
  readonly source: string;
  /** What is done, one sentence each. */
  readonly protocol: readonly string[];
  cells(scale: Scale): readonly Cell[];
  draw(results: Results, scale: Scale): Drawing;
}

/** The interval where there is one; else the mean itself. */
export const chartValue = ({ mean, interval }: SeedMean): ChartValue => ({
  mean,
  low: interval?.[0] ?? mean,
  high: interval?.[1] ?? mean,
});

export const seedsOf = (count: number): readonly number[] => Array.from({ length: count }, (_, seed) => seed);
