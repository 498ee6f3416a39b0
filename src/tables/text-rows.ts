/** Rows of texts, from wherever they come, as a table: whole, or a part at a time. */
import { InputError } from "../core/errors.js";
import { nearestName } from "../core/nearest-name.js";
import { pacer, type RunOptions } from "../core/options.js";
import { type CellColumn, type CellTexts, cellColumn } from "./cell-column.js";
import type { CellType } from "./cell-type.js";
import { nearlyNumericNote } from "./nearly-numeric.js";
import { type Table, tableTexts } from "./table.js";

/** A table of texts that can be read from its beginning as often as needed. */
export interface TextRows {
  readonly columns: readonly TextRowsColumn[];
  readonly missing: readonly string[];
  readonly notes: readonly string[];
  /** Every row as its cells, in batches; throws where the source is broken. */
  read(): AsyncIterable<Iterable<readonly string[]>>;
}

export interface TextRowsColumn {
  readonly name: string;
  readonly type: CellType;
}

export interface TextRowsOptions extends RunOptions {
  /** What the table is called in messages. */
  readonly name: string;
  /** Only these columns, in this order; all unless given. */
  readonly columns?: readonly string[] | undefined;
  /** Columns whose text was asked for, and about which there is nothing to say. */
  readonly asText?: readonly string[] | undefined;
}

export const textRowsTexts = {
  noRows: (name: string) => `${name} has no rows: give a table with at least one.`,
};

/** A column that is read: its place in the source, and the texts in it once they are known. */
interface ReadColumn extends TextRowsColumn {
  readonly place: number;
  readonly texts?: CellTexts | undefined;
}

const buildersOf = (columns: readonly ReadColumn[], missing: readonly string[], keep: boolean) =>
  columns.map((column) => ({ place: column.place, build: cellColumn({ ...column, missing, keep }) }));

/** Appends every row; gives back how many there were. */
const readInto = async (
  rows: TextRows,
  builders: readonly { readonly place: number; readonly build: CellColumn }[],
  options: RunOptions,
): Promise<number> => {
  const pace = pacer(options);
  let count = 0;
  for await (const batch of rows.read()) {
    for (const cells of batch) {
      for (const { place, build } of builders) build.append(cells[place]);
      count += 1;
    }
    await pace.step({ done: count, total: count, label: "reading" });
  }
  return count;
};

/** The whole table. */
export const tableOfRows = async (rows: TextRows, options: TextRowsOptions): Promise<Table> => {
  const { name, asText = [] } = options;
  const columns = chosenColumns(rows, options);
  const builders = buildersOf(columns, rows.missing, true);
  const count = await readInto(rows, builders, options);
  if (count === 0) throw new InputError("empty-table", textRowsTexts.noRows(name));
  // What was taken for numbers by its first rows and is none further down is read once more, as text.
  const misfits = columns.flatMap((column, at) =>
    builders[at].build.isMisfit ? [{ at, column: { ...column, type: "text" as const } }] : [],
  );
  const again = buildersOf(
    misfits.map(({ column }) => column),
    rows.missing,
    true,
  );
  if (again.length > 0) await readInto(rows, again, options);
  const found = new Map(misfits.map(({ at }, index) => [at, again[index]]));
  const read = builders.map((builder, at) => (found.get(at) ?? builder).build.take());
  const doubts = read.flatMap((column) =>
    asText.includes(column.name) ? [] : (nearlyNumericNote(column) ?? []),
  );
  return { name, rows: count, columns: read, notes: [...rows.notes, ...doubts] };
};

/** Rows whose types and texts are known: they were read once. */
export interface SettledRows {
  readonly rows: TextRows;
  readonly columns: readonly ReadColumn[];
}

/** Finds out what the columns hold, from all rows. */
export const settleRows = async (rows: TextRows, options: TextRowsOptions): Promise<SettledRows> => {
  const columns = chosenColumns(rows, options).map((column) => ({ ...column, texts: new Map() }));
  const builders = buildersOf(columns, rows.missing, false);
  if ((await readInto(rows, builders, options)) === 0) {
    throw new InputError("empty-table", textRowsTexts.noRows(options.name));
  }
  const settled = columns.map((column, at) =>
    builders[at].build.isMisfit ? { ...column, type: "text" as const } : column,
  );
  const misfits = settled.filter((_, at) => builders[at].build.isMisfit);
  if (misfits.length > 0) await readInto(rows, buildersOf(misfits, rows.missing, false), options);
  return { rows, columns: settled };
};

/** The table in parts of at most `chunkRows` rows, with the types and levels of the whole. */
export async function* partsOfRows(
  { rows, columns }: SettledRows,
  chunkRows: number,
  name: string,
): AsyncGenerator<Table, void, undefined> {
  const { missing, notes } = rows;
  const builders = buildersOf(columns, missing, true);
  let filled = 0;
  const part = (): Table => {
    const taken = { name, rows: filled, columns: builders.map(({ build }) => build.take()), notes };
    filled = 0;
    return taken;
  };
  for await (const batch of rows.read()) {
    for (const cells of batch) {
      for (const { place, build } of builders) build.append(cells[place]);
      filled += 1;
      if (filled === chunkRows) yield part();
    }
  }
  if (filled > 0) yield part();
}

const chosenColumns = (
  { columns }: TextRows,
  { name, columns: wanted }: TextRowsOptions,
): readonly ReadColumn[] => {
  const all = columns.map((column, place) => ({ ...column, place }));
  if (wanted === undefined) return all;
  const byName = new Map(all.map((column) => [column.name, column]));
  return wanted.map((each) => {
    const found = byName.get(each);
    if (found !== undefined) return found;
    const names = [...byName.keys()];
    const text = tableTexts.noColumn(name, each, nearestName(each, names), names);
    throw new InputError("unknown-column", text);
  });
};
