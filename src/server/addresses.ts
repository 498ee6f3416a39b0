/** Which hosts and origins a request may name: a page on the web must not reach a server on this machine. */
import { isIP } from "node:net";
import { Problem } from "./problem.js";

export const addressTexts = {
  host: "the request names a host that this server is not known by: open it by its own address, or allow the name with --allow-host",
  origin:
    "the request comes from a page of another origin: open the page from this server, or allow its origin with --allow-origin",
};

/** Without the port, in small letters; IPv6 without brackets. */
export const hostNameOf = (host: string): string => {
  const [, name] = /^(\[[^\]]*\]|[^:]*)(?::\d*)?$/.exec(host.trim().toLowerCase()) ?? [];
  return (name ?? "").replace(/^\[|\]$/g, "");
};

export const isLoopback = (host: string): boolean => {
  const name = hostNameOf(isIP(host) === 6 ? `[${host}]` : host);
  if (name === "localhost" || name.endsWith(".localhost") || name === "::1") return true;
  return isIP(name) === 4 && name.startsWith("127.");
};

export interface AllowedAddresses {
  /** Names by which the server may be called; any name where this is undefined. */
  readonly hosts: readonly string[] | undefined;
  /** Origins of pages that may ask, as in https://example.org. */
  readonly origins: readonly string[];
}

/** Throws where the host or the origin of a request is not one of these. */
export const requireAddress = (headers: Headers, { hosts, origins }: AllowedAddresses): void => {
  const host = headers.get("host");
  // Only a request that never went over a network has none.
  if (host !== null && hosts !== undefined) {
    const name = hostNameOf(host);
    if (!isLoopback(name) && !hosts.some((each) => hostNameOf(each) === name)) {
      throw new Problem(403, "host", addressTexts.host);
    }
  }
  const origin = headers.get("origin");
  if (origin === null || origins.includes(origin)) return;
  const isOwn = host !== null && origin.replace(/^https?:\/\//, "").toLowerCase() === host.toLowerCase();
  if (!isOwn) throw new Problem(403, "origin", addressTexts.origin);
};
