/** Information is measured in nats and shown in the unit that was asked for: the one place that converts. */
export interface InformationUnit {
  readonly name: "nats" | "bits";
  /** One of them, in a sentence. */
  readonly one: "nat" | "bit";
  readonly of: (nats: number) => number;
}

export const NATS: InformationUnit = { name: "nats", one: "nat", of: (nats) => nats };
export const BITS: InformationUnit = { name: "bits", one: "bit", of: (nats) => nats / Math.LN2 };

export const unitOf = (bits: boolean): InformationUnit => (bits ? BITS : NATS);

interface Summary {
  readonly mean: number | null;
  readonly standardError: number | null;
  readonly interval: readonly [number, number] | null;
}

/** A mean in nats with its errors, in another unit. */
export const summaryIn = <Of extends Summary>(summary: Of, { of }: InformationUnit): Of => ({
  ...summary,
  mean: summary.mean === null ? null : of(summary.mean),
  standardError: summary.standardError === null ? null : of(summary.standardError),
  interval: summary.interval === null ? null : [of(summary.interval[0]), of(summary.interval[1])],
});
