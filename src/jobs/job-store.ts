/**
 * Results of finished jobs by their keys: what is known is not run again. They are written exactly, into a file of JSON
 * lines that only grows, so that a run that was stopped anywhere goes on from there.
 */
import { appendFileSync, existsSync, mkdirSync, readFileSync, statSync, truncateSync } from "node:fs";
import { dirname } from "node:path";
import { EnvironmentError, InputError } from "../core/errors.js";
import { type Job, jobKey, type SentJob, sentJob } from "./job.js";

export const jobStoreTexts = {
  none: (path: string) => `there are no results in ${path}: name a results.jsonl that fairbed has written`,
  line: (path: string, line: number) =>
    `line ${line} of ${path} is not a finished job: give a results.jsonl that fairbed wrote, or take that line out`,
  unwritten: (path: string, reason: string) =>
    `a result could not be written to ${path} (${reason}): make room for it, then run the same command again, which goes on from here`,
};

export interface KnownResult {
  readonly result: unknown;
  /** That it took. */
  readonly seconds: number;
}

/** A line of the file. */
export interface StoredJob extends SentJob, KnownResult {
  readonly key: string;
}

export interface ReadJobsOptions {
  /** Told every job that has a result, as it becomes known. */
  readonly onJob?: ((stored: StoredJob) => unknown) | undefined;
  /** Whether the result of a line is one of its job: others wrote the file. */
  readonly isWhole?: ((stored: StoredJob) => boolean) | undefined;
}

/** As many digits of a key as tell jobs apart. */
export const KEY_DIGITS = 16;
const shortKey = (key: string): string => key.slice(0, KEY_DIGITS);

export class JobStore {
  /** By short keys. Results of other versions are among them, and nobody asks for those. */
  readonly #known = new Map<string, KnownResult>();
  /** Of the file; none in memory. */
  readonly path: string | undefined;
  readonly #onJob: (stored: StoredJob) => unknown;

  /** In memory alone; `onJob` is told every job that has a result, as it becomes known. */
  constructor(path?: string, onJob: (stored: StoredJob) => unknown = () => {}) {
    this.path = path;
    this.#onJob = onJob;
  }

  /** With a file that is read, where it is there, and grows; a last line that a sudden end cut off is dropped. */
  static open(path: string, { onJob, isWhole }: ReadJobsOptions = {}): JobStore {
    const store = new JobStore(path, onJob);
    if (!existsSync(path)) return store;
    const bytes = readFileSync(path);
    const whole = bytes.lastIndexOf("\n") + 1;
    store.#readLines(bytes.subarray(0, whole).toString("utf8"), path, isWhole);
    if (whole < bytes.length) truncateSync(path, whole);
    return store;
  }

  /** What a file holds, which must be there and is only read. */
  static read(path: string, { onJob, isWhole }: ReadJobsOptions = {}): JobStore {
    if (!existsSync(path)) throw new InputError("no-results", jobStoreTexts.none(path));
    const store = new JobStore(undefined, onJob);
    const text = readFileSync(path, "utf8");
    store.#readLines(text.slice(0, text.lastIndexOf("\n") + 1), path, isWhole);
    return store;
  }

  #readLines(text: string, path: string, isWhole: (stored: StoredJob) => boolean = () => true): void {
    for (const [i, line] of text.split("\n").entries()) {
      if (line === "") continue;
      const stored = parseLine(line);
      if (stored === undefined || !isWhole(stored))
        throw new InputError("results", jobStoreTexts.line(path, i + 1));
      this.#learn(stored);
    }
  }

  #learn(stored: StoredJob): void {
    this.add(stored.key, { result: stored.result, seconds: stored.seconds });
    this.#onJob(stored);
  }

  /** Makes a result known that is kept elsewhere. Of two of the same job, the first counts. */
  add(key: string, known: KnownResult): void {
    if (!this.has(key)) this.#known.set(shortKey(key), known);
  }

  /** Makes everything known that another store knows. */
  addAll(other: JobStore): void {
    for (const [key, known] of other.#known) this.add(key, known);
  }

  has(key: string): boolean {
    return this.#known.has(shortKey(key));
  }

  get(key: string): KnownResult | undefined {
    return this.#known.get(shortKey(key));
  }

  /** Keeps the result of a job: one write of one whole line. */
  append(job: Job, result: unknown, seconds: number): void {
    const key = jobKey(job);
    if (this.has(key)) return;
    const line = JSON.stringify({ key, ...sentJob(job), result, seconds });
    if (this.path !== undefined) {
      appendWhole(this.path, `${line}\n`);
    }
    // What a later run would read, not what this one computed: numbers without a value are gone from both.
    this.#learn(JSON.parse(line));
  }

  /** How many jobs have a result. */
  get size(): number {
    return this.#known.size;
  }
}

/** All of a line or none of it, also where the disk is full. */
const appendWhole = (path: string, line: string): void => {
  const size = statSync(path, { throwIfNoEntry: false })?.size ?? 0;
  try {
    mkdirSync(dirname(path), { recursive: true });
    appendFileSync(path, line);
  } catch (error) {
    if (existsSync(path)) truncateSync(path, size);
    const reason = error instanceof Error && "code" in error ? String(error.code) : String(error);
    throw new EnvironmentError("write-refused", jobStoreTexts.unwritten(path, reason), { cause: error });
  }
};

const parseLine = (line: string): StoredJob | undefined => {
  try {
    const stored = JSON.parse(line);
    const right =
      typeof stored.key === "string" &&
      typeof stored.kind === "string" &&
      typeof stored.result === "object" &&
      stored.result !== null;
    return right ? stored : undefined;
  } catch {
    return undefined;
  }
};
