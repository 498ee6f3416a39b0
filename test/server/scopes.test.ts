/** Who may do what, and what each sees: every scope against every route. */
import { describe, expect, it } from "vitest";
import { answerTexts } from "../../src/campaign/pool-answers.js";
import { authenticationTexts } from "../../src/server/authentication.js";
import { labellerTexts } from "../../src/server/labeller.js";
import { covers, SCOPES } from "../../src/server/scope.js";
import { addressOf, type Operation, operations } from "./operations.js";
import { ID_MARKER, idOf, SENSITIVE_MARKERS, type Sent, type Served, served } from "./served.js";

/** A campaign with questions and answers, some with sensitive values, and an admin's token. */
const prepared = async () => {
  const closing = new AbortController();
  const server = served({ options: { closing: closing.signal } });
  const admin = await server.tokenFor("admin");
  await server.create({ method: "random" }, admin);
  const campaign = await server.campaigns.get("clinic");
  await campaign.ask(32, { annotator: "ann" });
  await campaign.tell([
    { id: idOf(22), label: "yes", annotator: "ben", sensitive: SENSITIVE_MARKERS[0] },
    { id: idOf(24), label: "no", annotator: "ann", sensitive: SENSITIVE_MARKERS[1] },
  ]);
  await campaign.configure({ opinions: 2 });
  return { server, admin, closing };
};

/** All that came back, as text; streams are only begun. */
const everything = async (response: Response): Promise<string> => {
  const headers = [...response.headers].map(([name, value]) => `${name}: ${value}`).join("\n");
  if (response.headers.get("content-type")?.startsWith("text/event-stream") !== true) {
    return `${headers}\n\n${await response.text()}`;
  }
  const reader = response.body?.getReader();
  const first = await reader?.read();
  await reader?.cancel();
  return `${headers}\n\n${new TextDecoder().decode(first?.value)}`;
};

const perform = (server: Served, operation: Operation, token: string | undefined, campaign?: string) =>
  server.raw(operation.method, addressOf(operation, campaign), { ...operation.sent, token } as Sent);

describe("every scope against every route", () => {
  it("knows all routes", async () => {
    const document = (await served().document()) as { paths: Record<string, Record<string, unknown>> };
    const documented = Object.entries(document.paths).flatMap(([path, item]) =>
      Object.keys(item).map((method) => `${method.toUpperCase()} ${path}`),
    );
    expect(operations.map(({ method, path }) => `${method} ${path}`).sort()).toEqual(documented.sort());
  });

  for (const scope of SCOPES) {
    it(`${scope} may do what it is for and nothing else`, async () => {
      const { server } = await prepared();
      const token = await server.tokenFor(scope);
      const bound = await server.tokenFor(scope, { campaign: "clinic" });
      for (const operation of operations) {
        const about = `${operation.method} ${operation.path}`;
        const may = operation.scope === null || operation.scope === "any" || covers(scope, operation.scope);
        const other = await perform(server, operation, bound, "elsewhere");
        const otherStatus = other.status;
        await other.body?.cancel();
        if (operation.scope !== null && operation.path.includes("{name}")) {
          expect([about, otherStatus]).toEqual([about, 403]);
        }
        if (operation.all === true) expect([about, otherStatus]).toEqual([about, 403]);
        const response = await perform(server, operation, token);
        await response.body?.cancel();
        const refused = response.status === 401 || response.status === 403;
        expect([about, refused, response.status]).toEqual([about, !may, may ? response.status : 403]);
        expect(response.status).toBeLessThan(500);
      }
    });
  }

  it("nobody does anything without a token, with one that has expired, was revoked or was never made", async () => {
    let now = Date.parse("2026-01-01T00:00:00Z");
    const server = served({ clock: () => now });
    const revoked = await server.tokenFor("admin");
    await server.tokens.revoke((await server.tokens.list())[0].id);
    const expired = await server.tokenFor("admin", { days: 1 });
    await server.create({}, expired);
    now += 86_400_000;
    for (const operation of operations.filter(({ scope }) => scope !== null)) {
      for (const token of [undefined, expired, revoked, "fbd_guess", "", "x".repeat(5000)]) {
        const response = await perform(server, operation, token);
        expect([operation.path, response.status]).toEqual([operation.path, 401]);
        expect(response.headers.get("www-authenticate")).toContain("Bearer");
      }
    }
  });
});

describe("what is seen", () => {
  it("labellers see no sensitive value, and readers nobody", async () => {
    const { server } = await prepared();
    for (const scope of ["label", "read"] as const) {
      const token = await server.tokenFor(scope, scope === "label" ? { annotator: "ann" } : {});
      const seen: string[] = [];
      for (const operation of operations) {
        const sent = { ...operation.sent, token } as Sent;
        seen.push(await everything(await server.raw(operation.method, addressOf(operation), sent)));
      }
      // What it may not do is refused before anything is looked at, so there is enough to look at.
      expect(seen.join("\n").length).toBeGreaterThan(10_000);
      const markers = scope === "label" ? SENSITIVE_MARKERS : [ID_MARKER];
      for (const marker of markers) {
        const at = seen.findIndex((each) => each.includes(marker));
        expect([marker, at < 0 ? "nowhere" : operations[at]]).toEqual([marker, "nowhere"]);
      }
    }
  });

  it("the markers are seen by those who may, so that looking for them means something", async () => {
    const { server, admin } = await prepared();
    const backup = await everything(
      await server.raw("GET", "/api/v1/campaigns/clinic/backup", { token: admin }),
    );
    for (const marker of [...SENSITIVE_MARKERS, ID_MARKER]) expect(backup).toContain(marker);
  });

  it("neither logs nor metrics have a person, a sensitive value or a token in them", async () => {
    const { server, admin } = await prepared();
    for (const operation of operations) {
      await everything(await perform(server, operation, admin));
    }
    // Mistakes too, which might quote what was given.
    for (const id of [idOf(1), SENSITIVE_MARKERS[0]]) {
      await server.raw("GET", `/api/v1/campaigns/${id}/questions?cursor=${id}`, { token: admin });
      await server.raw("POST", "/api/v1/campaigns/clinic/answers", {
        token: admin,
        body: { answers: [{ id, label: id, annotator: id, [id]: id }] },
      });
      await server.raw("GET", `/${id}`, { token: admin });
    }
    const metrics = await (await server.raw("GET", "/metrics", { token: admin })).text();
    const logged = server.lines.join("");
    expect(server.lines.length).toBeGreaterThan(operations.length);
    for (const marker of [...SENSITIVE_MARKERS, ID_MARKER, admin, "fbd_"]) {
      expect(logged).not.toContain(marker);
      expect(metrics).not.toContain(marker);
    }
    for (const line of server.lines) expect(Object.keys(JSON.parse(line))).toContain("requestId");
  });

  it("a labeller's questions have what an annotator may see and no more", async () => {
    const { server } = await prepared();
    const token = await server.tokenFor("label");
    const { json } = await server.at("POST", "/questions", { token, body: { count: 1, annotator: "cleo" } });
    expect(Object.keys(json).sort()).toEqual(["notes", "questions"]);
    expect(Object.keys(json.questions[0]).sort()).toEqual(["id", "question", "until", "values"]);
    expect(Object.keys(json.questions[0].values)).toEqual(["age", "score"]);
  });
});

describe("labellers", () => {
  it("act under the name of their token", async () => {
    const { server } = await prepared();
    const token = await server.tokenFor("label", { annotator: "cleo" });
    const asked = await server.at("POST", "/questions", { token, body: {} });
    const { id } = asked.json.questions[0];
    for (const [path, body] of [
      ["/questions", { annotator: "ann" }],
      ["/questions", { participant: "ann" }],
      ["/answers", { answers: [{ id, label: "yes", annotator: "ann" }] }],
      ["/skips", { id, annotator: "ann" }],
      ["/retractions", { id, annotator: "ann" }],
    ] as const) {
      const got = await server.at("POST", path, { token, body });
      expect([path, got.status, got.json.error.message]).toEqual([path, 403, labellerTexts.annotator]);
    }
    const told = await server.at("POST", "/answers", { token, body: { answers: [{ id, label: "yes" }] } });
    expect(told.status).toBe(200);
    const state = (await server.campaigns.get("clinic")).now.content;
    const item = state.kind === "pool" ? state.itemOfId(id) : undefined;
    expect(state.kind === "pool" && item !== undefined && state.state.item(item)?.opinions.has("cleo")).toBe(
      true,
    );
  });

  it("answer what they were asked, and do not learn who else is there", async () => {
    const { server } = await prepared();
    const token = await server.tokenFor("label", { annotator: "cleo" });
    for (const id of [idOf(3), idOf(30), "nobody"]) {
      for (const [path, body] of [
        ["/answers", { answers: [{ id, label: "yes" }] }],
        ["/skips", { id }],
        ["/retractions", { id }],
      ] as const) {
        const got = await server.at("POST", path, { token, body });
        expect([got.status, got.json.error.message]).toEqual([403, labellerTexts.notAsked]);
      }
    }
  });

  it("tell sensitive values only where their token says so", async () => {
    const { server } = await prepared();
    const body = {
      answers: [{ id: idOf(25), label: "no", annotator: "ann", sensitive: SENSITIVE_MARKERS[0] }],
    };
    const without = await server.tokenFor("label");
    const refused = await server.at("POST", "/answers", { token: without, body });
    expect([refused.status, refused.json.error.message]).toEqual([403, labellerTexts.sensitive]);
    const flagged = await server.tokenFor("label", { sensitive: true });
    expect((await server.at("POST", "/answers", { token: flagged, body })).status).toBe(200);
    const collect = await server.tokenFor("collect");
    expect((await server.at("POST", "/answers", { token: collect, body })).status).toBe(200);
  });

  it("take their own answers back, and give others instead", async () => {
    const { server } = await prepared();
    const token = await server.tokenFor("label", { annotator: "cleo" });
    const { id } = (await server.at("POST", "/questions", { token, body: {} })).json.questions[0];
    const tell = (label: string) =>
      server.at("POST", "/answers", { token, body: { answers: [{ id, label }] } });
    const undo = (event: string) => server.at("POST", "/retractions", { token, body: { id, event } });
    const opinions = async () => {
      const { content } = (await server.campaigns.get("clinic")).now;
      const item = content.kind === "pool" ? content.itemOfId(id) : undefined;
      if (content.kind !== "pool" || item === undefined) throw new Error("it is about nobody");
      return [...(content.state.item(item)?.opinions.values() ?? [])].map(({ annotator, label }) => [
        annotator,
        label,
      ]);
    };
    const others = await opinions();
    // There is nothing to take back yet.
    const early = await undo("early");
    expect([early.status, early.json.error.message]).toEqual([422, answerTexts.notAnswered]);
    await tell("yes");
    expect(await opinions()).toEqual([...others, ["cleo", "yes"]]);
    expect((await undo("undone")).status).toBe(204);
    // Sent again, it counts once.
    expect((await undo("undone")).status).toBe(204);
    expect(await opinions()).toEqual(others);
    expect((await tell("no")).json.taken[0].status).toBe("answer");
    expect(await opinions()).toEqual([...others, ["cleo", "no"]]);
  });

  it("leave what others said, and without a name do not learn whether they did", async () => {
    const { server } = await prepared();
    const nameless = await server.tokenFor("label");
    const undo = (token: string, id: string, annotator?: string) =>
      server.at("POST", "/retractions", { token, body: { id, annotator } });
    // Ben answered, and nobody had asked.
    expect((await undo(nameless, idOf(22), "ben")).json.error.message).toBe(labellerTexts.notAsked);
    // Ann was asked about both, and answered one.
    expect((await undo(nameless, idOf(30), "ann")).status).toBe(204);
    expect((await undo(nameless, idOf(24), "ann")).status).toBe(204);
    const log = (await server.at("GET", "/answers", { token: await server.tokenFor("collect") })).json;
    const kinds = log.answers.map(({ kind, annotator }: Record<string, string>) => `${annotator} ${kind}`);
    expect(kinds).toEqual(["ben told", "ann told", "ann retracted"]);
  });

  it("settle nothing, and hold few questions at once", async () => {
    const { server } = await prepared();
    const token = await server.tokenFor("label");
    const settle = await server.at("POST", "/questions", { token, body: { adjudicate: true } });
    expect([settle.status, settle.json.error.message]).toEqual([403, labellerTexts.adjudicate]);
    expect((await server.at("POST", "/questions", { token, body: { count: 101 } })).status).toBe(422);
  });

  it("without a name of their own do not learn what was said before", async () => {
    const { server } = await prepared();
    const token = await server.tokenFor("label");
    const tell = async (label: string) =>
      (
        await server.at("POST", "/answers", {
          token,
          body: { answers: [{ id: idOf(26), label, annotator: "ann" }] },
        })
      ).json.taken[0].status;
    expect([await tell("yes"), await tell("yes"), await tell("no")]).toEqual(["answer", "answer", "answer"]);
  });
});

describe("tokens", () => {
  it("open a server without any, and close it with the first", async () => {
    const server = served();
    expect((await server.send("GET", "/api/v1/campaigns")).status).toBe(200);
    const early = await server.send("POST", "/api/v1/tokens", { body: { name: "l", scope: "label" } });
    expect(early.status).toBe(409);
    const made = await server.send("POST", "/api/v1/tokens", { body: { name: "me", scope: "admin" } });
    expect(made.json.secret).toMatch(/^fbd_[\w-]{43}$/);
    const without = await server.send("GET", "/api/v1/campaigns");
    expect([without.status, without.json.error.message]).toEqual([401, authenticationTexts.missing]);
    const token = made.json.secret;
    expect((await server.send("GET", "/api/v1/campaigns", { token })).status).toBe(200);
    const listed = await server.send("GET", "/api/v1/tokens", { token });
    expect(listed.json.tokens).toEqual([made.json.token]);
    expect(listed.text).not.toContain(token);
    const stored = await server.store.listDocuments("token");
    expect(JSON.stringify(stored)).not.toContain(token);
    expect((await server.send("DELETE", `/api/v1/tokens/${made.json.token.id}`, { token })).status).toBe(204);
    expect((await server.send("GET", "/api/v1/campaigns", { token })).status).toBe(401);
  });

  it("are needed behind a proxy, even where there is none", async () => {
    const server = served();
    for (const header of ["X-Forwarded-For", "Forwarded", "X-Real-IP"]) {
      const got = await server.send("GET", "/api/v1/campaigns", { headers: { [header]: "203.0.113.9" } });
      expect(got.status).toBe(401);
    }
  });

  it("are read from wherever others put them", async () => {
    const server = served();
    const token = await server.tokenFor("read");
    for (const headers of [
      { Authorization: `Token ${token}` },
      { Authorization: `bearer ${token}` },
      { Authorization: `Basic ${Buffer.from(`anybody:${token}`).toString("base64")}` },
      { "X-Fairbed-Token": token },
    ]) {
      expect((await server.send("GET", "/api/v1/campaigns", { headers })).status).toBe(200);
    }
  });

  it("for one campaign list that one", async () => {
    const server = served();
    const admin = await server.tokenFor("admin");
    await server.create({}, admin);
    const token = await server.tokenFor("read", { campaign: "clinic" });
    const other = await server.tokenFor("read", { campaign: "other" });
    expect((await server.send("GET", "/api/v1/campaigns", { token })).json.campaigns).toHaveLength(1);
    expect((await server.send("GET", "/api/v1/campaigns", { token: other })).json.campaigns).toEqual([]);
  });
});
