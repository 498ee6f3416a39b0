/** Webhooks to others: in order, at least once, signed, and with nothing of anybody in them. */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { memoryStore } from "../../src/campaign/memory-store.js";
import { modelsInThread } from "../../src/campaign/ranking-schedule.js";
import type { CampaignStore } from "../../src/campaign/store.js";
import { openCampaigns } from "../../src/server/open-campaigns.js";
import { outgoingWebhooks, webhookSchema, webhookTexts } from "../../src/server/outgoing-webhooks.js";
import { webAddressTexts } from "../../src/server/web-address.js";
import { signWebhook, verifySignature } from "../../src/server/webhook-signature.js";
import { handClock, people, ROLES } from "../campaign/people.js";

const SECRET = "a secret of some length";
const NAME = "hiring";
/** However busy the machine is. */
const eventually = <Result>(check: () => Result | Promise<Result>): Promise<Result> =>
  vi.waitFor(check, { timeout: 30_000, interval: 20 });

interface Delivery {
  readonly signature: string;
  readonly delivery: string;
  readonly body: string;
}

const startReceiver = async () => {
  const deliveries: Delivery[] = [];
  let status = 200;
  const statuses: number[] = [];
  const server = createServer((request, response) => {
    let body = "";
    request.setEncoding("utf8");
    request.on("data", (part: string) => {
      body += part;
    });
    request.on("end", () => {
      const own = statuses.shift() ?? status;
      if (own === 200) {
        deliveries.push({
          signature: String(request.headers["fairbed-signature"]),
          delivery: String(request.headers["fairbed-delivery"]),
          body,
        });
      }
      response.writeHead(own, own === 302 ? { location: "/elsewhere" } : {});
      response.end("a long answer that nobody reads");
    });
  });
  await new Promise<void>((resolve) => {
    server.listen(0, "127.0.0.1", resolve);
  });
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`,
    deliveries,
    statuses,
    answerWith: (next: number) => {
      status = next;
    },
    seqs: () => deliveries.map(({ body }) => (JSON.parse(body) as { seq: number }).seq),
    close: () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
};

let receiver: Awaited<ReturnType<typeof startReceiver>>;
let store: CampaignStore;

beforeEach(async () => {
  receiver = await startReceiver();
  store = memoryStore();
});
afterEach(() => receiver.close());

/** A process that delivers; quick where it would wait. */
const startProcess = async (
  options: { clock?: () => number; waits?: number[]; giveUpDays?: number } = {},
) => {
  const campaigns = openCampaigns(store, { models: modelsInThread });
  const webhooks = outgoingWebhooks({
    campaigns,
    clock: options.clock,
    giveUpDays: options.giveUpDays,
    pause: async (milliseconds, signal) => {
      options.waits?.push(milliseconds);
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, Math.min(milliseconds, 5));
        signal?.addEventListener("abort", () => {
          clearTimeout(timer);
          resolve();
        });
      });
    },
  });
  await webhooks.start();
  return {
    campaigns,
    webhooks,
    stop: async () => {
      await webhooks.close();
      await campaigns.close();
    },
  };
};

const begin = async (process: Awaited<ReturnType<typeof startProcess>>) =>
  process.campaigns.create(NAME, { table: people(), acquisition: ROLES });

const choice = (given: object = {}) => webhookSchema.parse({ url: receiver.url, secret: SECRET, ...given });

describe("deliveries", () => {
  test("say that something happened, in order, and nothing of anybody", async () => {
    const process = await startProcess();
    const campaign = await begin(process);
    await process.webhooks.register(NAME, choice());
    await campaign.ask(2, { annotator: "Ada" });
    await campaign.tell([{ id: "p20", label: "yes", sensitive: "f", annotator: "Ada" }]);
    await campaign.withdraw("p21");
    await eventually(() => expect(receiver.seqs()).toEqual([2, 3, 4, 5]));
    const events = await store.read(NAME, 1);
    expect(receiver.deliveries.map(({ body }) => JSON.parse(body) as unknown)).toEqual(
      events.map(({ seq, kind, at, hash }) => ({
        campaign: NAME,
        seq,
        kind,
        at: new Date(at).toISOString(),
        event: hash,
      })),
    );
    expect(JSON.stringify(receiver.deliveries)).not.toMatch(/p2\d|Ada|yes|"f"|sex|hired/);
    for (const { signature, body } of receiver.deliveries) {
      expect(verifySignature(SECRET, signature, body)).toBe(true);
    }
    expect(new Set(receiver.deliveries.map(({ delivery }) => delivery)).size).toBe(4);
    await process.stop();
  });

  test("are of the kinds that were asked for", async () => {
    const process = await startProcess();
    const campaign = await begin(process);
    await process.webhooks.register(NAME, choice({ events: ["told"] }));
    await campaign.ask(1);
    await campaign.tell([{ id: "p20", label: "yes" }]);
    await campaign.ask(1);
    await eventually(() => expect(receiver.seqs()).toEqual([3]));
    await eventually(async () =>
      expect((await process.webhooks.list(NAME))[0].delivered).toBe(campaign.head.seq),
    );
    await process.stop();
  });

  test("go on across restarts and failures: every event, in order", async () => {
    const waits: number[] = [];
    let process = await startProcess({ waits });
    const campaign = await begin(process);
    await process.webhooks.register(NAME, choice());
    receiver.statuses.push(500, 302, 404);
    await campaign.ask(1);
    await eventually(() => expect(receiver.seqs()).toEqual([2]));
    expect(waits.filter((wait) => wait < 10_000)).toEqual([1000, 2000, 4000]);
    // The receiver knows of it a moment before the store does, which still has the failures.
    await eventually(async () =>
      expect(await process.webhooks.list(NAME)).toMatchObject([{ delivered: 2, failures: 0 }]),
    );
    receiver.answerWith(503);
    await campaign.ask(1);
    await eventually(async () => expect((await process.webhooks.list(NAME))[0].failures).toBeGreaterThan(0));
    await process.stop();
    // Meanwhile another process writes.
    const other = openCampaigns(store, { models: modelsInThread });
    await (await other.get(NAME)).ask(2);
    receiver.answerWith(200);
    process = await startProcess();
    await eventually(() => expect(receiver.seqs()).toEqual([2, 3, 4, 5]));
    // What others write is found without being told of it.
    await (await other.get(NAME)).ask(1);
    await eventually(() => expect(receiver.seqs()).toEqual([2, 3, 4, 5, 6]));
    await eventually(async () =>
      expect(await process.webhooks.list(NAME)).toMatchObject([
        { delivered: 6, failures: 0, failingSince: null },
      ]),
    );
    await process.stop();
  });

  test("are given up after days and go on from the same place", async () => {
    const clock = handClock();
    const process = await startProcess({ clock: clock.now, giveUpDays: 2 });
    const campaign = await begin(process);
    const { id } = await process.webhooks.register(NAME, choice());
    receiver.answerWith(500);
    await campaign.ask(1);
    const status = async () => (await process.webhooks.list(NAME))[0];
    await eventually(async () => expect((await status()).failures).toBeGreaterThan(1));
    expect(await status()).toMatchObject({ givenUp: false, delivered: 1 });
    clock.pass(3 * 86_400);
    await eventually(async () => expect((await status()).givenUp).toBe(true));
    receiver.answerWith(200);
    await campaign.ask(1);
    await new Promise((resolve) => setTimeout(resolve, 50));
    expect(receiver.deliveries).toEqual([]);
    expect(await status()).toMatchObject({ givenUp: true, delivered: 1 });
    await process.webhooks.resume(NAME, id);
    await eventually(() => expect(receiver.seqs()).toEqual([2, 3]));
    await process.stop();
  });

  test("end once a webhook is removed, and the secret is never shown", async () => {
    const process = await startProcess();
    const campaign = await begin(process);
    const { id } = await process.webhooks.register(NAME, choice());
    expect(JSON.stringify(await process.webhooks.list(NAME))).not.toContain(SECRET);
    await process.webhooks.remove(NAME, id);
    await campaign.ask(1);
    await new Promise((resolve) => setTimeout(resolve, 50));
    expect(receiver.deliveries).toEqual([]);
    expect(await process.webhooks.list(NAME)).toEqual([]);
    await expect(process.webhooks.remove(NAME, id)).rejects.toThrow(webhookTexts.unknown);
    await expect(process.webhooks.register(NAME, choice({ url: "ftp://example.org" }))).rejects.toThrow(
      webAddressTexts.notWeb,
    );
    await process.stop();
  });
});

describe("a signature", () => {
  const body = '{"seq":1}';
  const time = 1_800_000_000;
  // Computed with OpenSSL: printf '1800000000.{"seq":1}' | openssl dgst -sha256 -hmac 'a secret of some length'
  const KNOWN = "958b92d03ce1ec36f34f69145aa4f3ff4525c9a159b36c68a1477cde5d4d19d6";

  test("is the HMAC-SHA256 of time and body", () => {
    expect(signWebhook(SECRET, time, body)).toBe(`t=${time},v1=${KNOWN}`);
  });

  test("holds for the very body, the secret and the time alone", () => {
    const header = signWebhook(SECRET, time, body);
    const at = { now: time + 10 };
    expect(verifySignature(SECRET, header, body, at)).toBe(true);
    expect(verifySignature(SECRET, header, '{"seq":2}', at)).toBe(false);
    expect(verifySignature(SECRET, header, `${body} `, at)).toBe(false);
    expect(verifySignature("another secret, as long", header, body, at)).toBe(false);
    expect(verifySignature(SECRET, header.replace(/t=\d+/, `t=${time + 1}`), body, at)).toBe(false);
    expect(verifySignature(SECRET, header, body, { now: time + 301 })).toBe(false);
    expect(verifySignature(SECRET, header, body, { now: time - 301 })).toBe(false);
    for (const odd of [undefined, null, "", "v1=", `t=${time}`, `t=${time},v1=00`, `${header},v1=00`]) {
      expect(verifySignature(SECRET, odd, body, at)).toBe(false);
    }
  });
});
