/** Several annotators over HTTP: how far they agree, what they disagree about, and who may know. */
import { describe, expect, it } from "vitest";
import { Campaign, campaignTexts } from "../../src/campaign/campaign.js";
import { identityOf, shippedModel } from "../../src/design/model-catalogue.js";
import { encodePolicy } from "../../src/design/policy-file.js";
import { SCOPES } from "../../src/server/scope.js";
import { idOf, SENSITIVE_MARKERS, type Served, served } from "./served.js";

const tell = async (server: Served, annotator: string, labels: Readonly<Record<number, string>>) => {
  const answers = Object.entries(labels).map(([row, label]) => ({
    id: idOf(Number(row)),
    annotator,
    ...(label === "refused" ? { refused: true } : { label }),
  }));
  const got = await server.at("POST", "/answers", { body: { answers } });
  expect(got.status).toBe(200);
};

/** The same opinions as those that are worked out by hand for campaigns themselves. */
const withOpinions = async (): Promise<Served> => {
  const server = served();
  await server.create({ method: "random", opinions: 3 });
  await tell(server, "ann", { 11: "yes", 12: "yes", 13: "no", 14: "no", 15: "yes", 16: "refused" });
  await tell(server, "bob", { 11: "yes", 12: "no", 13: "no", 14: "no" });
  await tell(server, "cyd", { 12: "no" });
  return server;
};

const designCampaign = async (): Promise<Served> => {
  const server = served();
  const model = shippedModel("location");
  const designs = [model.design.map(() => 1)];
  const policy = { kind: "static" as const, horizon: 1, designs, model: identityOf(model) };
  const body = { name: "clinic", policy: Buffer.from(encodePolicy(policy)).toString("base64") };
  expect((await server.send("POST", "/api/v1/campaigns", { body })).status).toBe(201);
  return server;
};

describe("agreement", () => {
  it("is Krippendorff's alpha, and how often each differs", async () => {
    const { json } = await (await withOpinions()).at("GET", "/agreement");
    // Items yes yes | yes no no | no no | no no: coincidences o(yes, no) = 2/2 = 1, n(yes) = 3, n(no) = 6, n = 9.
    expect(json.alpha).toBeCloseTo(1 - (8 * 1) / (3 * 6), 12);
    expect([json.units, json.values, json.reason]).toEqual([4, 9, null]);
    expect(json.interval[1]).toBe(1);
    expect(json.annotators).toEqual([
      { annotator: "ann", answers: 5, refused: 1, compared: 4, disagreed: 1 },
      { annotator: "bob", answers: 4, refused: 0, compared: 4, disagreed: 0 },
      { annotator: "cyd", answers: 1, refused: 0, compared: 1, disagreed: 0 },
    ]);
  });

  it("says why there is none yet", async () => {
    const server = served();
    await server.create();
    const none = { alpha: null, interval: null, units: 0, values: 0, annotators: [] };
    expect((await server.at("GET", "/agreement")).json).toEqual({ ...none, reason: "few-units" });
  });

  it("is made once for whoever looks, and anew after an answer", async () => {
    const server = await withOpinions();
    const campaign = await server.campaigns.get("clinic");
    let made = 0;
    campaign.agreement = () => {
      made += 1;
      return Campaign.prototype.agreement.call(campaign);
    };
    const first = await server.at("GET", "/agreement");
    expect((await server.at("GET", "/agreement")).json).toEqual(first.json);
    expect(made).toBe(1);
    await tell(server, "bob", { 15: "no" });
    expect((await server.at("GET", "/agreement")).json.units).toBe(5);
    expect(made).toBe(2);
  });

  it("is for campaigns about a pool", async () => {
    const server = await designCampaign();
    for (const path of ["/agreement", "/disputes"]) {
      const got = await server.at("GET", path);
      expect([path, got.status, got.json.error.message]).toEqual([path, 422, campaignTexts.wantsPool]);
    }
  });
});

describe("disputes", () => {
  it("are the features, who said what, and nothing sensitive", async () => {
    const server = await withOpinions();
    expect((await server.at("GET", "/disputes")).json).toEqual({ disputes: [], next: null });
    await server.at("POST", "/answers", {
      body: { answers: [{ id: idOf(15), annotator: "bob", label: "no", sensitive: SENSITIVE_MARKERS[0] }] },
    });
    await tell(server, "cyd", { 15: "refused" });
    const { json, text } = await server.at("GET", "/disputes");
    expect(json.disputes).toEqual([
      {
        id: idOf(15),
        // As poolCsv has them.
        values: { age: 20 + ((15 * 7) % 40), score: (15 * 13) % 17 },
        opinions: [
          { annotator: "ann", label: "yes" },
          { annotator: "bob", label: "no" },
          { annotator: "cyd", label: null },
        ],
      },
    ]);
    for (const marker of SENSITIVE_MARKERS) expect(text).not.toContain(marker);
  });

  it("go once they are settled, and the label counts", async () => {
    const server = await withOpinions();
    await tell(server, "bob", { 15: "no" });
    const before = (await server.at("GET", "")).json.counts;
    expect(before).toMatchObject({ disputed: 1, labelled: 4 });
    const settle = () =>
      server.at("POST", "/adjudications", { body: { id: idOf(15), label: "no", event: "once" } });
    expect((await settle()).status).toBe(204);
    // Sent again after a reply that was lost.
    expect((await settle()).status).toBe(204);
    expect((await server.at("GET", "/disputes")).json.disputes).toEqual([]);
    // Created, twelve answers, and settled once.
    expect((await server.at("GET", "")).json).toMatchObject({
      events: 14,
      counts: { disputed: 0, labelled: 5 },
    });
    const rows = (await server.at("GET", "/export?format=jsonl")).text.trim().split("\n");
    const settled = rows.map((row) => JSON.parse(row)).find(({ id }) => id === idOf(15));
    expect(settled.hired).toBe("no");
  });

  it("are listed in parts, in the order of the pool", async () => {
    const server = served();
    await server.create({ opinions: 2 });
    await tell(server, "ann", { 30: "yes", 9: "no", 20: "yes", 12: "yes" });
    for (const row of [12, 30, 9, 20]) await tell(server, "bob", { [row]: row === 9 ? "yes" : "no" });
    const seen: string[] = [];
    for (let cursor = ""; ; ) {
      const { json } = await server.at("GET", `/disputes?limit=3${cursor}`);
      seen.push(...json.disputes.map(({ id }: { id: string }) => id));
      if (json.next === null) break;
      cursor = `&cursor=${json.next}`;
    }
    expect(seen).toEqual([9, 12, 20, 30].map(idOf));
  });
});

describe("who may know", () => {
  it("is whoever runs the campaign, never an annotator nor a reader", async () => {
    const server = await withOpinions();
    await tell(server, "bob", { 15: "no" });
    for (const scope of SCOPES) {
      const token = await server.tokenFor(scope, scope === "label" ? { annotator: "ann" } : {});
      for (const path of ["/agreement", "/disputes"]) {
        const { status, text } = await server.at("GET", path, { token });
        const may = scope === "admin" || scope === "collect";
        expect([scope, path, status]).toEqual([scope, path, may ? 200 : 403]);
        expect([scope, path, text.includes("bob")]).toEqual([scope, path, may]);
      }
    }
    for (const scope of SCOPES) {
      const token = await server.tokenFor(scope, scope === "label" ? { annotator: "ann" } : {});
      const body = { id: idOf(15), label: "no" };
      const { status } = await server.at("POST", "/adjudications", { token, body });
      expect([scope, status]).toEqual([scope, scope === "admin" || scope === "collect" ? 204 : 403]);
    }
  });
});

describe("settings", () => {
  it("are what holds now, and follow a change", async () => {
    const server = served();
    await server.create({ budget: 30, opinions: 2 });
    const before = {
      lease: 86_400,
      budget: 30,
      costPerLabel: null,
      costBudget: null,
      opinions: 2,
      opinionsPart: 1,
      requirement: null,
    };
    const { json } = await server.at("GET", "/settings");
    expect(json).toMatchObject(before);
    // The recommended way: groups keep their shares, a quarter is drawn at random.
    expect(json.acquisition).toMatchObject({ shares: "population", randomPart: 0.25, reweigh: false });
    const change = {
      budget: null,
      lease: 3600,
      costBudget: 12.5,
      requirement: { metric: "dp", level: 0.8 },
      acquisition: { method: "random", randomPart: 0.5 },
    };
    const changed = await server.at("PATCH", "", { body: change, headers: { "If-Match": "*" } });
    expect(changed.json.budget).toBeNull();
    const now = (await server.at("GET", "/settings")).json;
    expect(now).toMatchObject({ ...before, ...change });
    expect((await (await designCampaign()).at("GET", "/settings")).json.acquisition).toBeNull();
  });

  it("are changed by an admin alone, and an annotator sees none", async () => {
    const server = served();
    await server.create({ budget: 30 });
    for (const scope of SCOPES) {
      const token = await server.tokenFor(scope);
      const seen = await server.at("GET", "/settings", { token });
      expect([scope, seen.status]).toEqual([scope, scope === "label" ? 403 : 200]);
      const headers = { "If-Match": "*" };
      const got = await server.at("PATCH", "", { token, body: { budget: 31 }, headers });
      expect([scope, got.status]).toEqual([scope, scope === "admin" ? 200 : 403]);
    }
  });

  it("raised, a budget that was used up asks again", async () => {
    const server = served();
    await server.create({ budget: 1 });
    const ask = async () =>
      (await server.at("POST", "/questions", { body: { count: 5 } })).json.questions.length;
    expect([await ask(), await ask()]).toEqual([1, 0]);
    await server.at("PATCH", "", { body: { budget: 4 }, headers: { "If-Match": "*" } });
    expect([await ask(), await ask()]).toEqual([3, 0]);
  });
});
