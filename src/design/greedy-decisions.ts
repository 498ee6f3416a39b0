/** The decisions of a greedy policy: the posterior of a history, and the best of many designs under it. */
import { type Filled, pacer, type RunOptions } from "../core/options.js";
import type { RandomStream } from "../core/random.js";
import { bestDesign, drawCandidates } from "./design-search.js";
import type { GreedyOptions } from "./greedy.js";
import type { Model } from "./model.js";
import { OneStep } from "./one-step.js";
import type { History } from "./policy.js";
import { posteriorSampler } from "./posterior.js";
import { GIVEN, objectiveQuantity } from "./quantity.js";

/** The next design of one experiment. One call at a time: they share what was compiled. */
export type GreedyDecisions = (
  history: History,
  stream: RandomStream,
  run: RunOptions,
) => Promise<Float64Array>;

export const greedyDecisions = (
  model: Model,
  {
    objective,
    beta,
    particles,
    resampleBelow,
    sweeps,
    candidates,
    search,
  }: Omit<Filled<GreedyOptions>, "horizon">,
): GreedyDecisions => {
  const quantity = objectiveQuantity(objective, beta);
  const sampler = posteriorSampler(model, { particles, resampleBelow, sweeps });
  // One thread and no fused multiply-add: the same design on every machine.
  const given = GIVEN.filter((each) => (quantity[each] ?? 0) !== 0);
  const oneStep = new OneStep({ model, particles, given });
  return async (history, stream, run) => {
    const pace = pacer(run);
    const now = await sampler.particles(history, stream.split("posterior"), { signal: run.signal });
    await oneStep.condition(now, history, stream.split("one step"), pace.pause);
    const drawn = drawCandidates(model, search, now, candidates, stream.split("candidates"));
    return bestDesign(model, search, drawn, (design) => oneStep.value(design, quantity), pace);
  };
};
