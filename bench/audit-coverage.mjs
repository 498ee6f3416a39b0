/**
 * Whether the audit keeps its word: how often its interval covers the true leakage, how often its test rejects where
 * there is none. Tables are drawn from small pools whose leakage is
 * computed exactly by enumeration.
 *
 *     node bench/audit-coverage.mjs [--repetitions 200] [--first 0] [--rows 1000] [--only NAME] [--out bench/audit-coverage.md]
 *
 * Needs `npm run build`. Takes some minutes; not part of `npm run bench`, which times.
 */
import { writeFileSync } from "node:fs";
import { parseArgs } from "node:util";

const { values: options } = parseArgs({
  options: {
    repetitions: { type: "string", default: "200" },
    first: { type: "string", default: "0" },
    rows: { type: "string", default: "1000" },
    only: { type: "string" },
    out: { type: "string" },
    dist: { type: "string", default: new URL("../dist", import.meta.url).pathname },
  },
});
const load = (path) => import(`${options.dist}/${path}`);
const { auditLeakage, lookup } = await load("fairness/leakage.js");
const { wilsonInterval } = await load("core/stats.js");
const { seededStream } = await load("core/random.js");
const { boosting } = await load("learners/boosting.js");
const { syntheticPool } = await load("tables/synthetic.js");
const { defineTask } = await load("tables/task.js");
const { fitEncoder } = await load("tables/encoder.js");
const { forest } = await load("learners/forest.js");
const { logistic } = await load("learners/logistic.js");
const REPETITIONS = Number(options.repetitions);
const FIRST = Number(options.first);
const ROWS = Number(options.rows);

const sigmoid = (t) => 1 / (1 + Math.exp(-t));

/**
 * P(phi = 1), P(x_j = 1 | phi, x before) for binary features, and P(y = 1 | x, phi): every table of them has 2^(J + 2)
 * cells.
 */
const pool = (share, features, outcome) => {
  const columns = features.length;
  const cells = [];
  for (let phi = 0; phi < 2; phi++) {
    for (let bits = 0; bits < 2 ** columns; bits++) {
      const x = Array.from({ length: columns }, (_, j) => (bits >> j) & 1);
      let p = phi === 1 ? share : 1 - share;
      x.forEach((value, j) => {
        const one = features[j](phi, x);
        p *= value === 1 ? one : 1 - one;
      });
      const positive = outcome(phi, x);
      cells.push({ phi, x, y: 1, p: p * positive }, { phi, x, y: 0, p: p * (1 - positive) });
    }
  }
  const sumBy = (key) => {
    const sums = new Map();
    for (const cell of cells) sums.set(key(cell), (sums.get(key(cell)) ?? 0) + cell.p);
    return sums;
  };
  /** I(phi; x | z) of a part z of the cell. */
  const information = (z) => {
    const keys = {
      all: (c) => `${c.phi} ${c.x} ${z(c)}`,
      phi: (c) => `${c.phi} ${z(c)}`,
      x: (c) => `${c.x} ${z(c)}`,
      z: (c) => `${z(c)}`,
    };
    const sums = Object.fromEntries(Object.entries(keys).map(([name, key]) => [name, sumBy(key)]));
    let nats = 0;
    for (const cell of cells) {
      if (cell.p === 0) continue;
      const of = (name) => sums[name].get(keys[name](cell));
      nats += cell.p * Math.log((of("all") * of("z")) / (of("phi") * of("x")));
    }
    return nats;
  };
  return {
    unconditional: information(() => ""),
    conditional: information((c) => c.y),
    draw(rows, stream) {
      const values = new Float32Array(rows * columns);
      const sensitive = new Int32Array(rows);
      const target = new Int32Array(rows);
      const weights = Float64Array.from(cells, ({ p }) => p);
      for (let i = 0; i < rows; i++) {
        const { phi, x, y } = cells[stream.categorical(weights)];
        values.set(x, i * columns);
        sensitive[i] = phi;
        target[i] = y;
      }
      return { features: { values, rows, columns }, sensitive, target };
    },
  };
};

const half = () => 0.5;
const proxy = (strength) => (phi) => sigmoid(strength * (phi - 0.5));
const legitimate = (phi, x) => sigmoid(1.5 * x[3] + x[4] + 0.8 * phi - 1.5);
/** The pool that ships with the package. */
const shipped = (settings) => {
  const { leakage } = syntheticPool({ rows: 1, ...settings });
  return {
    unconditional: leakage.unconditional,
    conditional: leakage.conditional,
    draw(rows, stream) {
      const pool = syntheticPool({ rows, seed: stream.uint32(), ...settings });
      const task = defineTask(pool.table, pool.settings);
      return {
        features: fitEncoder(task).encode(pool.table),
        sensitive: task.sensitive[0].labels,
        target: task.target.labels,
      };
    },
  };
};

const POOLS = {
  "shipped pool": shipped({}),
  "shipped pool without leakage": shipped({ proxies: 0, bias: 0 }),
  "none: nothing is given away": pool(0.4, [half, half, half, half, half], (_, x) =>
    sigmoid(x[3] + x[4] - 1),
  ),
  "weak: two faint proxies": pool(0.4, [proxy(0.5), proxy(0.4), half, half, half], legitimate),
  "strong: three proxies": pool(0.4, [proxy(1.6), proxy(1.2), proxy(0.8), half, half], legitimate),
  "interaction: two columns together": pool(
    0.4,
    [half, (phi, x) => sigmoid(1.6 * (phi - 0.5) * (x[0] === 1 ? 1 : -1)), proxy(0.6), half, half],
    legitimate,
  ),
};

const share = (hits, n) => {
  const [low, high] = wilsonInterval(hits, n);
  return `${(hits / n).toFixed(3)} (${low.toFixed(3)} to ${high.toFixed(3)})`;
};

const lines = [];
for (const [name, drawn] of Object.entries(POOLS)) {
  if (
    options.only !== undefined &&
    !options.only.split(",").some((only) => name === only || name.startsWith(`${only}:`))
  )
    continue;
  const counts = {};
  const started = performance.now();
  for (let r = FIRST; r < FIRST + REPETITIONS; r++) {
    const stream = seededStream("audit coverage").split(name).split(r);
    const table = drawn.draw(ROWS, stream.split("table"));
    const { leakage } = await auditLeakage(
      { ...table, groupNames: ["a", "b"], targetNames: ["no", "yes"] },
      {
        stream: stream.split("audit"),
        adversaries: {
          logistic: logistic({ members: 30 }),
          forest: forest({ trees: 50, minLeaf: 10, threads: 1 }),
          boosting: boosting({ rounds: 50, rate: 0.1, maxDepth: 3 }),
          lookup: lookup(),
        },
        plants: 0,
        permutations: 199,
        replicates: 400,
        attribution: false,
      },
    );
    for (const kind of ["unconditional", "conditional"]) {
      const truth = drawn[kind];
      const { nats, interval, pValue, standardError } = leakage[kind];
      counts[kind] ??= { covered: 0, below: 0, above: 0, rejected: 0, sum: 0, squares: 0, error: 0 };
      const own = counts[kind];
      if (interval[0] > truth + 1e-12) own.above++;
      else if (interval[1] < truth - 1e-12) own.below++;
      else own.covered++;
      if (pValue < 0.05) own.rejected++;
      own.sum += nats;
      own.squares += nats * nats;
      own.error += standardError;
    }
  }
  for (const [kind, own] of Object.entries(counts)) {
    const mean = own.sum / REPETITIONS;
    const sd = Math.sqrt(Math.max(0, own.squares / REPETITIONS - mean * mean));
    lines.push(
      `| ${name} | ${kind} | ${Math.abs(drawn[kind]).toFixed(4)} | ${mean.toFixed(4)} | ${sd.toFixed(4)} | ${(own.error / REPETITIONS).toFixed(4)} | ${share(own.covered, REPETITIONS)} | ${own.below} / ${own.above} | ${share(own.rejected, REPETITIONS)} |`,
    );
    console.log(lines.at(-1));
  }
  console.error(`${name}: ${((performance.now() - started) / 1000).toFixed(1)} s`);
}
if (options.out !== undefined) {
  writeFileSync(
    options.out,
    [
      "# How often the audit is right",
      "",
      `${REPETITIONS} tables of ${ROWS} rows from each pool; written by \`node bench/audit-coverage.mjs\`. In brackets: 95 %`,
      "intervals of the shares. The interval should cover in .95 of all tables, and where the truth is 0 the test should",
      "reject in .05 of them; elsewhere the share rejected is its power. Misses are intervals wholly below / above the truth.",
      "Adversaries: logistic, forest of 50 trees, boosting and lookup, without the slower mlp and svm of the default; 199 shuffles,",
      "400 resamples. Where the truth is 0 the interval cannot miss below it, and covers more often than its level.",
      "",
      "| pool | leakage | truth | mean estimate | its spread | mean error | covered | misses | rejected at .05 |",
      "| --- | --- | --- | --- | --- | --- | --- | --- | --- |",
      ...lines,
      "",
    ].join("\n"),
  );
}
