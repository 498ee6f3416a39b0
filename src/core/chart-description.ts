/**
 * Charts as plain data: whoever measures says what is to be seen, whoever draws need not know where it comes from.
 * Both stand on this, and neither on the other.
 */

/** A mean with the ends of its error or interval; both are the mean where there is none. */
export interface ChartValue {
  readonly mean: number;
  readonly low: number;
  readonly high: number;
}

/** Two numbers of every method against each other; points of one method are joined along beta. */
export interface TradeOffDescription {
  readonly kind: "trade-off";
  readonly points: readonly {
    readonly method: string;
    readonly beta?: number | undefined;
    /** Written beside a point without a beta. */
    readonly label?: string | undefined;
    /** Labels acquired by then. */
    readonly labels?: number | undefined;
    readonly x: ChartValue;
    readonly y: ChartValue;
  }[];
  readonly title: string;
  readonly xTitle: string;
  readonly yTitle: string;
  /** The corner that is better, in words. */
  readonly better: string;
}

/** A grid of panels against the number of labels. */
export interface CurvesDescription {
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

/** Nats about the target and the sensitive part. */
export interface InformationDescription {
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

/** Designs in the plane. */
export interface DesignsDescription {
  readonly kind: "designs";
  readonly points: readonly { readonly seed: number; readonly x: number; readonly y: number }[];
  readonly prior: readonly [number, number];
  readonly title: string;
}

/** One number under many settings, a line for each, beside what a paper says it is. */
export interface SettingsDescription {
  readonly kind: "settings";
  readonly rows: readonly {
    /** Settings of one kind stand together. */
    readonly group: string;
    readonly setting: string;
    readonly value: ChartValue;
    /** A verdict or another word, told apart by colour. */
    readonly description: string;
  }[];
  readonly paper: ChartValue;
  readonly xTitle: string;
  readonly title: string;
  /** What bars and line are, where they are not the usual ones. */
  readonly subtitle?: string | undefined;
}

export type ChartDescription = (
  | TradeOffDescription
  | CurvesDescription
  | InformationDescription
  | DesignsDescription
  | SettingsDescription
) & {
  /** What has to be known of it wherever it is seen, such as that it is not complete. */
  readonly note?: string | undefined;
};
