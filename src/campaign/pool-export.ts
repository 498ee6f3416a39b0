/** The rows of a campaign about a pool, each with how it came to its label. */
import { inclusionWeights } from "../active/inclusion.js";
import { DATE_UNIT } from "../tables/cell-type.js";
import { columnsOfRule } from "../tables/label.js";
import { PROVENANCE_COLUMNS, type ProvenanceColumn } from "../tables/provenance.js";
import {
  type Column,
  columnNames,
  columnOfNumbers,
  columnOfTexts,
  dropColumns,
  selectRows,
  type Table,
  tableOfColumns,
} from "../tables/table.js";
import type { LoadedCampaign, PoolContent } from "./loaded-campaign.js";
import { acquiredAs } from "./pool-answers.js";
import { tableOfCampaign } from "./pool-content.js";
import type { Ask, ItemState } from "./pool-state.js";
import { outcomeOf } from "./pool-state.js";

/**
 * What an export adds to the columns of the pool, each name behind `fairbed_`:
 *
 * - `status`: initial, labelled; of all rows also refused, disputed, waiting, expired, open
 * - `reason`: initial, score, random, no-ranking, unasked or adjudication; missing where nobody was asked
 * - `probability`: with which it was drawn among all that were left; missing where it was chosen
 * - `weight`: for how many of the pool it counts (`inclusionWeights`); missing where it was not asked for, and where no
 *   row was drawn at random
 * - `order`: it was asked as so many-th, from 1
 * - `opinions`, `agreement`: how many annotators gave a label, and the share of them who say what it is taken for; missing
 *   with fewer than two
 * - `asked_at`, `answered_at`: when the question was asked that was answered, and when the first answer came, in UTC
 * - `corrections`: answers that changed an earlier one
 */
export { PROVENANCE_COLUMNS, type ProvenanceColumn };

export type ExportedStatus = "initial" | "labelled" | "refused" | "disputed" | "waiting" | "expired" | "open";

/**
 * What the added columns are called: `fairbed_status` and so on. A pool that is itself an export has those already; then
 * all of them are `fairbed2_status` and so on.
 */
export const provenanceNames = (names: readonly string[]): Readonly<Record<ProvenanceColumn, string>> => {
  // A database and a spreadsheet take `A` and `a` for the same name.
  const taken = new Set(names.map((name) => name.toLowerCase()));
  for (let round = 1; ; round++) {
    const prefix = round === 1 ? "fairbed_" : `fairbed${round}_`;
    if (PROVENANCE_COLUMNS.some((name) => taken.has(prefix + name))) continue;
    return Object.fromEntries(PROVENANCE_COLUMNS.map((name) => [name, prefix + name])) as Record<
      ProvenanceColumn,
      string
    >;
  }
};

const isInitial = ({ task, rowOf }: PoolContent, item: number): boolean =>
  task.target.labels[rowOf[item]] >= 0;

export const statusOfItem = (pool: PoolContent, item: number, at: number): ExportedStatus => {
  const own = pool.state.item(item);
  const kind = own === undefined ? "none" : outcomeOf(own).kind;
  if (kind === "refused") return "refused";
  if (isInitial(pool, item)) return "initial";
  if (kind === "label") return "labelled";
  if (kind === "disputed") return "disputed";
  if (own === undefined || own.asks.length === 0) return "open";
  return pool.state.isOpen(item, at) ? "expired" : "waiting";
};

/** Labels that were collected and asked for, in that order, each with the question that it answers. */
export const askedLabels = (
  pool: PoolContent,
): readonly { readonly item: number; readonly ask: Ask & { readonly place: number } }[] =>
  [...pool.state.answered]
    .flatMap((item) => {
      const { outcome, ask } = acquiredAs(pool, item) ?? {};
      const place = ask?.place;
      return outcome?.kind !== "label" || ask === undefined || place === undefined
        ? []
        : [{ item, ask: { ...ask, place } }];
    })
    .sort((a, b) => a.ask.place - b.ask.place);

/** For how many of the pool each label that was asked for counts, by item; empty where none was drawn at random. */
export const weightsOfItems = (pool: PoolContent): ReadonlyMap<number, number> => {
  const asked = askedLabels(pool);
  if (!asked.some(({ ask }) => ask.probability !== undefined)) return new Map();
  const weights = inclusionWeights(asked.map(({ ask }) => ask));
  return new Map(asked.map(({ item }, i) => [item, weights[i]]));
};

const agreementOn = (own: ItemState): { readonly opinions: number; readonly agreement: number } => {
  const votes = new Map<string, number>();
  for (const { label } of own.opinions.values()) {
    if (label !== undefined) votes.set(String(label), (votes.get(String(label)) ?? 0) + 1);
  }
  const opinions = [...votes.values()].reduce((sum, count) => sum + count, 0);
  const outcome = outcomeOf(own);
  const same =
    outcome.kind === "label" ? (votes.get(String(outcome.label)) ?? 0) : Math.max(0, ...votes.values());
  return { opinions, agreement: opinions < 2 ? Number.NaN : same / opinions };
};

const MS_PER_DAY = 86_400_000;
const daysOf = (time: number | undefined): number => (time === undefined ? Number.NaN : time / MS_PER_DAY);

/** When the first answer came that still stands. */
const answeredAt = (now: LoadedCampaign, item: number, own: ItemState): number | undefined => {
  const events = now.eventsAbout(String(item));
  const first = Math.min(...[...own.opinions.values()].map((opinion) => opinion.first));
  if (Number.isFinite(first)) return events.find(({ seq }) => seq === first)?.at;
  return own.adjudicated === undefined ? undefined : events.find(({ kind }) => kind === "adjudicated")?.at;
};

const reasonOf = (ask: Ask | undefined, own: ItemState): string | undefined => {
  if (ask !== undefined) return ask.reason;
  if (own.opinions.size > 0) return "unasked";
  return own.adjudicated === undefined ? undefined : "adjudication";
};

interface Provenance {
  readonly status: ExportedStatus;
  readonly reason: string | undefined;
  readonly probability: number;
  readonly weight: number;
  readonly order: number;
  readonly opinions: number;
  readonly agreement: number;
  readonly asked_at: number;
  readonly answered_at: number;
  readonly corrections: number;
}

const provenanceOf = (
  now: LoadedCampaign,
  pool: PoolContent,
  item: number,
  weights: ReadonlyMap<number, number>,
): Provenance => {
  const status = statusOfItem(pool, item, now.head.at);
  const own = pool.state.item(item);
  const ask = isInitial(pool, item) ? undefined : acquiredAs(pool, item)?.ask;
  const { opinions, agreement } =
    own === undefined ? { opinions: 0, agreement: Number.NaN } : agreementOn(own);
  return {
    status,
    reason: isInitial(pool, item) ? "initial" : own && reasonOf(ask, own),
    probability: ask?.probability ?? Number.NaN,
    weight: weights.get(item) ?? Number.NaN,
    order: ask?.place === undefined ? Number.NaN : ask.place + 1,
    opinions,
    agreement,
    asked_at: daysOf(ask?.at),
    answered_at: own === undefined ? Number.NaN : daysOf(answeredAt(now, item, own)),
    corrections: own?.corrections ?? 0,
  };
};

/** Without levels that no row has. */
const withoutUnused = (column: Column): Column =>
  column.kind === "numeric"
    ? column
    : columnOfTexts(
        column.name,
        Array.from(column.codes, (code) => (code < 0 ? undefined : column.levels[code])),
      );

const provenanceColumns = (names: readonly string[], rows: readonly Provenance[]): readonly Column[] => {
  const called = provenanceNames(names);
  return PROVENANCE_COLUMNS.map((name): Column => {
    if (name === "status" || name === "reason") {
      return columnOfTexts(
        called[name],
        rows.map((each) => each[name]),
      );
    }
    const column = columnOfNumbers(
      called[name],
      rows.map((each) => each[name]),
    );
    return name === "asked_at" || name === "answered_at" ? { ...column, unit: DATE_UNIT } : column;
  });
};

export interface PoolExportChoice {
  readonly all: boolean;
  readonly withoutSensitive: boolean;
}

/** In the order of the pool. */
export const poolExport = (
  now: LoadedCampaign,
  pool: PoolContent,
  { all, withoutSensitive }: PoolExportChoice,
): Table => {
  const weights = weightsOfItems(pool);
  const rows: number[] = [];
  const provenance: Provenance[] = [];
  pool.itemOf.forEach((item, row) => {
    const own = provenanceOf(now, pool, item, weights);
    if (!all && own.status !== "initial" && own.status !== "labelled") return;
    rows.push(row);
    provenance.push(own);
  });
  const filled = selectRows(tableOfCampaign(pool, now.head.at), rows);
  const hidden = new Set(pool.sensitive.flatMap(({ rule }) => columnsOfRule(rule)));
  const kept = withoutSensitive
    ? dropColumns(
        filled,
        columnNames(filled).filter((name) => hidden.has(name)),
      )
    : filled;
  // Names that are taken are those of the whole pool: the same export with and without sensitive columns.
  const added = provenanceColumns(columnNames(filled), provenance);
  return tableOfColumns([...kept.columns.map(withoutUnused), ...added], { name: now.name });
};
