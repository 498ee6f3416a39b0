/** A policy that is run step by step: what to do next, what came of it, what is known by now; kept in this browser. */
import type { NamedNumbers } from "../workflows/run-policy.js";
import type { DesignChoice } from "./design-choice.js";
import { engine } from "./engine-client.js";
import { forget, keep, kept, keptTexts } from "./kept.js";
import { project } from "./project.svelte.js";
import type { designTasks, LoadedPolicy, MadeUp, PolicyStep } from "./worker/design-tasks.js";

interface KeptSession {
  /** What the policy is called. */
  readonly name: string;
  readonly loaded: LoadedPolicy;
  readonly step: PolicyStep;
  readonly madeUp: MadeUp | undefined;
}

const KEPT = "design session";
const here = () => engine<typeof designTasks>("design");

class DesignSession {
  name = $state("");
  loaded = $state.raw<LoadedPolicy | undefined>();
  step = $state.raw<PolicyStep | undefined>();
  /** Whom it is tried out on; undefined where outcomes are typed in. */
  madeUp = $state.raw<MadeUp | undefined>();
  /** What was to be found out, once it was asked for. */
  truth = $state.raw<NamedNumbers | undefined>();
  isBusy = $state(false);
  failure = $state("");
  #restored = false;
  /** How often it was closed: what was asked for before that is not taken in any more. */
  #closings = 0;

  async restore(): Promise<void> {
    if (this.#restored) return;
    this.#restored = true;
    const before = await kept<KeptSession>(KEPT).catch(() => undefined);
    if (before === undefined || this.loaded !== undefined) return;
    this.name = before.name;
    this.loaded = before.loaded;
    this.step = before.step;
    this.madeUp = before.madeUp;
  }

  /** Begins with a policy's file; whatever ran before is gone once this one is read. */
  async open(file: File, choice: DesignChoice): Promise<LoadedPolicy | undefined> {
    return this.#do(async () => {
      const bytes = new Uint8Array(await file.arrayBuffer());
      const loaded = await here().call("load", { bytes, name: file.name, choice });
      return (await this.#begin(file.name, loaded)) ? loaded : undefined;
    });
  }

  /** Begins with a policy that is here already. */
  run(name: string, loaded: LoadedPolicy): Promise<unknown> {
    return this.#do(() => this.#begin(name, loaded));
  }

  /** Takes in what was observed, in the order of the model's outcomes. */
  tell(outcome: readonly number[]): Promise<unknown> {
    this.madeUp = undefined;
    return this.#advance({ outcome });
  }

  /** Tries the next design out on somebody made up, the same one through the whole experiment. */
  tryOut(): Promise<unknown> {
    this.madeUp ??= { seed: Math.floor(Math.random() * 2 ** 32) };
    return this.#advance({ madeUp: this.madeUp });
  }

  async again(): Promise<void> {
    const { loaded, name } = this;
    if (loaded !== undefined) await this.#do(() => this.#begin(name, loaded));
  }

  async reveal(): Promise<void> {
    const { loaded, madeUp } = this;
    if (loaded === undefined || madeUp === undefined) return;
    await this.#do(async () => {
      const closings = this.#closings;
      const truth = await here().call("truth", { loaded, madeUp });
      if (closings === this.#closings) this.truth = truth;
    });
  }

  close(): void {
    this.#closings += 1;
    this.loaded = undefined;
    this.step = undefined;
    this.madeUp = undefined;
    this.truth = undefined;
    this.failure = "";
    void forget(KEPT).catch(() => undefined);
  }

  /** Whether it has begun: not where it was closed meanwhile. */
  async #begin(name: string, loaded: LoadedPolicy): Promise<boolean> {
    const closings = this.#closings;
    const step = await here().call("step", { loaded, saved: { seed: 0, history: [] } });
    if (closings !== this.#closings) return false;
    this.name = name;
    this.loaded = loaded;
    this.step = step;
    this.madeUp = undefined;
    this.truth = undefined;
    this.#keep();
    return true;
  }

  async #advance(
    given: { readonly outcome: readonly number[] } | { readonly madeUp: MadeUp },
  ): Promise<void> {
    const { loaded, step } = this;
    if (loaded === undefined || step === undefined) return;
    await this.#do(async () => {
      const closings = this.#closings;
      const next = await here().call("step", { loaded, saved: step.saved, ...given });
      if (closings !== this.#closings) return;
      this.step = next;
      this.#keep();
    });
  }

  async #do<Result>(act: () => Promise<Result>): Promise<Result | undefined> {
    if (this.isBusy) return undefined;
    this.isBusy = true;
    this.failure = "";
    try {
      return await act();
    } catch (error) {
      this.failure = error instanceof Error ? error.message : String(error);
      return undefined;
    } finally {
      this.isBusy = false;
    }
  }

  #keep(): void {
    const { name, loaded, step, madeUp } = this;
    if (loaded === undefined || step === undefined) return;
    keep(KEPT, { name, loaded, step, madeUp } satisfies KeptSession).catch(() => {
      project.notKept = keptTexts.cannot;
    });
  }
}

export const designSession = new DesignSession();
