/** Connections and webhooks as an administrator sets them, in the whole server. */
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { memoryStore } from "../../src/campaign/memory-store.js";
import { modelsInThread } from "../../src/campaign/ranking-schedule.js";
import { SCOPES } from "../../src/server/scope.js";
import { startServer } from "../../src/server/start-server.js";
import { tokensOf } from "../../src/server/tokens.js";
import { choice, type LabelStudioStandIn, LEGACY_TOKEN, startLabelStudio } from "./label-studio-server.js";
import { responseFaults } from "./schema-check.js";
import { ID_MARKER, idOf, poolBody, SENSITIVE_MARKERS } from "./served.js";

const SECRET = "a secret of some length";
const AT = "/api/v1/campaigns/clinic";

let studio: LabelStudioStandIn;
let running: Awaited<ReturnType<typeof start>>;

const start = async (store = memoryStore()) => {
  const lines: string[] = [];
  const write = (level: string) => (message: string, fields?: object) => {
    lines.push(JSON.stringify({ level, message, ...fields }));
  };
  const log = { debug: write("debug"), info: write("info"), warn: write("warn"), error: write("error") };
  const server = await startServer({ store, port: 0, models: modelsInThread, log });
  const document: unknown = await (await fetch(`${server.url}/openapi.json`)).json();
  const tokens = tokensOf(store);
  const secrets = new Map<string, string>();
  for (const scope of SCOPES) {
    secrets.set(scope, (await tokens.create({ name: scope, scope, campaign: "clinic" })).secret);
  }
  const all = (await tokens.create({ name: "all", scope: "admin" })).secret;
  const send = async (method: string, path: string, body?: unknown, token = all) => {
    const response = await fetch(`${server.url}${path}`, {
      method,
      headers: {
        authorization: `Bearer ${token}`,
        ...(body === undefined ? {} : { "content-type": "application/json" }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    expect(await responseFaults(document, method, path, response.clone() as Response)).toEqual([]);
    const text = await response.text();
    return { status: response.status, text, json: text === "" ? undefined : JSON.parse(text) };
  };
  return { server, store, lines, document, secrets, send };
};

beforeEach(async () => {
  studio = await startLabelStudio();
  running = await start();
  expect((await running.send("POST", "/api/v1/campaigns", poolBody())).status).toBe(201);
});
afterEach(async () => {
  await running.server.close();
  await studio.close();
});

const connection = (rest: object = {}) => ({
  url: studio.url,
  token: LEGACY_TOKEN,
  project: studio.project,
  batch: 4,
  intervalSeconds: 1,
  ...rest,
});

describe("a connection", () => {
  test("is set, shown without its token, works, and ends", async () => {
    const { send, server, secrets, lines } = running;
    expect((await send("GET", `${AT}/label-studio`)).status).toBe(404);
    const set = await send("PUT", `${AT}/label-studio`, connection());
    expect(set.status).toBe(200);
    expect(set.json).toMatchObject({
      project: studio.project,
      fromName: "choice",
      field: "fairbed_id",
      batch: 4,
    });
    await vi.waitFor(() => expect(studio.tasks.size).toBe(4), { timeout: 30_000 });
    // What Label Studio itself calls, with a token as the password.
    const basic = `Basic ${Buffer.from(`label-studio:${secrets.get("collect")}`).toString("base64")}`;
    const base = `${server.url}/label-studio/clinic`;
    studio.sendWebhooksTo(`${base}/webhook`, { authorization: basic });
    expect(await studio.backend.health(base)).toMatchObject({ status: "UP" });
    expect((await studio.backend.predict(base)).results).toHaveLength(4);
    const [task] = studio.tasks.keys();
    await studio.annotate(task, 1, [choice("yes")]);
    await vi.waitFor(
      async () => expect((await send("GET", AT)).json.counts).toMatchObject({ labelled: 1, unasked: 0 }),
      { timeout: 30_000 },
    );
    const shown = await send("GET", `${AT}/label-studio`);
    expect(shown.json.deadLetters).toBe(0);
    expect(shown.text).not.toContain(LEGACY_TOKEN);
    studio.sendWebhooksTo(`${base}/webhook`, { authorization: "Basic eDp5" });
    await expect(studio.backend.health(base)).rejects.toThrow("401");
    studio.sendWebhooksTo(undefined);
    expect((await send("DELETE", `${AT}/label-studio`)).status).toBe(204);
    expect((await send("GET", `${AT}/label-studio`)).status).toBe(404);
    const logged = lines.join("\n");
    for (const secret of [LEGACY_TOKEN, ID_MARKER, ...SENSITIVE_MARKERS, ...secrets.values()]) {
      expect(logged).not.toContain(secret);
    }
    for (const marker of SENSITIVE_MARKERS) expect(JSON.stringify(studio.requests)).not.toContain(marker);
  });

  test("says what is wrong with it, and nothing of the token", async () => {
    const { send } = running;
    for (const wrong of [
      { url: "file:///etc/passwd" },
      { project: "x" },
      { url: "http://a:b@example.org" },
      { more: 1 },
    ]) {
      const got = await send("PUT", `${AT}/label-studio`, connection(wrong));
      expect([400, 422]).toContain(got.status);
      expect(got.text).not.toContain(LEGACY_TOKEN);
    }
    await send("PUT", `${AT}/label-studio`, connection({ token: "not-the-right-one" }));
    await vi.waitFor(
      async () => {
        const got = await send("GET", `${AT}/label-studio`);
        expect(got.json.trouble).toContain("status 401");
        expect(got.text).not.toContain("not-the-right-one");
      },
      { timeout: 30_000 },
    );
  });

  test("leaves nothing behind once the campaign is deleted", async () => {
    const { send, store, server, secrets } = running;
    await send("PUT", `${AT}/label-studio`, connection());
    await send("POST", `${AT}/webhooks`, { url: studio.url, secret: SECRET });
    await fetch(`${server.url}/label-studio/clinic/webhook`, {
      method: "POST",
      headers: { authorization: `Bearer ${secrets.get("collect")}` },
      body: JSON.stringify({ action: "ANNOTATION_CREATED", task: { data: { fairbed_id: idOf(20) } } }),
    });
    await vi.waitFor(async () => expect((await send("GET", `${AT}/label-studio`)).json.deadLetters).toBe(1), {
      timeout: 30_000,
    });
    const deleted = await fetch(`${server.url}${AT}`, {
      method: "DELETE",
      headers: { authorization: `Bearer ${secrets.get("admin")}`, "if-match": "*" },
    });
    expect(deleted.status).toBe(204);
    for (const kind of [
      "label-studio",
      "label-studio-inbox",
      "label-studio-dead-letter",
      "webhook",
      "webhook-place",
    ]) {
      expect([kind, await store.listDocuments(kind)]).toEqual([kind, []]);
    }
  });
});

describe("webhooks", () => {
  test("are registered, listed without their secret, and removed", async () => {
    const { send, lines } = running;
    const made = await send("POST", `${AT}/webhooks`, { url: studio.url, secret: SECRET, events: ["told"] });
    expect(made.status).toBe(201);
    const listed = await send("GET", `${AT}/webhooks`);
    expect(listed.json.webhooks).toMatchObject([{ id: made.json.id, events: ["told"], givenUp: false }]);
    expect(made.text + listed.text + lines.join("")).not.toContain(SECRET);
    expect((await send("POST", `${AT}/webhooks/${made.json.id}/resumptions`)).status).toBe(200);
    expect((await send("DELETE", `${AT}/webhooks/${made.json.id}`)).status).toBe(204);
    expect((await send("DELETE", `${AT}/webhooks/${made.json.id}`)).status).toBe(404);
    expect((await send("POST", `${AT}/webhooks`, { url: studio.url, secret: "short" })).status).toBe(400);
    expect((await send("POST", `${AT}/webhooks`, { url: "ftp://a", secret: SECRET })).status).toBe(422);
  });
});

test("none but an administrator sees or sets any of it, and all of it is documented", async () => {
  const { send, secrets, document, server } = running;
  const operations: [string, string, unknown?][] = [
    ["PUT", `${AT}/label-studio`, connection()],
    ["GET", `${AT}/label-studio`],
    ["DELETE", `${AT}/label-studio`],
    ["POST", `${AT}/webhooks`, { url: studio.url, secret: SECRET }],
    ["GET", `${AT}/webhooks`],
    ["DELETE", `${AT}/webhooks/x`],
    ["POST", `${AT}/webhooks/x/resumptions`],
  ];
  const { paths } = document as { paths: Record<string, Record<string, unknown>> };
  for (const [method, path, body] of operations) {
    const documented = path.replace("clinic", "{name}").replace("/x", "/{webhook}");
    expect(paths[documented]).toHaveProperty(method.toLowerCase());
    for (const scope of ["collect", "label", "read"]) {
      expect([scope, path, (await send(method, path, body, secrets.get(scope))).status]).toEqual([
        scope,
        path,
        403,
      ]);
    }
    expect((await send(method, path.replace("clinic", "other"), body, secrets.get("admin"))).status).toBe(
      403,
    );
  }
  // Label Studio answers in the names of many, which a labeller may not.
  for (const [scope, status] of [
    ["label", 403],
    ["read", 403],
    ["collect", 200],
  ] as const) {
    const response = await fetch(`${server.url}/label-studio/clinic/health`, {
      headers: { authorization: `Bearer ${secrets.get(scope)}` },
    });
    expect([scope, response.status]).toEqual([scope, status]);
  }
});
