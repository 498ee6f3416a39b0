/** Campaigns of the server that the page comes from, over its HTTP interface. Runs in a worker. */
import type { CampaignAgreement } from "../../campaign/agreement.js";
import type { Labelling } from "../../campaign/labelling.js";
import { forAnnotator, type Question } from "../../campaign/question.js";
import type { ChangeableSettings } from "../../campaign/settings.js";
import type { CampaignStatus } from "../../campaign/status.js";
import { columnCell, type Table } from "../../tables/table.js";
import type { Forecast } from "../../workflows/forecast.js";
import { taskOf } from "../roles.js";
import {
  AWAY,
  type CampaignClient,
  type CampaignSummary,
  type DisputesPart,
  type Place,
  type Rights,
  type Saying,
} from "./campaign-client.js";
import { withFewLabels } from "./rehearsal.js";

export const remoteTexts = {
  away: (host: string) =>
    `The server ${host} does not answer. Nothing is lost: what you answered waits in this browser and is sent when it is back.`,
  unreadable: (status: number) =>
    `The server answered with ${status} and nothing that can be read: try again later.`,
};

/** What the server refused, with its own sentence; or that it is away. */
export class RemoteProblem extends Error {
  override readonly name = "RemoteProblem";
  readonly code: string;
  constructor(code: string, message: string) {
    super(message);
    this.code = code;
  }
}

/** It may work later without any change. */
const PASSING = [408, 429, 500, 502, 503, 504];

const JSON_TYPE = "application/json";
const LINES_TYPE = "application/x-ndjson";
/** In seconds; a computation takes longer than a question. */
const PATIENCE = { usual: 20, long: 600 } as const;

interface Sent {
  readonly method?: "GET" | "POST" | "PATCH" | "DELETE";
  readonly body?: unknown;
  readonly text?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal | undefined;
  readonly seconds?: number;
}

const PATHS: Readonly<Record<Saying["kind"], string>> = {
  answer: "answers",
  refusal: "answers",
  skip: "skips",
  retraction: "retractions",
  adjudication: "adjudications",
};

const sayingBody = ({ kind, event, id, annotator, label }: Saying): unknown => {
  const by = annotator === "" ? {} : { annotator };
  if (kind === "skip" || kind === "retraction") return { id, event, ...by };
  if (kind === "adjudication") return { id, event, label, ...by };
  return { answers: [{ id, event, ...by, ...(kind === "refusal" ? { refused: true } : { label }) }] };
};

const recordsOf = (table: Table): readonly Readonly<Record<string, string | number | null>>[] => {
  const cells = table.columns.map((column) => [column.name, columnCell(column)] as const);
  return Array.from({ length: table.rows }, (_, row) =>
    Object.fromEntries(cells.map(([name, cell]) => [name, cell(row) ?? null])),
  );
};

export const remoteCampaigns = ({ origin, token }: Place & { kind: "remote" }): CampaignClient => {
  const { host } = new URL(origin);
  const problemIn = async (response: Response): Promise<RemoteProblem> => {
    const found = (await response.json().catch(() => undefined)) as
      | { readonly error?: { readonly code?: string; readonly message?: string } }
      | undefined;
    const message = found?.error?.message ?? remoteTexts.unreadable(response.status);
    if (PASSING.includes(response.status)) return new RemoteProblem(AWAY, message);
    return new RemoteProblem(found?.error?.code ?? String(response.status), message);
  };
  const send = async (path: string, sent: Sent = {}): Promise<Response> => {
    const { method = "GET", body, text, headers = {}, signal, seconds = PATIENCE.usual } = sent;
    const patience = AbortSignal.timeout(seconds * 1000);
    let response: Response;
    try {
      response = await fetch(`${origin}/api/v1${path}`, {
        method,
        cache: "no-store",
        credentials: "omit",
        headers: {
          ...(body === undefined ? {} : { "Content-Type": JSON_TYPE }),
          ...(token === "" ? {} : { Authorization: `Bearer ${token}` }),
          ...headers,
        },
        signal: signal === undefined ? patience : AbortSignal.any([signal, patience]),
        ...(body === undefined && text === undefined ? {} : { body: text ?? JSON.stringify(body) }),
      });
    } catch (error) {
      if (signal?.aborted === true) throw error;
      throw new RemoteProblem(AWAY, remoteTexts.away(host));
    }
    if (!response.ok) throw await problemIn(response);
    return response;
  };
  const json = async <Found>(path: string, sent?: Sent): Promise<Found> => (await send(path, sent)).json();
  const at = (name: string, path = ""): string => `/campaigns/${encodeURIComponent(name)}${path}`;
  return {
    async rights() {
      const { scope, campaign, annotator } = await json<Rights>("/me");
      return { scope, campaign, annotator };
    },
    async list() {
      const all: CampaignSummary[] = [];
      for (let cursor: string | null | undefined; cursor !== null; ) {
        const query = cursor === undefined ? "" : `?cursor=${encodeURIComponent(cursor)}`;
        const part: { readonly campaigns: readonly CampaignSummary[]; readonly next: string | null } =
          await json(`/campaigns${query}`);
        all.push(...part.campaigns.map(({ name, events, lastEventAt }) => ({ name, events, lastEventAt })));
        cursor = part.next;
      }
      return all;
    },
    async begin(table, { name, roles, budget, opinions, method, recipe, keepLabels }) {
      const pool = keepLabels === undefined ? table : withFewLabels(table, roles.target, keepLabels);
      await send("/campaigns", {
        method: "POST",
        body: {
          name,
          pool: { records: recordsOf(pool) },
          ...taskOf(roles),
          method,
          recipe,
          budget,
          opinions,
        },
        seconds: PATIENCE.long,
      });
    },
    status: (name) => json<CampaignStatus>(at(name)),
    async labelling(name) {
      const labelling = await json<Labelling>(at(name, "/labelling"));
      return labelling.kind === "pool" ? { ...labelling, sensitive: [] } : labelling;
    },
    async ask(name, { view, annotator, request }) {
      const { questions, notes } = await json<{
        readonly questions: readonly Question[];
        readonly notes: readonly string[];
      }>(at(name, "/questions"), {
        method: "POST",
        body: { count: 1, request, ...(annotator === "" ? {} : { annotator }) },
      });
      const [question] = questions;
      return {
        question: question === undefined || view === "owner" ? question : forAnnotator(question),
        notes,
      };
    },
    async say(name, saying) {
      await send(at(name, `/${PATHS[saying.kind]}`), { method: "POST", body: sayingBody(saying) });
    },
    forecast: (name, { signal }) => json<Forecast>(at(name, "/forecast"), { signal, seconds: PATIENCE.long }),
    agreement: (name) => json<CampaignAgreement>(at(name, "/agreement")),
    disputes: (name, from) =>
      json<DisputesPart>(
        at(name, `/disputes?limit=50${from === undefined ? "" : `&cursor=${encodeURIComponent(from)}`}`),
      ),
    settings: (name) => json<ChangeableSettings>(at(name, "/settings")),
    async configure(name, change) {
      // Answers come all the time and change the head: only what is named here is changed, whatever came between.
      await send(at(name), { method: "PATCH", body: change, headers: { "If-Match": "*" } });
    },
    backup: async (name) => (await send(at(name, "/backup"), { seconds: PATIENCE.long })).text(),
    async restore(text, name) {
      const query = name === undefined ? "" : `?name=${encodeURIComponent(name)}`;
      const restored = await json<{ readonly name: string }>(`/restore${query}`, {
        method: "POST",
        text,
        headers: { "Content-Type": LINES_TYPE },
        seconds: PATIENCE.long,
      });
      return restored.name;
    },
    async delete(name) {
      await send(at(name), { method: "DELETE", headers: { "If-Match": "*" } });
    },
  };
};
