/** The main job in a few seconds: where to listen for a source, so that one coordinate becomes known and one does not. */
import { type InformationUnit, unitOf } from "../../../core/information-unit.js";
import { fixed, withError } from "../../../core/number-text.js";
import type { InformationEstimate } from "../../../design/estimate.js";
import type { PolicyReport } from "../../../workflows/evaluate-policy.js";
import { QUICK_SEARCH } from "../../../workflows/policy-defaults.js";
import { bitsOption } from "../../bits-option.js";
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
  readonly unit: "nats";
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
    steps: integer(
      "--steps <number>",
      "steps of the optimiser for the best of the starts",
      QUICK_SEARCH.steps,
      { min: 1 },
    ),
    starts: integer("--starts <number>", "how many starts are tried", QUICK_SEARCH.starts, { min: 1 }),
    seed: integer("--seed <number>", "random seed", 0, { min: 0 }),
    bits: bitsOption,
  },
  reportsProgress: true,
  async run({ options: { beta, horizon, steps, starts, seed }, context }): Promise<DemoResult> {
    const { locationFinding } = await import("../../../design/models/location.js");
    const { evaluatePolicy } = await import("../../../workflows/evaluate-policy.js");
    const { trainPolicy } = await import("../../../workflows/train-policy.js");
    const { signal } = context;
    const started = performance.now();
    const model = locationFinding({ priorMean: PRIOR_MEAN });
    let bar: ReturnType<typeof context.progress> | undefined;
    const common = { beta, horizon, seed, evaluation: false, signal } as const;
    const found = await trainPolicy(model, {
      ...common,
      ...{ kind: "static", steps, starts },
      onProgress({ done, total }) {
        bar ??= context.progress("optimising", total);
        bar.update(done);
      },
    });
    const random = await trainPolicy(model, { ...common, kind: "random" });
    const evaluate = (policy: typeof found) =>
      evaluatePolicy(model, policy, { ...QUICK_SEARCH.evaluation, beta, seed, signal });
    const reports = { random: await evaluate(random), found: await evaluate(found) };
    const row = (
      label: string,
      side: "lower" | "upper",
      pick: (of: PolicyReport) => InformationEstimate,
    ): Row => {
      const bound = (of: PolicyReport) => ({ bound: pick(of)[side], standardError: pick(of).standardError });
      return { label, random: bound(reports.random), found: bound(reports.found) };
    };
    return {
      unit: "nats",
      beta,
      designs: found.kind === "static" ? found.designs : [],
      rows: [
        row("information about theta, at least", "lower", (of) => of.target),
        row("leakage about phi given theta, at most", "upper", (of) => of.sensitiveGivenTarget),
        row("objective R_c, at least", "lower", (of) => of.objectives.conditional),
      ],
      steps: Number(found.settings?.stepsTaken),
      seconds: (performance.now() - started) / 1000,
    };
  },
  print: ({ beta, designs, rows, steps, seconds }, { bits }) =>
    [
      "A source hides at (theta, phi), each N(3, 1). Every reading is a noisy log-intensity that falls with distance.",
      `Wanted: ${designs.length} places to listen at that tell much about theta and little about phi (beta = ${beta}).`,
      "",
      `${"".padEnd(40)}${"random places".padStart(16)}${"found".padStart(18)}`,
      ...rows.map(
        ({ label, random, found }) =>
          `${label.padEnd(40)}${shown(random, unitOf(bits))}  ${shown(found, unitOf(bits))}`,
      ),
      "",
      `${bits ? "Bits" : "Nats"}, with standard errors.`,
      "",
      "The places (o), more than one at a spot (8), and the prior's mean (+); theta runs right, phi runs up:",
      ...plane(designs),
      "",
      `${steps} steps of the best start in ${fixed(seconds, 1)} s.`,
    ].join("\n"),
});

const shown = ({ bound, standardError }: Bound, { of }: InformationUnit): string =>
  withError(of(bound), of(standardError)).padStart(16);

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
