/**
 * `fairbed design sweep`: policies over beta, horizon and seed, on all cores or on the workers of a queue, with tables and
 * figures. Finished cells are kept, so that the same command again goes on where it stopped.
 */

import { availableParallelism } from "node:os";
import { join } from "node:path";
import { EnvironmentError, InputError } from "../../../core/errors.js";
import { type InformationUnit, unitOf } from "../../../core/information-unit.js";
import { withError } from "../../../core/number-text.js";
import type { JobStore } from "../../../jobs/job-store.js";
import { deviceTexts, storedDevice, type UsedDevice, usedDevice } from "../../../workflows/device.js";
import { evaluationSizes } from "../../../workflows/evaluation-defaults.js";
import { FRONTIER_BETAS } from "../../../workflows/policy-defaults.js";
import type { FullSettings } from "../../../workflows/policy-settings.js";
import { bitsOption } from "../../bits-option.js";
import { withClaimedFolder } from "../../claimed-folder.js";
import { type CommandContext, defineCommand } from "../../command.js";
import { deviceOption } from "../../device-option.js";
import { queueOption, runMissing } from "../../job-place.js";
import { choice, flag, integer, integers, outFolder, reals } from "../../options.js";
import { makeFolder } from "../../out-folder.js";
import { rightAligned } from "../../text-table.js";
import { toJson } from "../../to-json.js";
import { evaluationOptions } from "./evaluation-options.js";
import type { LoadedModel } from "./load-model.js";
import { modelOptions } from "./model-options.js";
import { normalDesigns, trainingOptions } from "./optimize.js";
import type { SweepCell, SweepResult } from "./sweep-cell.js";
import type { SweepJob } from "./sweep-jobs.js";
import type { FinishedCell, SummaryRow } from "./sweep-tables.js";

export const sweepTexts = {
  queue: "a sweep on a GPU runs in one process and not on a queue: leave out --queue, or --device",
  onQueue: "a queue's workers compute on their processors",
  left: (cells: number, all: number) => `${cells} of ${all} cells on the CPU`,
  goesOn: (reason: string) => `the cells that are left go on on the processor: ${reason}`,
  cells: (total: number, found: number) =>
    total === 1
      ? `1 cell, ${found === 1 ? "" : "not "}from before.`
      : `${total} cells, ${found} of them from before.`,
  noFigures: "leave the figures out with --figures none",
};

/** The store, in the folder that is written to. */
const RESULTS = "results.jsonl";

export const sweep = defineCommand({
  name: "design sweep",
  group: "Design",
  summary: "policies over beta, horizon and seed; figures",
  examples: [
    {
      line: "design sweep --model location",
      description: "the frontier of fairness and utility, into sweep/",
    },
    {
      line: "design sweep --model location --betas 0,0.4,0.8 --horizons 5,10 --seeds 8 --out sweep",
      description: "run it again to go on where it stopped",
    },
    {
      line: "design sweep --model location --seeds 8 --device gpu",
      description: "all betas and seeds at the same time, on a GPU",
    },
    {
      line: "design sweep --model location --seeds 8 --queue postgres://host",
      description: "on all machines that run fairbed worker",
    },
  ],
  arguments: {},
  options: {
    ...modelOptions,
    ...trainingOptions,
    betas: reals("--betas <numbers>", "price of one nat of leakage", FRONTIER_BETAS, { min: 0 }),
    horizons: integers("--horizons <numbers>", "how many observations", [10], { min: 1, max: 10_000 }),
    seeds: integer("--seeds <number>", "how many seeds, counted from 0", 1, { min: 1, max: 100_000 }),
    ...evaluationOptions,
    exact: flag("--exact", "evaluate by closed form, enumeration or quadrature"),
    jobs: integer("--jobs <number>", "cells at a time; all cores", availableParallelism(), {
      min: 1,
      max: 1024,
    }),
    queue: queueOption,
    device: deviceOption,
    figures: choice("--figures <kind>", "figures, which need vega and vega-lite", ["svg", "none"], "svg"),
    out: outFolder("--out <folder>", "where everything goes", "sweep"),
    bits: bitsOption,
  },
  reportsProgress: true,
  async run({ options, context }) {
    const { betas, horizons, seeds, exact, out, figures, device } = options;
    const queued = options.queue !== undefined;
    if (device === "gpu" && queued) throw new InputError("device", sweepTexts.queue);
    const { requireCharts } = await import("../../../report/render.js");
    // Before the work that they would show.
    if (figures === "svg") await requireCharts(sweepTexts.noFigures);
    const { namedModel } = await import("./named-model.js");
    const { isGpuFailure } = await import("../../../compute/webgpu/failure.js");
    const { gpuReason } = await import("../../../compute/webgpu/texts.js");
    const { isSweepResult, sweepJob, sweepJobs } = await import("./sweep-jobs.js");
    const { csvOf, summarise } = await import("./sweep-tables.js");
    const { policySettings } = await import("../../../workflows/policy-settings.js");
    const { requireGpuTraining } = await import("../../../workflows/train-policy.js");
    const { requireGpuEvaluation } = await import("../../../workflows/evaluate-policy.js");
    const { JobStore } = await import("../../../jobs/job-store.js");
    const loaded = await namedModel(options);
    const { policy: kind } = options;
    const evaluation = { ...evaluationSizes(kind, options), exact };
    const { startFrom } = await import("./read-policy.js");
    const start = await startFrom(options.start, loaded.model);
    const common = { ...options, kind, start, distribution: normalDesigns(options) };
    const all = horizons.flatMap((horizon) =>
      betas.flatMap((beta) =>
        Array.from({ length: seeds }, (_, seed) => policySettings({ ...common, beta, horizon, seed })),
      ),
    );
    const found: UsedDevice =
      device === "auto" && queued
        ? { asked: device, used: "cpu", note: sweepTexts.onQueue }
        : await usedDevice(device, () => {
            for (const settings of all) requireGpuTraining(loaded.model, settings, {}, device);
            requireGpuEvaluation(evaluation);
          });
    // Without a GPU the cells are the processor's own, and run on all cores.
    const job = (settings: FullSettings, used: UsedDevice["used"]) =>
      sweepJob(loaded, { settings, evaluation, ...(used === "gpu" ? { device: used } : {}) });
    return withClaimedFolder(out, async () => {
      await makeFolder(join(out, "policies"));
      const store = JobStore.open(join(out, RESULTS), { isWhole: isSweepResult });
      const isStored = ({ input }: SweepJob) => store.has(sweepJobs.key(input));
      // Where the choice is free, what is there already counts, wherever it was computed.
      const choose = (used: UsedDevice["used"]) =>
        all.map((settings) => {
          const own = job(settings, used);
          const other = job(settings, used === "gpu" ? "cpu" : "gpu");
          return device === "auto" && !isStored(own) && isStored(other) ? other : own;
        });
      let jobs = choose(found.used);
      let { note } = found;
      const before = store.size;
      if (found.used === "gpu") {
        const { runSweepOnGpu } = await import("./sweep-on-gpu.js");
        try {
          await runSweepOnGpu(loaded, jobs, store, context);
        } catch (error) {
          if (device === "gpu" || !isGpuFailure(error)) throw error;
          note = gpuReason(error.message);
          context.say(sweepTexts.goesOn(note));
          jobs = choose("cpu");
        }
      }
      const { notes } = await runMissing(jobs, store, options, { label: "sweeping", unit: "cells" }, context);
      const ran = store.size - before;
      // A frontier with holes is none; the same command tries again what is missing.
      if (notes.length > 0) throw new EnvironmentError("sweep", notes.join("; "));
      const cells = await finishedCells(
        jobs.map(({ input }) => input),
        store,
        out,
        context,
      );
      const summary = summarise(cells);
      const model = { name: loaded.identity.name, options: loaded.identity.options };
      await context.writeFile(join(out, "results.csv"), csvOf(cells));
      await context.writeFile(
        join(out, "results.json"),
        `${toJson({ model, evaluation, summary, cells })}\n`,
      );
      const drawn =
        figures === "svg"
          ? await drawFigures(loaded, cells, summary, unitOf(options.bits), out, context)
          : [];
      const onCpu = jobs.filter(({ input }) => input.device === undefined).length;
      const used: UsedDevice =
        onCpu === jobs.length
          ? { asked: device, used: "cpu", note }
          : {
              ...{ asked: device, used: "gpu", name: cells.find(isOnGpu)?.report.device?.name },
              note: onCpu === 0 ? undefined : sweepTexts.left(onCpu, jobs.length),
            };
      return {
        unit: "nats",
        out,
        model,
        ...storedDevice(used),
        cells: { total: jobs.length, found: jobs.length - ran, computed: ran },
        summary,
        files: ["results.csv", "results.json", ...drawn].map((file) => join(out, file)),
      };
    });
  },
  print: ({ cells, summary, files, device }, { bits }) =>
    [
      sweepTexts.cells(cells.total, cells.found),
      ...(device === undefined ? [] : [deviceTexts.used(device)]),
      "",
      ...rightAligned([
        ["observations", "beta", "seeds", "target", "sensitive", "given target", "objective"],
        ...summary.map((row) => [
          String(row.horizon),
          String(row.beta),
          String(row.seeds),
          ...[row.target, row.sensitive, row.sensitiveGivenTarget, row.objective].map(
            ({ mean, standardError }) => withError(unitOf(bits).of(mean), unitOf(bits).of(standardError)),
          ),
        ]),
      ]),
      "",
      `${bits ? "Bits" : "Nats"}: means over seeds with their standard errors.`,
      "",
      ...files,
    ].join("\n"),
});

const isOnGpu = ({ report }: FinishedCell): boolean => report.device?.used === "gpu";

/** What the cells gave, with their policies in files of their own. */
const finishedCells = async (
  cells: readonly SweepCell[],
  store: JobStore,
  out: string,
  context: CommandContext,
): Promise<readonly FinishedCell[]> => {
  const { sweepCellName, sweepJobs } = await import("./sweep-jobs.js");
  const finished: FinishedCell[] = [];
  for (const cell of cells) {
    const known = store.get(sweepJobs.key(cell));
    if (known === undefined) continue;
    const { report, designs, policy } = known.result as SweepResult;
    const path = join("policies", `${sweepCellName(cell)}.json`);
    await context.writeFile(join(out, path), Buffer.from(policy, "base64"));
    finished.push({ settings: cell.settings, report, designs, policy: path });
  }
  return finished;
};

const drawFigures = async (
  { model }: LoadedModel,
  cells: readonly FinishedCell[],
  summary: readonly SummaryRow[],
  unit: InformationUnit,
  out: string,
  context: CommandContext,
): Promise<readonly string[]> => {
  const { designsChart, frontierChart, informationChart } = await import("../../../report/design-charts.js");
  const { renderSvg } = await import("../../../report/render.js");
  const { priorPlaces } = await import("../../../workflows/design-scene.js");
  const { kind, objective } = cells[0].settings;
  const seeds = summary[0].seeds === 1 ? "" : `, ${summary[0].seeds} seeds`;
  const subtitle = `${model.name}, ${kind} policy, ${objective} objective${seeds}`;
  const leakage = objective === "conditional" ? "sensitiveGivenTarget" : "sensitive";
  const longest = Math.max(...cells.map(({ settings }) => settings.horizon));
  const shown = cells.filter(({ settings }) => settings.horizon === longest && settings.seed === 0);
  const several = (values: readonly number[]) => new Set(values).size > 1;
  const charts = {
    frontier: frontierChart(summary, { leakage, subtitle, unit }),
    designs: designsChart(
      shown.flatMap(({ settings: { beta, horizon }, designs }) =>
        designs.map((design, i) => ({ beta, observation: (i % horizon) + 1, design })),
      ),
      {
        variables: model.design.map(({ name }) => name),
        prior: priorPlaces(model),
        subtitle: `${model.name}, ${kind} policy, ${objective} objective, ${longest} observations${several(cells.map(({ settings }) => settings.seed)) ? ", the first seed" : ""}`,
        adaptive: kind !== "static",
      },
    ),
    ...(several(summary.map(({ beta }) => beta))
      ? { "information-by-beta": informationChart(summary, { against: "beta", subtitle, unit }) }
      : {}),
    ...(several(summary.map(({ horizon }) => horizon))
      ? { "information-by-horizon": informationChart(summary, { against: "horizon", subtitle, unit }) }
      : {}),
  };
  const files: string[] = [];
  for (const [name, chart] of Object.entries(charts)) {
    await context.checkpoint();
    await context.writeFile(join(out, `${name}.svg`), await renderSvg(chart));
    files.push(`${name}.svg`);
  }
  return files;
};
