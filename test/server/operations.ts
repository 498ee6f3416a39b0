/** Every operation of the document with a request that works, and the scope that it needs. A new route must be added. */
import type { Scope } from "../../src/server/scope.js";
import { idOf, poolBody, type Sent } from "./served.js";

export interface Operation {
  readonly method: "GET" | "POST" | "PATCH" | "DELETE";
  /** As the document has it. */
  readonly path: string;
  /** Null where nobody needs a token, and any where every token will do. */
  readonly scope: Scope | "any" | null;
  /** About all campaigns: a token for one is not enough. */
  readonly all?: true;
  readonly sent?: Sent;
  /** Instead of `{name}` and so on. */
  readonly address?: string;
}

const CAMPAIGN = "/api/v1/campaigns/{name}";
const JSON_LINES = { "Content-Type": "application/x-ndjson" };

/** In an order in which each finds what it needs; about the item in row 20, which was asked of "ann". */
export const operations: readonly Operation[] = [
  { method: "GET", path: "/", scope: null },
  { method: "GET", path: "/docs", scope: null },
  { method: "GET", path: "/openapi.json", scope: null },
  { method: "GET", path: "/health", scope: null },
  { method: "GET", path: "/ready", scope: null },
  { method: "GET", path: "/metrics", scope: "read", all: true },
  { method: "GET", path: "/api/v1/me", scope: "any" },
  { method: "GET", path: "/api/v1/campaigns", scope: "read" },
  { method: "POST", path: "/api/v1/campaigns", scope: "admin", all: true, sent: { body: poolBody("other") } },
  { method: "GET", path: CAMPAIGN, scope: "read" },
  {
    method: "PATCH",
    path: CAMPAIGN,
    scope: "admin",
    sent: { body: { lease: 60 }, headers: { "If-Match": "*" } },
  },
  { method: "GET", path: `${CAMPAIGN}/settings`, scope: "read" },
  {
    method: "POST",
    path: `${CAMPAIGN}/questions`,
    scope: "label",
    sent: { body: { count: 2, annotator: "ann" } },
  },
  { method: "GET", path: `${CAMPAIGN}/questions`, scope: "collect" },
  { method: "GET", path: `${CAMPAIGN}/labelling`, scope: "label" },
  {
    method: "POST",
    path: `${CAMPAIGN}/answers`,
    scope: "label",
    sent: { body: { answers: [{ id: idOf(20), label: "yes", annotator: "ann" }] } },
  },
  {
    method: "POST",
    path: `${CAMPAIGN}/skips`,
    scope: "label",
    sent: { body: { id: idOf(20), annotator: "ann" } },
  },
  { method: "GET", path: `${CAMPAIGN}/answers`, scope: "collect" },
  { method: "GET", path: `${CAMPAIGN}/disputes`, scope: "collect" },
  {
    method: "POST",
    path: `${CAMPAIGN}/adjudications`,
    scope: "collect",
    sent: { body: { id: idOf(21), label: "no" } },
  },
  {
    method: "POST",
    path: `${CAMPAIGN}/retractions`,
    scope: "label",
    sent: { body: { id: idOf(24), annotator: "ann" } },
  },
  { method: "POST", path: `${CAMPAIGN}/withdrawals`, scope: "collect", sent: { body: { id: idOf(23) } } },
  { method: "GET", path: `${CAMPAIGN}/estimate`, scope: "read" },
  { method: "GET", path: `${CAMPAIGN}/forecast`, scope: "read" },
  { method: "POST", path: `${CAMPAIGN}/forecast`, scope: "read", sent: { body: { at: [2] } } },
  { method: "GET", path: `${CAMPAIGN}/agreement`, scope: "collect" },
  { method: "POST", path: `${CAMPAIGN}/replay`, scope: "collect" },
  { method: "GET", path: `${CAMPAIGN}/verification`, scope: "read" },
  { method: "GET", path: `${CAMPAIGN}/backup`, scope: "admin" },
  {
    method: "POST",
    path: "/api/v1/restore",
    scope: "admin",
    all: true,
    // Not a good one: whoever may restore is told so.
    sent: { text: "{}\n", headers: JSON_LINES },
  },
  { method: "GET", path: `${CAMPAIGN}/export`, scope: "collect" },
  { method: "GET", path: `${CAMPAIGN}/card`, scope: "collect" },
  { method: "GET", path: `${CAMPAIGN}/events`, scope: "read" },
  { method: "GET", path: "/api/v1/tokens", scope: "admin", all: true },
  {
    method: "POST",
    path: "/api/v1/tokens",
    scope: "admin",
    all: true,
    sent: { body: { name: "n", scope: "read" } },
  },
  {
    method: "DELETE",
    path: "/api/v1/tokens/{token}",
    scope: "admin",
    all: true,
    address: "0123456789abcdef",
  },
  { method: "DELETE", path: CAMPAIGN, scope: "admin", sent: { headers: { "If-Match": "*" } } },
];

export const addressOf = ({ path, address = "" }: Operation, campaign = "clinic"): string =>
  path.replace("{name}", campaign).replace("{token}", address);
