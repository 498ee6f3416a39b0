/** Where a campaign stands, for whoever runs it: counts at once, the forecast after every few labels. */
import type { CampaignAgreement } from "../../campaign/agreement.js";
import type { CampaignStatus } from "../../campaign/status.js";
import type { Forecast } from "../../workflows/forecast.js";
import { isStopped } from "../engine-client.js";
import { campaigns } from "./campaigns.js";
import { failureKind, messageOf } from "./failure-kind.js";

/** Labels between two forecasts, and milliseconds without a label after which there is time for one. */
const EVERY = 5;
const REST_MS = 1500;

export class CampaignProgress {
  readonly name: string;
  status = $state.raw<CampaignStatus | undefined>();
  /** With the number of labels that it knows of. */
  forecast = $state.raw<{ readonly labelled: number; readonly forecast: Forecast } | undefined>();
  agreement = $state.raw<CampaignAgreement | undefined>();
  isForecasting = $state(false);
  failure = $state("");
  #looking: Promise<void> | undefined;
  #again = false;
  #rest: ReturnType<typeof setTimeout> | undefined;
  readonly #stop = new AbortController();

  constructor(name: string) {
    this.name = name;
  }

  get isStale(): boolean {
    return this.forecast !== undefined && this.forecast.labelled !== this.status?.counts.labelled;
  }

  /** What has changed since it was looked at last. */
  refresh(): void {
    this.#again = true;
    this.#looking ??= this.#look().finally(() => {
      this.#looking = undefined;
    });
  }

  end(): void {
    clearTimeout(this.#rest);
    this.#stop.abort(new DOMException("stopped", "AbortError"));
  }

  async #look(): Promise<void> {
    while (this.#again && !this.#stop.signal.aborted) {
      this.#again = false;
      try {
        const status = await campaigns.status(this.name);
        if (status.hash === this.status?.hash) continue;
        this.status = status;
        this.failure = "";
        if (status.kind !== "pool") continue;
        if (status.counts.annotators > 1)
          this.agreement = (await campaigns.agreement(this.name)) ?? undefined;
        void this.#foresee(EVERY);
        this.#foreseeSoon();
      } catch (error) {
        // A server that is away is said once, where answers wait for it.
        if (failureKind(error) === "refused") this.failure = messageOf(error);
      }
    }
  }

  #foreseeSoon(): void {
    clearTimeout(this.#rest);
    if (!this.#stop.signal.aborted) this.#rest = setTimeout(() => void this.#foresee(1), REST_MS);
  }

  /** Where so many labels have come since the last one. */
  async #foresee(news: number): Promise<void> {
    const labelled = this.status?.counts.labelled ?? 0;
    const known = this.forecast?.labelled;
    if (this.isForecasting || (known !== undefined && Math.abs(labelled - known) < news)) return;
    this.isForecasting = true;
    try {
      const forecast = await campaigns.forecast(this.name, this.#stop.signal);
      this.forecast = { labelled, forecast };
    } catch (error) {
      if (!isStopped(error) && failureKind(error) === "refused") this.failure = messageOf(error);
    } finally {
      this.isForecasting = false;
      if (this.isStale) this.#foreseeSoon();
    }
  }
}
