/** The main job in under a minute: `acquire` on a made-up pool, ways of asking side by side, with the fair rule and without. */

import { resolve } from "node:path";
import type { StrategyName } from "../../../active/strategy-names.js";
import { unitOf } from "../../../core/information-unit.js";
import { fixed } from "../../../core/number-text.js";
import { renderTexts } from "../../../report/render.js";
import { RECOMMENDED } from "../../../workflows/acquisition-settings.js";
import { bitsOption } from "../../bits-option.js";
import { defineCommand } from "../../command.js";
import { withInstallPlace } from "../../install-place.js";
import { integer, outFile, real } from "../../options.js";
import { withProgress } from "../../run-options.js";
import { comparisonInWords } from "./comparison.js";

const METHODS = ["random", "epig", "fairbed"] as const satisfies readonly StrategyName[];
const BATCH = 4;

/** What the study on real tables found: docs/reproduction.md, parity-at-least-cost. */
const RECOMMENDATION =
  "Where parity is required: draw people at random and decide by the rule. Averaged over five real\ntables, no way of asking was surely more accurate at a parity of 0.8 (fairbed reproduce\nparity-at-least-cost). FairBED asks for labels that give less away about the group: by how much depends on the table.";

export const demoTexts = {
  noPage: withInstallPlace(`No report with figures was written: ${renderTexts.noVega}.`),
};

export const demo = defineCommand({
  name: "demo",
  group: "Active learning",
  summary: "compare ways of asking for labels, and of deciding",
  examples: [
    { line: "demo", description: "random, EPIG and FairBED on a made-up pool" },
    { line: "demo --bias 1 --out more-bias.html", description: "a stronger bias in the made-up data" },
  ],
  arguments: {},
  options: {
    rows: integer("--rows <number>", "people in the pool", 3000, { min: 500 }),
    bias: real("--bias <number>", "how far the outcome depends on the group", 0.5, { min: 0, max: 5 }),
    budget: integer("--budget <number>", "labels to ask for", 120, { min: 10 }),
    beta: real("--beta <number>", "price of one nat of leakage", RECOMMENDED.goal.beta, { min: 0 }),
    parity: real(
      "--parity <ratio>",
      "the ratio of selection rates that the fair decision rule aims at",
      0.8,
      {
        above: 0,
        max: 1,
      },
    ),
    seeds: integer("--seeds <number>", "how many seeds", 12, { min: 2 }),
    out: outFile("--out <file>", "where the report goes", { fallback: "fairbed-demo.html" }),
    bits: bitsOption,
  },
  reportsProgress: true,
  async run({ options: { rows, bias, budget, beta, parity, seeds, out, bits }, given, context }) {
    const started = performance.now();
    const { canDrawCharts, requireCharts } = await import("../../../report/render.js");
    // The numbers need no charts; a page that was asked for does.
    if (given.has("out")) await requireCharts();
    const isDrawn = await canDrawCharts();
    const unit = unitOf(bits);
    const { syntheticPool } = await import("../../../tables/synthetic.js");
    const { defineTask } = await import("../../../tables/task.js");
    const { simulate } = await import("../../../workflows/simulate.js");
    const { acquisitionReport } = await import("../../../report/acquisition-report.js");
    const { leakage, graph, table, settings } = syntheticPool({ rows, bias });
    const simulation = await withProgress(context, "acquiring", (run) =>
      simulate(defineTask(table, settings), {
        methods: METHODS,
        beta,
        budget,
        batch: BATCH,
        parity,
        seeds,
        ...run,
      }),
    );
    const page = () =>
      acquisitionReport({
        title: "Whom to ask next?",
        lead: `${rows} made-up people, a budget of ${budget} labels, and an outcome that is biased against one group. Which labels should be paid for?`,
        about: [
          `Each record of this pool gives away ${fixed(unit.of(leakage.unconditional), 3)} ${unit.name} about the person's group, known exactly because the pool is made up: ${graph.join("; ")}.`,
          `FairBED was told that a ${unit.one} of leakage costs as much as ${beta} ${unit.name} about the outcome are worth. Nothing about the group is a feature; it leaks through the other columns.`,
        ],
        simulation,
        unit,
        footer: `${RECOMMENDATION.replaceAll("\n", " ")} fairbed demo --rows ${rows} --bias ${bias} --budget ${budget} --beta ${beta} --parity ${parity} --seeds ${seeds}`,
      });
    if (isDrawn) await context.writeFile(out, await page());
    const seconds = (performance.now() - started) / 1000;
    return {
      unit: "nats",
      people: rows,
      bias,
      leakage,
      ...simulation,
      report: isDrawn ? resolve(out) : null,
      seconds,
    };
  },
  print: ({ people, bias: _, leakage, report, seconds, ...simulation }, { bits }) =>
    [
      `${people} made-up people, an outcome that is biased against one group, and a budget of ${simulation.methods[0].settings.budget} labels.`,
      `Each record gives away ${fixed(unitOf(bits).of(leakage.unconditional), 3)} ${unitOf(bits).name} about the group (known exactly: the pool is made up).`,
      "",
      ...comparisonInWords(simulation, unitOf(bits)),
      "",
      RECOMMENDATION,
      "",
      report === null ? demoTexts.noPage : `The report with figures: ${report}`,
      `In ${fixed(seconds, 1)} s.`,
    ].join("\n"),
});
