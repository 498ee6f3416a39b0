/** Tables and queries of a PostgreSQL database, by the package pg. */
import type { DuckDBConnection } from "@duckdb/node-api";
import type { Client, FieldDef } from "pg";
import { EnvironmentError, FairbedError, InputError } from "../core/errors.js";
import { databaseTexts } from "./database-relation.js";
import { sqlName } from "./duckdb.js";
import { type Batch, loadedTexts, loadTable } from "./loaded-relation.js";
import { optionalPackage } from "./optional-package.js";
import { type TextSettings, typedColumn } from "./query-relation.js";
import { reasonOf } from "./reason.js";
import type { Relation } from "./relation.js";
import { singleStatement } from "./single-statement.js";
import { withoutPassword } from "./without-password.js";

export const isPostgres = (path: string): boolean => /^postgres(ql)?:\/\//i.test(path);

/** What pg says of TLS, and the codes of Node and OpenSSL. */
const OF_TLS = /SSL|TLS|CERT|UNABLE_TO_/;

export const postgresTexts = {
  address: (shown: string) =>
    `${shown} is no address of a database: write postgres://user:password@host:5432/database, with special characters as %40 and the like.`,
  unreachable: (shown: string, reason: string) =>
    `${shown} could not be reached (${reason}): ${
      OF_TLS.test(reason)
        ? "the address asks for TLS, so check that the server offers it, with a certificate that this machine trusts and in the name of that host."
        : "check the host and the port, and that the server runs."
    }`,
  login: (shown: string) =>
    `${shown} refused the user or the password: check both; the password may also come from PGPASSWORD or ~/.pgpass.`,
};

const CONNECT_MS = 15_000;
const FETCHED_ROWS = 8192;

export const postgresRelation = async (
  connection: DuckDBConnection,
  address: string,
  name: string,
  query: string | undefined,
  { missing, asText }: TextSettings,
): Promise<Relation> => {
  const client = await connect(address, name);
  try {
    // Numbers and times as texts that mean the same everywhere; and whatever the query says, nothing is changed.
    await client.query(
      "BEGIN READ ONLY; SET LOCAL TimeZone = 'UTC'; SET LOCAL DateStyle = 'ISO, YMD'; SET LOCAL extra_float_digits = 3",
    );
    // One process of the server, from the beginning of every table: else what LIMIT keeps differs from time to time.
    await client.query("SET LOCAL max_parallel_workers_per_gather = 0; SET LOCAL synchronize_seqscans = off");
    const { text, isOrdered } = singleStatement(query ?? (await onlyTable(client, name)), "postgres");
    await ask(client, `DECLARE fairbed_rows NO SCROLL CURSOR FOR ${text}`);
    const first = await fetchRows(client);
    const { VARCHAR } = await import("@duckdb/node-api");
    const fields = first.fields.map((field) => ({ name: field.name, given: VARCHAR, type: typeOf(field) }));
    const isBytes = first.fields.map(({ dataTypeID }) => dataTypeID === BYTEA);
    // A table on a server has no order of its own.
    const loaded = await loadTable(connection, name, fields, batches(client, first.rows, isBytes), {
      sorted: !isOrdered,
    });
    const columns = loaded.columns.map(({ name: column, sql: raw, type }) =>
      typedColumn(column, raw, type, asText.includes(column)),
    );
    const bytes = columns.filter((_, index) => isBytes[index]);
    const notes = [...loaded.notes, ...bytes.map((column) => loadedTexts.bytes(column.name))];
    return { from: loaded.from, columns, missing, notes };
  } catch (error) {
    throw inWords(error, name);
  } finally {
    await client.end().catch(() => {});
  }
};

const connect = async (address: string, name: string): Promise<Client> => {
  const { default: pg } = await optionalPackage(() => import("pg"), "reading PostgreSQL", "pg");
  let client: Client;
  try {
    client = new pg.Client({
      connectionString: address,
      connectionTimeoutMillis: CONNECT_MS,
      fallback_application_name: "fairbed",
    });
  } catch {
    // What it complains about may hold the address, and with it the password: it is no cause to hand on.
    throw new InputError("database-address", postgresTexts.address(name));
  }
  // Without a listener, a connection that breaks between two queries ends the process; the next query will tell.
  client.on("error", () => {});
  try {
    await client.connect();
    return client;
  } catch (error) {
    await client.end().catch(() => {});
    throw inWords(error, name);
  }
};

type TextRow = readonly (string | null)[];

/** One statement only: this way of asking does not take several. */
const ask = async (client: Client, text: string) => {
  const question = {
    text,
    queryMode: "extended",
    rowMode: "array" as const,
    // Every cell as the text that the server sent.
    types: { getTypeParser: () => (cell: string) => cell },
  };
  return client.query<(string | null)[]>(question);
};

const fetchRows = (client: Client) => ask(client, `FETCH ${FETCHED_ROWS} FROM fairbed_rows`);

async function* batches(
  client: Client,
  first: readonly TextRow[],
  isBytes: readonly boolean[],
): AsyncGenerator<Batch> {
  for (let rows = first; rows.length > 0; rows = (await fetchRows(client)).rows) {
    yield isBytes.map((bytes, column) => rows.map((row) => (bytes ? null : row[column])));
  }
}

const onlyTable = async (client: Client, name: string): Promise<string> => {
  const listing =
    "SELECT table_schema, table_name FROM information_schema.tables WHERE table_schema <> 'information_schema' AND table_schema NOT LIKE 'pg\\_%' ORDER BY 1, 2";
  const { rows } = await ask(client, listing);
  const tables = rows.map(([schema, table]) => ({ schema: String(schema), table: String(table) }));
  if (tables.length === 1) return `SELECT * FROM ${sqlName(tables[0].schema)}.${sqlName(tables[0].table)}`;
  const names = tables.map(({ schema, table }) => (schema === "public" ? table : `${schema}.${table}`));
  throw new InputError("which-table", databaseTexts.whichTable(name, names));
};

const BYTEA = 17;
const NUMERIC = 1700;

/** The system's numbers of types (pg_type.dat of PostgreSQL) that are not text here. */
const TYPES: Readonly<Record<number, string>> = {
  16: "BOOLEAN",
  20: "BIGINT",
  21: "INTEGER",
  23: "INTEGER",
  26: "BIGINT", // an object's number
  700: "DOUBLE",
  701: "DOUBLE",
  1082: "DATE",
  1114: "TIMESTAMP",
  1184: "TIMESTAMP", // with a zone, which is UTC here
};

const WIDEST_DECIMAL = 38;

const typeOf = ({ dataTypeID, dataTypeModifier }: FieldDef): string => {
  if (dataTypeID !== NUMERIC) return TYPES[dataTypeID] ?? "VARCHAR";
  // Digits and decimals, where they were declared; whole numbers stay whole, for they may be identifiers.
  const [digits, decimals] = [((dataTypeModifier - 4) >> 16) & 0xffff, (dataTypeModifier - 4) & 0x7ff];
  const isWhole = dataTypeModifier >= 4 && decimals === 0 && digits <= WIDEST_DECIMAL;
  return isWhole ? `DECIMAL(${digits},0)` : "DOUBLE";
};

/** What is said about the query and its names is passed on, by the classes of PostgreSQL's error codes. */
const saidBy = (error: Error, code: string): string => {
  // Data exceptions quote the cell, which may have quotes of its own.
  if (code.startsWith("22")) return error.message.replace(/".*"/s, '"…"');
  return /^(0A|25|3D|3F|42|53|57)/.test(code) ? error.message : reasonOf(error);
};

/** As one sentence, without the password and without the contents of the table. */
const inWords = (error: unknown, name: string): unknown => {
  if (error instanceof FairbedError || !(error instanceof Error)) return error;
  const code = "code" in error ? String(error.code) : "";
  const isServers = "severity" in error;
  if (isServers && code.startsWith("28")) return new InputError("database-login", postgresTexts.login(name));
  if (isServers) {
    return new InputError("broken-table", databaseTexts.refused(name, withoutPassword(saidBy(error, code))));
  }
  // The server asked for a password, and there was none.
  if (error.message.startsWith("SASL")) return new InputError("database-login", postgresTexts.login(name));
  // What DuckDB says about the types is worded where its other complaints are.
  if (/^[A-Z][A-Za-z ]+ (Error|Exception):/.test(error.message)) return error;
  const reason = code === "" ? withoutPassword(error.message) : code;
  return new EnvironmentError("unreachable-database", postgresTexts.unreachable(name, reason));
};
