/** The tables of a store, as they are in the newest version; migrations.ts makes them. */
import type { EventKind } from "../campaign/events.js";

/** A campaign and where its log ends. */
export interface CampaignRow {
  readonly name: string;
  readonly seq: number;
  readonly at: number;
  readonly hash: string;
}

export interface EventRow {
  readonly campaign: string;
  readonly seq: number;
  readonly at: number;
  readonly kind: EventKind;
  readonly id: string | null;
  readonly subject: string | null;
  readonly body: string | null;
  readonly salt: string | null;
  readonly digest: string;
  readonly hash: string;
}

export interface ItemRow {
  readonly campaign: string;
  readonly item: number;
  readonly id: string | null;
  readonly cells: string | null;
  readonly salt: string | null;
  readonly digest: string;
}

export interface DocumentRow {
  readonly kind: string;
  readonly key: string;
  readonly body: string;
}

export interface StoreTables {
  readonly campaigns: CampaignRow;
  readonly events: EventRow;
  readonly items: ItemRow;
  readonly documents: DocumentRow;
  /** One row. */
  readonly store_version: { readonly version: number };
}
