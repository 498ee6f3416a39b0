/**
 * How a webhook is signed, and how whoever gets one checks it.
 *
 * The header `fairbed-signature` is `t=<seconds since 1970>,v1=<signature>`; the signature is the HMAC-SHA256, in
 * hexadecimal, of the time, a full stop and the body as it came, with the secret that the webhook was registered with.
 * Whoever gets it computes the same from the raw body, compares, and refuses times that are long past, so that a delivery
 * that somebody overheard cannot be sent again later.
 */
import { createHmac, timingSafeEqual } from "node:crypto";

export const SIGNATURE_HEADER = "fairbed-signature";
/** The same for every try of a delivery: what was seen before can be left out. */
export const DELIVERY_HEADER = "fairbed-delivery";

const signatureOf = (secret: string, time: number, body: string): string =>
  createHmac("sha256", secret).update(`${time}.${body}`, "utf8").digest("hex");

/** The header of a body at a time, in seconds since 1970. */
export const signWebhook = (secret: string, time: number, body: string): string =>
  `t=${time},v1=${signatureOf(secret, time, body)}`;

export interface VerifyOptions {
  /** Seconds since 1970; now unless given. */
  readonly now?: number | undefined;
  /** How many seconds old or ahead the time may be (300). */
  readonly tolerance?: number | undefined;
}

/** Whether a body came from whoever knows the secret, and lately. */
export const verifySignature = (
  secret: string,
  header: string | null | undefined,
  body: string,
  { now = Date.now() / 1000, tolerance = 300 }: VerifyOptions = {},
): boolean => {
  const [, time, given] = /^t=(\d{1,12}),v1=([0-9a-f]{64})$/.exec(header ?? "") ?? [];
  if (time === undefined || given === undefined) return false;
  if (Math.abs(now - Number(time)) > tolerance) return false;
  const expected = signatureOf(secret, Number(time), body);
  return timingSafeEqual(Buffer.from(given, "hex"), Buffer.from(expected, "hex"));
};
