/** What is printed, and whether it arrived. */
import { Socket } from "node:net";
import { setImmediate } from "node:timers/promises";
import { shownLines } from "./terminal-text.js";

export interface Output {
  readonly stdout: Printer;
  readonly stderr: Printer;
  /** Waits until all of it is out, and says what went wrong on the way, if something did. */
  flush(): Promise<Error | undefined>;
  /** Looks away: errors of the streams are errors of the process again. */
  stop(): void;
}

export interface Printer {
  /** Lines of text, which a terminal shows and does not obey. */
  write(text: string): void;
}

/** `unread` is called when a reader went away (`fairbed info | head -1`): nobody is left to tell. */
export const watchOutput = (unread: () => void): Output => {
  const streams = [process.stdout, process.stderr];
  const pending: Promise<void>[] = [];
  let failure: Error | undefined;
  const note = (error: Error): void => {
    if ("code" in error && error.code === "EPIPE") unread();
    else failure ??= error;
  };
  for (const stream of streams) stream.on("error", note);
  /** As they are now: what a model of the user's prints is sent elsewhere later on. */
  const writers = new Map<NodeJS.WriteStream, NodeJS.WriteStream["write"]>(
    streams.map((stream) => [stream, stream.write.bind(stream)]),
  );
  const send = (stream: NodeJS.WriteStream, text: string): void => {
    pending.push(
      new Promise((done) => {
        writers.get(stream)?.(shownLines(text), (error) => {
          if (error) note(error);
          done();
        });
      }),
    );
  };
  return {
    stdout: { write: (text) => send(process.stdout, text) },
    stderr: { write: (text) => send(process.stderr, text) },
    async flush() {
      // Output to a pipe is written behind the program's back, also what a command wrote there itself.
      for (const stream of streams) if (stream instanceof Socket) send(stream, "");
      await Promise.all(pending.splice(0));
      await setImmediate(); // errors are emitted a moment after the callbacks
      return failure;
    },
    stop() {
      for (const stream of streams) stream.off("error", note);
    },
  };
};
