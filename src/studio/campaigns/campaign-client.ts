/** What the page asks of whoever keeps campaigns: this browser, or the server that the page comes from. */

import type { StrategyName } from "../../active/strategy-names.js";
import type { CampaignAgreement } from "../../campaign/agreement.js";
import type { Dispute } from "../../campaign/disputes.js";
import type { Labelling } from "../../campaign/labelling.js";
import type { AnnotatorQuestion, Question } from "../../campaign/question.js";
import type { ChangeableSettings, SettingsChange } from "../../campaign/settings.js";
import type { CampaignStatus } from "../../campaign/status.js";
import type { RunOptions } from "../../core/options.js";
import type { Table } from "../../tables/table.js";
import type { Forecast } from "../../workflows/forecast.js";
import type { LabelValue } from "../../workflows/told-values.js";
import type { Roles } from "../roles.js";

/** The code of a failure of a server that does not answer now. */
export const AWAY = "server-away";

/** Where campaigns are kept. The token goes with every request, in a header. */
export type Place =
  | { readonly kind: "local" }
  | { readonly kind: "remote"; readonly origin: string; readonly token: string };

/** Who looks: an annotator gets a question with nothing that says why it is asked. */
export type View = "owner" | "annotator";

export interface CampaignSummary {
  readonly name: string;
  readonly events: number;
  /** ISO 8601. */
  readonly lastEventAt: string;
}

/** What somebody may do here. */
export interface Rights {
  readonly scope: "admin" | "collect" | "label" | "read";
  /** The only campaign that it is for; null for all. */
  readonly campaign: string | null;
  /** The name that they ask and answer under; null for any. */
  readonly annotator: string | null;
}

/** A campaign to be begun from the open table. */
export interface NewCampaign {
  readonly name: string;
  readonly roles: Roles;
  readonly budget: number;
  readonly opinions: number;
  /** What is recommended unless given. */
  readonly method?: StrategyName | undefined;
  /** As `plan` wrote it. */
  readonly recipe?: unknown;
  /** Labels that are kept where all rows have one; the others are taken away, to try a campaign out. */
  readonly keepLabels?: number | undefined;
}

export interface AskChoice {
  readonly view: View;
  readonly annotator: string;
  /** Asked again under the same name, it is the same question. */
  readonly request: string;
  /** Milliseconds to wait for a ranking. */
  readonly wait?: number | undefined;
}

export interface Given<Shown> {
  /** Undefined where there is nobody to ask; `notes` say why. */
  readonly question: Shown | undefined;
  readonly notes: readonly string[];
}

/** What is said of an item: by an annotator, or, where annotators disagree, by whoever settles it. */
export type SaidOf =
  | { readonly kind: "answer" | "adjudication"; readonly label: LabelValue }
  | { readonly kind: "refusal" | "skip" | "retraction"; readonly label?: undefined };

export type Saying = SaidOf & {
  /** Sent again under the same name, it counts once. */
  readonly event: string;
  /** The item. */
  readonly id: string;
  readonly annotator: string;
};

/** Some of what annotators disagree about, and where the next part begins; null where this is the last one. */
export interface DisputesPart {
  readonly disputes: readonly Dispute[];
  readonly next: string | null;
}

export interface ForecastRun {
  readonly signal: AbortSignal;
  readonly onProgress: NonNullable<RunOptions["onProgress"]>;
}

export interface CampaignClient {
  rights(): Promise<Rights>;
  list(): Promise<readonly CampaignSummary[]>;
  begin(table: Table, given: NewCampaign): Promise<void>;
  status(name: string): Promise<CampaignStatus>;
  /** What may be told, of sensitive columns nothing. */
  labelling(name: string): Promise<Labelling>;
  ask(name: string, choice: AskChoice): Promise<Given<Question | AnnotatorQuestion>>;
  /** Resolves once it is stored. */
  say(name: string, saying: Saying): Promise<void>;
  forecast(name: string, run: ForecastRun): Promise<Forecast>;
  agreement(name: string): Promise<CampaignAgreement>;
  disputes(name: string, from: string | undefined): Promise<DisputesPart>;
  settings(name: string): Promise<ChangeableSettings>;
  /** Resolves once it is stored; what is left out stays as it is. */
  configure(name: string, change: SettingsChange): Promise<void>;
  backup(name: string): Promise<string>;
  /** The name that it has from now on. */
  restore(text: string, name: string | undefined): Promise<string>;
  delete(name: string): Promise<void>;
}
