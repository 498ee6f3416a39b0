/** The designs that are moved and looked for: they go on while other screens are looked at, and are kept in this browser. */
import type { PolicyFile } from "../design/policy-file.js";
import type { DesignFrontierPoint } from "../workflows/design-frontier.js";
import type { DesignScene } from "../workflows/design-scene.js";
import type { LiveInformation } from "../workflows/live-design.js";
import type { DesignChoice, Designs } from "./design-choice.js";
import { engine, isStopped } from "./engine-client.js";
import { keep, kept, keptTexts } from "./kept.js";
import { project } from "./project.svelte.js";
import { running } from "./running.svelte.js";
import type { designSearchTasks, SearchPartial } from "./worker/design-search-tasks.js";
import type { designTasks } from "./worker/design-tasks.js";

/** A policy that was found here, with what it was found for. */
export interface FoundPolicy {
  readonly choice: DesignChoice;
  readonly policy: PolicyFile;
}

export interface FoundFrontier {
  readonly choice: DesignChoice;
  readonly points: readonly DesignFrontierPoint[];
}

interface KeptDesign {
  readonly choice: DesignChoice;
  readonly designs: Designs;
  readonly found: FoundPolicy | undefined;
  readonly frontier: FoundFrontier | undefined;
}

export interface SearchJob {
  readonly kind: "optimise" | "frontier";
  readonly label: string;
  readonly done: number;
  readonly total: number;
}

const KEPT = "design";
/** Designs at rest for so long are looked at more closely. */
const REST_MS = 250;
const KEEP_MS = 400;

const here = () => engine<typeof designTasks>("design");
const searches = () => engine<typeof designSearchTasks>("design-search");
const textOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

/** Whether two choices are about the same experiments, whatever leakage costs in them. */
export const isSameExperiment = (one: DesignChoice | undefined, other: DesignChoice): boolean =>
  one !== undefined &&
  JSON.stringify([one.model, one.options, one.horizon]) ===
    JSON.stringify([other.model, other.options, other.horizon]);

class DesignRun {
  choice = $state.raw<DesignChoice | undefined>();
  scene = $state.raw<DesignScene | undefined>();
  designs = $state.raw<Designs>([]);
  information = $state.raw<LiveInformation | undefined>();
  /** Whether the information is about designs that have moved on since. */
  isBehind = $state(false);
  /** Whether tighter bounds are being computed. */
  isRefining = $state(false);
  found = $state.raw<FoundPolicy | undefined>();
  frontier = $state.raw<FoundFrontier | undefined>();
  job = $state.raw<SearchJob | undefined>();
  wasStopped = $state(false);
  failure = $state("");
  #restored: Promise<KeptDesign | undefined> | undefined;
  #stop = new AbortController();
  #refining = new AbortController();
  #evaluating = false;
  #resting: ReturnType<typeof setTimeout> | undefined;
  #keeping: ReturnType<typeof setTimeout> | undefined;

  /** What was here when the page was left. */
  async restore(): Promise<DesignChoice | undefined> {
    this.#restored ??= kept<KeptDesign>(KEPT)
      .catch(() => undefined)
      .then((before) => {
        if (before !== undefined && this.found === undefined) this.found = before.found;
        if (before !== undefined && this.frontier === undefined) this.frontier = before.frontier;
        return before;
      });
    return this.choice ?? (await this.#restored)?.choice;
  }

  /** Shows the model and the designs of a choice. */
  async show(choice: DesignChoice): Promise<void> {
    const before = this.choice;
    this.choice = choice;
    if (isSameExperiment(before, choice) && this.scene !== undefined) {
      if (JSON.stringify(before) !== JSON.stringify(choice)) this.#changed();
      return;
    }
    const isSameModel =
      before !== undefined && isSameExperiment({ ...before, horizon: choice.horizon }, choice);
    if (!isSameModel) {
      this.scene = undefined;
      this.designs = [];
      this.information = undefined;
    }
    this.failure = "";
    try {
      await this.restore();
      const remembered = await this.#restored;
      const opened = await here().call("scene", { choice });
      if (!isSameExperiment(this.choice, choice)) return;
      this.scene = opened.scene;
      if (isSameModel) {
        const more = opened.designs.slice(this.designs.length);
        this.designs = [...this.designs.slice(0, choice.horizon), ...more];
      } else {
        const isAgain = before === undefined && isSameExperiment(remembered?.choice, choice);
        this.designs = isAgain && remembered !== undefined ? remembered.designs : opened.designs;
      }
      this.#changed();
    } catch (error) {
      if (!isSameExperiment(this.choice, choice)) return;
      this.scene = undefined;
      this.failure = textOf(error);
    }
  }

  move(index: number, design: readonly number[]): void {
    this.designs = this.designs.map((row, at) => (at === index ? design : row));
    this.#changed();
  }

  use(designs: Designs): void {
    this.designs = designs;
    this.#changed();
  }

  stop(): void {
    this.#stop.abort();
  }

  /** Looks for the best designs; they are shown as they travel. */
  optimise(): Promise<void> {
    const { choice } = this;
    if (choice === undefined) return Promise.resolve();
    return this.#search("optimise", "Looking for designs", async (options) => {
      const policy = await searches().call("optimise", { choice }, options);
      this.found = { choice, policy };
      if (policy.kind === "static" && isSameExperiment(this.choice, choice))
        this.use(nearestOrder(this.designs, policy.designs));
    });
  }

  /** Designs for every beta, one point after the other. */
  traceFrontier(): Promise<void> {
    const { choice } = this;
    if (choice === undefined) return Promise.resolve();
    this.frontier = { choice, points: [] };
    return this.#search("frontier", "Tracing the frontier", async (options) => {
      const points = await searches().call("frontier", { choice }, options);
      this.frontier = { choice, points };
    });
  }

  async #search(
    kind: SearchJob["kind"],
    label: string,
    act: (options: { signal: AbortSignal; onPartial: (partial: SearchPartial) => void }) => Promise<void>,
  ): Promise<void> {
    this.#stop.abort();
    const stop = new AbortController();
    this.#stop = stop;
    const { choice } = this;
    this.failure = "";
    this.wasStopped = false;
    const tell = (done: number, total: number): void => {
      this.job = { kind, label, done, total };
      running.set("design", { label, done, total, stop: () => this.stop() });
    };
    tell(0, 1);
    try {
      await act({
        signal: stop.signal,
        onPartial: ({ progress, designs, point }) => {
          if (stop !== this.#stop) return;
          if (progress !== undefined) tell(progress.done, progress.total);
          if (
            designs !== undefined &&
            kind === "optimise" &&
            choice !== undefined &&
            isSameExperiment(this.choice, choice)
          ) {
            this.use(nearestOrder(this.designs, designs));
          }
          if (point !== undefined && this.frontier !== undefined) {
            this.frontier = { ...this.frontier, points: [...this.frontier.points, point] };
            this.#keep();
          }
        },
      });
    } catch (error) {
      if (stop !== this.#stop) return;
      if (isStopped(error)) this.wasStopped = true;
      else this.failure = textOf(error);
    } finally {
      if (stop === this.#stop) {
        this.job = undefined;
        running.set("design", undefined);
        this.#keep();
        this.keepNow();
      }
    }
  }

  #changed(): void {
    this.isBehind = true;
    this.#refining.abort();
    this.isRefining = false;
    clearTimeout(this.#resting);
    this.#keep();
    void this.#evaluate();
  }

  /** One at a time, always of where the designs are by then: those in between are skipped. */
  async #evaluate(): Promise<void> {
    if (this.#evaluating) return;
    this.#evaluating = true;
    try {
      while (this.isBehind) {
        const { choice, designs } = this;
        if (choice === undefined || designs.length !== choice.horizon) return;
        this.isBehind = false;
        const information = await here().call("information", {
          choice,
          designs: $state.snapshot(designs) as Designs,
        });
        if (isSameExperiment(this.choice, choice)) this.information = information;
      }
      this.#resting = setTimeout(() => void this.#refine(), REST_MS);
    } catch (error) {
      this.failure = textOf(error);
    } finally {
      this.#evaluating = false;
    }
  }

  async #refine(): Promise<void> {
    const { choice, designs } = this;
    if (
      choice === undefined ||
      this.information === undefined ||
      this.information.exact ||
      this.job !== undefined
    )
      return;
    const refining = new AbortController();
    this.#refining = refining;
    this.isRefining = true;
    const take = (information: LiveInformation): void => {
      if (!refining.signal.aborted) this.information = information;
    };
    try {
      take(
        await here().call(
          "refine",
          { choice, designs: $state.snapshot(designs) as Designs },
          { signal: refining.signal, onPartial: take },
        ),
      );
    } catch (error) {
      if (!refining.signal.aborted) this.failure = textOf(error);
    } finally {
      if (this.#refining === refining) this.isRefining = false;
    }
  }

  #keep(): void {
    clearTimeout(this.#keeping);
    this.#keeping = setTimeout(() => this.keepNow(), KEEP_MS);
  }

  /** What was to be kept in a moment: whoever leaves the page does not wait for it. */
  keepNow(): void {
    if (this.#keeping === undefined) return;
    clearTimeout(this.#keeping);
    this.#keeping = undefined;
    const { choice, designs, found, frontier } = this;
    if (choice === undefined) return;
    keep(KEPT, $state.snapshot({ choice, designs, found, frontier }) satisfies KeptDesign).catch(() => {
      project.notKept = keptTexts.cannot;
    });
  }
}

/** The order does not matter to what designs tell: each goes to the place of the nearest one before, so that points travel. */
export const nearestOrder = (before: Designs, after: Designs): Designs => {
  if (before.length !== after.length) return after;
  const scale = (before[0] ?? []).map((_, d) => {
    const all = [...before, ...after].map((row) => row[d]);
    return Math.max(...all) - Math.min(...all) || 1;
  });
  const left = [...after];
  return before.map((from) => {
    const distances = left.map((to) =>
      to.reduce((sum, value, d) => sum + ((value - from[d]) / scale[d]) ** 2, 0),
    );
    return left.splice(distances.indexOf(Math.min(...distances)), 1)[0];
  });
};

export const designRun = new DesignRun();
addEventListener("pagehide", () => designRun.keepNow());
