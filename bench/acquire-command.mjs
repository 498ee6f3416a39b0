// node bench/acquire-command.mjs [--labels N] [--rounds N]: `fairbed acquire --task students` against scikit-learn, each as
// a process from its start to its end, in turn. The data is in the folder that FAIRBED_DATA names, or in ../shared/data.
import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { availableParallelism } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";

const root = fileURLToPath(new URL("../", import.meta.url));
const { values } = parseArgs({
  options: { labels: { type: "string", default: "100" }, rounds: { type: "string", default: "3" } },
});
const data = process.env.FAIRBED_DATA ?? join(root, "../shared/data");
const file = join(data, "students-dropout/data.csv");
const python = process.env.FAIRBED_PYTHON ?? "/usr/bin/python3";
if (!existsSync(file)) throw new Error(`there is no ${file}: get it with fairbed data get students`);

const sides = {
  fairbed: [
    process.execPath,
    ["bin/fairbed", "acquire", "--task", "students", "--budget", values.labels, "--quiet", "--json"],
    (out) => JSON.parse(out).methods[0].final.accuracy.mean,
  ],
  "scikit-learn": [
    python,
    ["bench/peers/acquire_command.py", file, values.labels, String(availableParallelism())],
    Number,
  ],
};
const best = {};
const accuracies = {};
for (let round = 0; round < Number(values.rounds); round++) {
  for (const [name, [program, words, accuracyOf]] of Object.entries(sides)) {
    const started = performance.now();
    const { status, stdout, stderr } = spawnSync(program, words, {
      cwd: root,
      encoding: "utf8",
      maxBuffer: 2 ** 28,
      env: { ...process.env, FAIRBED_DATA: data, OMP_WAIT_POLICY: process.env.OMP_WAIT_POLICY ?? "passive" },
    });
    if (status !== 0) throw new Error(`${name} failed: ${stderr.split("\n").at(-2)}`);
    accuracies[name] = accuracyOf(stdout);
    best[name] = Math.min(best[name] ?? Infinity, performance.now() - started);
  }
}
const said = Object.entries(best).map(
  ([name, ms]) => `${name} ${(ms / 1000).toFixed(2)} s (accuracy ${accuracies[name].toFixed(3)})`,
);
const ratio = best["scikit-learn"] / best.fairbed;
process.stdout.write(`${values.labels} labels: ${said.join(", ")}, ratio ${ratio.toFixed(1)}\n`);
