/** Commands of `design/`. */
import type { MeanEstimate } from "../../core/stats.js";
import type { DesignEvaluation, StaticDesign } from "../../design/static-design.js";
import { type Command, defineCommand } from "../command.js";
import { integer, real } from "../options.js";

const PRIOR_MEAN = [3, 3] as const;

const demo = defineCommand({
  name: "demo",
  group: "Design",
  summary: "find where to listen for a source while its phi stays hidden",
  examples: [
    { line: "demo", says: "a static design of ten places, in a few seconds" },
    { line: "demo --beta 0 --json", says: "the same without regard to leakage, for another program" },
  ],
  arguments: {},
  options: {
    beta: real("--beta <number>", "how much leakage about the sensitive coordinate costs", 0.8, { min: 0 }),
    horizon: integer("--horizon <number>", "how many places to listen at", 10, { min: 1 }),
    steps: integer("--steps <number>", "steps of the optimiser", 2000, { min: 1 }),
    seed: integer("--seed <number>", "where the random streams start", 0, { min: 0 }),
  },
  reportsProgress: true,
  async run({ options: { beta, horizon, steps, seed }, context }) {
    const { optimiseStaticDesign } = await import("../../design/static-design.js");
    const progress = context.progress("optimising", steps);
    const started = performance.now();
    let yielded = started;
    const result = await optimiseStaticDesign({
      beta,
      horizon,
      steps,
      seed,
      priorMean: PRIOR_MEAN,
      async onStep(step) {
        // Every tenth of a second: often enough for Ctrl-C and the bar, too rarely to cost anything.
        if (performance.now() - yielded < 100) return;
        progress.update(step);
        await context.checkpoint();
        yielded = performance.now();
      },
    });
    return { beta, horizon, steps, seed, ...result, seconds: (performance.now() - started) / 1000 };
  },
  print: (result) => report(result),
});

interface DemoResult extends StaticDesign {
  readonly beta: number;
  readonly steps: number;
  readonly seconds: number;
}

const report = ({ beta, designs, start, found, steps, seconds }: DemoResult): string =>
  [
    "A source hides at (theta, phi), each N(3, 1). Every reading is a noisy log-intensity that falls with distance.",
    `Wanted: ${designs.length} places to listen at that tell much about theta and little about phi (beta = ${beta}).`,
    "",
    "                                        at the start       found",
    row("information about theta, at least", start, found, "target"),
    row("leakage about phi given theta, at most", start, found, "leakage"),
    row("objective R_c, at least", start, found, "objective"),
    "",
    "Nats, mean and standard error over batches of fresh samples.",
    "",
    "The places (o), more than one at a spot (8), and the prior's mean (+); theta runs right, phi runs up:",
    ...plane(designs),
    "",
    `${steps} steps in ${seconds.toFixed(1)} s.`,
  ].join("\n");

const row = (label: string, start: DesignEvaluation, found: DesignEvaluation, name: keyof DesignEvaluation) =>
  `${label.padEnd(40)}${estimate(start[name])}    ${estimate(found[name])}`;

const estimate = ({ mean, standardError }: MeanEstimate): string =>
  `${mean.toFixed(3).padStart(6)} ± ${standardError.toFixed(3)}`;

const COLUMNS = 56;
const ROWS = 20;

/** The designs in the plane, as characters; every design is inside. */
const plane = (designs: readonly (readonly [number, number])[]): string[] => {
  const span = (axis: 0 | 1): readonly [number, number] => {
    const values = [...designs.map((design) => design[axis]), PRIOR_MEAN[axis] - 2, PRIOR_MEAN[axis] + 2];
    return [Math.floor(Math.min(...values)), Math.ceil(Math.max(...values))];
  };
  const [left, right] = span(0);
  const [bottom, top] = span(1);
  const grid = Array.from({ length: ROWS }, () => Array.from({ length: COLUMNS }, () => " "));
  const put = ([x, y]: readonly [number, number], mark: (before: string) => string) => {
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

export const commands: readonly Command[] = [demo];
