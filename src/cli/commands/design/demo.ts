/** The main job in a few seconds: where to listen for a source, so that one coordinate becomes known and one does not. */
import { defineCommand } from "../../command.js";
import { integer, real } from "../../options.js";

const PRIOR_MEAN = [3, 3] as const;

/** A mean with its standard error, in nats. */
interface Bound {
  readonly bound: number;
  readonly standardError: number;
}

interface Row {
  readonly label: string;
  readonly random: Bound;
  readonly found: Bound;
}

interface DemoResult {
  readonly beta: number;
  readonly designs: readonly (readonly number[])[];
  readonly rows: readonly Row[];
  readonly steps: number;
  readonly seconds: number;
}

export const demo = defineCommand({
  name: "design demo",
  group: "Design",
  summary: "find where to listen while phi stays hidden",
  examples: [
    { line: "design demo", description: "a static design of ten places, in a few seconds" },
    {
      line: "design demo --beta 0 --json",
      description: "the same without regard to leakage, for another program",
    },
  ],
  arguments: {},
  options: {
    beta: real("--beta <number>", "how much leakage about the sensitive coordinate costs", 0.8, { min: 0 }),
    horizon: integer("--horizon <number>", "how many places to listen at", 10, { min: 1 }),
    steps: integer("--steps <number>", "steps of the optimiser for the best of the starts", 1200, { min: 1 }),
    starts: integer("--starts <number>", "how many starts are tried", 4, { min: 1 }),
    seed: integer("--seed <number>", "where the random streams start", 0, { min: 0 }),
  },
  reportsProgress: true,
  async run({ options: { beta, horizon, steps, starts, seed }, context }): Promise<DemoResult> {
    const { estimatePolicy } = await import("../../../design/estimate.js");
    const { locationFinding } = await import("../../../design/models/location.js");
    const { randomPolicy, staticPolicy } = await import("../../../design/policy.js");
    const { trainStatic } = await import("../../../design/train-static.js");
    const { randomStream } = await import("../../../core/random.js");
    const started = performance.now();
    const model = locationFinding({ priorMean: PRIOR_MEAN });
    let progress: ReturnType<typeof context.progress> | undefined;
    let yielded = started;
    let taken = 0;
    const { designs } = await trainStatic(model, {
      beta,
      horizon,
      steps,
      starts,
      seed,
      async onProgress({ done, total }) {
        taken = done;
        progress ??= context.progress("optimising", total);
        // Every tenth of a second: often enough for Ctrl-C and the bar, too rarely to cost anything.
        if (performance.now() - yielded < 100) return;
        progress.update(done);
        await context.checkpoint();
        yielded = performance.now();
      },
    });
    const stream = randomStream(seed).split("demo");
    const estimate = (policy: Parameters<typeof estimatePolicy>[1], name: string) =>
      estimatePolicy(model, policy, {
        batches: 10,
        contrastive: 20_000,
        marginal: 4000,
        stream: stream.split(name),
      });
    const random = await estimate(randomPolicy(model, horizon), "random");
    await context.checkpoint();
    const found = await estimate(staticPolicy(designs, 2), "found");
    const row = (
      label: string,
      side: "lower" | "upper",
      pick: (of: typeof found) => typeof found.target,
    ): Row => ({
      label,
      random: { bound: pick(random)[side], standardError: pick(random).standardError },
      found: { bound: pick(found)[side], standardError: pick(found).standardError },
    });
    return {
      beta,
      designs: Array.from({ length: horizon }, (_, t) => [...designs.subarray(2 * t, 2 * t + 2)]),
      rows: [
        row("information about theta, at least", "lower", (of) => of.target),
        row("leakage about phi given theta, at most", "upper", (of) => of.sensitiveGivenTarget),
        row("objective R_c, at least", "lower", (of) => of.objective("conditional", beta)),
      ],
      steps: taken,
      seconds: (performance.now() - started) / 1000,
    };
  },
  print: ({ beta, designs, rows, steps, seconds }) =>
    [
      "A source hides at (theta, phi), each N(3, 1). Every reading is a noisy log-intensity that falls with distance.",
      `Wanted: ${designs.length} places to listen at that tell much about theta and little about phi (beta = ${beta}).`,
      "",
      `${"".padEnd(40)}${"random places".padStart(16)}${"found".padStart(18)}`,
      ...rows.map(({ label, random, found }) => `${label.padEnd(40)}${nats(random)}  ${nats(found)}`),
      "",
      "Nats, with standard errors.",
      "",
      "The places (o), more than one at a spot (8), and the prior's mean (+); theta runs right, phi runs up:",
      ...plane(designs),
      "",
      `${steps} steps in ${seconds.toFixed(1)} s.`,
    ].join("\n"),
});

const nats = ({ bound, standardError }: Bound): string =>
  `${bound.toFixed(3)} ± ${standardError.toFixed(3)}`.padStart(16);

const COLUMNS = 56;
const ROWS = 20;

/** The designs in the plane, as characters; every design is inside. */
const plane = (designs: readonly (readonly number[])[]): string[] => {
  const span = (axis: 0 | 1): readonly [number, number] => {
    const values = [...designs.map((design) => design[axis]), PRIOR_MEAN[axis] - 2, PRIOR_MEAN[axis] + 2];
    return [Math.floor(Math.min(...values)), Math.ceil(Math.max(...values))];
  };
  const [left, right] = span(0);
  const [bottom, top] = span(1);
  const grid = Array.from({ length: ROWS }, () => Array.from({ length: COLUMNS }, () => " "));
  const put = ([x, y]: readonly number[], mark: (before: string) => string) => {
    const column = Math.round(((x - left) / (right - left)) * (COLUMNS - 1));
    const line = Math.round(((top - y) / (top - bottom)) * (ROWS - 1));
    grid[line][column] = mark(grid[line][column]);
  };
  put(PRIOR_MEAN, () => "+");
  for (const design of designs) put(design, (before) => (before === "o" || before === "8" ? "8" : "o"));
  const lines = grid.map((cells, i) => {
    const label = i === 0 ? top : i === ROWS - 1 ? bottom : "";
    return `  ${String(label).padStart(4)} |${cells.join("")}|`;
  });
  const edge = `       +${"-".repeat(COLUMNS)}+`;
  return [edge, ...lines, edge, `        ${left}${String(right).padStart(COLUMNS - String(left).length)}`];
};
