/** After something changed, the ranking is made again, so that whoever asks next need not wait for it. */
import type { Campaign } from "../../../campaign/campaign.js";
import { FairbedError } from "../../../core/errors.js";
import type { CommandContext } from "../../command.js";
import { withNotice } from "./slow-notice.js";

export const renewTexts = {
  fitting: (seconds: number) =>
    `fitting models, ${seconds} s so far; everything is stored, and Ctrl-C loses none of it`,
  failed: (reason: string) => `the ranking could not be renewed (${reason}): everything else is stored`,
};

/** Waits for the ranking; what went wrong with it is a note, because what was told is stored all the same. */
export const renewRanking = async (
  campaign: Campaign,
  context: CommandContext,
): Promise<readonly string[]> => {
  const { signal } = context;
  try {
    await withNotice(context, renewTexts.fitting, () => untilAborted(campaign.settle(), signal));
    return [];
  } catch (error) {
    signal.throwIfAborted();
    if (!(error instanceof FairbedError)) throw error;
    return [renewTexts.failed(error.message)];
  }
};

/** The thread that fits is ended by whoever closes the campaign. */
const untilAborted = (work: Promise<void>, signal: AbortSignal): Promise<void> =>
  new Promise((resolve, reject) => {
    const stop = () => reject(signal.reason);
    signal.addEventListener("abort", stop, { once: true });
    if (signal.aborted) stop();
    work.then(resolve, reject).finally(() => signal.removeEventListener("abort", stop));
  });
