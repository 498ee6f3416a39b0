/** Every route, as it is meant to be used. */
import { describe, expect, it } from "vitest";
import { answerTexts } from "../../src/campaign/pool-answers.js";
import { storeTexts } from "../../src/campaign/store.js";
import { identityOf, shippedModel } from "../../src/design/model-catalogue.js";
import { encodePolicy } from "../../src/design/policy-file.js";
import { tagTexts } from "../../src/server/head-tags.js";
import { problemTexts } from "../../src/server/problem.js";
import { ID_MARKER, idOf, poolBody, poolCsv, type Served, served } from "./served.js";

const ask = async (server: Served, count = 1, rest: object = {}): Promise<string[]> => {
  const { json } = await server.at("POST", "/questions", { body: { count, ...rest } });
  return json.questions.map(({ id }: { id: string }) => id);
};

const tell = (server: Served, ...answers: object[]) => server.at("POST", "/answers", { body: { answers } });

/** Asks for and answers so many, by a rule that the models can learn. */
const collect = async (server: Served, count: number): Promise<void> => {
  for (const id of await ask(server, count)) {
    const row = Number(id.slice(ID_MARKER.length));
    await tell(server, { id, label: (row * 13) % 17 > 8 ? "yes" : "no" });
  }
};

describe("campaigns", () => {
  it("is created from CSV, asked, told and counted", async () => {
    const server = served();
    const made = await server.create();
    expect(made.json.counts).toMatchObject({ subjects: 40, initial: 8, open: 32 });
    expect(made.headers.get("location")).toBe("/api/v1/campaigns/clinic");
    const [first, second] = await ask(server, 2, { annotator: "ann" });
    const told = await tell(server, { id: first, label: "yes", annotator: "ann", event: "e1" });
    expect(told.json.taken).toEqual([{ event: "e1", id: first, status: "answer", unasked: false }]);
    const again = await tell(server, { id: first, label: "yes", annotator: "ann", event: "e1" });
    expect(again.json.taken[0].status).toBe("duplicate");
    const status = await server.at("GET", "");
    expect(status.json.counts).toMatchObject({ labelled: 1, pending: 1, annotators: 1 });
    const waiting = await server.at("GET", "/questions");
    expect(waiting.json.questions.map(({ id }: { id: string }) => id)).toEqual([second]);
  });

  it("is created from records", async () => {
    const server = served();
    const records = Array.from({ length: 12 }, (_, i) => ({
      age: i,
      member: i % 2 === 0,
      hired: i < 4 ? ["yes", "no"][i % 2] : null,
    }));
    const got = await server.send("POST", "/api/v1/campaigns", {
      body: { name: "r", pool: { records }, target: "hired=yes", method: "random", budget: 3, opinions: 2 },
    });
    expect(got.status).toBe(201);
    expect(got.json).toMatchObject({ budget: 3, method: "random", counts: { open: 8 } });
  });

  it("of designs goes through its policy", async () => {
    const server = served();
    const model = shippedModel("location");
    const policy = {
      kind: "static" as const,
      horizon: 2,
      designs: [1, 2].map((value) => model.design.map(() => value)),
      model: identityOf(model),
    };
    const bytes = encodePolicy(policy);
    const body = { name: "clinic", policy: JSON.parse(new TextDecoder().decode(bytes)) };
    expect((await server.send("POST", "/api/v1/campaigns", { body })).status).toBe(201);
    const base64 = { name: "copy", policy: Buffer.from(bytes).toString("base64") };
    expect((await server.send("POST", "/api/v1/campaigns", { body: base64 })).status).toBe(201);
    const labelling = { kind: "design", target: "location", outcomes: model.outcomes, observations: 2 };
    expect((await server.at("GET", "/labelling")).json).toEqual(labelling);
    const asked = await server.at("POST", "/questions", { body: { participant: "pat" } });
    expect(asked.json.questions[0]).toMatchObject({ id: "pat", step: 0, design: { x: 1, y: 1 } });
    expect((await server.at("GET", "/questions")).json.questions).toHaveLength(1);
    const outcome = model.outcomes.map(() => 0.5);
    expect((await tell(server, { id: "pat", outcome })).json.taken[0].status).toBe("answer");
    expect((await server.at("GET", "/answers")).json.answers).toHaveLength(1);
    expect((await server.at("GET", "")).json).toMatchObject({ kind: "design", counts: { labelled: 1 } });
    expect((await server.at("GET", "/estimate")).status).toBe(422);
    expect((await server.at("POST", "/replay")).json).toMatchObject({ decisions: 1, agreeing: 1 });
    expect((await server.at("GET", "/export")).status).toBe(200);
    expect((await server.at("GET", "/card")).status).toBe(200);
  });

  it("refuses what cannot work, in a sentence", async () => {
    const server = served();
    await server.create();
    const taken = await server.send("POST", "/api/v1/campaigns", { body: poolBody() });
    expect(taken.status).toBe(409);
    expect(taken.json.error).toEqual({ code: "name-taken", message: storeTexts.taken("clinic") });
    const name = await server.send("POST", "/api/v1/campaigns", { body: poolBody("../etc") });
    expect([name.status, name.json.error.message]).toEqual([422, storeTexts.name("../etc")]);
    const misspelt = await server.send("POST", "/api/v1/campaigns", {
      body: poolBody("other", { traget: 1 }),
    });
    expect(misspelt.status).toBe(400);
    const nobody = await tell(server, { id: "nobody", label: "yes" });
    expect([nobody.status, nobody.json.error.message]).toEqual([422, answerTexts.noItem]);
    const unknown = await server.send("GET", "/api/v1/campaigns/none");
    expect([unknown.status, unknown.json.error.code]).toEqual([404, "no-campaign"]);
    const nowhere = await server.send("GET", "/api/v1/nowhere");
    expect([nowhere.status, nowhere.json.error.message]).toEqual([404, problemTexts.notFound]);
    const broken = await server.at("POST", "/answers", {
      text: "{",
      headers: { "Content-Type": "application/json" },
    });
    expect([broken.status, broken.json.error.message]).toEqual([400, problemTexts.json]);
    const kind = await server.at("POST", "/answers", {
      text: "{}",
      headers: { "Content-Type": "text/plain" },
    });
    expect(kind.status).toBe(415);
  });

  it("lists in parts", async () => {
    const server = served();
    for (const name of ["a", "b", "c"]) {
      await server.send("POST", "/api/v1/campaigns", { body: poolBody(name) });
    }
    const first = await server.send("GET", "/api/v1/campaigns?limit=2");
    expect(first.json.campaigns.map(({ name }: { name: string }) => name)).toEqual(["a", "b"]);
    const rest = await server.send("GET", `/api/v1/campaigns?limit=2&cursor=${first.json.next}`);
    expect(rest.json.campaigns.map(({ name }: { name: string }) => name)).toEqual(["c"]);
    expect(rest.json.next).toBeNull();
    expect((await server.send("GET", "/api/v1/campaigns?cursor=%%%")).status).toBe(400);
    expect((await server.send("GET", "/api/v1/campaigns?limit=0")).status).toBe(400);
  });

  it("changes and goes only as it was seen", async () => {
    const server = served();
    await server.create();
    const seen = (await server.at("GET", "")).headers.get("etag") ?? "";
    expect((await server.at("GET", "", { headers: { "If-None-Match": seen } })).status).toBe(304);
    const blind = await server.at("PATCH", "", { body: { budget: 5 } });
    expect([blind.status, blind.json.error.message]).toEqual([428, tagTexts.needed]);
    const changed = await server.at("PATCH", "", { body: { budget: 5 }, headers: { "If-Match": seen } });
    expect([changed.status, changed.json.budget]).toEqual([200, 5]);
    expect((await server.at("GET", "", { headers: { "If-None-Match": seen } })).status).toBe(200);
    const late = await server.at("PATCH", "", { body: { budget: 6 }, headers: { "If-Match": seen } });
    expect([late.status, late.json.error.message]).toEqual([412, tagTexts.changed]);
    expect((await server.at("DELETE", "")).status).toBe(428);
    expect((await server.at("DELETE", "", { headers: { "If-Match": seen } })).status).toBe(412);
    const now = changed.headers.get("etag") ?? "";
    expect((await server.at("DELETE", "", { headers: { "If-Match": now } })).status).toBe(204);
    expect((await server.at("GET", "")).status).toBe(404);
  });

  it("lets one of two changes through that were decided on the same head", async () => {
    const server = served();
    await server.create();
    const seen = (await server.at("GET", "")).headers.get("etag") ?? "";
    const both = await Promise.all(
      [5, 6].map((budget) => server.at("PATCH", "", { body: { budget }, headers: { "If-Match": seen } })),
    );
    expect(both.map(({ status }) => status).sort()).toEqual([200, 412]);
  });
});

describe("answers", () => {
  it("are all taken or none", async () => {
    const server = served();
    await server.create();
    const [id] = await ask(server);
    expect((await tell(server, { id, label: "yes" }, { id: "nobody", label: "yes" })).status).toBe(422);
    expect((await server.at("GET", "")).json.counts.labelled).toBe(0);
  });

  it("are asked for once under one name", async () => {
    const server = served();
    await server.create();
    const first = await ask(server, 2, { request: "r" });
    expect(await ask(server, 2, { request: "r" })).toEqual(first);
    await tell(server, { id: first[0], label: "no", event: "x/0" });
    const mixed = await server.at("POST", "/questions", { body: { request: "x" } });
    expect([mixed.status, mixed.json.error.message]).toEqual([409, answerTexts.requestTaken]);
    const other = await tell(server, { id: first[1], label: "no", event: "x/0" });
    expect([other.status, other.json.error.message]).toEqual([409, answerTexts.eventTaken]);
  });

  it("are passed on, taken back, settled and erased", async () => {
    const server = served();
    await server.create({ opinions: 2 });
    const [id] = await ask(server, 1, { annotator: "a" });
    expect((await server.at("POST", "/skips", { body: { id, annotator: "a" } })).status).toBe(204);
    await tell(server, { id, label: "yes", annotator: "b" }, { id, label: "no", annotator: "c" });
    expect((await server.at("GET", "")).json.counts.disputed).toBe(1);
    expect(await ask(server, 1, { adjudicate: true })).toEqual([id]);
    expect((await server.at("POST", "/adjudications", { body: { id, label: "yes" } })).status).toBe(204);
    expect((await server.at("GET", "")).json.counts.disputed).toBe(0);
    expect((await server.at("POST", "/retractions", { body: { id, annotator: "c" } })).status).toBe(204);
    expect((await server.at("POST", "/retractions", { body: { id, annotator: "c" } })).status).toBe(422);
    const kinds = (await server.at("GET", "/answers")).json.answers.map(({ kind }: { kind: string }) => kind);
    expect(kinds).toEqual(["skipped", "told", "told", "adjudicated", "retracted"]);
    const gone = await server.at("POST", "/withdrawals", { body: { id } });
    expect(gone.json.events).toBeGreaterThan(4);
    expect((await server.at("GET", "/answers")).json.answers).toEqual([]);
    expect((await server.at("GET", "/backup")).text).not.toContain(`"${id}"`);
    expect((await server.at("POST", "/withdrawals", { body: { id } })).status).toBe(422);
  });

  it("are listed in parts, with nothing left out or told twice", async () => {
    const server = served();
    await server.create();
    await collect(server, 5);
    const seen: string[] = [];
    for (let cursor = ""; ; ) {
      const { json } = await server.at("GET", `/answers?limit=2${cursor}`);
      seen.push(...json.answers.map(({ id }: { id: string }) => id));
      if (json.next === null) break;
      cursor = `&cursor=${json.next}`;
    }
    expect(seen).toHaveLength(5);
    expect(new Set(seen).size).toBe(5);
    await ask(server, 3);
    const first = await server.at("GET", "/questions?limit=2");
    const rest = await server.at("GET", `/questions?limit=2&cursor=${first.json.next}`);
    expect([first.json.questions.length, rest.json.questions.length, rest.json.next]).toEqual([2, 1, null]);
  });
});

describe("analysis and copies", () => {
  it("estimates, forecasts, replays and verifies", async () => {
    const server = served();
    await server.create({ method: "random" });
    expect((await server.at("GET", "/estimate")).status).toBe(422);
    expect((await server.at("GET", "/forecast")).json.advice.action).toBe("too-early");
    await collect(server, 24);
    const estimate = await server.at("GET", "/estimate");
    expect(estimate.json.rows.drawn).toBe(24);
    expect((await server.at("GET", "/forecast")).json.labels.known).toBe(32);
    const choice = { at: [4], budget: 30, worthwhile: 0.01, requirement: { metric: "dp", level: 0.8 } };
    const forecast = await server.at("POST", "/forecast", { body: choice });
    expect(forecast.json.requirement.level).toBe(0.8);
    expect((await server.at("POST", "/replay")).json).toMatchObject({ decisions: 24, agreeing: 24 });
    const verified = await server.at("GET", "/verification");
    expect(verified.json).toMatchObject({ events: 49, fault: null });
    expect(verified.json.hash).toBe((await server.at("GET", "")).json.hash);
  });

  it("computes once what several ask for at once", async () => {
    const server = served();
    await server.create({ method: "random" });
    await collect(server, 24);
    const campaign = await server.campaigns.get("clinic");
    let runs = 0;
    const estimate = campaign.estimate.bind(campaign);
    campaign.estimate = (run) => {
      runs += 1;
      return estimate(run);
    };
    await Promise.all([1, 2, 3].map(() => server.at("GET", "/estimate")));
    expect(runs).toBe(1);
  });

  it("backs up and restores to the same hash", async () => {
    const server = served();
    await server.create();
    await collect(server, 3);
    const { text } = await server.at("GET", "/backup");
    const restored = await server.send("POST", "/api/v1/restore?name=copy", {
      text,
      headers: { "Content-Type": "application/x-ndjson" },
    });
    expect(restored.status).toBe(201);
    expect(restored.json.hash).toBe((await server.at("GET", "")).json.hash);
    expect((await server.send("GET", "/api/v1/campaigns/copy")).json.counts.labelled).toBe(3);
    const kind = await server.send("POST", "/api/v1/restore", {
      text,
      headers: { "Content-Type": "text/plain" },
    });
    expect(kind.status).toBe(415);
    const broken = await server.send("POST", "/api/v1/restore?name=third", {
      text: text.replace('"kind":"told"', '"kind":"asked"'),
      headers: { "Content-Type": "application/x-ndjson" },
    });
    expect(broken.status).toBe(422);
  });

  it("exports tables and a card", async () => {
    const server = served();
    await server.create();
    await collect(server, 3);
    const csv = await server.at("GET", "/export?format=csv");
    expect(csv.text.split("\n")[0]).toContain("hired");
    const without = await server.at("GET", "/export?format=jsonl&sensitive=false&rows=all");
    expect(without.text.trim().split("\n")).toHaveLength(40);
    expect(without.text).not.toContain("clan");
    const parquet = await server.at("GET", "/export?format=parquet");
    expect(parquet.text.startsWith("PAR1")).toBe(true);
    expect((await server.at("GET", "/card")).text).toContain("clinic");
    expect((await server.at("GET", "/card?format=json")).json.name).toBe("clinic");
    expect((await server.at("GET", "/export?format=xlsx")).status).toBe(400);
  });
});

describe("the server itself", () => {
  it("says whether it lives and what it counts", async () => {
    const server = served();
    await server.create();
    await collect(server, 2);
    expect((await server.send("GET", "/health")).json).toEqual({ status: "ok" });
    expect((await server.send("GET", "/ready")).json).toEqual({ status: "ready" });
    await server.send("GET", "/nowhere/at/all");
    const { text } = await server.send("GET", "/metrics");
    expect(text).toContain(
      'fairbed_http_requests_total{method="POST",route="/api/v1/campaigns/:name/answers",status="200"} 2',
    );
    expect(text).toContain('fairbed_http_requests_total{method="GET",route="(none)",status="404"} 1');
    expect(text).toContain("fairbed_questions_asked_total 2");
    expect(text).toContain('fairbed_answers_told_total{status="answer"} 2');
    expect(text).toContain('fairbed_events_total{kind="told"} 2');
    expect(text).toContain("fairbed_open_campaigns 1");
    expect(text).toMatch(/fairbed_http_request_duration_seconds_bucket\{.*le="\+Inf"\} \d+/);
    await (await server.campaigns.get("clinic")).settle();
    const later = (await server.send("GET", "/metrics")).text;
    expect(later).toMatch(/fairbed_ranking_age_seconds\{campaign="clinic"\} \d/);
    expect(later).toMatch(/fairbed_ranking_duration_seconds_count [1-9]/);
  });

  it("answers 503 while the store is away, and says nothing about it", async () => {
    const { StoreUnavailable } = await import("../../src/campaign/store.js");
    const server = served();
    await server.create();
    server.store.read = async () => {
      throw new StoreUnavailable("away", storeTexts.away("postgres://user@secret-host/db", "ECONNREFUSED"));
    };
    const got = await server.at("GET", "");
    expect([got.status, got.json.error.message]).toEqual([503, problemTexts.away]);
    expect(Number(got.headers.get("retry-after"))).toBeGreaterThan(0);
    expect(got.text).not.toContain("secret-host");
    server.store.getDocument = server.store.read as never;
    expect((await server.send("GET", "/ready")).status).toBe(503);
    expect((await server.send("GET", "/health")).status).toBe(200);
  });

  it("answers 500 without details, and logs where it was and not what it says", async () => {
    const server = served();
    await server.create();
    server.store.read = async () => {
      throw new TypeError(`cannot read ${idOf(3)}`);
    };
    const got = await server.at("GET", "");
    expect([got.status, got.json.error.message]).toEqual([500, problemTexts.unexpected]);
    const failure = server.lines.find((line) => line.includes('"failure"')) ?? "";
    expect(failure).toContain("TypeError");
    expect(failure).not.toContain(ID_MARKER);
  });

  it("reads pools in both line ends", async () => {
    const server = served();
    await server.create({ pool: { csv: poolCsv().replaceAll("\n", "\r\n") } });
    expect((await server.at("GET", "")).json.counts.subjects).toBe(40);
  });
});
