// Table 1 of the paper (location finding, T = 10, beta = 0.8) by its protocol, one line of JSON for every method and
// seed, appended to a file; what the file has already is not run again. Without --seeds it only prints the table.
//
//     npm run -s build && node scripts/table-location.mjs results.jsonl --seeds 0,1,2,3,4,5,6,7 [--steps 10000] [--threads 1]
import { appendFileSync, existsSync, readFileSync } from "node:fs";
import { parseArgs } from "node:util";

const { values: options, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    seeds: { type: "string", default: "" },
    methods: { type: "string", default: "" },
    steps: { type: "string", default: "10000" },
    threads: { type: "string", default: "1" },
    library: { type: "string", default: new URL("../dist/index.js", import.meta.url).href },
  },
});
const [file] = positionals;
if (file === undefined) {
  process.stderr.write("usage: node scripts/table-location.mjs RESULTS.jsonl --seeds 0,1,...\n");
  process.exit(2);
}
const {
  INFORMATION,
  Nested,
  Workspace,
  locationFinding,
  randomPolicy,
  randomStream,
  simulate,
  staticPolicy,
  trainDad,
  trainStatic,
} = await import(options.library);

const HORIZON = 10;
const steps = Number(options.steps);
const threads = Number(options.threads);
const model = locationFinding();
// The paper's static solution lies uphill of designs near the origin, at a rate that lets them travel.
const nearOrigin = { start: { mean: 0, sd: 0.1 }, rate: 2e-3, decay: false, starts: 1 };

/** The paper's ratios EIG_phi / EIG_theta and EIG_{phi|theta} / EIG_theta with their standard errors. */
const METHODS = {
  random: { paper: [1.009, 0.034, 1.402, 0.044], train: async () => randomPolicy(model, HORIZON) },
  "bed-static": {
    paper: [0.981, 0.007, 1.05, 0.007],
    train: async (seed) => fixed(await trainStatic(model, { ...nearOrigin, beta: 0, steps, seed, threads })),
  },
  "bed-dad": {
    paper: [0.898, 0.007, 0.96, 0.007],
    train: (seed) => trainDad(model, { beta: 0, steps, seed, threads }),
  },
  "fairbed-static": {
    paper: [0.077, 0.004, 0.29, 0.009],
    train: async (seed) =>
      fixed(await trainStatic(model, { ...nearOrigin, beta: 0.8, steps, seed, threads })),
  },
  "fairbed-dad": {
    paper: [0.378, 0.007, 0.507, 0.009],
    train: (seed) => trainDad(model, { beta: 0.8, steps, seed, threads }),
  },
};
const fixed = ({ designs }) => staticPolicy(designs, model.design.length);

/**
 * Lower and upper bounds of every information, with the paper's 100,000 inner samples. A hundred experiments leave an
 * error of a tenth in the ratios, far above what the paper states, so there are twenty times as many.
 */
const BATCHES = 20;
const evaluate = async (policy, seed) => {
  const stream = randomStream(seed).split("evaluation");
  const workspace = new Workspace({ threads });
  const sizes = { outer: 100, contrastive: 100_000, marginal: 100_000 };
  const given = ["none", "target", "sensitive", "both"];
  const common = { model, workspace, horizon: HORIZON, designs: "perOuter", gradients: false };
  const nested = new Nested({ ...common, ...sizes, given });
  const bounds = Object.fromEntries(Object.keys(INFORMATION).map((name) => [name, [0, 0]]));
  for (let batch = 0; batch < BATCHES; batch++) {
    const own = stream.split(batch);
    const data = await simulate(model, policy, { outer: sizes.outer, stream: own.split("data"), workspace });
    nested.setData(data.parameters, data.designs, data.outcomes);
    nested.drawInner(own.split("inner"), data.parameters);
    const estimate = nested.evaluate();
    for (const [name, quantity] of Object.entries(INFORMATION)) {
      for (const [side, bound] of ["lower", "upper"].entries()) {
        const values = nested.combine(estimate, quantity, bound);
        bounds[name][side] += values.reduce((sum, value) => sum + value, 0) / values.length / BATCHES;
      }
    }
  }
  nested.dispose();
  workspace.dispose();
  return bounds;
};

const rows = () =>
  existsSync(file)
    ? readFileSync(file, "utf8")
        .split("\n")
        .filter((line) => line !== "")
        .map((line) => JSON.parse(line))
    : [];

const wanted = options.methods === "" ? Object.keys(METHODS) : options.methods.split(",");
for (const seed of options.seeds
  .split(",")
  .filter((text) => text !== "")
  .map(Number)) {
  for (const method of wanted) {
    if (rows().some((row) => row.method === method && row.seed === seed && row.steps === steps)) continue;
    const started = performance.now();
    const policy = await METHODS[method].train(seed);
    const trained = (performance.now() - started) / 1000;
    const row = {
      method,
      seed,
      steps,
      seconds: trained,
      ...(await evaluate(policy, seed)),
      designs: policy.designs && [...policy.designs],
    };
    appendFileSync(file, `${JSON.stringify(row)}\n`);
    process.stderr.write(`${method}, seed ${seed}: trained in ${trained.toFixed(0)} s\n`);
  }
}

const summary = (values) => {
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
  const variance =
    values.reduce((sum, value) => sum + (value - mean) ** 2, 0) / Math.max(1, values.length - 1);
  return { mean, error: Math.sqrt(variance / values.length) };
};
const cell = ({ mean, error }, paper, paperError) => {
  const apart = Math.abs(mean - paper) / Math.hypot(error, paperError);
  return `${mean.toFixed(3)} ± ${error.toFixed(3)} (paper ${paper} ± ${paperError}, ${apart.toFixed(1)} se)`.padEnd(
    52,
  );
};
for (const [method, { paper }] of Object.entries(METHODS)) {
  const mine = rows().filter((row) => row.method === method && row.steps === steps);
  if (mine.length === 0) continue;
  const ratio = (name) => summary(mine.map((row) => row[name][0] / row.target[0]));
  const objective = summary(mine.map((row) => row.target[0] - 0.8 * row.sensitiveGivenTarget[1]));
  process.stdout.write(
    `${method.padEnd(15)} ${cell(ratio("sensitive"), paper[0], paper[1])} ${cell(ratio("sensitiveGivenTarget"), paper[2], paper[3])} R_c ${objective.mean.toFixed(3)}, ${mine.length} seeds\n`,
  );
}
