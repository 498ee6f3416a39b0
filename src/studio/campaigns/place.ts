/** Where the campaigns of this page are, and the token that a server wants: of this tab alone, and never in an address. */
import { mode } from "../mode.js";
import type { Place } from "./campaign-client.js";

const TOKEN = "fairbed token";

/** Some browsers allow no storage: then it is known until the page is left. */
let own = "";

const tokenNow = (): string => {
  try {
    return sessionStorage.getItem(TOKEN) ?? own;
  } catch {
    return own;
  }
};

export const keepToken = (token: string): void => {
  own = token;
  try {
    if (token === "") sessionStorage.removeItem(TOKEN);
    else sessionStorage.setItem(TOKEN, token);
  } catch {
    // It stays in `own`.
  }
};

export const placeNow = (): Place =>
  mode === "server" ? { kind: "remote", origin: location.origin, token: tokenNow() } : { kind: "local" };

/** What keeps the answers of this place apart from those of others in this browser. */
export const placeKey = (place: Place): string => (place.kind === "local" ? "local" : place.origin);
