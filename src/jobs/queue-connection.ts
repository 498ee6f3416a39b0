/** The connection to the database of a queue. */
import type PgBoss from "pg-boss";
import { EnvironmentError, FairbedError, InputError } from "../core/errors.js";
import { optionalPackage } from "../sources/optional-package.js";
import { isPostgres, postgresTexts } from "../sources/postgres-relation.js";
import { withoutPassword } from "../sources/without-password.js";

export const queueConnectionTexts = {
  /** Does not repeat what was given: a password may stand anywhere in it. */
  address:
    "the queue that was named is no address of a PostgreSQL database: write postgres://user@host:5432/database",
  none: "name the queue with --queue postgres://user@host:5432/database, or in the environment variable FAIRBED_QUEUE",
  noDatabase: (queue: string) =>
    `the server of ${queue} has no database of this name: create it there (createdb), or name another`,
  refused: (queue: string, reason: string) =>
    `the queue ${queue} could not answer (${reason}): check that this user may create a schema and tables there`,
};

/** One statement; what it gives, row by row. */
export type Sql = <Row = Record<string, unknown>>(
  text: string,
  values?: readonly unknown[],
) => Promise<readonly Row[]>;

export interface QueueConnection {
  /** Without the password. */
  readonly shown: string;
  readonly sql: Sql;
  readonly boss: PgBoss;
  /** Seconds since it was opened, or since it last could not be reached. */
  steadyFor(): number;
  /** All of it or nothing; `db` hands statements of pg-boss to it. */
  transaction<Result>(work: (sql: Sql, db: PgBoss.Db) => Promise<Result>): Promise<Result>;
  close(): Promise<void>;
}

/** Everything of a queue is in this schema of the database. */
export const SCHEMA = "fairbed_queue";

const CONNECT_MS = 15_000;
/** A worker's loop, its heartbeat and what it stores; and one to spare. */
const CONNECTIONS = 4;
/** Of two transactions that wait for each other, the server ends one, which is then done again. */
const DEADLOCK_TRIES = 5;

/** The address that was given, or that of the environment; none where neither is. */
export const queueAddress = (given: string | undefined): string | undefined => {
  const address = given ?? process.env.FAIRBED_QUEUE ?? "";
  return address === "" ? undefined : address;
};

export const requireQueueAddress = (given: string | undefined): string => {
  const address = queueAddress(given);
  if (address === undefined) throw new InputError("no-queue", queueConnectionTexts.none);
  return address;
};

export const connectQueue = async (address: string): Promise<QueueConnection> => {
  const shown = withoutPassword(address);
  if (!isPostgres(address)) throw new InputError("queue-address", queueConnectionTexts.address);
  const all = "pg pg-boss";
  const { default: pg } = await optionalPackage(() => import("pg"), "a queue", "pg", undefined, all);
  const { default: Boss } = await optionalPackage(
    () => import("pg-boss"),
    "a queue",
    "pg-boss",
    undefined,
    all,
  );
  let steadySince = performance.now();
  const worded = async <Result>(action: () => Promise<Result>): Promise<Result> => {
    try {
      return await action();
    } catch (error) {
      const told = inWords(error, shown);
      if (told instanceof UnreachableQueue) steadySince = performance.now();
      throw told;
    }
  };
  const pool = new pg.Pool({
    connectionString: address,
    max: CONNECTIONS,
    connectionTimeoutMillis: CONNECT_MS,
    fallback_application_name: "fairbed",
  });
  // Without listeners, a connection that breaks between two statements ends the process; the next statement will tell.
  pool.on("error", () => {});
  pool.on("connect", (client) => client.on("error", () => {}));
  const sql: Sql = <Row>(text: string, values: readonly unknown[] = []) =>
    worded(async () => (await pool.query(text, [...values])).rows as Row[]);
  // A connection on which something went wrong is closed, which ends its transaction.
  const execute = async (text: string, values: readonly unknown[], left = DEADLOCK_TRIES) => {
    const client = await pool.connect();
    let failure: unknown;
    try {
      return await client.query(text, [...values]);
    } catch (error) {
      failure = error;
    } finally {
      client.release(failure !== undefined);
    }
    if (codeOf(failure) === "40P01" && left > 1) return execute(text, values, left - 1);
    throw failure;
  };
  // Its supervision is off: after the database was away it would take every worker for lost (docs/architecture.md).
  const boss = new Boss({
    schema: SCHEMA,
    supervise: false,
    schedule: false,
    db: { executeSql: (text, values = []) => worded(() => execute(text, values)) },
  });
  const transaction = async <Result>(
    work: (sql: Sql, db: PgBoss.Db) => Promise<Result>,
    left = DEADLOCK_TRIES,
  ): Promise<Result> => {
    const client = await pool.connect();
    let failure: unknown;
    try {
      await client.query("BEGIN");
      const result = await work(
        async <Row>(text: string, values: readonly unknown[] = []) =>
          (await client.query(text, [...values])).rows as Row[],
        { executeSql: (text, values) => client.query(text, values) },
      );
      await client.query("COMMIT");
      return result;
    } catch (error) {
      failure = error;
    } finally {
      // A connection on which something went wrong is closed, which ends its transaction.
      client.release(failure !== undefined);
    }
    if (codeOf(failure) === "40P01" && left > 1) return transaction(work, left - 1);
    throw failure;
  };
  return {
    shown,
    sql,
    boss,
    steadyFor: () => (performance.now() - steadySince) / 1000,
    transaction: (work) => worded(() => transaction(work)),
    close: async () => {
      await pool.end();
    },
  };
};

/** A queue that cannot be reached now may be there again soon. */
export class UnreachableQueue extends EnvironmentError {}

const codeOf = (error: unknown): string =>
  error instanceof Error && "code" in error ? String(error.code) : "";

/** As one sentence without the password. */
const inWords = (error: unknown, shown: string): unknown => {
  if (error instanceof FairbedError || !(error instanceof Error)) return error;
  const code = codeOf(error);
  // What it complains about may hold the address, and with it the password: it is no cause to hand on.
  if (code === "ERR_INVALID_URL") {
    return new InputError("queue-address", postgresTexts.address(shown));
  }
  const isServers = "severity" in error;
  if ((isServers && code.startsWith("28")) || error.message.startsWith("SASL")) {
    return new InputError("queue-login", postgresTexts.login(shown));
  }
  if (isServers && code === "3D000") {
    return new InputError("queue-address", queueConnectionTexts.noDatabase(shown));
  }
  // The server starts, stops, or has too many connections.
  const passes = /^(57P0|08|53)/.test(code);
  if (!isServers || passes) {
    const reason = code === "" ? withoutPassword(error.message) : code;
    return new UnreachableQueue("unreachable-queue", postgresTexts.unreachable(shown, reason));
  }
  return new EnvironmentError("queue", queueConnectionTexts.refused(shown, withoutPassword(error.message)), {
    cause: error,
  });
};
