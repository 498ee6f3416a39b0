/** Who asks, and whether they may: from the headers of a request to a principal, or a problem. */
import { Problem } from "./problem.js";
import { covers, type Scope } from "./scope.js";
import type { Token, Tokens } from "./tokens.js";

/** Whoever a request comes from. */
export interface Principal {
  readonly scope: Scope;
  /** Undefined where no token is needed. */
  readonly token: Token | undefined;
  /** Whether it may still do so: a token ends or is revoked while a stream is open. */
  isValid(): Promise<boolean>;
}

export const authenticationTexts = {
  missing:
    "this needs a token: send it as Authorization: Bearer fbd_…; fairbed token create makes one on the machine of the store",
  unknown: "the token is not known here, was revoked or has expired: ask for a new one",
  scope: (own: Scope, needed: Scope) =>
    `the token is for ${own} and this needs ${needed}: use a token of that scope`,
  campaign: "the token is for another campaign: use one for this campaign, or for all",
  allCampaigns: "the token is for one campaign and this is about all of them: use one for all",
};

/** Tokens that Label Studio and its like can send have other places than the usual one. */
const secretIn = (headers: Headers): string | undefined => {
  const own = headers.get("x-fairbed-token");
  if (own !== null) return own.trim();
  const given = headers.get("authorization");
  if (given === null) return undefined;
  const [, scheme = "", value = ""] = /^(\S+)\s+(.+)$/.exec(given.trim()) ?? [];
  if (scheme.toLowerCase() !== "basic") return value;
  // User and password: the token is the password, whoever the user.
  const decoded = Buffer.from(value, "base64").toString("utf8");
  return decoded.slice(decoded.indexOf(":") + 1);
};

/** Whoever sits behind a proxy is not on this machine, wherever the proxy is. */
const cameByProxy = (headers: Headers): boolean =>
  ["forwarded", "x-forwarded-for", "x-forwarded-host", "x-real-ip"].some((name) => headers.has(name));

const unauthorized = (code: string, message: string): Problem =>
  new Problem(401, code, message, { "WWW-Authenticate": 'Bearer realm="fairbed"' });

export interface Authentication {
  /** Who it is. A token that is sent must be good, even where none is needed. */
  identify(request: Request): Promise<Principal>;
  /** The same, with all that a route needs: a scope, and a campaign or all of them (null). */
  authenticate(request: Request, needed: Scope, campaign: string | null): Promise<Principal>;
}

/** Throws where somebody may not do what the scope is needed for. */
export const requireScope = (
  { scope, token }: Principal,
  needed: Scope,
  campaign: string | null | undefined,
): void => {
  if (!covers(scope, needed)) throw new Problem(403, "scope", authenticationTexts.scope(scope, needed));
  if (token?.campaign === undefined || campaign === undefined || token.campaign === campaign) return;
  // The same whether there is a campaign of that name or not.
  throw new Problem(
    403,
    "campaign",
    campaign === null ? authenticationTexts.allCampaigns : authenticationTexts.campaign,
  );
};

export const authentication = (
  tokens: Tokens,
  /** Nobody but this machine can reach the server: no token is needed as long as there is none. */
  { openWithoutTokens }: { readonly openWithoutTokens: boolean },
): Authentication => {
  const identify = async ({ headers }: Request): Promise<Principal> => {
    const secret = secretIn(headers);
    if (secret !== undefined) {
      const token = await tokens.find(secret);
      if (token === undefined) throw unauthorized("token", authenticationTexts.unknown);
      return { scope: token.scope, token, isValid: async () => (await tokens.find(secret)) !== undefined };
    }
    if (!openWithoutTokens || cameByProxy(headers) || (await tokens.any())) {
      throw unauthorized("no-credentials", authenticationTexts.missing);
    }
    return { scope: "admin", token: undefined, isValid: async () => !(await tokens.any()) };
  };
  return {
    identify,
    async authenticate(request, needed, campaign) {
      const principal = await identify(request);
      requireScope(principal, needed, campaign);
      return principal;
    },
  };
};
