/**
 * How long computations are watched and stopped, and how options are typed.
 *
 * An optional property is declared `name?: Type | undefined` everywhere: left out and `undefined` mean the same, so a
 * caller passes on what it was given as it is.
 */

/** Options once their defaults are filled in. */
export type Filled<Options> = { readonly [Name in keyof Options]-?: Exclude<Options[Name], undefined> };

/** The same the other way round: settings, any of which may be left out. */
export type Optional<Settings> = { readonly [Name in keyof Settings]?: Settings[Name] | undefined };

/** How far a computation is. */
export interface Progress {
  /** Units done so far (labels, fits, steps), and how many there are in all or about so many. */
  readonly done: number;
  readonly total: number;
  /** What is being done, in a few words, where there is more than one thing. */
  readonly label?: string | undefined;
}

/** What of an `AbortSignal` is used: the types then need neither a browser's declarations nor Node's. */
export interface StopSignal {
  readonly aborted: boolean;
  throwIfAborted(): void;
}

/** What every function takes that may run for longer than a second. The answer is the same with or without them. */
export interface RunOptions {
  /** Stops it: the promise is rejected with the signal's reason. */
  readonly signal?: StopSignal | undefined;
  /** Called now and then, at most about twenty times a second; what it returns is waited for. */
  readonly onProgress?: ((progress: Progress) => unknown) | undefined;
}

/** No page is kept from answering for longer than 50 ms: a computation lets go of the thread this often. */
const LET_GO_MS = 40;

/** A task of its own, so that events (a key, Ctrl-C, a paint) are heard; `setTimeout` is clamped to 4 ms in pages. */
const nextTask = (): Promise<void> =>
  new Promise((resolve) => {
    const { port1, port2 } = new MessageChannel();
    port1.onmessage = () => {
      port1.close();
      resolve();
    };
    port2.postMessage(undefined);
  });

export interface Pacer {
  /**
   * Awaited after every piece of work. Reports, lets go of the thread where it was held for too long, and throws once
   * the signal is aborted.
   */
  step(progress: Progress): Promise<void>;
  /** The same with nothing to report. */
  pause(): Promise<void>;
}

/** One for each call of a long computation. */
export const pacer = ({ signal, onProgress }: RunOptions = {}): Pacer => {
  let last = performance.now();
  signal?.throwIfAborted();
  const letGo = async (progress: Progress | undefined): Promise<void> => {
    signal?.throwIfAborted();
    if (performance.now() - last < LET_GO_MS) return;
    if (progress !== undefined) await onProgress?.(progress);
    await nextTask();
    signal?.throwIfAborted();
    last = performance.now();
  };
  return { step: letGo, pause: () => letGo(undefined) };
};

/**
 * Walks a computation that yields after each piece of work, and lets go of the thread now and then; its result. Where it
 * is stopped in between, the computation is closed, so that it gives back what it holds.
 */
export const paced = async <Result>(
  steps: Generator<unknown, Result>,
  pace: Pick<Pacer, "pause">,
): Promise<Result> => {
  for (;;) {
    const { done, value } = steps.next();
    if (done === true) return value;
    try {
      await pace.pause();
    } catch (stopped) {
      steps.return(undefined as Result);
      throw stopped;
    }
  }
};

/** Walks the same without letting go. */
export const unpaced = <Result>(steps: Generator<unknown, Result>): Result => {
  for (;;) {
    const { done, value } = steps.next();
    if (done === true) return value;
  }
};
