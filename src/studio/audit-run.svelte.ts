/** The audit of the open table as it runs: it goes on while other screens are looked at. */
import { type AttributeSoFar, allOf, withFinding } from "../report/audit-so-far.js";
import type { AuditFinding, TableAudit } from "../workflows/audit-table.js";
import { engine, isStopped } from "./engine-client.js";
import { project } from "./project.svelte.js";
import type { Roles } from "./roles.js";
import { running } from "./running.svelte.js";
import type { auditTasks } from "./worker/audit-tasks.js";

/** What an audit was asked for, kept with its result to tell whether it still is what is wanted. */
export interface AskedAudit {
  readonly roles: Roles;
  readonly seed: number;
  readonly audit: TableAudit;
}

interface Partial {
  readonly progress?: { readonly done: number; readonly total: number };
  readonly finding?: AuditFinding;
}

class AuditRun {
  soFar = $state.raw<readonly AttributeSoFar[]>([]);
  progress = $state.raw({ done: 0, total: 1 });
  isRunning = $state(false);
  wasStopped = $state(false);
  failure = $state("");
  #stop = new AbortController();
  /** What is running, or ran last, to see that the roles changed meanwhile. */
  #roles = $state.raw<Roles | undefined>();

  constructor() {
    project.whenOpened(() => this.#forget());
  }

  get result(): AskedAudit | undefined {
    return project.results.audit as AskedAudit | undefined;
  }

  /** Whether the result, or what runs, is about other roles than those that are chosen now. */
  get isStale(): boolean {
    const roles = this.isRunning ? this.#roles : this.result?.roles;
    return roles !== undefined && JSON.stringify(roles) !== JSON.stringify(project.roles);
  }

  /** Whether nothing was tried yet with the roles that are chosen now. */
  get isBlank(): boolean {
    if (this.result !== undefined || this.isRunning) return false;
    if (this.failure === "" && !this.wasStopped) return true;
    return JSON.stringify(this.#roles) !== JSON.stringify(project.roles);
  }

  /** The finished audit, or what is known of the one that runs. */
  get attributes(): readonly AttributeSoFar[] {
    if (this.isRunning || (this.soFar.length > 0 && this.result === undefined)) return this.soFar;
    return this.result?.audit.attributes.map(allOf) ?? [];
  }

  /** What was found of the table that was open before. */
  #forget(): void {
    this.#stop.abort();
    this.#stop = new AbortController();
    this.soFar = [];
    this.failure = "";
    this.wasStopped = false;
    this.isRunning = false;
    running.set("audit", undefined);
  }

  stop(): void {
    this.#stop.abort();
  }

  async start(seed = 0): Promise<void> {
    this.#stop.abort();
    const stop = new AbortController();
    this.#stop = stop;
    const roles = project.roles;
    this.#roles = roles;
    this.soFar = [];
    this.failure = "";
    this.wasStopped = false;
    this.isRunning = true;
    this.progress = { done: 0, total: 1 };
    const show = (): void =>
      running.set("audit", { label: "Auditing", ...this.progress, stop: () => this.stop() });
    show();
    try {
      const audit = await engine<typeof auditTasks>("audit").call(
        "audit",
        { roles, seed },
        {
          signal: stop.signal,
          onPartial: ({ progress, finding }: Partial) => {
            if (stop !== this.#stop) return;
            if (progress !== undefined) this.progress = progress;
            if (finding !== undefined) this.soFar = withFinding(this.soFar, finding);
            show();
          },
        },
      );
      if (stop === this.#stop) project.remember("audit", { roles, seed, audit } satisfies AskedAudit);
    } catch (error) {
      if (stop !== this.#stop) return;
      if (isStopped(error)) this.wasStopped = true;
      else this.failure = error instanceof Error ? error.message : String(error);
    } finally {
      if (stop === this.#stop) {
        this.isRunning = false;
        running.set("audit", undefined);
      }
    }
  }
}

export const auditRun = new AuditRun();
