/** What happens, as it happens. */
import { afterEach, describe, expect, it } from "vitest";
import { memoryStore } from "../../src/campaign/memory-store.js";
import { ID_MARKER, idOf, type Sent, type Served, served } from "./served.js";

interface Message {
  readonly event: string;
  readonly id: string | undefined;
  readonly data: Readonly<Record<string, unknown>>;
}

const open: ReadableStreamDefaultReader<Uint8Array>[] = [];
afterEach(async () => {
  for (const reader of open.splice(0)) await reader.cancel().catch(() => {});
});

/** Follows a stream: the next message with every call, undefined at its end. */
const follow = async (server: Served, sent: Sent = {}) => {
  const response = await server.raw("GET", "/api/v1/campaigns/clinic/events", sent);
  expect(response.status).toBe(200);
  expect(response.headers.get("content-type")).toBe("text/event-stream");
  expect(response.headers.get("cache-control")).toBe("no-store");
  const reader = (response.body as ReadableStream<Uint8Array>).getReader();
  open.push(reader);
  const decoder = new TextDecoder();
  let text = "";
  let raw = "";
  const next = async (): Promise<Message | undefined> => {
    for (;;) {
      const end = text.indexOf("\n\n");
      if (end >= 0) {
        const block = text.slice(0, end);
        text = text.slice(end + 2);
        const field = (name: string) =>
          block
            .split("\n")
            .find((line) => line.startsWith(`${name}: `))
            ?.slice(name.length + 2);
        const event = field("event");
        if (event === undefined) continue;
        return { event, id: field("id"), data: JSON.parse(field("data") ?? "{}") };
      }
      const { done, value } = await reader.read();
      if (done) return undefined;
      const piece = decoder.decode(value, { stream: true });
      text += piece;
      raw += piece;
    }
  };
  const nextOf = async (event: string): Promise<Message | undefined> => {
    for (;;) {
      const message = await next();
      if (message === undefined || message.event === event) return message;
    }
  };
  return { next, nextOf, raw: () => raw, cancel: () => reader.cancel() };
};

describe("streams of events", () => {
  it("say what happened and not what was said", async () => {
    const server = served();
    await server.create();
    const stream = await follow(server);
    expect(await stream.next()).toMatchObject({ event: "ready", data: { seq: 1 } });
    const asked = await server.at("POST", "/questions", { body: { annotator: "annabel-marker" } });
    const { id } = asked.json.questions[0];
    await server.at("POST", "/answers", { body: { answers: [{ id, label: "yes", event: "event-marker" }] } });
    const first = await stream.nextOf("event");
    expect(first).toMatchObject({ id: "2", data: { seq: 2, kind: "asked" } });
    expect(Object.keys(first?.data ?? {}).sort()).toEqual(["at", "kind", "seq"]);
    expect(await stream.nextOf("event")).toMatchObject({ id: "3", data: { kind: "told" } });
    for (const marker of [ID_MARKER, "annabel-marker", "event-marker"])
      expect(stream.raw()).not.toContain(marker);
  });

  it("go on where somebody left off, with nothing missed or told twice", async () => {
    const server = served();
    await server.create();
    const campaign = await server.campaigns.get("clinic");
    await campaign.tell([10, 11, 12].map((row) => ({ id: idOf(row), label: "yes" })));
    const stream = await follow(server, { headers: { "Last-Event-ID": "2" } });
    const telling = campaign.tell([13, 14].map((row) => ({ id: idOf(row), label: "no" })));
    const ids: (string | undefined)[] = [];
    for (let i = 0; i < 4; i++) ids.push((await stream.nextOf("event"))?.id);
    await telling;
    expect(ids).toEqual(["3", "4", "5", "6"]);
    expect(
      (await server.raw("GET", "/api/v1/campaigns/clinic/events", { headers: { "Last-Event-ID": "x" } }))
        .status,
    ).toBe(400);
  });

  it("tell of new rankings and of how far computations are", async () => {
    const server = served();
    await server.create();
    const stream = await follow(server);
    await (await server.campaigns.get("clinic")).settle();
    expect(await stream.nextOf("ranking")).toMatchObject({ data: { basis: 1 } });
    // Enough for a forecast to take more than a moment.
    const campaign = await server.campaigns.get("clinic");
    const forecast = campaign.forecast.bind(campaign);
    campaign.forecast = (choice, run) => {
      void run?.onProgress?.({ done: 1, total: 2, label: "fitting" });
      return forecast(choice, run);
    };
    await server.at("GET", "/forecast");
    expect(await stream.nextOf("progress")).toMatchObject({
      data: { computation: "forecast", done: 1, total: 2, label: "fitting" },
    });
  });

  it("hear what another process wrote", async () => {
    const store = memoryStore();
    const [one, other] = [served({ store, options: { pollMs: 20 } }), served({ store })];
    await one.create();
    const stream = await follow(one);
    await stream.nextOf("ready");
    await other.at("POST", "/questions", { body: {} });
    expect(await stream.nextOf("event")).toMatchObject({ data: { kind: "asked" } });
  });

  it("send signs of life", async () => {
    const server = served({ options: { heartbeatMs: 10, pollMs: 20 } });
    await server.create();
    const stream = await follow(server);
    await new Promise((resolve) => setTimeout(resolve, 100));
    await server.at("POST", "/questions", { body: {} });
    await stream.nextOf("event");
    expect(stream.raw()).toContain(": still here");
  });

  it("end with the token, the campaign and the server", async () => {
    const closing = new AbortController();
    const server = served({ options: { heartbeatMs: 10, pollMs: 10, closing: closing.signal } });
    const admin = await server.tokenFor("admin");
    await server.create({}, admin);
    const token = await server.tokenFor("read", { name: "reader" });
    const revoked = await follow(server, { token });
    const [reader] = (await server.tokens.list()).filter(({ name }) => name === "reader");
    await server.tokens.revoke(reader.id);
    expect(await revoked.nextOf("end")).toBeDefined();
    expect(await revoked.next()).toBeUndefined();
    const ended = await follow(server, { token: admin });
    closing.abort();
    expect(await ended.nextOf("end")).toBeDefined();
    const other = served({ store: server.store, options: { heartbeatMs: 10, pollMs: 10 } });
    const deleted = await follow(other, { token: admin });
    await server.campaigns.delete("clinic");
    expect(await deleted.nextOf("end")).toBeDefined();
  });

  it("are counted while somebody listens", async () => {
    const server = served();
    await server.create();
    const stream = await follow(server);
    await stream.nextOf("ready");
    expect((await server.send("GET", "/metrics")).text).toContain("fairbed_event_streams 1");
    await stream.cancel();
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect((await server.send("GET", "/metrics")).text).toContain("fairbed_event_streams 0");
  });
});
