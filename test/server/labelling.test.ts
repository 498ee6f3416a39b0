/** What a page is told before it shows a question: who it acts for, and what may be told. */
import { describe, expect, it } from "vitest";
import { memoryStore } from "../../src/campaign/memory-store.js";
import { VERSION } from "../../src/core/version.js";
import { authenticationTexts } from "../../src/server/authentication.js";
import { SCOPES } from "../../src/server/scope.js";
import { ID_MARKER, SENSITIVE_MARKERS, served } from "./served.js";

const HIRED = {
  kind: "pool",
  target: "hired=yes",
  column: "hired",
  answer: { kind: "choice", values: ["no", "yes"], others: false },
  opinions: 1,
  sensitive: [],
};
const CLAN = {
  column: "clan",
  answer: { kind: "choice", values: [...SENSITIVE_MARKERS].sort(), others: false },
};

describe("who somebody is", () => {
  it("may do everything where no token is needed", async () => {
    const { json, headers } = await served().send("GET", "/api/v1/me");
    expect(json).toEqual({
      ...{ scope: "admin", campaign: null, annotator: null, tellsSensitive: true },
      ...{ tokensNeeded: false, expiresAt: null, version: VERSION },
    });
    expect(headers.get("cache-control")).toBe("no-store");
  });

  it("is what their token says", async () => {
    const server = served();
    const given = { campaign: "clinic", annotator: "ann", sensitive: true, days: 1 };
    const token = await server.tokenFor("label", given);
    const { json } = await server.send("GET", "/api/v1/me", { token });
    expect(json).toMatchObject({
      ...{ scope: "label", campaign: "clinic", annotator: "ann", tellsSensitive: true, tokensNeeded: true },
      expiresAt: expect.stringMatching(/^\d{4}-/),
    });
    for (const scope of SCOPES) {
      const own = await server.send("GET", "/api/v1/me", { token: await server.tokenFor(scope) });
      const tells = scope === "admin" || scope === "collect";
      expect(own.json).toMatchObject({ scope, campaign: null, annotator: null, tellsSensitive: tells });
    }
    const without = await server.send("GET", "/api/v1/me");
    expect([without.status, without.json.error.message]).toEqual([401, authenticationTexts.missing]);
  });
});

describe("what may be told", () => {
  it("is the labels, and sensitive values only for those who tell them", async () => {
    const server = served();
    await server.create();
    const admin = await server.tokenFor("admin");
    const seen = async (token: string) => server.at("GET", "/labelling", { token });
    const label = await seen(await server.tokenFor("label", { annotator: "ann" }));
    expect(label.json).toEqual(HIRED);
    for (const marker of [...SENSITIVE_MARKERS, ID_MARKER]) expect(label.text).not.toContain(marker);
    const flagged = await seen(await server.tokenFor("label", { sensitive: true }));
    expect(flagged.json).toEqual({ ...HIRED, sensitive: [CLAN] });
    expect((await seen(admin)).json).toEqual({ ...HIRED, sensitive: [CLAN] });
    expect((await seen(await server.tokenFor("read"))).status).toBe(403);
  });

  it("is what the server takes", async () => {
    const csv = (labels: readonly (string | number)[]) =>
      [
        "id,age,score,label",
        ...Array.from({ length: 30 }, (_, i) => `${i},${20 + i},${(i * 7) % 11},${labels[i] ?? ""}`),
      ].join("\n");
    const texts = Array.from({ length: 12 }, (_, i) => ["red", "green", "blue"][i % 3]);
    const bits = Array.from({ length: 12 }, (_, i) => i % 2);
    const many = Array.from({ length: 15 }, (_, i) => i * 1.5);
    const choice = (values: readonly unknown[], others = false) => ({ kind: "choice", values, others });
    for (const [target, labels, answer, told] of [
      ["label=red", texts, choice(["blue", "green", "red"]), "green"],
      ["label", texts, choice(["blue", "green", "red"]), "blue"],
      ["label=1", bits, choice([0, 1]), 1],
      ["label>=3", many, { kind: "number" }, 2.25],
      ["label=red", [], choice(["red"], true), "green"],
    ] as const) {
      const server = served({ store: memoryStore() });
      const body = { pool: { csv: csv(labels) }, target, sensitive: [], method: "random", opinions: 2 };
      await server.create(body);
      const { json } = await server.at("GET", "/labelling");
      const values = (json.answer.values ?? []) as (string | number)[];
      const sorted =
        json.answer.values === undefined ? json.answer : { ...json.answer, values: [...values].sort() };
      expect([target, sorted, json.opinions, json.sensitive]).toEqual([target, answer, 2, []]);
      for (const label of [...values, told]) {
        const { questions } = (await server.at("POST", "/questions", { body: {} })).json;
        const answers = [{ id: questions[0].id, label }];
        expect((await server.at("POST", "/answers", { body: { answers } })).status).toBe(200);
      }
    }
  });
});
