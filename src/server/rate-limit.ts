/** How often somebody may ask: a bucket for each token or address, which fills at a steady rate. */
import { Problem } from "./problem.js";

export interface Rate {
  /** Requests a second that go on for ever, and how many may come at once. */
  readonly perSecond: number;
  readonly burst: number;
}

export const rateTexts = {
  tooMany: (seconds: number) =>
    `too many requests in a short time: wait ${seconds} ${seconds === 1 ? "second" : "seconds"} and go on more slowly`,
};

interface Bucket {
  left: number;
  at: number;
}

export interface RateLimit {
  /** Takes one; a problem where there is none left. */
  take(key: string): void;
  /** The same without taking one. */
  require(key: string): void;
}

/** So many are remembered; those that are full again need not be. */
const MOST_BUCKETS = 10_000;

export const rateLimit = ({ perSecond, burst }: Rate, clock: () => number): RateLimit => {
  const buckets = new Map<string, Bucket>();
  const now = (key: string): Bucket => {
    const known = buckets.get(key);
    const at = clock();
    if (known === undefined) return { left: burst, at };
    return { left: Math.min(burst, known.left + (Math.max(0, at - known.at) / 1000) * perSecond), at };
  };
  const forget = (): void => {
    for (const key of buckets.keys()) if (now(key).left >= burst) buckets.delete(key);
    // The oldest, where everybody is busy.
    for (const key of buckets.keys()) {
      if (buckets.size < MOST_BUCKETS) return;
      buckets.delete(key);
    }
  };
  const requireRoom = ({ left }: Bucket): void => {
    if (left >= 1) return;
    const seconds = Math.max(1, Math.ceil((1 - left) / perSecond));
    throw new Problem(429, "rate", rateTexts.tooMany(seconds), { "Retry-After": String(seconds) });
  };
  return {
    take(key) {
      const bucket = now(key);
      requireRoom(bucket);
      if (!buckets.has(key) && buckets.size >= MOST_BUCKETS) forget();
      buckets.set(key, { left: bucket.left - 1, at: bucket.at });
    },
    require: (key) => requireRoom(now(key)),
  };
};
