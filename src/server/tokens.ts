/** Who may do what: tokens, of which the store knows a hash and never the token itself. */
import { createHash, randomBytes } from "node:crypto";
import type { CampaignStore } from "../campaign/store.js";
import { InputError } from "../core/errors.js";
import { SCOPES, type Scope } from "./scope.js";

/** Of every token: whoever finds one in a file or a log knows what it is. */
export const TOKEN_PREFIX = "fbd_";
const KIND = "token";
const ID_LENGTH = 16;
const DAY_MS = 86_400_000;
const LONGEST_DAYS = 3660;

/** What a token may be made for. */
export interface TokenChoice {
  /** For people: who uses it, and what for. */
  readonly name: string;
  readonly scope: Scope;
  /** Nothing beside this campaign. */
  readonly campaign?: string | undefined;
  /** Asks and answers under this name and no other. */
  readonly annotator?: string | undefined;
  /** A labeller may tell sensitive values too (false). */
  readonly sensitive?: boolean | undefined;
  /** From now on (90). */
  readonly days?: number | undefined;
}

export interface Token extends Omit<TokenChoice, "days"> {
  /** Says which one it is and opens nothing. */
  readonly id: string;
  /** ISO 8601. */
  readonly createdAt: string;
  readonly expiresAt: string;
}

export interface Tokens {
  /** The token itself is told this once. */
  create(choice: TokenChoice): Promise<{ readonly token: Token; readonly secret: string }>;
  /** In the order of their ids, expired ones included. */
  list(): Promise<readonly Token[]>;
  /** Whether there is any; an expired one counts. */
  any(): Promise<boolean>;
  /** By the token itself; undefined where it is unknown or has expired. */
  find(secret: string): Promise<Token | undefined>;
  /** Throws where there is none of the id. */
  revoke(id: string): Promise<void>;
}

export const tokenTexts = {
  name: "the name of a token is empty or longer than 200 characters: say who uses it",
  scope: (given: unknown) => `the scope was ${String(given)}: give one of ${SCOPES.join(", ")}`,
  days: (given: unknown) =>
    `the days were ${String(given)}: give a number above 0 and at most ${LONGEST_DAYS}, after which the token ends`,
  unknown: "there is no token of that id: the list of tokens has the ids",
};

export const TOKEN_DAYS = 90;

const hashOf = (secret: string): string => createHash("sha256").update(secret, "utf8").digest("hex");

const isText = (text: string): boolean => text.length >= 1 && text.length <= 200;

const requireChoice = ({ name, scope, days = TOKEN_DAYS }: TokenChoice): void => {
  if (!isText(name)) throw new InputError("token", tokenTexts.name);
  if (!SCOPES.includes(scope)) throw new InputError("token", tokenTexts.scope(scope));
  if (!(days > 0 && days <= LONGEST_DAYS)) throw new InputError("token", tokenTexts.days(days));
};

export const tokensOf = (
  store: CampaignStore,
  { clock = Date.now }: { readonly clock?: (() => number) | undefined } = {},
): Tokens => ({
  async create(choice) {
    requireChoice(choice);
    const { name, scope, campaign, annotator, sensitive, days = TOKEN_DAYS } = choice;
    const secret = TOKEN_PREFIX + randomBytes(32).toString("base64url");
    const hash = hashOf(secret);
    const token: Token = {
      id: hash.slice(0, ID_LENGTH),
      name,
      scope,
      ...(campaign === undefined ? {} : { campaign }),
      ...(annotator === undefined ? {} : { annotator }),
      ...(sensitive === true ? { sensitive } : {}),
      createdAt: new Date(clock()).toISOString(),
      expiresAt: new Date(clock() + days * DAY_MS).toISOString(),
    };
    await store.putDocument(KIND, hash, JSON.stringify(token));
    return { token, secret };
  },
  async list() {
    return (await store.listDocuments(KIND)).map(({ body }) => JSON.parse(body) as Token);
  },
  async any() {
    return (await store.listDocuments(KIND)).length > 0;
  },
  async find(secret) {
    if (!secret.startsWith(TOKEN_PREFIX)) return undefined;
    // Looked up by its hash: how long that takes says nothing about tokens that there are.
    const body = await store.getDocument(KIND, hashOf(secret));
    if (body === undefined) return undefined;
    const token = JSON.parse(body) as Token;
    return Date.parse(token.expiresAt) > clock() ? token : undefined;
  },
  async revoke(id) {
    const [found] = id.length === ID_LENGTH ? await store.listDocuments(KIND, id) : [];
    if (found === undefined) throw new InputError("no-token", tokenTexts.unknown);
    await store.deleteDocument(KIND, found.key);
  },
});
