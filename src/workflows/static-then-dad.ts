/** A network that starts from the best static designs: these are found first, and either search can be resumed. */
import type { Model } from "../design/model.js";
import type { PolicyFile } from "../design/policy-file.js";
import { TrainingError } from "../design/training.js";
import { type FullSettings, staticStartSettings } from "./policy-settings.js";
import type { SearchRun } from "./search-policy.js";

/** Progress of each of the two, whose own numbers of steps are known only when they run. */
const PARTS = 1000;

/** Plain JSON data: the designs once they are found, and where the search that was interrupted was. */
interface StartedState {
  readonly designs?: readonly (readonly number[])[] | undefined;
  readonly training?: unknown;
}

/** The search for a policy of one kind whose start is given. */
type Search = (model: Model, settings: FullSettings, run: SearchRun) => Promise<PolicyFile>;

export const staticThenDad = async (
  search: Search,
  model: Model,
  settings: FullSettings,
  run: SearchRun,
): Promise<PolicyFile> => {
  const before = (run.state ?? {}) as StartedState;
  const phase = (part: 0 | 1, designs: StartedState["designs"]): SearchRun => {
    const stateWith = (training: unknown): StartedState => ({ designs, training });
    return {
      ...run,
      // A state is of the search that was under way: of the network once there are designs.
      state: (part === 1) === (before.designs !== undefined) ? before.training : undefined,
      onStep: ({ done, total, value, state, designs: current }) =>
        run.onStep({
          done: Math.round(PARTS * (part + done / total)),
          total: 2 * PARTS,
          value,
          state: () => stateWith(state()),
          designs: current,
        }),
    };
  };
  const searchIn = (part: 0 | 1, own: FullSettings, designs: StartedState["designs"]): Promise<PolicyFile> =>
    search(model, own, phase(part, designs)).catch((error: unknown) => {
      if (!(error instanceof TrainingError)) throw error;
      throw new TrainingError(error.message, { designs, training: error.checkpoint }, { cause: error.cause });
    });
  const found =
    before.designs === undefined ? await searchIn(0, staticStartSettings(settings), undefined) : undefined;
  const designs = found?.kind === "static" ? found.designs : (before.designs ?? []);
  const policy = await searchIn(1, { ...settings, start: { designs } }, designs);
  return { ...policy, settings: { ...policy.settings, startDesigns: designs } };
};
