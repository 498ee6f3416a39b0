/** Learners whose code is loaded before they first fit. */
import { onDemand } from "../core/on-demand.js";
import type { Learner } from "./classifier.js";
import { fitInSteps, steppedLearner } from "./in-steps.js";

interface LearnerOnDemand extends Learner {
  load(): Promise<unknown>;
}

/** A learner of that name that has to be loaded by {@link loadLearner} before it fits. */
export const learnerOnDemand = (name: string, load: () => Promise<Learner>): LearnerOnDemand => {
  const learner = onDemand(load);
  return {
    ...steppedLearner(name, (training, stream) => fitInSteps(learner.now(), training, stream)),
    load: learner.load,
  };
};

/** Nothing to do for a learner that is there already. */
export const loadLearner = async (learner: Learner & Partial<LearnerOnDemand>): Promise<void> => {
  await learner.load?.();
};
