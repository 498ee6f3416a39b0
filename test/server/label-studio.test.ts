/** Campaigns in Label Studio, against a stand-in that loses, repeats and delays as the real one does. */
import { serve } from "@hono/node-server";
import { Hono } from "hono";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { Campaign } from "../../src/campaign/campaign.js";
import { memoryStore } from "../../src/campaign/memory-store.js";
import { modelsInThread } from "../../src/campaign/ranking-schedule.js";
import { replayCampaign } from "../../src/campaign/replay.js";
import type { CampaignStore } from "../../src/campaign/store.js";
import { verifyCampaign } from "../../src/campaign/verify.js";
import { connectionSchema, storeConnection } from "../../src/server/label-studio/connection.js";
import { deadLetters } from "../../src/server/label-studio/dead-letters.js";
import { clientTexts, labelStudioClient } from "../../src/server/label-studio/label-studio-client.js";
import { labelStudioRoutes } from "../../src/server/label-studio/label-studio-routes.js";
import { reconcile } from "../../src/server/label-studio/reconcile.js";
import { labelStudioService } from "../../src/server/label-studio/service.js";
import { labelStudioSync, syncOnce } from "../../src/server/label-studio/sync.js";
import { type OpenCampaigns, openCampaigns } from "../../src/server/open-campaigns.js";
import { problemBody, problemOf } from "../../src/server/problem.js";
import { webAddressTexts } from "../../src/server/web-address.js";
import { tableOf } from "../../src/tables/table-of.js";
import { answerOf, sexOf } from "../campaign/people.js";
import {
  choice,
  type LabelStudioStandIn,
  LEGACY_TOKEN,
  PERSONAL_TOKEN,
  startLabelStudio,
} from "./label-studio-server.js";

/** Stands in every sensitive value, and must not leave the server. */
const MARKER = "zz-sensitive";
const NAME = "hiring";
/** However busy the machine is. */
const eventually = <Result>(check: () => Result | Promise<Result>): Promise<Result> =>
  vi.waitFor(check, { timeout: 30_000, interval: 20 });
const ROLES = {
  id: "id",
  target: "hired=yes",
  sensitive: ["sex"],
  forest: { trees: 8 },
  sensitiveForest: { trees: 8, minLeaf: 5 },
} as const;

const pool = (rows = 60, labelled = 8) =>
  tableOf(
    Array.from({ length: rows }, (_, i) => ({
      id: `p${i}`,
      skill: (i * 7) % 17,
      city: i % 3,
      sex: `${MARKER}-${sexOf(`p${i}`)}`,
      hired: i < labelled ? answerOf(`p${i}`) : null,
    })),
  );

const campaignsInThread = (own: CampaignStore): OpenCampaigns =>
  openCampaigns(own, { models: modelsInThread });
/** With errors answered as the server answers them. */
const routes = (options: Parameters<typeof labelStudioRoutes>[0], path = "/"): Hono => {
  const app = new Hono().route(path, labelStudioRoutes(options));
  app.onError((error, context) => {
    const problem = problemOf(error);
    return context.json(problemBody(problem), problem.status);
  });
  return app;
};
const noPause = async (): Promise<void> => {};

let studio: LabelStudioStandIn;
let store: CampaignStore;

/** This project's server, as it is mounted; started and stopped like a process. */
const startServer = async (own: CampaignStore = store) => {
  const campaigns = campaignsInThread(own);
  const service = labelStudioService({ campaigns });
  const app = routes({ campaigns, service }, "/label-studio");
  const listening = await new Promise<{ port: number; close: () => Promise<void> }>((resolve) => {
    const server = serve({ fetch: app.fetch, port: 0, hostname: "127.0.0.1" }, ({ port }) =>
      resolve({
        port,
        close: () =>
          new Promise((done) => {
            server.close(() => done());
            if ("closeAllConnections" in server) server.closeAllConnections();
          }),
      }),
    );
  });
  return {
    campaigns,
    service,
    base: `http://127.0.0.1:${listening.port}/label-studio/${NAME}`,
    stop: async () => {
      await listening.close();
      await service.close();
      await campaigns.close();
    },
  };
};

const connection = (given: object = {}) =>
  connectionSchema.parse({ url: studio.url, token: LEGACY_TOKEN, project: studio.project, ...given });
const client = (given: object = {}, options: Parameters<typeof labelStudioClient>[1] = {}) =>
  labelStudioClient(connection(given), { pause: noPause, ...options });

/** Every answer of the campaign: "item annotator label". */
const opinions = ({ now: { content } }: Campaign): readonly string[] => {
  if (content.kind !== "pool") return [];
  return [...content.state.touched()]
    .flatMap((item) =>
      [...(content.state.item(item)?.opinions.values() ?? [])].map(
        ({ annotator, label }) => `${content.idOf(item)} ${annotator} ${label}`,
      ),
    )
    .sort();
};
/** The same as the project has it: of each annotator and item the annotation that was changed last. */
const expected = (field = "fairbed_id"): readonly string[] => {
  const latest = new Map<string, { time: string; text: string }>();
  for (const task of studio.tasks.values()) {
    for (const { completed_by, updated_at, was_cancelled, result } of task.annotations) {
      const whose = `${task.data[field]} ${completed_by}`;
      const [{ value } = { value: { choices: [""] } }] = result as { value: { choices: string[] } }[];
      const text = was_cancelled ? "" : `${whose} ${value.choices[0]}`;
      if ((latest.get(whose)?.time ?? "") < updated_at) latest.set(whose, { time: updated_at, text });
    }
  }
  return [...latest.values()].flatMap(({ text }) => (text === "" ? [] : [text])).sort();
};
const itemIn = (task: number): string => String(studio.tasks.get(task)?.data.fairbed_id);

beforeEach(async () => {
  studio = await startLabelStudio();
  store = memoryStore();
});
afterEach(() => studio.close());

const begin = (given: object = {}): Promise<Campaign> =>
  Campaign.create(store, NAME, { table: pool(), acquisition: ROLES, ...given });

describe("the machine learning backend", () => {
  test("answers as Label Studio expects, with one result for each task and the most wanted lowest", async () => {
    const server = await startServer();
    const campaign = await server.campaigns.create(NAME, { table: pool(), acquisition: ROLES });
    await campaign.settle();
    await studio.addTasks([
      ...Array.from({ length: 60 }, (_, i) => ({ fairbed_id: `p${i}`, skill: i })),
      { fairbed_id: "nobody" },
      { other: 1 },
    ]);
    expect(await studio.backend.health(server.base)).toEqual({ status: "UP", model_class: "FairBED" });
    const { basis = 0 } = campaign.status().ranking ?? {};
    expect(await studio.backend.setup(server.base)).toEqual({ model_version: `fairbed-${basis}` });
    const { results } = await studio.backend.predict(server.base);
    expect(results).toHaveLength(62);
    for (const result of results) {
      expect(Object.keys(result).sort()).toEqual(["model_version", "result", "score"]);
      expect(result.result).toEqual([]);
      expect(result.model_version).toBe(`fairbed-${basis}`);
      expect(Number.isFinite(result.score)).toBe(true);
    }
    const ranking = JSON.parse((await store.getDocument("ranking", NAME)) ?? "") as {
      rows: { item: number; score: number }[];
    };
    for (const { item, score } of ranking.rows) expect(results[item].score).toBe(-score);
    const ranked = new Set(ranking.rows.map(({ item }) => item));
    const worst = Math.max(...ranking.rows.map(({ score }) => -score));
    results.forEach(({ score }, i) => {
      if (!ranked.has(i)) expect(score).toBeGreaterThanOrEqual(worst);
    });
    expect(JSON.stringify(results)).not.toContain(MARKER);
    expect(JSON.stringify(results)).not.toMatch(/leak|sensitive/i);
    await server.stop();
  });

  test("has a new version once the models know more", async () => {
    const server = await startServer();
    const campaign = await server.campaigns.create(NAME, { table: pool(), acquisition: ROLES });
    await campaign.settle();
    await studio.addTasks([{ fairbed_id: "p20" }]);
    const before = await studio.backend.predict(server.base);
    await campaign.tell([{ id: "p30", label: "yes" }]);
    await campaign.settle();
    const after = await studio.backend.predict(server.base);
    expect(after.results[0].model_version).not.toBe(before.results[0].model_version);
    await server.stop();
  });

  test("shows what a model of the target expects only where it is given one", async () => {
    const campaigns = campaignsInThread(store);
    const service = labelStudioService({ campaigns });
    const campaign = await campaigns.create(NAME, { table: pool(), acquisition: ROLES });
    await campaign.settle();
    const app = routes({
      campaigns,
      service,
      predictTarget: async (_, ids) => new Map(ids.map((id) => [id, "Yes"])),
    });
    const response = await app.request(`/${NAME}/predict`, {
      method: "POST",
      body: JSON.stringify({
        tasks: [
          { id: 1, data: { fairbed_id: "p9" } },
          { id: 2, data: {} },
        ],
      }),
    });
    const { results } = (await response.json()) as { results: { result: unknown[] }[] };
    expect(results.map(({ result }) => result)).toEqual([
      [{ from_name: "choice", to_name: "text", type: "choices", value: { choices: ["Yes"] } }],
      [],
    ]);
    await service.close();
  });

  test("refuses what has no tasks, a campaign that is not there, and whoever may not ask", async () => {
    await begin();
    const campaigns = campaignsInThread(store);
    const service = labelStudioService({ campaigns });
    const open = routes({ campaigns, service });
    const post = (path: string, body: string) => open.request(path, { method: "POST", body });
    expect((await post(`/${NAME}/predict`, "[]")).status).toBe(422);
    expect((await post(`/${NAME}/predict`, "{")).status).toBe(422);
    expect((await open.request("/other/health")).status).toBe(404);
    expect((await post("/other/webhook", "{}")).status).toBe(404);
    const guarded = routes({
      campaigns,
      service,
      authenticate: (context, next) =>
        context.req.header("authorization") === "Basic right"
          ? next()
          : Promise.resolve(context.body(null, 401)),
    });
    for (const path of ["health", "setup", "predict", "webhook"]) {
      const method = path === "health" ? "GET" : "POST";
      expect((await guarded.request(`/${NAME}/${path}`, { method })).status).toBe(401);
    }
    expect(
      (await guarded.request(`/${NAME}/health`, { headers: { authorization: "Basic right" } })).status,
    ).toBe(200);
    await service.close();
  });
});

describe("webhooks", () => {
  test("answers, corrections, skips and deletions become events, each once", async () => {
    await begin();
    const server = await startServer();
    await storeConnection(store, NAME, connection());
    studio.sendWebhooksTo(`${server.base}/webhook`);
    const tasks = await studio.addTasks(
      ["p10", "p11", "p12", "p13", "p14", "p15"].map((fairbed_id) => ({ fairbed_id })),
    );
    await studio.updateProject();
    const first = await studio.annotate(tasks[0], 1, [choice("yes")], "twice");
    await studio.annotate(tasks[0], 2, [choice("no")]);
    await studio.update(first, [choice("no")], "twice");
    await studio.annotate(tasks[1], 1, "skip", "twice");
    const gone = await studio.annotate(tasks[2], 1, [choice("yes")]);
    await studio.deleteAnnotation(gone, "twice");
    await studio.annotateAll(
      [
        [tasks[3], "yes"],
        [tasks[4], "no"],
      ],
      3,
    );
    // Answered first, passed on then.
    const passed = await studio.annotate(tasks[5], 1, [choice("yes")]);
    await studio.update(passed, "skip");
    await server.service.inbox.settle();
    const campaign = await server.campaigns.get(NAME);
    expect(opinions(campaign)).toEqual(["p10 1 no", "p10 2 no", "p13 3 yes", "p14 3 no"]);
    expect(opinions(campaign)).toEqual(expected());
    expect(new Set(studio.webhooks.map(({ status }) => status))).toEqual(new Set([201]));
    const kinds = (await store.read(NAME, 0)).map(({ kind }) => kind);
    expect(kinds.filter((kind) => kind === "corrected")).toHaveLength(1);
    expect(kinds.filter((kind) => kind === "retracted")).toHaveLength(2);
    expect(kinds.filter((kind) => kind === "skipped")).toHaveLength(2);
    expect(await server.service.inbox.waiting(NAME)).toBe(0);
    expect(await deadLetters(store, NAME)).toEqual([]);
    // Tasks that are deleted take their annotations with them.
    await studio.deleteTask(tasks[3]);
    await server.service.inbox.settle();
    expect(opinions(campaign)).toEqual(expected());
    await server.stop();
  });

  test("a late one does not undo a newer one, and none brings back what was deleted", async () => {
    await begin();
    const server = await startServer();
    studio.sendWebhooksTo(`${server.base}/webhook`);
    const [task, other] = await studio.addTasks([{ fairbed_id: "p10" }, { fairbed_id: "p11" }]);
    const id = await studio.annotate(task, 1, [choice("yes")], "held");
    await studio.update(id, [choice("no")]);
    const gone = await studio.annotate(other, 1, [choice("yes")], "sent");
    await studio.update(gone, [choice("no")], "held");
    await studio.deleteAnnotation(gone);
    await studio.release();
    await server.service.inbox.settle();
    expect(opinions(await server.campaigns.get(NAME))).toEqual(["p10 1 no"]);
    await server.stop();
  });

  test("what cannot be understood is kept, counted, and blocks nobody", async () => {
    await begin();
    const server = await startServer();
    await storeConnection(store, NAME, connection({ values: { Hire: "yes", Reject: "no" } }));
    studio.sendWebhooksTo(`${server.base}/webhook`);
    const post = (body: string) => fetch(`${server.base}/webhook`, { method: "POST", body });
    expect((await post("no JSON")).status).toBe(201);
    expect((await post(JSON.stringify({ action: "SOMETHING_ELSE" }))).status).toBe(201);
    expect((await post(JSON.stringify({ action: "ANNOTATION_CREATED" }))).status).toBe(201);
    // Of another project.
    await post(
      JSON.stringify({
        action: "ANNOTATION_CREATED",
        project: { id: 99 },
        annotation: { id: 1, completed_by: 1, result: [choice("Hire")] },
        task: { id: 1, data: { fairbed_id: "p20" } },
      }),
    );
    const [a, b, c, d, e] = await studio.addTasks([
      { fairbed_id: "p10" },
      { fairbed_id: "p11" },
      { fairbed_id: "p12" },
      { fairbed_id: "nobody" },
      { other: "x" },
    ]);
    await studio.annotate(a, 1, [choice("Hire", "another control")]);
    await studio.annotate(b, 1, []);
    await studio.annotate(d, 1, [choice("Hire")]);
    await studio.annotate(e, 1, [choice("Hire")]);
    await studio.annotate(c, 1, [choice("Reject")]);
    await server.service.inbox.settle();
    const campaign = await server.campaigns.get(NAME);
    expect(opinions(campaign)).toEqual(["p12 1 no"]);
    expect(await deadLetters(store, NAME)).toHaveLength(7);
    expect(server.service.inbox.counts(NAME)).toMatchObject({ told: 1, unknown: 1, notUnderstood: 7 });
    // Whoever withdraws leaves nothing behind in them.
    expect(JSON.stringify(await deadLetters(store, NAME))).toContain("p10");
    await campaign.withdraw("p10");
    await eventually(async () => expect(JSON.stringify(await deadLetters(store, NAME))).not.toContain("p10"));
    await studio.annotate(a, 2, [choice("Hire")]);
    await server.service.inbox.settle();
    expect(server.service.inbox.counts(NAME).unknown).toBe(2);
    expect(JSON.stringify(await deadLetters(store, NAME))).not.toContain("p10");
    await server.stop();
  });

  test("what was stored before a crash is worked off after the next start", async () => {
    await begin();
    const stuck: CampaignStore = { ...store, transact: () => new Promise(() => {}) };
    const first = await startServer(stuck);
    studio.sendWebhooksTo(`${first.base}/webhook`);
    const tasks = await studio.addTasks([{ fairbed_id: "p10" }, { fairbed_id: "p11" }]);
    await studio.annotate(tasks[0], 1, [choice("yes")]);
    await studio.annotate(tasks[1], 2, [choice("no")]);
    // What is about tasks alone is worked off.
    await eventually(async () => expect(await first.service.inbox.waiting(NAME)).toBe(2));
    // Its work never ends, as if it had been killed.
    studio.sendWebhooksTo(undefined);
    const second = await startServer();
    await second.service.start();
    await second.service.inbox.settle();
    expect(opinions(await second.campaigns.get(NAME))).toEqual(["p10 1 yes", "p11 2 no"]);
    expect(await second.service.inbox.waiting(NAME)).toBe(0);
    await second.stop();
  });

  test("are answered within a second while the store is slow, and none is lost", async () => {
    await begin();
    const slowly = async <Result>(milliseconds: number, action: () => Promise<Result>): Promise<Result> => {
      await new Promise((resolve) => setTimeout(resolve, milliseconds));
      return action();
    };
    let documentsMs = 0;
    const slow: CampaignStore = {
      ...store,
      transact: (...given) => slowly(1500, () => store.transact(...given)),
      putDocument: (...given) => slowly(documentsMs, () => store.putDocument(...given)),
    };
    const server = await startServer(slow);
    studio.sendWebhooksTo(`${server.base}/webhook`);
    const tasks = await studio.addTasks([{ fairbed_id: "p10" }, { fairbed_id: "p11" }]);
    await studio.annotate(tasks[0], 1, [choice("yes")]);
    documentsMs = 1300;
    await studio.annotate(tasks[1], 1, [choice("no")]);
    documentsMs = 0;
    expect(studio.webhooks.map(({ status }) => status)).toEqual([201, 201, 202]);
    await eventually(async () =>
      expect(opinions(await server.campaigns.get(NAME))).toEqual(["p10 1 yes", "p11 1 no"]),
    );
    await server.stop();
  });
});

describe("the client", () => {
  test("imports once, whatever goes wrong in between", async () => {
    const tasks = Array.from({ length: 230 }, (_, i) => ({ skill: i, fairbed_id: `p${i}` }));
    const path = `/api/projects/${studio.project}/import`;
    studio.faults.push(
      { path, what: "broken" },
      { path, what: 503 },
      { path, what: 429, headers: { "retry-after": "3" } },
    );
    const pauses: number[] = [];
    const pause = async (milliseconds: number) => {
      pauses.push(milliseconds);
    };
    expect(await client({}, { pause }).importTasks(tasks)).toBe(230);
    expect([...studio.tasks.values()].map(({ data }) => data)).toEqual(tasks);
    expect(pauses).toEqual([500, 500, 3000]);
    expect(await client().importTasks(tasks)).toBe(0);
    expect(studio.tasks.size).toBe(230);
  });

  test("pages through all tasks and sends what the interface expects", async () => {
    const ids = await studio.addTasks(Array.from({ length: 25 }, (_, i) => ({ fairbed_id: `p${i}` })));
    expect((await client({}, { pageSize: 10 }).tasks()).map(({ id }) => Number(id))).toEqual(ids);
    expect((await client({}, { pageSize: 25 }).tasks()).map(({ id }) => Number(id))).toEqual(ids);
    expect(studio.requests[0]).toEqual({
      method: "GET",
      path: `/api/tasks/?project=${studio.project}&page=1&page_size=10&fields=all`,
      authorization: `Token ${LEGACY_TOKEN}`,
      body: "",
    });
    studio.requests.length = 0;
    await client().importTasks([{ skill: 3, city: null, fairbed_id: "q1" }]);
    expect(studio.requests.at(-1)).toEqual({
      method: "POST",
      path: `/api/projects/${studio.project}/import`,
      authorization: `Token ${LEGACY_TOKEN}`,
      body: '[{"data":{"skill":3,"city":null,"fairbed_id":"q1"}}]',
    });
  });

  test("exchanges a personal token, and again once its access has ended", async () => {
    const own = client({ token: PERSONAL_TOKEN });
    await own.tasks();
    studio.expireAccess();
    await own.tasks();
    expect(studio.requests.filter(({ path }) => path === "/api/token/refresh")).toHaveLength(2);
  });

  test("gives up with words that say nothing of the token", async () => {
    const wrong = client({ token: "wrong-secret" });
    await expect(wrong.tasks()).rejects.toThrow(clientTexts.refused(401));
    studio.faults.push(...Array.from({ length: 3 }, () => ({ path: "/api", what: 500 })));
    const failure = client({}, { tries: 3 }).tasks();
    await expect(failure).rejects.toThrow(clientTexts.away("status 500"));
    studio.faults.push(...Array.from({ length: 2 }, () => ({ path: "/api", what: { late: 400 } })));
    const late = client({}, { tries: 2, timeoutMs: 50 }).tasks();
    await expect(late).rejects.toThrow(clientTexts.away("no answer in time"));
    await studio.close();
    const down: unknown = await client({}, { tries: 1 })
      .tasks()
      .catch((error: unknown) => error);
    expect(String(down)).toMatch(/Label Studio does not answer \((ECONNREFUSED|UND_ERR_SOCKET)\)/);
    expect(String(down)).not.toContain(LEGACY_TOKEN);
  });

  test("takes addresses of the web alone", async () => {
    await begin();
    const set = (url: string) => storeConnection(store, NAME, connection({ url }));
    await expect(set("file:///etc/passwd")).rejects.toThrow(webAddressTexts.notWeb);
    await expect(set("label.example")).rejects.toThrow(webAddressTexts.notWeb);
    await expect(set("http://user:secret@label.example")).rejects.toThrow(webAddressTexts.secret);
    expect((await set("https://label.example/")).url).toBe("https://label.example");
  });
});

describe("reconciliation", () => {
  test("tells what is missing, corrects, takes back, and then finds nothing to do", async () => {
    const campaign = await begin();
    const tasks = await studio.addTasks(
      ["p10", "p11", "p12", "p13", "gone"].map((fairbed_id) => ({ fairbed_id })),
    );
    const changed = await studio.annotate(tasks[0], 1, [choice("yes")]);
    const deleted = await studio.annotate(tasks[1], 1, [choice("yes")]);
    await studio.annotate(tasks[2], 1, "skip");
    await studio.annotate(tasks[4], 1, [choice("yes")]);
    const own = client({}, { pageSize: 2 });
    expect(await reconcile(campaign, own)).toMatchObject({ tasks: 5, told: 2, skipped: 1, unknown: 1 });
    await studio.update(changed, [choice("no")]);
    await studio.deleteAnnotation(deleted);
    const broken = await studio.annotate(tasks[3], 2, [choice("yes", "another")]);
    expect(await reconcile(campaign, own)).toMatchObject({ corrected: 1, retracted: 1, notUnderstood: 1 });
    expect(opinions(campaign)).toEqual(["p10 1 no"]);
    const { head } = campaign;
    expect(await reconcile(campaign, own)).toMatchObject({
      told: 0,
      corrected: 0,
      retracted: 0,
      skipped: 0,
      notUnderstood: 1,
    });
    expect(campaign.head).toEqual(head);
    expect(await deadLetters(store, NAME)).toHaveLength(1);
    await studio.update(broken, [choice("yes")]);
    await reconcile(campaign, own);
    expect(opinions(campaign)).toEqual(expected().filter((text) => !text.startsWith("gone ")));
  });

  test("an annotator's older annotation counts again once the newer one is deleted", async () => {
    const campaign = await begin();
    const [task] = await studio.addTasks([{ fairbed_id: "p10" }]);
    await studio.annotate(task, 1, [choice("yes")]);
    await reconcile(campaign, client());
    const newer = await studio.annotate(task, 1, [choice("no")]);
    await reconcile(campaign, client());
    expect(opinions(campaign)).toEqual(["p10 1 no"]);
    await studio.deleteAnnotation(newer);
    await reconcile(campaign, client());
    expect(opinions(campaign)).toEqual(["p10 1 yes"]);
    expect(await reconcile(campaign, client())).toMatchObject({ told: 0, retracted: 0 });
  });

  test("what is missing from a shifted page is not taken back", async () => {
    const campaign = await begin();
    const tasks = await studio.addTasks(["p10", "p11", "p12"].map((fairbed_id) => ({ fairbed_id })));
    for (const task of tasks) await studio.annotate(task, 1, [choice("yes")]);
    await reconcile(campaign, client());
    const own = client();
    const shifted = { ...own, tasks: async () => (await own.tasks()).slice(0, 2) };
    expect(await reconcile(campaign, shifted)).toMatchObject({ retracted: 0 });
    expect(opinions(campaign)).toHaveLength(3);
  });
});

describe("a project that is kept stocked", () => {
  test("has as many open tasks as wanted, in the campaign's order, without a sensitive column", async () => {
    const campaign = await begin();
    await campaign.settle();
    expect(await syncOnce(campaign, client(), 5)).toMatchObject({ open: 0, imported: 5 });
    const asked = (await store.read(NAME, 0)).filter(({ kind }) => kind === "asked");
    const content = campaign.now.content;
    if (content.kind !== "pool") throw new Error("no pool");
    expect([...studio.tasks.keys()].map(itemIn)).toEqual(
      asked.map(({ subject }) => content.idOf(Number(subject))),
    );
    for (const { data } of studio.tasks.values()) {
      expect(Object.keys(data).sort()).toEqual(["city", "fairbed_id", "skill"]);
    }
    expect(await syncOnce(campaign, client(), 5)).toMatchObject({ open: 5, imported: 0 });
    const [first] = studio.tasks.keys();
    await studio.annotate(first, 7, [choice("yes")]);
    expect(await syncOnce(campaign, client(), 5)).toMatchObject({ told: 1, open: 4, imported: 1 });
    expect(studio.open()).toHaveLength(5);
    expect(campaign.status().counts).toMatchObject({ labelled: 1, unasked: 0, pending: 5 });
  });

  test("gets what was asked for before a crash, and asks for nothing else in its place", async () => {
    const campaign = await begin();
    const path = `/api/projects/${studio.project}/import`;
    studio.faults.push({ path, what: 500 });
    await expect(syncOnce(campaign, client({}, { tries: 1 }), 4)).rejects.toThrow(
      clientTexts.away("status 500"),
    );
    expect(studio.tasks.size).toBe(0);
    const again = await Campaign.open(store, NAME);
    expect(await syncOnce(again, client(), 4)).toMatchObject({ imported: 4 });
    expect(again.status().counts.pending).toBe(4);
    expect((await store.read(NAME, 0)).filter(({ kind }) => kind === "asked")).toHaveLength(4);
  });

  test("is answered by several where several opinions are wanted", async () => {
    await studio.close();
    studio = await startLabelStudio({ overlap: 2 });
    const campaign = await begin({ opinions: 2 });
    expect(await syncOnce(campaign, client(), 4)).toMatchObject({ imported: 4 });
    const [first, second] = studio.tasks.keys();
    await studio.annotate(first, 1, [choice("yes")]);
    await studio.annotate(first, 2, [choice("no")]);
    await studio.annotate(second, 1, [choice("yes")]);
    expect(await syncOnce(campaign, client(), 4)).toMatchObject({ told: 3, open: 3, imported: 1 });
    expect(opinions(campaign)).toEqual(expected());
    expect(campaign.status().counts).toMatchObject({ disputed: 1, annotators: 2 });
    expect(new Set([...studio.tasks.values()].map(({ data }) => data.fairbed_id)).size).toBe(
      studio.tasks.size,
    );
  });

  test("end to end: lost, repeated, late and while the server is down, every annotation counts once", async () => {
    const notify = new Set<string>();
    await begin({ opinions: 1 });
    let server = await startServer();
    await server.service.connect(NAME, connection({ batch: 8, intervalSeconds: 3600 }));
    await eventually(() => expect(studio.tasks.size).toBe(8));
    studio.sendWebhooksTo(`${server.base}/webhook`);
    const sendings = ["sent", "lost", "twice", "held"] as const;
    let turn = 0;
    const made: number[] = [];
    for (let round = 0; round < 5; round++) {
      const isDown = round === 2;
      if (isDown) await server.stop();
      for (const { id } of studio.open()) {
        const sending = sendings[turn % 4];
        turn += 1;
        made.push(await studio.annotate(id, 1 + (turn % 3), [choice(answerOf(itemIn(id)))], sending));
        notify.add(sending);
      }
      // Some change their minds, some pass on, some delete.
      await studio.update(made[made.length - 1], [choice("yes")], sendings[(turn + 1) % 4]);
      await studio.update(made[made.length - 2], "skip", sendings[(turn + 2) % 4]);
      await studio.deleteAnnotation(made[made.length - 3], sendings[(turn + 3) % 4]);
      if (isDown) {
        await studio.release();
        server = await startServer();
        studio.sendWebhooksTo(`${server.base}/webhook`);
        await server.service.start();
      }
      await studio.release();
      await server.service.inbox.settle();
      const campaign = await server.campaigns.get(NAME);
      await syncOnce(campaign, client({}, { pageSize: 7 }), 8);
      await server.service.inbox.settle();
      expect(opinions(campaign)).toEqual(expected());
    }
    expect(notify.size).toBe(4);
    const campaign = await server.campaigns.get(NAME);
    expect(opinions(campaign).length).toBeGreaterThan(20);
    // Webhooks that come once more after all that change nothing.
    const { head } = campaign;
    expect(await reconcile(campaign, client())).toMatchObject({
      told: 0,
      corrected: 0,
      retracted: 0,
      skipped: 0,
    });
    expect(campaign.head.seq).toBe(head.seq);
    const ids = [...studio.tasks.values()].map(({ data }) => data.fairbed_id);
    expect(new Set(ids).size).toBe(ids.length);
    await server.stop();

    const sent = JSON.stringify(studio.requests);
    expect(sent).not.toContain(MARKER);
    expect(sent).not.toMatch(/"sex\W/);
    expect(sent).toContain("skill");
    expect(await deadLetters(store, NAME)).toEqual([]);
    const verification = await verifyCampaign(store, NAME);
    expect(verification.fault).toBeNull();
    const replay = await replayCampaign(store, NAME);
    expect(replay.differing).toEqual([]);
    expect(replay.agreeing).toBe(replay.decisions);
  });

  test("the loop goes on after trouble and ends with its signal", async () => {
    const campaign = await begin();
    studio.faults.push({ path: "/api", what: 400 });
    const ending = new AbortController();
    const troubles: string[] = [];
    const rounds: number[] = [];
    await labelStudioSync({
      campaign,
      client: client(),
      batch: 3,
      intervalSeconds: 5,
      signal: ending.signal,
      pause: noPause,
      onTrouble: (error) => troubles.push(String(error)),
      onRound: ({ imported }) => {
        rounds.push(imported);
        if (rounds.length === 2) ending.abort();
      },
    });
    expect(troubles).toHaveLength(1);
    expect(rounds).toEqual([3, 0]);
  });
});
