/** A line on stderr now and then while something takes long whose end nobody can tell. */
import type { CommandContext } from "../../command.js";

const FIRST_MS = 2000;
const AGAIN_MS = 10_000;

/** `inWords` gets the seconds so far; the first line comes after two. */
export const withNotice = async <Result>(
  { say }: CommandContext,
  inWords: (seconds: number) => string,
  work: () => Promise<Result>,
): Promise<Result> => {
  const started = performance.now();
  const show = () => {
    say(inWords(Math.round((performance.now() - started) / 1000)));
    timer = setTimeout(show, AGAIN_MS);
  };
  let timer = setTimeout(show, FIRST_MS);
  try {
    return await work();
  } finally {
    clearTimeout(timer);
  }
};
