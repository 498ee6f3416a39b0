/** Records on which annotators disagree, one after the other, for whoever runs the campaign. */
import type { Dispute } from "../../campaign/disputes.js";
import type { LabelValue } from "../../workflows/told-values.js";
import { isStopped } from "../engine-client.js";
import { campaigns } from "./campaigns.js";
import { failureKind, messageOf } from "./failure-kind.js";
import type { LabellingSession } from "./labelling-session.svelte.js";

/** A record that was settled in this tab. */
export interface Settled {
  readonly dispute: Dispute;
  readonly label: LabelValue;
}

/** So many are here to be settled before further parts are asked for. */
const AHEAD = 10;
const RETRY_MS = 3000;

export class DisputeQueue {
  readonly #session: LabellingSession;
  #found = $state.raw<readonly Dispute[] | undefined>();
  /** Put off, the first of them first. */
  #later = $state.raw<readonly string[]>([]);
  #settled = $state.raw<readonly Settled[]>([]);
  /** One that was settled and is looked at again. */
  #again = $state.raw<Settled | undefined>();
  /** The one that is shown stays, whatever comes in meanwhile. */
  #shown = $state<string | undefined>();
  /** There are further ones than those that are here. */
  hasMore = $state(false);
  /** Why they could not be had; it is tried again. */
  away = $state("");
  failure = $state("");
  #looking: Promise<void> | undefined;
  #lookAgain = false;
  #retry: ReturnType<typeof setTimeout> | undefined;
  #isEnded = false;

  constructor(session: LabellingSession) {
    this.#session = session;
  }

  get isLoading(): boolean {
    return this.#found === undefined && this.failure === "";
  }

  /** Those that wait to be settled, those that were put off at the end. */
  get open(): readonly Dispute[] {
    return this.#openOf(this.#found ?? []);
  }

  #openOf(found: readonly Dispute[]): readonly Dispute[] {
    const gone = new Set([...this.#session.settling, ...this.#settled.map(({ dispute }) => dispute.id)]);
    for (const { kind, id } of this.#session.refused) if (kind === "adjudication") gone.delete(id);
    const left = found.filter(({ id }) => !gone.has(id));
    const place = ({ id }: Dispute): number => this.#later.indexOf(id);
    return left.toSorted((a, b) => place(a) - place(b));
  }

  get current(): Dispute | undefined {
    const { open } = this;
    return this.#again?.dispute ?? open.find(({ id }) => id === this.#shown) ?? open[0];
  }

  /** What the record that is shown was settled as before. */
  get settledAs(): LabelValue | undefined {
    return this.#again?.label;
  }

  get count(): number {
    return this.#settled.length;
  }

  get canGoBack(): boolean {
    return this.#again === undefined && this.#settled.length > 0;
  }

  /** What may have changed since. */
  refresh(): void {
    this.#lookAgain = true;
    this.#looking ??= this.#look().finally(() => {
      this.#looking = undefined;
    });
  }

  settle(label: LabelValue): void {
    const dispute = this.current;
    if (dispute === undefined) return;
    this.#session.settle(dispute.id, label);
    this.#settled = [...this.#settled.filter((each) => each.dispute.id !== dispute.id), { dispute, label }];
    this.#next();
  }

  /** Another one first. */
  putOff(): void {
    const dispute = this.current;
    if (dispute === undefined) return;
    if (this.#again === undefined)
      this.#later = [...this.#later.filter((id) => id !== dispute.id), dispute.id];
    this.#next();
  }

  /** Shows the last one again: what it was settled as holds until it is settled as something else. */
  goBack(): void {
    if (this.canGoBack) this.#again = this.#settled.at(-1);
  }

  end(): void {
    this.#isEnded = true;
    clearTimeout(this.#retry);
  }

  #next(): void {
    this.#again = undefined;
    this.#shown = this.open[0]?.id;
  }

  async #look(): Promise<void> {
    clearTimeout(this.#retry);
    while (this.#lookAgain && !this.#isEnded) {
      this.#lookAgain = false;
      try {
        await this.#load();
        this.#shown = this.current?.id;
        this.away = "";
        this.failure = "";
      } catch (error) {
        this.#fail(error);
      }
    }
  }

  /** As many parts as it takes to have some that are neither settled nor put off. */
  async #load(): Promise<void> {
    const found: Dispute[] = [];
    for (let from: string | undefined; ; ) {
      const part = await campaigns.disputes(this.#session.choice.campaign, from);
      found.push(...part.disputes);
      const fresh = this.#openOf(found).filter(({ id }) => !this.#later.includes(id)).length;
      if (part.next === null || fresh >= AHEAD) {
        this.#found = found;
        this.hasMore = part.next !== null;
        return;
      }
      from = part.next;
    }
  }

  #fail(error: unknown): void {
    if (this.#isEnded) return;
    const kind = failureKind(error);
    if (kind === "refused") this.failure = messageOf(error);
    // The session asks for another token, and looks again with it.
    else if (kind === "token") this.#session.tokenProblem = messageOf(error);
    else {
      if (!isStopped(error)) this.away = messageOf(error);
      this.#retry = setTimeout(() => this.refresh(), RETRY_MS);
    }
  }
}
