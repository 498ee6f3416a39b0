/**
 * What can be handed to another process or machine: an input, which is plain JSON and says all that the result depends
 * on, and the kind of job that knows what to do with it. Nothing here knows what a kind computes.
 */
import type { NamedFile } from "./allowed-files.js";

/** What a job is told beside its input; the result does not depend on it. */
export interface JobRun {
  /** The result of the job before it, as it comes from JSON, where it is known. */
  readonly before?: unknown;
  /** All cores unless given. */
  readonly threads?: number | undefined;
  /** Where the data is; the usual folder unless given. */
  readonly root?: string | undefined;
  /** Called often with the share that is done; the job waits for it. */
  readonly onProgress?: ((share: number) => unknown) | undefined;
}

export interface JobDescription {
  /** The same for all jobs that differ by their seed, or their part, alone. */
  readonly group: string;
  /** With what tells it from the others of its group. */
  readonly name: string;
}

export interface JobKind<Input = unknown, Result = unknown> {
  /** Jobs say by this name what they are. */
  readonly name: string;
  /** What its result is stored under: the same for the same input in the same version, and for nothing else. */
  key(input: Input): string;
  describe(input: Input): JobDescription;
  /** Rough seconds on one core. */
  estimate(input: Input): number;
  /** The job of this kind whose result this one starts from. */
  before?(input: Input): Input | undefined;
  /**
   * Jobs that the same workers can run are in one queue: those of one version that need the same data. Undefined for
   * what is never run, because its result is known from the start.
   */
  queue(input: Input): string | undefined;
  /** What the queues begin with whose jobs this version can run. */
  queues(): readonly string[];
  /** Files that the input names, by which a worker knows whether it may run the job; none unless given. */
  files?(input: Input): readonly NamedFile[];
  /** The same numbers in any process, on any machine. */
  run(input: Input, run: JobRun): Promise<Result>;
}

export interface Job<Input = unknown, Result = unknown> {
  readonly kind: JobKind<Input, Result>;
  readonly input: Input;
}

/** As it goes to another process or machine. */
export interface SentJob {
  readonly kind: string;
  readonly input: unknown;
}

export const jobKey = ({ kind, input }: Job): string => kind.key(input);
/** The job whose result this one starts from. */
export const jobBefore = ({ kind, input }: Job): Job | undefined => {
  const before = kind.before?.(input);
  return before === undefined ? undefined : { kind, input: before };
};
export const keyBefore = (job: Job): string | undefined => {
  const before = jobBefore(job);
  return before === undefined ? undefined : jobKey(before);
};
export const describeJob = ({ kind, input }: Job): JobDescription => kind.describe(input);
export const estimateJob = ({ kind, input }: Job): number => kind.estimate(input);
export const queueOf = ({ kind, input }: Job): string | undefined => kind.queue(input);
export const filesOf = ({ kind, input }: Job): readonly NamedFile[] => kind.files?.(input) ?? [];
export const sentJob = ({ kind, input }: Job): SentJob => ({ kind: kind.name, input });

/** Rough seconds of all of them on one core. */
export const estimateJobs = (jobs: readonly Job[]): number =>
  jobs.reduce((sum, job) => sum + estimateJob(job), 0);

/** The job that was sent; undefined where none of these kinds is its own. */
export const receivedJob = ({ kind: name, input }: SentJob, kinds: readonly JobKind[]): Job | undefined => {
  const kind = kinds.find((each) => each.name === name);
  return kind === undefined ? undefined : { kind, input };
};

/** Whether one of these kinds can run what is in a queue. */
export const knowsQueue = (queue: string, kinds: readonly JobKind[]): boolean =>
  kinds.some((kind) => kind.queues().some((start) => queue === start || queue.startsWith(`${start}-`)));
