/**
 * Addresses that this server itself sends requests to. Only an administrator can set one, because such requests reach
 * whatever this machine reaches; they carry no other method than the one that is needed, follow no redirect, and nobody
 * is shown what was answered.
 */
import { InputError } from "../core/errors.js";

export const webAddressTexts = {
  notWeb: "the url is no address of the web: give one that begins with https:// or http://",
  secret: "the url has a name or a password in it: leave them out, and give the secret in its own field",
};

const LONGEST = 2048;

/** The address without a slash at its end. */
export const requireWebAddress = (given: string): string => {
  const url = given.length <= LONGEST && URL.canParse(given) ? new URL(given) : undefined;
  if (url === undefined || !["http:", "https:"].includes(url.protocol)) {
    throw new InputError("url", webAddressTexts.notWeb);
  }
  if (url.username !== "" || url.password !== "") throw new InputError("url", webAddressTexts.secret);
  url.hash = "";
  return url.href.replace(/\/+$/, "");
};
