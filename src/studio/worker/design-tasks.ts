/** Tasks of the design screen that answer at once: what designs tell while they are moved, and a policy's next step. */

import { InputError } from "../../core/errors.js";
import type { Model } from "../../design/model.js";
import { MODEL_NAMES, shippedModel } from "../../design/model-catalogue.js";
import { decodePolicy, type PolicyFile, policyOf } from "../../design/policy-file.js";
import { type DesignScene, designScene, firstDesigns, placesOf } from "../../workflows/design-scene.js";
import { type LiveDesignSession, type LiveInformation, liveDesign } from "../../workflows/live-design.js";
import { rehearsal } from "../../workflows/rehearse-experiment.js";
import {
  type NamedNumbers,
  runPolicy,
  type SavedSession,
  type SessionPosterior,
} from "../../workflows/run-policy.js";
import type { DesignChoice, Designs } from "../design-choice.js";
import type { TaskRun } from "./task.js";

export type LiveChoice = Omit<DesignChoice, "search">;

export interface OpenedScene {
  readonly scene: DesignScene;
  readonly designs: Designs;
}

/** A policy that was loaded, with the model that it is for. */
export interface LoadedPolicy {
  readonly policy: PolicyFile;
  readonly model: string;
  readonly options: DesignChoice["options"];
}

/** Whom an experiment is tried out on. */
export interface MadeUp {
  readonly seed: number;
}

export interface PolicyStep {
  readonly saved: SavedSession;
  readonly horizon: number;
  /** The next design; null once all are made. */
  readonly next: NamedNumbers | null;
  readonly posterior: SessionPosterior;
  /** Draws of the posterior in the plane of the designs. */
  readonly places: readonly (readonly [number, number])[];
}

export const designTaskTexts = {
  ownModel: (file: string, model: string) =>
    `${file} was made for the model ${model}, which is not one of those shipped: run it with "fairbed design next" or with runPolicy in a page of your own`,
};

const POSTERIOR_DRAWS = 250;

/** The one that is being moved. */
let live: { readonly key: string; readonly design: LiveDesignSession } | undefined;

const liveFor = ({ model, options, horizon, seed, beta, objective }: LiveChoice): LiveDesignSession => {
  const key = JSON.stringify([model, options, horizon, seed]);
  if (live?.key !== key) {
    live?.design.dispose();
    live = { key, design: liveDesign(shippedModel(model, options), { horizon, seed, beta, objective }) };
  }
  live.design.price(beta, objective);
  return live.design;
};

const modelOf = ({ model, options }: Pick<DesignChoice, "model" | "options">): Model =>
  shippedModel(model, options);

export const designTasks = {
  scene({ choice }: { readonly choice: LiveChoice }): OpenedScene {
    const model = modelOf(choice);
    const scene = designScene(model);
    return { scene, designs: firstDesigns(model, choice.horizon, scene) };
  },

  information({
    choice,
    designs,
  }: {
    readonly choice: LiveChoice;
    readonly designs: Designs;
  }): LiveInformation {
    return liveFor(choice).information(designs);
  },

  refine(
    { choice, designs }: { readonly choice: LiveChoice; readonly designs: Designs },
    run: TaskRun,
  ): Promise<LiveInformation> {
    return liveFor(choice).refine(designs, { signal: run.signal, onFiner: run.emit });
  },

  /** A policy's file: a static one, or a network; of a model that is shipped, or with designs for the one that is chosen. */
  load({
    bytes,
    name,
    choice,
  }: {
    readonly bytes: Uint8Array;
    readonly name: string;
    readonly choice: LiveChoice;
  }): LoadedPolicy {
    const policy = decodePolicy(bytes, name);
    const made = policy.model;
    if (made !== undefined && (made.file !== undefined || !MODEL_NAMES.includes(made.name))) {
      throw new InputError("other-model", designTaskTexts.ownModel(name, made.name));
    }
    const of = made === undefined ? choice : { model: made.name, options: made.options };
    const model = modelOf(of);
    // Builds it once, so that designs that do not fit are refused here and not in the middle of an experiment.
    policyOf(policy, model, name);
    return { policy, model: of.model, options: of.options };
  },

  /** Takes in an outcome, where one is given or made up, and says what comes next and what is known by now. */
  async step(
    {
      loaded,
      saved,
      outcome,
      madeUp,
    }: {
      readonly loaded: LoadedPolicy;
      readonly saved: SavedSession;
      readonly outcome?: readonly number[] | undefined;
      readonly madeUp?: MadeUp | undefined;
    },
    run: TaskRun,
  ): Promise<PolicyStep> {
    const model = modelOf(loaded);
    const session = runPolicy(model, loaded.policy, saved);
    if (outcome !== undefined) session.tell(outcome);
    else if (madeUp !== undefined) {
      const design = await session.next({ signal: run.signal });
      session.tell(rehearsal(model, madeUp).outcome(design, session.history.length));
    }
    const next = session.done ? null : await session.next({ signal: run.signal });
    const posterior = await session.posterior({ signal: run.signal, draws: POSTERIOR_DRAWS });
    return {
      saved: session.toJSON(),
      horizon: session.horizon,
      next,
      posterior,
      places: placesOf(model, posterior.draws ?? {}),
    };
  },

  /** What was to be found out about whoever was made up. */
  truth: ({ loaded, madeUp }: { readonly loaded: LoadedPolicy; readonly madeUp: MadeUp }): NamedNumbers =>
    rehearsal(modelOf(loaded), madeUp).truth,
};
