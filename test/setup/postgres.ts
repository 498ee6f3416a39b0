/** Tests against a real PostgreSQL: a server of their own that goes away with them, or the reason why there is none. */
import { type ChildProcess, execFile, execFileSync, spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { chownSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { type AddressInfo, createServer } from "node:net";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import pg from "pg";
import { afterAll, beforeAll, describe } from "vitest";
import { findProgram, programs } from "../../scripts/system-programs.mjs";

export interface PostgresServer {
  /** `postgres://user:password@127.0.0.1:port/postgres`, of a user who may do everything. */
  readonly address: string;
  readonly user: string;
  readonly password: string;
  readonly port: number;
  /** Ends it without warning, as a crash would; what was committed is there again after `resume`. */
  halt(): Promise<void>;
  /** Starts it again, at the same address. */
  resume(): Promise<void>;
}

export type PostgresSearch =
  | { readonly folder: string; readonly owner: Owner | undefined }
  | { readonly skip: string };

/** Whom the server runs as; it refuses to run as root. */
interface Owner {
  readonly uid: number;
  readonly gid: number;
}

export const findPostgres = (): PostgresSearch => {
  const program = findProgram(programs.postgres);
  if (program === undefined) {
    return { skip: "no PostgreSQL: install the postgresql package or set POSTGRES_PATH" };
  }
  // Not the folder of a link to it: initdb stands beside the program itself.
  const folder = dirname(realpathSync(program));
  if (process.getuid?.() !== 0) return { folder, owner: undefined };
  const owner = ["postgres", "nobody"].map(ownerNamed).find((found) => found !== undefined);
  return owner === undefined
    ? { skip: "PostgreSQL does not run as root, and there is no user postgres or nobody" }
    : { folder, owner };
};

const ownerNamed = (name: string): Owner | undefined => {
  const idOf = (flag: string) =>
    Number(execFileSync("id", [flag, name], { encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] }));
  try {
    return { uid: idOf("-u"), gid: idOf("-g") };
  } catch {
    return undefined;
  }
};

/**
 * A suite with one empty database server for all its tests, skipped by name where there is no PostgreSQL.
 *
 *     describeWithPostgres("queue", (server) => {
 *       test("…", async () => { const client = new Client(server().address); … });
 *     });
 */
export const describeWithPostgres = (name: string, suite: (server: () => PostgresServer) => void): void => {
  const search = findPostgres();
  if ("skip" in search) {
    describe.skip(`${name} (skipped: ${search.skip})`, () => suite(unavailable));
    return;
  }
  describe(name, () => {
    let running: Running | undefined;
    beforeAll(async () => {
      running = await startPostgres(search.folder, search.owner);
    });
    afterAll(() => running?.stop());
    suite(() => running ?? unavailable());
  });
};

/** The address of one more database on the server, with nothing in it. */
export const emptyDatabase = async ({ address }: PostgresServer): Promise<string> => {
  const client = new pg.Client(address);
  await client.connect();
  try {
    const name = `empty_${randomUUID().replaceAll("-", "")}`;
    await client.query(`CREATE DATABASE ${name}`);
    return address.replace(/\/postgres$/, `/${name}`);
  } finally {
    await client.end();
  }
};

const unavailable = (): never => {
  throw new Error("the database is there only while a test runs");
};

interface Running extends PostgresServer {
  stop(): Promise<void>;
}

const startPostgres = async (programFolder: string, owner: Owner | undefined): Promise<Running> => {
  const folder = mkdtempSync(join(tmpdir(), "fairbed-postgres-"));
  const [user, password] = ["tester", "s3cret-pass"];
  let child: ChildProcess | undefined;
  // Also where a test run is broken off.
  const clear = () => {
    child?.kill("SIGQUIT");
    rmSync(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 50 });
  };
  process.once("exit", clear);
  const halt = async () => {
    const ending = child;
    if (ending !== undefined && ending.exitCode === null && ending.signalCode === null) {
      const ended = new Promise((resolve) => ending.once("exit", resolve));
      // No need to write down first what it holds: either it is thrown away, or the log has it.
      ending.kill("SIGQUIT");
      await ended;
    }
  };
  const stop = async () => {
    await halt();
    clear();
    process.off("exit", clear);
  };
  try {
    const passwordFile = join(folder, "password");
    writeFileSync(passwordFile, password);
    if (owner !== undefined) for (const path of [folder, passwordFile]) chownSync(path, owner.uid, owner.gid);
    const cluster = join(folder, "cluster");
    // In a folder that its owner may be in; the caller's may be closed to them.
    const place = { cwd: folder, ...owner, env: { PATH: process.env.PATH, LC_ALL: "C", TZ: "UTC" } };
    const login = [`--username=${user}`, `--pwfile=${passwordFile}`, "--auth=scram-sha-256"];
    const settings = ["--encoding=UTF8", "--no-sync", "--no-instructions"];
    await promisify(execFile)(join(programFolder, "initdb"), [...login, ...settings, "-D", cluster], place);
    const startAt = async (port: number) => {
      const server = spawn(
        join(programFolder, "postgres"),
        ["-D", cluster, "-p", String(port), "-h", "127.0.0.1", "-k", "", "-F", "-c", "full_page_writes=off"],
        { ...place, stdio: ["ignore", "ignore", "pipe"] },
      );
      child = server;
      await readiness(server);
    };
    const port = await onFreePort(startAt);
    const resume = () => startAt(port);
    return {
      address: `postgres://${user}:${password}@127.0.0.1:${port}/postgres`,
      user,
      password,
      port,
      halt,
      resume,
      stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
};

const readiness = (server: ChildProcess): Promise<void> =>
  new Promise((resolve, reject) => {
    let said = "";
    server.stderr?.on("data", (part) => {
      // What comes later is read too, or the server would wait for it, but not kept.
      if (said.includes("ready to accept connections")) return;
      said += part;
      if (said.includes("ready to accept connections")) resolve();
    });
    server.once("error", reject);
    server.once("exit", () => reject(new Error(`PostgreSQL did not start:\n${said}`)));
  });

/** The server cannot be asked to choose a port, and one that was free a moment ago may be another's by now. */
const onFreePort = async (start: (port: number) => Promise<void>, tries = 5): Promise<number> => {
  const port = await freePort();
  try {
    await start(port);
    return port;
  } catch (error) {
    if (tries <= 1 || !String(error).includes("in use")) throw error;
    return onFreePort(start, tries - 1);
  }
};

const freePort = (): Promise<number> =>
  new Promise((resolve, reject) => {
    const probe = createServer();
    probe.once("error", reject);
    probe.listen(0, "127.0.0.1", () => {
      const { port } = probe.address() as AddressInfo;
      probe.close(() => resolve(port));
    });
  });
