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
