/** What a workflow needs of the command line while it runs: Ctrl-C stops it, and a bar shows how far it is. */
import type { RunOptions } from "../core/options.js";
import type { CommandContext } from "./command.js";
import type { Progress } from "./progress.js";

/** `run` is called with options for a workflow, whose progress is shown under `label` until it is done. */
export const withProgress = async <Result>(
  context: CommandContext,
  label: string,
  run: (options: RunOptions) => Promise<Result>,
): Promise<Result> => {
  let bar: Progress | undefined;
  let whole = 0;
  const result = await run({
    signal: context.signal,
    onProgress({ done, total, label: what }) {
      bar ??= context.progress(label, total);
      whole = total;
      bar.update(done, what);
    },
  });
  // How much there is to do is at times only guessed: what is done is whole.
  bar?.update(whole);
  bar?.end();
  return result;
};
