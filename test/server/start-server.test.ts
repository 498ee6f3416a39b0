/** The server on a socket: whom it lets in, how it ends, and several on one store. */
import { mkdtempSync, rmSync } from "node:fs";
import { request } from "node:http";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, describe, expect, it } from "vitest";
import { memoryStore } from "../../src/campaign/memory-store.js";
import { modelsInThread } from "../../src/campaign/ranking-schedule.js";
import { InputError } from "../../src/core/errors.js";
import { jsonLog } from "../../src/server/log.js";
import {
  type RunningServer,
  type StartOptions,
  startServer,
  startTexts,
} from "../../src/server/start-server.js";
import { tokensOf } from "../../src/server/tokens.js";
import { openStore } from "../../src/stores/open-store.js";
import { poolBody } from "./served.js";

const folder = mkdtempSync(join(tmpdir(), "fairbed-server-"));
afterAll(() => rmSync(folder, { recursive: true }));

const running: RunningServer[] = [];
afterEach(async () => {
  for (const server of running.splice(0)) await server.close();
});

const start = async (options: Partial<StartOptions> = {}): Promise<RunningServer> => {
  const server = await startServer({
    store: memoryStore(),
    port: 0,
    log: jsonLog(() => {}),
    models: modelsInThread,
    ...options,
  });
  running.push(server);
  return server;
};

const post = (server: RunningServer, path: string, body: unknown): Promise<Response> =>
  fetch(`${server.url}/api/v1${path}`, {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify(body),
  });

const statusOf = async (server: RunningServer, name = "clinic") =>
  (await fetch(`${server.url}/api/v1/campaigns/${name}`)).json() as Promise<{
    readonly hash: string;
    readonly counts: Readonly<Record<string, number>>;
  }>;

/** A request whose Host header is anything. */
const withHost = (server: RunningServer, host: string): Promise<number> =>
  new Promise((resolve, reject) => {
    request(
      { host: "127.0.0.1", port: server.port, path: "/api/v1/campaigns", headers: { Host: host } },
      (got) => {
        got.resume();
        resolve(got.statusCode ?? 0);
      },
    )
      .on("error", reject)
      .end();
  });

describe("where it listens", () => {
  it("does not begin where others could reach it and there is no token", async () => {
    for (const host of ["0.0.0.0", "::"]) {
      const failure = await startServer({ store: memoryStore(), host, port: 0 }).catch(
        (error: unknown) => error,
      );
      expect(failure).toBeInstanceOf(InputError);
      expect((failure as InputError).message).toBe(startTexts.noTokens(host));
    }
    const named = startServer({ store: memoryStore(), port: 0, allowedHosts: ["studio.example"] });
    await expect(named).rejects.toThrow(startTexts.noTokens("127.0.0.1"));
  });

  it("begins there with a token, and needs it even after it was revoked", async () => {
    const store = memoryStore();
    const tokens = tokensOf(store);
    const { token, secret } = await tokens.create({ name: "me", scope: "admin" });
    const server = await start({ store, host: "0.0.0.0" });
    const url = `http://127.0.0.1:${server.port}/api/v1/campaigns`;
    expect((await fetch(url)).status).toBe(401);
    expect((await fetch(url, { headers: { Authorization: `Bearer ${secret}` } })).status).toBe(200);
    await tokens.revoke(token.id);
    expect((await fetch(url)).status).toBe(401);
  });

  it("on this machine is called by its own names only", async () => {
    const server = await start();
    expect(server.host).toBe("127.0.0.1");
    expect(await withHost(server, `localhost:${server.port}`)).toBe(200);
    expect(await withHost(server, `evil.example:${server.port}`)).toBe(403);
  });

  it("says that a port is taken", async () => {
    const { port } = await start();
    await expect(startServer({ store: memoryStore(), port })).rejects.toThrow(
      startTexts.address("127.0.0.1", port, "EADDRINUSE"),
    );
    await expect(startServer({ store: memoryStore(), port: 70_000 })).rejects.toThrow(
      startTexts.port(70_000),
    );
  });

  it("ends a connection that sends its body too slowly", async () => {
    const server = await start({ limits: { seconds: 0.2 } });
    const answer = await new Promise<string>((resolve) => {
      let text = "";
      const socket = connect(server.port, "127.0.0.1", () => {
        socket.write(
          "POST /api/v1/campaigns HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{",
        );
      });
      socket.on("data", (piece) => {
        text += String(piece);
        if (text.includes("\r\n\r\n")) socket.end();
      });
      socket.on("close", () => resolve(text));
    });
    expect(answer).toMatch(/^HTTP\/1\.1 408 /);
  });
});

describe("how it ends", () => {
  it("finishes what it is doing, and takes nothing more", async () => {
    const store = memoryStore();
    let closed = false;
    store.close = async () => {
      closed = true;
    };
    const server = await start({ store });
    await post(server, "/campaigns", poolBody());
    const transact = store.transact.bind(store);
    let begun = (): void => {};
    let goOn = (): void => {};
    const writing = new Promise<void>((resolve) => {
      begun = resolve;
    });
    const released = new Promise<void>((resolve) => {
      goOn = resolve;
    });
    store.transact = async (...given) => {
      begun();
      await released;
      return transact(...given);
    };
    const asking = post(server, "/campaigns/clinic/questions", { count: 1 });
    await writing;
    const ending = server.close();
    await expect(fetch(`${server.url}/health`)).rejects.toThrow();
    expect(closed).toBe(false);
    goOn();
    const asked = await asking;
    expect(asked.status).toBe(200);
    expect(((await asked.json()) as { questions: unknown[] }).questions).toHaveLength(1);
    await ending;
    expect(closed).toBe(true);
  });

  it("ends streams, and does not wait for ever", async () => {
    const store = memoryStore();
    const server = await start({ store, graceSeconds: 0.2 });
    await post(server, "/campaigns", poolBody());
    const stream = await fetch(`${server.url}/api/v1/campaigns/clinic/events`);
    const text = stream.text();
    store.transact = () => new Promise(() => {});
    const stuck = post(server, "/campaigns/clinic/questions", { count: 1 }).catch(() => "cut off");
    await new Promise((resolve) => setTimeout(resolve, 300));
    await server.close();
    expect(await text).toContain("event: end");
    expect(await stuck).toBe("cut off");
  });
});

describe("several on one store", () => {
  it("agree on every question and answer, and go on after a restart", async () => {
    const address = `sqlite:${join(folder, "two.db")}`;
    const [one, other] = [
      await start({ store: await openStore(address) }),
      await start({ store: await openStore(address) }),
    ];
    expect((await post(one, "/campaigns", poolBody("clinic", { method: "random" }))).status).toBe(201);
    const ids: string[] = [];
    for (let round = 0; round < 4; round++) {
      const asked = await Promise.all(
        [one, other].map((server) => post(server, "/campaigns/clinic/questions", { count: 3 })),
      );
      for (const response of asked) {
        const { questions } = (await response.json()) as { questions: { id: string }[] };
        ids.push(...questions.map(({ id }) => id));
      }
      // Each tells what the other one asked.
      const answers = ids
        .slice(-6)
        .map((id, i) => ({ id, label: i % 2 === 0 ? "yes" : "no", event: `${round}/${id}` }));
      await Promise.all([
        post(other, "/campaigns/clinic/answers", { answers: answers.slice(0, 3) }),
        post(one, "/campaigns/clinic/answers", { answers: answers.slice(3) }),
      ]);
      const [mine, theirs] = await Promise.all([statusOf(one), statusOf(other)]);
      expect(mine.hash).toBe(theirs.hash);
      expect(mine.counts.labelled).toBe(6 * (round + 1));
    }
    expect(new Set(ids).size).toBe(24);
    const before = await statusOf(other);
    await one.close();
    const restarted = await start({ store: await openStore(address) });
    expect((await statusOf(restarted)).hash).toBe(before.hash);
    // Sent again after the restart, an answer counts once.
    const again = await post(restarted, "/campaigns/clinic/answers", {
      answers: [{ id: ids[0], label: "yes", event: `0/${ids[0]}` }],
    });
    expect(((await again.json()) as { taken: { status: string }[] }).taken[0].status).toBe("duplicate");
  });

  it("notice that a campaign was deleted, and begun anew under its name", async () => {
    const address = `sqlite:${join(folder, "anew.db")}`;
    const [one, other] = [
      await start({ store: await openStore(address) }),
      await start({ store: await openStore(address) }),
    ];
    await post(one, "/campaigns", poolBody());
    await post(other, "/campaigns/clinic/questions", { count: 2 });
    const remove = () =>
      fetch(`${one.url}/api/v1/campaigns/clinic`, { method: "DELETE", headers: { "If-Match": "*" } });
    await remove();
    expect((await fetch(`${other.url}/api/v1/campaigns/clinic`)).status).toBe(404);
    await post(other, "/campaigns", poolBody());
    await post(one, "/campaigns/clinic/questions", { count: 1 });
    await remove();
    await post(one, "/campaigns", poolBody());
    const [mine, theirs] = await Promise.all([statusOf(one), statusOf(other)]);
    expect(theirs.hash).toBe(mine.hash);
    expect(theirs.counts.pending).toBe(0);
  });
});
