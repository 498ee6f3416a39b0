/** The main job in under a minute: labels for a hiring model, asked for in three ways. */
import { resolve } from "node:path";
import type { MetricSummaries, SeedResult } from "../../../workflows/simulation.js";
import { defineCommand } from "../../command.js";
import { integer, real, text } from "../../options.js";
import { rightAligned } from "../../text-table.js";
import { inWords, yielding } from "./acquire.js";

const METHODS = [
  { name: "random", method: "random", description: "people are drawn at random, as most data are collected" },
  {
    name: "EPIG",
    method: "epig",
    description: "whoever says most about the outcome of others, whatever else that reveals",
  },
  {
    name: "FairBED",
    method: "fairbed",
    description: "the same, less what the answer would give away about the group",
  },
] as const;

interface DemoMethod {
  readonly name: string;
  readonly description: string;
  readonly final: MetricSummaries;
  readonly checkpoints: readonly ({ readonly labels: number } & MetricSummaries)[];
}

const SHOWN = ["accuracy", "dpRatio", "matchedDpRatio", "selectionRate", "sensitiveAccuracy"] as const;
const HEADS = ["accuracy", "parity", "parity, matched", "selected", "group guessed"];

export const demo = defineCommand({
  name: "demo",
  group: "Active learning",
  summary: "compare three ways of asking for labels",
  examples: [
    { line: "demo", description: "random, EPIG and FairBED on a made-up pool" },
    { line: "demo --bias 1 --out more-bias.html", description: "a stronger bias in the made-up data" },
  ],
  arguments: {},
  options: {
    rows: integer("--rows <number>", "people in the pool", 3000, { min: 500 }),
    bias: real("--bias <number>", "how far the outcome depends on the group", 0.5, { min: 0, max: 5 }),
    budget: integer("--budget <number>", "labels to ask for", 120, { min: 10 }),
    beta: real("--beta <number>", "what a nat of leakage costs", 10, { min: 0 }),
    seeds: integer("--seeds <number>", "how many seeds", 6, { min: 2 }),
    out: text("--out <file>", "where the report goes", "fairbed-demo.html"),
  },
  reportsProgress: true,
  async run({ options: { rows, bias, budget, beta, seeds, out }, context }) {
    const started = performance.now();
    const { syntheticPool } = await import("../../../tables/synthetic.js");
    const { defineTask } = await import("../../../tables/task.js");
    const { RECOMMENDED, simulateSeed, summarise } = await import("../../../workflows/simulation.js");
    const { acquisitionReport } = await import("../../../report/acquisition-report.js");
    const pool = syntheticPool({ rows, bias });
    const task = defineTask(pool.table, pool.settings);
    const checkpoints = [0.1, 0.25, 0.5, 0.75].map((share) => Math.round(share * budget));
    const progress = context.progress("acquiring", METHODS.length * seeds * budget);
    const methods: DemoMethod[] = [];
    for (const [m, { name, method, description }] of METHODS.entries()) {
      const results: SeedResult[] = [];
      for (let seed = 0; seed < seeds; seed++) {
        const step = yielding(context, (done) => progress.update((m * seeds + seed) * budget + done));
        const settings = { ...RECOMMENDED, method, goal: { beta }, budget, batch: 2, checkpoints };
        results.push(await simulateSeed(task, settings, seed, { onStep: ({ acquired }) => step(acquired) }));
        await context.checkpoint();
      }
      const at = (index: number) => summarise(results.map((each) => each.checkpoints[index].metrics));
      const labels = results[0].checkpoints.map((each) => each.labels);
      methods.push({
        name,
        description,
        final: at(labels.length - 1),
        checkpoints: labels.map((count, index) => ({ labels: count, ...at(index) })),
      });
    }
    progress.end();
    const { leakage, graph } = pool;
    const seconds = (performance.now() - started) / 1000;
    const report = await acquisitionReport({
      title: "Whom to ask next?",
      lead: `${rows} made-up people, a budget of ${budget} labels, and an outcome that is biased against one group. Which labels should be paid for?`,
      about: [
        `Each record of this pool gives away ${leakage.unconditional.toFixed(3)} nats about the person's group, known exactly because the pool is made up: ${graph.join("; ")}.`,
        `FairBED was told that a nat of leakage costs as much as ${beta} nats about the outcome are worth. Nothing about the group is a feature; it leaks through the other columns.`,
      ],
      methods,
      footer: `fairbed demo --rows ${rows} --bias ${bias} --budget ${budget} --beta ${beta} --seeds ${seeds}`,
    });
    await context.writeFile(out, report);
    return { rows, bias, budget, beta, seeds, leakage, methods, report: resolve(out), seconds };
  },
  print: ({ rows, budget, beta, seeds, leakage, methods, report, seconds }) =>
    [
      `${rows} made-up people, an outcome that is biased against one group, and a budget of ${budget} labels.`,
      `Each record gives away ${leakage.unconditional.toFixed(3)} nats about the group (known exactly: the pool is made up).`,
      "",
      ...rightAligned([
        ["", ...HEADS],
        ...methods.map(({ name, final }) => [
          name,
          ...SHOWN.map((metric) => inWords(final[metric]).slice(0, 2).join(" ")),
        ]),
      ]),
      "",
      "Parity is the ratio of the groups' selection rates: 1 is parity. Matched: where every model selects as many",
      `as are truly positive. Means over ${seeds} seeds with standard errors; beta = ${beta}.`,
      "",
      `The report with figures: ${report}`,
      `In ${seconds.toFixed(1)} s.`,
    ].join("\n"),
});
