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

/** The plan that was asked for last, kept so that a tab that is closed meanwhile does not lose what was typed. */
interface Begun {
  readonly choice: PlanChoice;
  readonly hasEnded: boolean;
}

interface Partial {
  readonly progress?: { readonly done: number; readonly total: number; readonly label?: string };
  readonly trials?: readonly PlanTrial[];
}

class PlanRun {
  trials = $state.raw<readonly PlanTrial[]>([]);
  progress = $state.raw<{ done: number; total: number; label?: string }>({ done: 0, total: 1 });
  isRunning = $state(false);
  wasStopped = $state(false);
  failure = $state("");
  #stop = new AbortController();

  constructor() {
    project.whenOpened(() => this.#forget());
  }

  get result(): AskedPlan | undefined {
    return project.results.plan as AskedPlan | undefined;
  }

  get #begun(): Begun | undefined {
    return project.results["asked plan"] as Begun | undefined;
  }

  /** What runs, or was asked for last. */
  get choice(): PlanChoice | undefined {
    return this.#begun?.choice ?? this.result?.choice;
  }

  /** Whether the plan that was asked for last ended with a tab that was closed. */
  get wasCutOff(): boolean {
    return !this.isRunning && this.#begun?.hasEnded === false;
  }

  /** What was tried on the table that was open before. */
  #forget(): void {
    this.#stop.abort();
    this.#stop = new AbortController();
    this.trials = [];
    this.failure = "";
    this.wasStopped = false;
    this.isRunning = false;
    running.set("plan", undefined);
  }

  stop(): void {
    this.#stop.abort();
  }

  async start(choice: PlanChoice): Promise<void> {
    this.#stop.abort();
    const stop = new AbortController();
    this.#stop = stop;
    project.remember("asked plan", { choice, hasEnded: false } satisfies Begun);
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
        project.remember("asked plan", { choice, hasEnded: true } satisfies Begun);
        running.set("plan", undefined);
      }
    }
  }
}

export const planRun = new PlanRun();
