// node bench/learners-accuracy.mjs [--seeds N] [--table NAME] [--labels N]: our forest against scikit-learn's, both with their
// defaults, on the same splits of three real tables. Needs dist/ (npm run build), the data (FAIRBED_DATA) and a
// Python with scikit-learn. Prints a Markdown table; bench/learners-accuracy.md is one run of it.
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { seededStream } from "../dist/core/random.js";
import { forest } from "../dist/learners/forest.js";
import { tables } from "./learners-data.mjs";

const { values: options } = parseArgs({
  options: {
    seeds: { type: "string", default: "20" },
    table: { type: "string" },
    labels: { type: "string" },
  },
});
const seeds = Number(options.seeds);
const SIZES = options.labels === undefined ? [50, 100, 400] : [Number(options.labels)];
const TEST_ROWS = 1500;
const MEASURES = ["accuracy", "predictive entropy", "BALD"];

const entropyTerm = (p) => (p > 0 ? -p * Math.log(p) : 0);

/** [accuracy, mean entropy of the mean prediction, mean BALD] on the split's test rows. */
function measure({ features, labels }, { train, test, seed }) {
  const rows = Int32Array.from(train);
  const asked = Int32Array.from(test);
  const fitted = forest().fit(
    { features, rows, labels: rows.map((row) => labels[row]), classes: 2 },
    seededStream(seed).split("forest"),
  );
  if (!fitted.pure) return softMeasure(fitted, features, asked, labels);
  // Members that are all sure have no entropy of their own.
  return summary(fitted.predict(features, asked), asked, labels, () => 0);
}

function softMeasure(fitted, features, asked, labels) {
  const { values, members } = fitted.predictMembers(features, asked);
  const own = (i) => {
    let sum = 0;
    for (let k = 0; k < 2 * members; k++) sum += entropyTerm(values[2 * i * members + k]);
    return sum / members;
  };
  return summary(fitted.predict(features, asked), asked, labels, own);
}

function summary(p, asked, labels, memberEntropy) {
  let [right, entropy, bald] = [0, 0, 0];
  asked.forEach((row, i) => {
    right += (p[2 * i + 1] > p[2 * i] ? 1 : 0) === labels[row] ? 1 : 0; // ties go to class 0, as argmax has it
    const total = entropyTerm(p[2 * i]) + entropyTerm(p[2 * i + 1]);
    entropy += total;
    bald += total - memberEntropy(i);
  });
  return [right, entropy, bald].map((sum) => sum / asked.length);
}

/** Training and test rows that do not meet, the same for both sides. */
function makeSplits({ features, labels }) {
  return SIZES.flatMap((size) =>
    Array.from({ length: seeds }, (_, seed) => {
      const order = seededStream(seed).split(`rows ${size}`).permutation(features.rows);
      const train = Array.from(order.slice(0, size));
      if (new Set(train.map((row) => labels[row])).size < 2) throw new Error("a split has one class only");
      return { size, seed, train, test: Array.from(order.slice(size, size + TEST_ROWS)) };
    }),
  );
}

function theirs({ features, labels }, splits) {
  const folder = mkdtempSync(join(tmpdir(), "fairbed-learners-"));
  try {
    writeFileSync(
      join(folder, "table.json"),
      JSON.stringify({ rows: features.rows, columns: features.columns }),
    );
    writeFileSync(join(folder, "values.f32"), features.values);
    writeFileSync(join(folder, "labels.i32"), labels);
    writeFileSync(join(folder, "splits.json"), JSON.stringify(splits));
    const script = fileURLToPath(new URL("./peers/learners_accuracy.py", import.meta.url));
    const python = process.env.FAIRBED_PYTHON ?? "/usr/bin/python3";
    const { status, stdout, stderr } = spawnSync(python, ["-B", script, folder], {
      encoding: "utf8",
      maxBuffer: 2 ** 28,
    });
    if (status !== 0) throw new Error(stderr);
    return JSON.parse(stdout);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** Mean and standard error. */
function estimate(values) {
  const mean = values.reduce((sum, x) => sum + x, 0) / values.length;
  const squares = values.reduce((sum, x) => sum + (x - mean) ** 2, 0);
  return { mean, error: Math.sqrt(squares / (values.length - 1) / values.length) };
}

const shown = ({ mean, error }) => `${mean.toFixed(4)} ± ${error.toFixed(4)}`;

console.log(`| table | labels | measure | ours | scikit-learn | difference, paired |
| --- | --- | --- | --- | --- | --- |`);
for (const [name, load] of Object.entries(tables)) {
  if (options.table !== undefined && options.table !== name) continue;
  const table = load();
  const splits = makeSplits(table);
  const peer = theirs(table, splits);
  const own = splits.map((split) => measure(table, split));
  for (const size of SIZES) {
    const picked = splits.flatMap((split, i) => (split.size === size ? [i] : []));
    MEASURES.forEach((measureName, m) => {
      const cells = [
        picked.map((i) => own[i][m]),
        picked.map((i) => peer[i][m]),
        picked.map((i) => own[i][m] - peer[i][m]),
      ];
      console.log(
        `| ${name}, ${table.features.columns} columns | ${size} | ${measureName} | ${cells.map((each) => shown(estimate(each))).join(" | ")} |`,
      );
    });
  }
}
