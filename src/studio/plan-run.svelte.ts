/** The plan for the open table as it runs: it goes on while other screens are looked at. */
import type { ParityPlan } from "../workflows/plan.js";
import type { PlanTrial } from "../workflows/plan-progress.js";
import { engine, isStopped } from "./engine-client.js";
import type { PlanChoice } from "./plan-choice.js";
import { project } from "./project.svelte.js";
import { running } from "./running.svelte.js";
import type { planTasks } from "./worker/plan-tasks.js";

/** A plan with what it was asked for. */
export interface AskedPlan {
  readonly choice: PlanChoice;
  readonly plan: ParityPlan;
}

interface Partial {
  readonly progress?: { readonly done: number; readonly total: number; readonly label?: string };
  readonly trials?: readonly PlanTrial[];
}

class PlanRun {
  trials = $state.raw<readonly PlanTrial[]>([]);
  progress = $state.raw<{ done: number; total: number; label?: string }>({ done: 0, total: 1 });
  /** What runs, or ran last. */
  choice = $state.raw<PlanChoice | undefined>();
  isRunning = $state(false);
  wasStopped = $state(false);
  failure = $state("");
  #stop = new AbortController();

  get result(): AskedPlan | undefined {
    return project.results.plan as AskedPlan | undefined;
  }

  stop(): void {
    this.#stop.abort();
  }

  async start(choice: PlanChoice): Promise<void> {
    this.#stop.abort();
    const stop = new AbortController();
    this.#stop = stop;
    this.choice = choice;
    this.trials = [];
    this.failure = "";
    this.wasStopped = false;
    this.isRunning = true;
    this.progress = { done: 0, total: 1 };
    const show = (): void =>
      running.set("plan", { label: "Trying recipes out", ...this.progress, stop: () => this.stop() });
    show();
    try {
      const plan = await engine<typeof planTasks>("plan").call("plan", choice, {
        signal: stop.signal,
        onPartial: ({ progress, trials }: Partial) => {
          if (stop !== this.#stop) return;
          if (progress !== undefined) this.progress = progress;
          if (trials !== undefined) this.trials = trials;
          show();
        },
      });
      if (stop === this.#stop) project.remember("plan", { choice, plan } satisfies AskedPlan);
    } catch (error) {
      if (stop !== this.#stop) return;
      if (isStopped(error)) this.wasStopped = true;
      else this.failure = error instanceof Error ? error.message : String(error);
    } finally {
      if (stop === this.#stop) {
        this.isRunning = false;
        running.set("plan", undefined);
      }
    }
  }
}

export const planRun = new PlanRun();
