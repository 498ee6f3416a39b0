/** Bodies: at most so long, and at most so slow. */
import type { MiddlewareHandler } from "hono";
import { Problem } from "./problem.js";

export const bodyTexts = {
  large: (most: number) =>
    `the body is longer than ${most} bytes: send less at once, or raise the limit of the server`,
  slow: (seconds: number) => `the body did not arrive within ${seconds} seconds: send it again`,
  broken: "the body ended before it was whole: send it again",
};

export interface BodyLimits {
  /** Bytes of a usual body, and of one with a whole pool or a backup. */
  readonly body: number;
  readonly upload: number;
  /** Seconds until it must be here. */
  readonly seconds: number;
}

export const BODY_LIMITS: BodyLimits = { body: 1 << 20, upload: 1 << 26, seconds: 30 };

const readWithin = async (
  stream: ReadableStream<Uint8Array>,
  most: number,
  seconds: number,
): Promise<Uint8Array<ArrayBuffer>> => {
  const reader = stream.getReader();
  const parts: Uint8Array[] = [];
  let size = 0;
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Problem(408, "slow", bodyTexts.slow(seconds))), seconds * 1000);
  });
  try {
    for (;;) {
      const { done, value } = await Promise.race([reader.read(), late]);
      if (done) break;
      size += value.length;
      if (size > most) throw new Problem(413, "large", bodyTexts.large(most));
      parts.push(value);
    }
  } catch (error) {
    void reader.cancel().catch(() => {});
    if (error instanceof Problem) throw error;
    throw new Problem(400, "body", bodyTexts.broken);
  } finally {
    clearTimeout(timer);
  }
  return new Uint8Array(Buffer.concat(parts));
};

/** Takes the whole body in before anything else looks at it. */
export const limitBody =
  (most: number, seconds: number): MiddlewareHandler =>
  async ({ req }, next) => {
    const { body, headers } = req.raw;
    if (Number(headers.get("content-length") ?? 0) > most) {
      throw new Problem(413, "large", bodyTexts.large(most), { Connection: "close" });
    }
    if (body !== null) {
      const bytes = await readWithin(body, most, seconds);
      const { url, method, signal } = req.raw;
      req.raw = new Request(url, { method, headers, signal, body: bytes });
    }
    await next();
  };
