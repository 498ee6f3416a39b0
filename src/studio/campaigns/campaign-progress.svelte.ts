/** Where a campaign stands, for whoever runs it: counts at once, the forecast after every few labels. */
import type { CampaignAgreement } from "../../campaign/agreement.js";
import type { ChangeableSettings, SettingsChange } from "../../campaign/settings.js";
import type { CampaignStatus } from "../../campaign/status.js";
import type { Forecast } from "../../workflows/forecast.js";
import { isStopped } from "../engine-client.js";
import { campaigns } from "./campaigns.js";
import { failureKind, messageOf } from "./failure-kind.js";

/** Labels between two forecasts, and milliseconds without a label after which there is time for one. */
const EVERY = 5;
const REST_MS = 1500;

interface KnownForecast {
  readonly labelled: number;
  readonly settings: string;
  readonly forecast: Forecast;
}

export class CampaignProgress {
  readonly name: string;
  status = $state.raw<CampaignStatus | undefined>();
  settings = $state.raw<ChangeableSettings | undefined>();
  /** With the number of labels that it knows of, and the settings that it is for. */
  forecast = $state.raw<KnownForecast | undefined>();
  agreement = $state.raw<CampaignAgreement | undefined>();
  isForecasting = $state(false);
  failure = $state("");
  #looking: Promise<void> | undefined;
  #again = false;
  #rest: ReturnType<typeof setTimeout> | undefined;
  readonly #stop = new AbortController();
  /** Of the forecast that is being made: other settings want another one. */
  #outdated = new AbortController();

  constructor(name: string) {
    this.name = name;
  }

  get isStale(): boolean {
    const { forecast } = this;
    if (forecast === undefined) return false;
    return forecast.labelled !== this.status?.counts.labelled || this.isOfOtherSettings;
  }

  /** The forecast is for settings that do not hold any more. */
  get isOfOtherSettings(): boolean {
    return this.forecast !== undefined && this.forecast.settings !== this.#settingsKey;
  }

  /** Changes settings from now on: resolves once that is stored and shown. */
  async configure(change: SettingsChange): Promise<void> {
    await campaigns.configure(this.name, change);
    this.refresh();
    await this.#looking;
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
    this.#outdated.abort(new DOMException("stopped", "AbortError"));
  }

  get #settingsKey(): string {
    return JSON.stringify(this.settings ?? null);
  }

  async #look(): Promise<void> {
    while (this.#again && !this.#stop.signal.aborted) {
      this.#again = false;
      try {
        const status = await campaigns.status(this.name);
        if (status.hash === this.status?.hash) continue;
        const before = this.#settingsKey;
        const settings = await campaigns.settings(this.name);
        this.settings = settings;
        this.status = status;
        this.failure = "";
        if (status.kind !== "pool") continue;
        if (before !== this.#settingsKey) this.#outdated.abort(new DOMException("stopped", "AbortError"));
        const { annotators, disputed } = status.counts;
        if (annotators > 1 || disputed > 0) this.agreement = await campaigns.agreement(this.name);
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

  /** Where so many labels have come since the last one, or settings have changed. */
  async #foresee(news: number): Promise<void> {
    const labelled = this.status?.counts.labelled ?? 0;
    const settings = this.#settingsKey;
    const { forecast: known } = this;
    const isKnown = known?.settings === settings && Math.abs(labelled - known.labelled) < news;
    if (this.isForecasting || isKnown || this.#stop.signal.aborted) return;
    this.isForecasting = true;
    this.#outdated = new AbortController();
    try {
      const forecast = await campaigns.forecast(this.name, this.#outdated.signal);
      this.forecast = { labelled, settings, forecast };
    } catch (error) {
      if (!isStopped(error) && failureKind(error) === "refused") this.failure = messageOf(error);
    } finally {
      this.isForecasting = false;
      if (settings !== this.#settingsKey) void this.#foresee(1);
      else if (this.isStale) this.#foreseeSoon();
    }
  }
}
