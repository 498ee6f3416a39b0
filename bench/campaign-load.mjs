// Two hundred annotators on a pool of 100,000: how long an ask and a tell take over HTTP, and whether anything is lost.
//
//     npm run -s build && node bench/campaign-load.mjs [--annotators 200 --pool 100000 --seconds 60 --think 1000]
//         [--store postgres://...] [--replay] [--json] [--profile FOLDER]
//
// The server is a process of its own with its models in a thread; the annotators are one process more. Each asks for one
// item, thinks for `--think` milliseconds on average, and tells. `--think 0` is as fast as answers come. Everything that
// was acknowledged is looked for in the log afterwards, and `--replay` computes every decision again.

import { fork } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import http from "node:http";
import os from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";

const NAME = "load";
const dist = (path) => import(`../dist/${path}`);

/** Looks random, costs nothing. */
const mixed = (i) => {
  let x = Math.imul(i + 1, 2654435761) >>> 0;
  x ^= x >>> 13;
  return (Math.imul(x, 1597334677) >>> 0) / 4294967296;
};
const labelOf = (row) => (mixed(row * 7 + 3) + 0.3 * mixed(row * 11) > 0.65 ? "yes" : "no");

const serve = async ({ store: address, pool }) => {
  const { tableOf } = await dist("index.js");
  const { Campaign } = await dist("campaign/index.js");
  const { openStore } = await dist("stores/open-store.js");
  const { startServer } = await dist("server/start-server.js");
  const { jsonLog } = await dist("server/log.js");
  const store = await openStore(address);
  const people = Array.from({ length: pool }, (_, i) => ({
    id: `p${i}`,
    age: 20 + Math.floor(mixed(i) * 50),
    score: mixed(i * 7 + 3),
    merit: mixed(i * 11),
    education: ["none", "school", "college", "doctorate"][i % 4],
    city: `city ${i % 13}`,
    hours: Math.floor(mixed(i * 3) * 60),
    sex: mixed(i * 5) < 0.4 ? "f" : "m",
    hired: i < 40 ? labelOf(i) : null,
  }));
  const campaign = await Campaign.create(store, NAME, {
    table: tableOf(people),
    acquisition: { id: "id", target: "hired=yes", sensitive: ["sex"] },
  });
  await campaign.close();
  const server = await startServer({
    store,
    port: 0,
    rate: { perSecond: 1e6, burst: 1e6 },
    log: jsonLog(() => {}),
  });
  process.on("message", async () => {
    await server.close();
    process.exit(0);
  });
  process.send({ url: server.url });
};

const quantile = (sorted, p) => sorted[Math.min(sorted.length - 1, Math.floor(p * sorted.length))];
const summary = (times) => {
  const sorted = times.sort((a, b) => a - b);
  const of = (p) => Number(quantile(sorted, p)?.toFixed(1));
  return { count: sorted.length, p50: of(0.5), p95: of(0.95), p99: of(0.99), max: of(1) };
};

const load = async (url, { annotators, seconds, think }) => {
  const agent = new http.Agent({ keepAlive: true, maxSockets: annotators });
  const { hostname, port } = new URL(url);
  const post = (path, body) =>
    new Promise((resolve, reject) => {
      const text = JSON.stringify(body);
      const headers = { "content-type": "application/json", "content-length": Buffer.byteLength(text) };
      const request = http.request({ agent, hostname, port, path, method: "POST", headers }, (response) => {
        let all = "";
        response.setEncoding("utf8");
        response.on("data", (part) => {
          all += part;
        });
        response.on("end", () => resolve({ status: response.statusCode, body: all }));
      });
      request.on("error", reject);
      request.end(text);
    });
  // The campaign is open and its first ranking there, as in one that runs.
  for (let ranked = false; !ranked; ) {
    const { body } = await post(`/api/v1/campaigns/${NAME}/questions`, { count: 1, annotator: "first" });
    ranked = JSON.parse(body).ranking !== null;
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
  const asks = [];
  const tells = [];
  const faults = [];
  const asked = [];
  const acknowledged = new Map();
  const reasons = {};
  const end = performance.now() + seconds * 1000;
  const wait = (mean) => new Promise((resolve) => setTimeout(resolve, mean * (0.5 + Math.random())));
  const annotate = async (k) => {
    const annotator = `annotator-${k}`;
    await wait(think);
    for (let i = 0; performance.now() < end; i++) {
      const started = performance.now();
      const ask = await post(`/api/v1/campaigns/${NAME}/questions`, { count: 1, annotator });
      asks.push(performance.now() - started);
      if (ask.status !== 200) {
        faults.push(`ask ${ask.status} ${ask.body.slice(0, 120)}`);
        continue;
      }
      for (const { id, reason } of JSON.parse(ask.body).questions) {
        asked.push(id);
        reasons[reason] = (reasons[reason] ?? 0) + 1;
        if (think > 0) await wait(think);
        const event = `${annotator}-${i}-${id}`;
        const at = performance.now();
        const answers = [{ id, label: labelOf(Number(id.slice(1))), annotator, event }];
        const told = await post(`/api/v1/campaigns/${NAME}/answers`, { answers });
        tells.push(performance.now() - at);
        if (told.status !== 200) faults.push(`tell ${told.status} ${told.body.slice(0, 120)}`);
        else acknowledged.set(event, id);
      }
    }
  };
  await Promise.all(Array.from({ length: annotators }, (_, k) => annotate(k)));
  agent.destroy();
  return { asks, tells, faults, asked, acknowledged, reasons };
};

const main = async () => {
  const { values } = parseArgs({
    options: {
      server: { type: "string" },
      annotators: { type: "string", default: "200" },
      pool: { type: "string", default: "100000" },
      seconds: { type: "string", default: "60" },
      think: { type: "string", default: "1000" },
      store: { type: "string" },
      replay: { type: "boolean", default: false },
      json: { type: "boolean", default: false },
      profile: { type: "string" },
    },
  });
  if (values.server !== undefined) return serve(JSON.parse(values.server));
  const number = (name) => Number(values[name]);
  const folder = mkdtempSync(join(os.tmpdir(), "fairbed-load-"));
  const store = values.store ?? `sqlite:${join(folder, "campaigns.db")}`;
  try {
    const pool = number("pool");
    const child = fork(fileURLToPath(import.meta.url), ["--server", JSON.stringify({ store, pool })], {
      execArgv: values.profile === undefined ? [] : ["--cpu-prof", `--cpu-prof-dir=${values.profile}`],
    });
    const { url } = await new Promise((resolve, reject) => {
      child.once("message", resolve);
      child.once("exit", () => reject(new Error("the server did not start")));
    });
    const settings = { annotators: number("annotators"), seconds: number("seconds"), think: number("think") };
    const { asks, tells, faults, asked, acknowledged, reasons } = await load(url, settings);
    const ended = new Promise((resolve) => child.once("exit", resolve));
    child.send("end");
    await ended;
    const { openStore } = await dist("stores/open-store.js");
    const { replayCampaign, verifyCampaign } = await dist("campaign/index.js");
    const opened = await openStore(store);
    const events = await opened.read(NAME, 0);
    const told = new Map(
      events.filter(({ kind }) => kind === "told").map(({ id, subject }) => [id, `p${subject}`]),
    );
    const lost = [...acknowledged].filter(([event, id]) => told.get(event) !== id).length;
    const report = {
      machine: `${os.cpus().length} x ${os.cpus()[0].model}`,
      node: process.version,
      store: store.split(":")[0],
      ...settings,
      pool,
      askMs: summary(asks),
      tellMs: summary(tells),
      reasons,
      acknowledged: acknowledged.size,
      lost,
      repeated: asked.length - new Set(asked).size,
      faults: [...new Set(faults)].slice(0, 5),
      intact: (await verifyCampaign(opened, NAME)).reason === null,
    };
    if (values.replay) {
      const { decisions, agreeing, rankings } = await replayCampaign(opened, NAME);
      report.replay = { decisions, agreeing, rankings };
    }
    await opened.close();
    const goals = {
      "p99 of ask under 250 ms": report.askMs.p99 < 250,
      "p99 of tell under 100 ms": report.tellMs.p99 < 100,
      "no item lost or repeated": lost === 0 && report.repeated === 0 && faults.length === 0,
    };
    process.stdout.write(`${JSON.stringify(values.json ? { ...report, goals } : report, null, 1)}\n`);
    if (!values.json)
      for (const [goal, met] of Object.entries(goals)) console.log(`${met ? "met" : "MISSED"}: ${goal}`);
    process.exitCode = Object.values(goals).every(Boolean) ? 0 : 1;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
};

await main();
