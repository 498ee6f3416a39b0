/** A server without a socket for tests, every answer of which is held against its own documentation. */
import { expect } from "vitest";
import { memoryStore } from "../../src/campaign/memory-store.js";
import { modelsInThread, type PoolModels } from "../../src/campaign/ranking-schedule.js";
import type { CampaignStore } from "../../src/campaign/store.js";
import { type AppOptions, createApp } from "../../src/server/app.js";
import { jsonLog } from "../../src/server/log.js";
import { openCampaigns } from "../../src/server/open-campaigns.js";
import type { Scope } from "../../src/server/scope.js";
import { type TokenChoice, tokensOf } from "../../src/server/tokens.js";
import { responseFaults } from "./schema-check.js";

/** Found nowhere else: in a response, a header or a log they give away a sensitive value, or a person. */
export const SENSITIVE_MARKERS = ["zanzibarian", "quokkanese"] as const;
export const ID_MARKER = "person-xq7-";

export const idOf = (row: number): string => `${ID_MARKER}${row}`;

/** The first rows have a label, of either kind in either group. */
export const poolCsv = (rows = 40, labelled = 8): string =>
  [
    "id,age,score,clan,hired",
    ...Array.from({ length: rows }, (_, i) => {
      const hired = i < labelled ? (i % 4 < 2 ? "yes" : "no") : "";
      return `${idOf(i)},${20 + ((i * 7) % 40)},${(i * 13) % 17},${SENSITIVE_MARKERS[i % 2]},${hired}`;
    }),
    "",
  ].join("\n");

export const poolBody = (name = "clinic", rest: Readonly<Record<string, unknown>> = {}) => ({
  name,
  pool: { csv: poolCsv() },
  target: "hired=yes",
  sensitive: ["clan"],
  id: "id",
  ...rest,
});

export interface Sent {
  readonly token?: string | undefined;
  /** Sent as JSON. */
  readonly body?: unknown;
  /** Sent as it is. */
  readonly text?: string | undefined;
  readonly headers?: Readonly<Record<string, string>> | undefined;
}

export interface Got {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  // biome-ignore lint/suspicious/noExplicitAny: tests look into answers whose shape the document has checked
  readonly json: any;
}

export interface ServedOptions {
  readonly store?: CampaignStore | undefined;
  readonly options?: AppOptions | undefined;
  readonly clock?: (() => number) | undefined;
  readonly models?: (() => PoolModels) | undefined;
}

export const served = ({
  store = memoryStore(),
  options = {},
  clock = Date.now,
  models = modelsInThread,
}: ServedOptions = {}) => {
  const lines: string[] = [];
  const campaigns = openCampaigns(store, { models, clock });
  const tokens = tokensOf(store, { clock });
  const app = createApp({
    campaigns,
    tokens,
    log: jsonLog((line) => lines.push(line), "debug", clock),
    options: { openWithoutTokens: true, clock, rate: { perSecond: 1e6, burst: 1e6 }, ...options },
  });
  let document: unknown;
  const documentNow = async (): Promise<unknown> => {
    document ??= await (await app.request("/openapi.json")).json();
    return document;
  };
  const raw = async (
    method: string,
    path: string,
    { token, body, text, headers = {} }: Sent = {},
  ): Promise<Response> =>
    app.request(path, {
      method,
      headers: {
        ...(body === undefined ? {} : { "Content-Type": "application/json" }),
        ...(token === undefined ? {} : { Authorization: `Bearer ${token}` }),
        ...headers,
      },
      ...(body === undefined && text === undefined ? {} : { body: text ?? JSON.stringify(body) }),
    });
  const send = async (method: string, path: string, sent: Sent = {}): Promise<Got> => {
    const response = await raw(method, path, sent);
    const faults = await responseFaults(
      await documentNow(),
      method,
      path.split("?")[0],
      response.clone() as Response,
    );
    expect(faults).toEqual([]);
    const answer = await response.text();
    const isJson = response.headers.get("content-type")?.startsWith("application/json") === true;
    return {
      status: response.status,
      headers: response.headers,
      text: answer,
      json: isJson ? JSON.parse(answer) : undefined,
    };
  };
  const tokenFor = async (scope: Scope, choice: Partial<TokenChoice> = {}): Promise<string> =>
    (await tokens.create({ name: `for ${scope}`, scope, ...choice })).secret;
  return {
    app,
    store,
    campaigns,
    tokens,
    lines,
    document: documentNow,
    raw,
    send,
    tokenFor,
    /** Under /api/v1/campaigns/clinic. */
    at: (method: string, path: string, sent?: Sent) => send(method, `/api/v1/campaigns/clinic${path}`, sent),
    create: async (rest: Readonly<Record<string, unknown>> = {}, token?: string) => {
      const got = await send("POST", "/api/v1/campaigns", { body: poolBody("clinic", rest), token });
      expect(got.status).toBe(201);
      return got;
    },
    close: () => campaigns.close(),
  };
};

export type Served = ReturnType<typeof served>;
