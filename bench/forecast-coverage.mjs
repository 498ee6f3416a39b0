/**
 * Whether forecasts keep their word: labels are acquired, a forecast is made for twice as many, as many again are acquired,
 * and what a model of them all is worth is measured on rows of the same population that were never in the pool. Counted:
 * how often the 95 % interval holds that; how far the forecast is off, against taking today's estimate; and whether the
 * advice to stop, and a requirement said to be out of reach, were right.
 *
 *     node bench/forecast-coverage.mjs [--repetitions 40] [--first 0] [--labels 80,200] [--only NAME] [--out bench/forecast-coverage.md]
 *
 * Needs `npm run build`; the real table needs the data (FAIRBED_DATA) and is left out without it. Takes some
 * minutes; not part of `npm run bench`, which times.
 */
import { writeFileSync } from "node:fs";
import { parseArgs } from "node:util";
import { tables } from "./learners-data.mjs";

const { values: options } = parseArgs({
  options: {
    repetitions: { type: "string", default: "40" },
    first: { type: "string", default: "0" },
    labels: { type: "string", default: "80,200" },
    only: { type: "string" },
    trees: { type: "string", default: "50" },
    out: { type: "string" },
    dist: { type: "string", default: new URL("../dist", import.meta.url).pathname },
  },
});
const load = (path) => import(`${options.dist}/${path}`);
const { fit } = await load("active/pool-models.js");
const { wilsonInterval } = await load("core/stats.js");
const { seededStream } = await load("core/random.js");
const { judgeGuesses } = await load("fairness/acquired-leakage.js");
const { parityRatios } = await load("fairness/group-metrics.js");
const { forest } = await load("learners/forest.js");
const { syntheticPool } = await load("tables/synthetic.js");
const { defineTask } = await load("tables/task.js");
const { fitEncoder } = await load("tables/encoder.js");
const { forecastAcquired } = await load("workflows/forecast.js");
const { createRowSession } = await load("workflows/row-session.js");
const { acquireFromTable } = await load("workflows/simulation.js");

const REPETITIONS = Number(options.repetitions);
const FIRST = Number(options.first);
const POOL = 2000;
const TEST = 4000;
const INITIAL = 10;
const REQUIREMENT = 0.8;

/** Rows of the pool that ships with the package, as arrays. */
const shipped = (settings) => (seed) => {
  const pool = syntheticPool({ rows: POOL + TEST, seed, ...settings });
  const task = defineTask(pool.table, pool.settings);
  return {
    features: fitEncoder(task).encode(pool.table),
    target: task.target.labels,
    sensitive: task.sensitive[0].labels,
    rows: Int32Array.from({ length: POOL + TEST }, (_, row) => row),
  };
};

const real = (name) => {
  let table;
  return (seed) => {
    table ??= tables[name]();
    const { features, labels, sensitive } = table;
    const rows = seededStream("rows")
      .split(seed)
      .choice(features.rows, POOL + TEST);
    return { features, target: labels, sensitive, rows: Int32Array.from(rows) };
  };
};

const POOLS = {
  "shipped pool, FairBED": { draw: shipped({}), method: "fairbed" },
  "shipped pool, at random": { draw: shipped({}), method: "random" },
  "without bias, EPIG": { draw: shipped({ bias: 0, noise: 6 }), method: "epig" },
  "adult, FairBED": { draw: real("adult"), method: "fairbed" },
};

const share = (hits, n) => {
  if (n === 0) return "–";
  const [low, high] = wilsonInterval(hits, n);
  return `${(hits / n).toFixed(3)} (${low.toFixed(3)} to ${high.toFixed(3)})`;
};

const MEASURES = ["accuracy", "dpRatio", "leakage", "leakageAuc"];

/** What models of these labels are worth on rows that were never in the pool. */
const truthOf = ({ features, target, sensitive }, labelled, test, learner, stream) => {
  const actual = test.map((row) => target[row]);
  const groups = test.map((row) => sensitive[row]);
  const predict = (labels, name) =>
    fit(learner, { features, labels, classes: 2, rows: labelled }, stream.split(name)).predict(
      features,
      test,
    );
  const said = predict(target, "target");
  const predicted = Int32Array.from(actual, (_, i) => Number(said[2 * i + 1] > said[2 * i]));
  const { accuracy, dpRatio } = parityRatios(predicted, actual, groups);
  const { nats, auc } = judgeGuesses(
    { probabilities: predict(sensitive, "sensitive"), groups, classes: 2 },
    { stream: stream.split("halves"), interval: false },
  );
  return { accuracy, dpRatio, leakage: nats, leakageAuc: auc };
};

const lines = [];
const decisions = [];
for (const [name, { draw, method }] of Object.entries(POOLS)) {
  if (options.only !== undefined && !name.includes(options.only)) continue;
  for (const labels of options.labels.split(",").map(Number)) {
    const counts = Object.fromEntries(
      MEASURES.map((each) => [
        each,
        { n: 0, covered: 0, below: 0, above: 0, width: 0, off: 0, today: 0, bias: 0, level: 0, truth: 0 },
      ]),
    );
    const said = { stop: 0, stopRight: 0, "out-of-reach": 0, met: 0, wrong: 0, gainCovered: 0, n: 0 };
    const started = performance.now();
    let forecasting = 0;
    for (let r = FIRST; r < FIRST + REPETITIONS; r++) {
      const stream = seededStream("forecast coverage").split(name).split(labels).split(r);
      let data;
      try {
        data = draw(r);
      } catch (error) {
        if (error.code !== "ENOENT") throw error;
        break;
      }
      const { features, target, sensitive, rows } = data;
      const [initial, pool, test] = [
        rows.slice(0, INITIAL),
        rows.slice(INITIAL, POOL).sort(),
        rows.slice(POOL),
      ];
      const learner = forest({ trees: Number(options.trees), threads: 1 });
      const known = new Set(initial);
      const session = createRowSession({
        features,
        target: { labels: target.map((label, row) => (known.has(row) ? label : -1)), classes: 2 },
        sensitive: [{ labels: sensitive, classes: 2 }],
        sensitiveModels: [
          { kind: "revealed", learner: forest({ trees: Number(options.trees), minLeaf: 10, threads: 1 }) },
        ],
        shares: { of: "population", known: new Int32Array(features.rows).fill(-1) },
        randomPart: 0.25,
        initial,
        pool,
        targets: pool,
        targetsPerStep: 50,
        method,
        goal: { beta: 10 },
        combine: "sum",
        correction: "none",
        sensitiveCorrection: "analytic",
        learner,
        stream: stream.split("session"),
      });
      const acquire = (budget) =>
        acquireFromTable(
          session,
          { labels: target, classes: 2 },
          { budget, batch: 10, onStep: async () => undefined },
        );
      const truthNow = () =>
        truthOf(data, session.labelled(), test, learner, stream.split("truth").split(session.asked.length));
      await acquire(labels);
      const before = performance.now();
      const forecast = await forecastAcquired({
        features,
        target: { labels: session.labels(), classes: 2 },
        sensitive: {
          labels: sensitive.map((group, row) => (session.labelOf(row) >= 0 ? group : -1)),
          classes: 2,
        },
        initial,
        asked: session.asked,
        isRefused: () => false,
        pool: pool.length,
        learner,
        budget: 2 * labels,
        at: [labels],
        requirement: { metric: "dp", level: REQUIREMENT },
        stream: stream.split("forecast"),
      });
      forecasting += performance.now() - before;
      const today = truthNow();
      await acquire(2 * labels);
      const truth = truthNow();
      for (const measure of MEASURES) {
        if (forecast[measure] === null || truth[measure] === undefined) continue;
        const [{ value, interval }] = forecast[measure].at;
        const own = counts[measure];
        own.n += 1;
        if (interval[0] > truth[measure] + 1e-12) own.above += 1;
        else if (interval[1] < truth[measure] - 1e-12) own.below += 1;
        else own.covered += 1;
        own.width += interval[1] - interval[0];
        own.off += Math.abs(value - truth[measure]);
        own.today += Math.abs(forecast.estimate[measure].value - truth[measure]);
        own.bias += value - truth[measure];
        own.truth += truth[measure];
        if (forecast[measure].shape === "level") own.level += 1;
      }
      const { advice, requirement } = forecast;
      const gained = truth.accuracy - today.accuracy;
      said.n += 1;
      // What is gained in truth may be below 0, which no law of learning is.
      if (Math.max(0, gained) <= advice.gain.interval[1] + 1e-12) said.gainCovered += 1;
      if (advice.action === "stop") {
        said.stop += 1;
        if (gained < advice.worthwhile) said.stopRight += 1;
      }
      if (requirement.verdict === "out-of-reach") {
        said["out-of-reach"] += 1;
        if (truth.dpRatio >= REQUIREMENT) said.wrong += 1;
      }
      if (requirement.verdict === "met") {
        said.met += 1;
        if (truth.dpRatio < REQUIREMENT) said.wrong += 1;
      }
    }
    if (said.n === 0) {
      console.error(`${name}: left out, no data`);
      break;
    }
    for (const measure of MEASURES) {
      const own = counts[measure];
      const mean = (value) => (value / own.n).toFixed(3);
      lines.push(
        `| ${name} | ${labels} | ${measure} | ${mean(own.truth)} | ${mean(own.bias)} | ${mean(own.off)} | ${mean(own.today)} | ${mean(own.width)} | ${own.level} of ${own.n} | ${share(own.covered, own.n)} | ${own.below} / ${own.above} |`,
      );
      console.log(lines.at(-1));
    }
    decisions.push(
      `| ${name} | ${labels} | ${share(said.gainCovered, said.n)} | ${said.stop} (${said.stopRight}) | ${said["out-of-reach"]} | ${said.met} | ${said.wrong} |`,
    );
    console.log(decisions.at(-1));
    const seconds = (ms) => (ms / 1000).toFixed(1);
    console.error(
      `${name}, ${labels}: ${seconds(performance.now() - started)} s, a forecast ${seconds(forecasting / said.n)} s`,
    );
  }
}
if (options.out !== undefined) {
  writeFileSync(
    options.out,
    [
      "# How often forecasts are right",
      "",
      `Written by \`node bench/forecast-coverage.mjs --repetitions ${REPETITIONS} --first ${FIRST}\`: ${REPETITIONS} campaigns each, on other tables (or`,
      "other rows of one). The method was chosen while looking at seeds below 100: those from 1000 on had no part in it.",
      `A pool of ${POOL - INITIAL} rows and ${INITIAL} initial labels; \`labels\` more are acquired in batches of 10, a quarter of them at random (all`,
      "of them with the method random), and a forecast is made for twice as many; then these are acquired, and a model of them all is",
      `judged on ${TEST} other rows: the truth. Forests of ${options.trees} trees. The 95 % interval should hold the truth in .95 of all campaigns;`,
      "misses are intervals wholly below / above it. The error is the mean distance from the truth: of the forecast, and of today's",
      "estimate taken as a forecast. `level` counts campaigns whose curve supported no power law. In brackets: 95 % intervals.",
      "",
      "| pool | labels | measure | mean truth | mean error, signed | mean error | error of today's | mean width | level | covered | misses |",
      "| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |",
      ...lines,
      "",
      `What was made of it, with a budget of twice the labels, a worthwhile gain of .005 and a required ratio of ${REQUIREMENT}: how often the upper`,
      "end of the gain's interval was above what was gained; how often the advice was to stop (and less than .005 was gained); how often",
      "the requirement was said to be out of reach or met, and how often one of these two was wrong.",
      "",
      "| pool | labels | gain below its upper end | stop (rightly) | out of reach | met | wrong |",
      "| --- | --- | --- | --- | --- | --- | --- |",
      ...decisions,
      "",
    ].join("\n"),
  );
}
