/** Too often, too much, too slow, and from the wrong place. */
import { describe, expect, it } from "vitest";
import { addressTexts, hostNameOf, isLoopback } from "../../src/server/addresses.js";
import { rateTexts } from "../../src/server/rate-limit.js";
import { bodyTexts } from "../../src/server/request-body.js";
import { served } from "./served.js";

describe("rates", () => {
  it("a token has a bucket of its own that fills again", async () => {
    let now = Date.now();
    const server = served({ clock: () => now, options: { rate: { perSecond: 1, burst: 3 } } });
    const [one, other] = [await server.tokenFor("read"), await server.tokenFor("read")];
    const statusOf = async (token: string) =>
      (await server.send("GET", "/api/v1/campaigns", { token })).status;
    expect([await statusOf(one), await statusOf(one), await statusOf(one)]).toEqual([200, 200, 200]);
    const refused = await server.send("GET", "/api/v1/campaigns", { token: one });
    expect([refused.status, refused.json.error.message]).toEqual([429, rateTexts.tooMany(1)]);
    expect(refused.headers.get("retry-after")).toBe("1");
    expect(await statusOf(other)).toBe(200);
    now += 1000;
    expect([await statusOf(one), await statusOf(one)]).toEqual([200, 429]);
  });

  it("guessing tokens empties the bucket of the address", async () => {
    const server = served({ options: { rate: { perSecond: 0.01, burst: 3 } } });
    await server.tokenFor("admin");
    const statuses: number[] = [];
    for (let i = 0; i < 5; i++) {
      statuses.push((await server.send("GET", "/api/v1/campaigns", { token: `fbd_${i}` })).status);
    }
    expect(statuses).toEqual([401, 401, 401, 429, 429]);
  });

  it("leaves signs of life alone", async () => {
    const server = served({ options: { rate: { perSecond: 0.01, burst: 1 } } });
    for (let i = 0; i < 5; i++) expect((await server.send("GET", "/health")).status).toBe(200);
  });
});

describe("bodies", () => {
  const limits = { body: 2000, upload: 50_000, seconds: 0.2 };

  it("are at most so long, whatever they say of themselves", async () => {
    const server = served({ options: { limits } });
    await server.create();
    const long = { answers: [{ id: "x".repeat(3000), label: "yes" }] };
    const got = await server.at("POST", "/answers", { body: long });
    expect([got.status, got.json.error.message]).toEqual([413, bodyTexts.large(2000)]);
    const announced = await server.at("POST", "/answers", {
      body: { answers: [] },
      headers: { "Content-Length": "3000" },
    });
    expect(announced.status).toBe(413);
  });

  it("are given up where they do not come", async () => {
    const server = served({ options: { limits } });
    await server.create();
    const response = await server.app.request("/api/v1/campaigns/clinic/answers", {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: new ReadableStream({
        start: (controller) => controller.enqueue(new TextEncoder().encode('{"answers":[')),
      }),
      duplex: "half",
    } as RequestInit);
    expect(response.status).toBe(408);
    expect(await response.json()).toEqual({ error: { code: "slow", message: bodyTexts.slow(0.2) } });
  });

  it("are not read for those who may not send them", async () => {
    const server = served({ options: { limits } });
    const token = await server.tokenFor("read");
    let pulled = false;
    const response = await server.app.request("/api/v1/campaigns", {
      method: "POST",
      headers: { "Content-Type": "application/json", Authorization: `Bearer ${token}` },
      body: new ReadableStream(
        {
          pull(controller) {
            pulled = true;
            controller.enqueue(new Uint8Array(10));
          },
        },
        { highWaterMark: 0 },
      ),
      duplex: "half",
    } as RequestInit);
    expect([response.status, pulled]).toEqual([403, false]);
  });
});

describe("addresses", () => {
  it("tells names of this machine from others", () => {
    for (const own of [
      "localhost",
      "LOCALHOST:80",
      "127.0.0.1",
      "127.8.0.1:9",
      "::1",
      "[::1]:8400",
      "a.localhost",
    ]) {
      expect([own, isLoopback(own)]).toEqual([own, true]);
    }
    for (const other of [
      "0.0.0.0",
      "::",
      "example.org",
      "127.0.0.1.example.org",
      "localhost.example.org",
      "",
      "192.168.0.1",
    ]) {
      expect([other, isLoopback(other)]).toEqual([other, false]);
    }
    expect(hostNameOf("[2001:db8::1]:8400")).toBe("2001:db8::1");
  });

  it("another name is refused: a page whose name was bound to this machine gets nothing", async () => {
    const server = served({ options: { allowedHosts: ["studio.example"] } });
    const statusOf = async (host: string) =>
      (await server.send("GET", "/api/v1/campaigns", { headers: { Host: host } })).status;
    expect(await statusOf("127.0.0.1:8400")).toBe(200);
    expect(await statusOf("localhost:8400")).toBe(200);
    expect(await statusOf("studio.example")).toBe(200);
    const got = await server.send("GET", "/api/v1/campaigns", { headers: { Host: "evil.example:8400" } });
    expect([got.status, got.json.error.message]).toEqual([403, addressTexts.host]);
  });

  it("pages of other origins get nothing unless they are allowed", async () => {
    const server = served({ options: { allowedOrigins: ["https://studio.example"] } });
    const from = (origin: string, method = "GET") =>
      server.raw(method, "/api/v1/campaigns", {
        headers: { Host: "localhost:8400", Origin: origin, "Access-Control-Request-Method": "POST" },
      });
    const allowed = await from("https://studio.example");
    expect(allowed.headers.get("access-control-allow-origin")).toBe("https://studio.example");
    const preflight = await from("https://studio.example", "OPTIONS");
    expect([preflight.status, preflight.headers.get("access-control-allow-headers")]).toEqual([
      204,
      "Authorization,Content-Type,If-Match,If-None-Match,Last-Event-ID",
    ]);
    expect((await from("http://localhost:8400")).status).toBe(200);
    for (const origin of [
      "https://evil.example",
      "null",
      "http://localhost:8401",
      "https://studio.example.evil",
    ]) {
      const response = await from(origin);
      expect([origin, response.status, response.headers.get("access-control-allow-origin")]).toEqual([
        origin,
        403,
        null,
      ]);
    }
  });

  it("allows no origin at first", async () => {
    const response = await served().raw("OPTIONS", "/api/v1/campaigns", {
      headers: { Host: "localhost", Origin: "https://a.example", "Access-Control-Request-Method": "GET" },
    });
    expect(response.status).toBe(403);
    expect([...response.headers.keys()].filter((name) => name.startsWith("access-control"))).toEqual([]);
  });

  it("sends headers that keep browsers from guessing, framing and storing", async () => {
    const server = served();
    await server.create();
    const { headers } = await server.at("GET", "");
    expect(headers.get("content-security-policy")).toContain("default-src 'none'");
    expect(headers.get("x-content-type-options")).toBe("nosniff");
    expect(headers.get("x-frame-options")).toBe("DENY");
    expect(headers.get("referrer-policy")).toBe("no-referrer");
    expect(headers.get("cache-control")).toBe("no-store");
    expect((await server.at("GET", "/nowhere")).headers.get("cache-control")).toBe("no-store");
    expect((await server.at("GET", "/backup")).headers.get("cache-control")).toBe("no-store");
    const docs = await server.send("GET", "/docs");
    expect(docs.headers.get("content-security-policy")).toMatch(/^default-src 'none'; style-src 'sha256-/);
    // Nothing that would ask elsewhere, and no script.
    expect(docs.text).not.toMatch(/<script|<link|<img|src=|https?:\/\/|javascript:| style=| on\w+=/);
  });
});
