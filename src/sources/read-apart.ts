/**
 * Reads what may bring its reader down (Arrow, SQLite and DuckDB files) in a process of its own, with limits on time
 * and memory in terms of the file's size. The table comes back as a database file that this program wrote itself.
 */
import { fork } from "node:child_process";
import { join } from "node:path";
import { EnvironmentError, InputError } from "../core/errors.js";
import type { TextSettings } from "./query-relation.js";
import type { Relation } from "./relation.js";

export interface Limits {
  /** Of the whole process. */
  readonly memoryBytes: number;
  /** Of computing, all in all. */
  readonly cpuSeconds: number;
  /** Of computing without a further row. */
  readonly idleSeconds: number;
}

export interface ReadApart {
  readonly kind: "arrow" | "sqlite" | "duckdb";
  readonly path: string;
  /** In messages. */
  readonly name: string;
  readonly query: string | undefined;
  readonly settings: TextSettings;
  /** The database file to write. */
  readonly answer: string;
  readonly limits: Limits;
}

export type ReadAnswer =
  | { readonly relation: Relation }
  | {
      readonly failed: {
        readonly as: "input" | "environment" | "other";
        readonly code: string;
        readonly message: string;
      };
    };

export const apartTexts = {
  ended: (file: string) =>
    `${file} could not be read, for it brought its reader down: it is damaged, or made to do so; get it again.`,
  memory: (file: string, megabytes: number) =>
    `${file} takes more than ${megabytes} MB of memory to read, which no whole file of its size does: get it again, or ask for less of it with --query.`,
  time: (file: string, seconds: number) =>
    `${file} takes more than ${seconds} seconds of computing to read on, which no whole file of its size does: get it again, or ask for a part of it with --query.`,
};

const MEGABYTE = 2 ** 20;

/**
 * Many times what reading takes, also where a few bytes stand for many rows; a query may take as long as it takes, and
 * Ctrl-C stops it. A DuckDB file is copied at once, and shows no rows until all are there.
 */
export const limitsFor = (kind: ReadApart["kind"], bytes: number, query: string | undefined): Limits => {
  const megabytes = Math.ceil(bytes / MEGABYTE);
  const cpuSeconds = query === undefined ? 60 + 10 * megabytes : Number.MAX_SAFE_INTEGER;
  return {
    memoryBytes: (2048 + 20 * megabytes) * MEGABYTE,
    cpuSeconds,
    idleSeconds: query === undefined && kind !== "duckdb" ? 5 + megabytes : cpuSeconds,
  };
};

/** The compiled program, from the sources too. */
const PROGRAM = new URL(
  import.meta.url.endsWith(".ts") ? "../../dist/sources/reader-process.js" : "./reader-process.js",
  import.meta.url,
);

/** `folder` is one of our own, which the caller removes when the relation was read. */
export const readApart = (
  { bytes, ...job }: Omit<ReadApart, "answer" | "limits"> & { readonly bytes: number },
  folder: string,
  limits: Limits = limitsFor(job.kind, bytes, job.query),
): Promise<{ readonly answer: string; readonly relation: Relation }> => {
  const answer = join(folder, "answer.duckdb");
  const child = fork(PROGRAM, { stdio: ["ignore", "ignore", "ignore", "ipc"], execArgv: [] });
  return new Promise<{ readonly answer: string; readonly relation: Relation }>((resolve, reject) => {
    child.once("error", reject);
    child.once("message", (message) => {
      const answered = message as ReadAnswer;
      if ("relation" in answered) resolve({ answer, relation: answered.relation });
      else reject(errorOf(answered.failed));
    });
    child.once("exit", (_, signal) =>
      reject(new InputError("broken-table", endOf(signal, job.name, limits))),
    );
    child.send({ ...job, answer, limits } satisfies ReadApart, () => {});
  }).finally(() => child.kill("SIGKILL"));
};

const errorOf = ({ as, code, message }: Extract<ReadAnswer, { failed: unknown }>["failed"]): Error => {
  if (as === "input") return new InputError(code, message);
  if (as === "environment") return new EnvironmentError(code, message);
  return new Error(message);
};

/** What its second thread ends it with; a system that is out of memory does the same. */
const endOf = (signal: string | null, name: string, { memoryBytes, idleSeconds }: Limits): string => {
  if (signal === "SIGKILL") return apartTexts.memory(name, memoryBytes / MEGABYTE);
  if (signal === "SIGALRM") return apartTexts.time(name, idleSeconds);
  return apartTexts.ended(name);
};
