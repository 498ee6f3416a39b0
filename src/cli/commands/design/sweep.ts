/**
 * `fairbed design sweep`: policies over beta, horizon and seed, on all cores, with tables and figures. Every finished
 * cell is a file of its own, named by its settings, so that the same command again goes on where it stopped.
 */
import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { availableParallelism } from "node:os";
import { join } from "node:path";
import type { Model } from "../../../design/model.js";
import { evaluationSizes } from "../../../workflows/evaluation-defaults.js";
import type { FullSettings } from "../../../workflows/policy-settings.js";
import { type CommandContext, defineCommand } from "../../command.js";
import { choice, flag, integer, integers, reals, text } from "../../options.js";
import { makeFolder } from "../../out-folder.js";
import { rightAligned } from "../../text-table.js";
import { toJson } from "../../to-json.js";
import { evaluationOptions } from "./evaluation-options.js";
import type { LoadedModel } from "./load-model.js";
import { modelOptions } from "./model-options.js";
import { normalDesigns, trainingOptions } from "./optimize.js";
import type { CellOrder } from "./sweep-cell.js";
import type { StoredCell, SummaryRow } from "./sweep-tables.js";

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
  ],
  arguments: {},
  options: {
    ...modelOptions,
    ...trainingOptions,
    betas: reals("--betas <numbers>", "what a nat of leakage costs", [0, 0.2, 0.4, 0.6, 0.8, 1], { min: 0 }),
    horizons: integers("--horizons <numbers>", "how many observations", [10], { min: 1 }),
    seeds: integer("--seeds <number>", "how many seeds, counted from 0", 1, { min: 1 }),
    ...evaluationOptions,
    exact: flag("--exact", "evaluate by closed form, enumeration or quadrature"),
    jobs: integer("--jobs <number>", "cells at a time; all cores", availableParallelism(), { min: 1 }),
    figures: choice("--figures <kind>", "figures, which need vega and vega-lite", ["svg", "none"], "svg"),
    out: text("--out <folder>", "where everything goes", "sweep"),
  },
  reportsProgress: true,
  async run({ options, context }) {
    const { betas, horizons, seeds, exact, jobs, out, figures } = options;
    const { requireCharts } = await import("../../../report/render.js");
    // Before the work that they would show.
    if (figures === "svg") await requireCharts();
    const { namedModel } = await import("./named-model.js");
    const { cellsInProcesses } = await import("./sweep-processes.js");
    const { csvOf, summarise } = await import("./sweep-tables.js");
    const { policySettings } = await import("../../../workflows/policy-settings.js");
    const loaded = await namedModel(options);
    const { policy: kind } = options;
    const evaluation = { ...evaluationSizes(kind, options), exact };
    const common = { ...options, kind, distribution: normalDesigns(options) };
    const threads = Math.max(1, Math.floor(availableParallelism() / jobs));
    const orders = horizons.flatMap((horizon) =>
      betas.flatMap((beta) =>
        Array.from({ length: seeds }, (_, seed) =>
          order(loaded, policySettings({ ...common, beta, horizon, seed }), evaluation, threads),
        ),
      ),
    );
    await makeFolder(join(out, "cells"));
    await makeFolder(join(out, "policies"));
    const found = new Map<string, StoredCell>();
    for (const { name } of orders) {
      const stored = await storedCell(join(out, "cells", `${name}.json`));
      if (stored !== undefined) found.set(name, stored);
    }
    const before = found.size;
    const progress = context.progress("sweeping", orders.length);
    progress.update(before);
    const missing = orders.filter(({ name }) => !found.has(name));
    await cellsInProcesses(missing, jobs, context.signal, async (each, result) => {
      const policy = join("policies", `${each.name}.json`);
      const { report, designs } = result;
      // As it will read when it is found again: what is not finite is null in both.
      const text = toJson({ settings: each.settings, report, designs, policy });
      await context.writeFile(join(out, policy), result.policy);
      // Last, because it is what says that the cell is done.
      await context.writeFile(join(out, "cells", `${each.name}.json`), `${text}\n`);
      found.set(each.name, JSON.parse(text) as StoredCell);
      progress.update(found.size);
    });
    const cells = orders.flatMap(({ name }) => found.get(name) ?? []);
    const summary = summarise(cells);
    const model = { name: loaded.identity.name, options: loaded.identity.options };
    await context.writeFile(join(out, "results.csv"), csvOf(cells));
    await context.writeFile(join(out, "results.json"), `${toJson({ model, evaluation, summary, cells })}\n`);
    const drawn = figures === "svg" ? await drawFigures(loaded, cells, summary, out, context) : [];
    return {
      out,
      model,
      cells: { total: orders.length, found: before, computed: orders.length - before },
      summary,
      files: ["results.csv", "results.json", ...drawn].map((file) => join(out, file)),
    };
  },
  print: ({ cells, summary, files }) =>
    [
      `${cells.total} cells, ${cells.found} of them from before.`,
      "",
      ...rightAligned([
        ["observations", "beta", "seeds", "target", "sensitive", "given target", "objective"],
        ...summary.map((row) => [
          String(row.horizon),
          String(row.beta),
          String(row.seeds),
          ...[row.target, row.sensitive, row.sensitiveGivenTarget, row.objective].map(
            ({ mean, standardError }) => `${mean.toFixed(3)} ± ${standardError.toFixed(3)}`,
          ),
        ]),
      ]),
      "",
      "Nats: means over seeds with their standard errors.",
      "",
      ...files,
    ].join("\n"),
});

interface NamedOrder extends CellOrder {
  /** A file's name: readable, and different for different settings. */
  readonly name: string;
}

const order = (
  { source, identity }: LoadedModel,
  settings: FullSettings,
  evaluation: CellOrder["evaluation"],
  threads: number,
): NamedOrder => {
  const key = JSON.stringify({ model: identity.fingerprint, settings, evaluation });
  const hash = createHash("sha256").update(key).digest("hex").slice(0, 10);
  const { kind, horizon, beta, seed } = settings;
  return {
    source,
    settings,
    evaluation,
    threads,
    name: `${kind}-T${horizon}-beta${beta}-seed${seed}-${hash}`,
  };
};

/** A cell from before; one that cannot be read is computed again. */
const storedCell = async (path: string): Promise<StoredCell | undefined> => {
  try {
    return JSON.parse(await readFile(path, "utf8")) as StoredCell;
  } catch {
    return undefined;
  }
};

const PRIOR_DRAWS = 300;

const drawFigures = async (
  { model, source }: LoadedModel,
  cells: readonly StoredCell[],
  summary: readonly SummaryRow[],
  out: string,
  context: CommandContext,
): Promise<readonly string[]> => {
  const { designsChart, frontierChart, informationChart } = await import("../../../report/design-charts.js");
  const { renderSvg } = await import("../../../report/render.js");
  const { kind, objective } = cells[0].settings;
  const seeds = summary[0].seeds === 1 ? "" : `, ${summary[0].seeds} seeds`;
  const subtitle = `${model.name}, ${kind} policy, ${objective} objective${seeds}`;
  const leakage = objective === "conditional" ? "sensitiveGivenTarget" : "sensitive";
  const longest = Math.max(...cells.map(({ settings }) => settings.horizon));
  const shown = cells.filter(({ settings }) => settings.horizon === longest && settings.seed === 0);
  const several = (values: readonly number[]) => new Set(values).size > 1;
  const charts = {
    frontier: frontierChart(summary, { leakage, subtitle }),
    designs: designsChart(
      shown.flatMap(({ settings: { beta, horizon }, designs }) =>
        designs.map((design, i) => ({ beta, observation: (i % horizon) + 1, design })),
      ),
      {
        variables: model.design.map(({ name }) => name),
        prior: source.model === "location" ? await priorInPlane(model) : [],
        subtitle: `${model.name}, ${kind} policy, ${objective} objective, ${longest} observations`,
        adaptive: kind !== "static",
      },
    ),
    ...(several(summary.map(({ beta }) => beta))
      ? { "information-by-beta": informationChart(summary, { against: "beta", subtitle }) }
      : {}),
    ...(several(summary.map(({ horizon }) => horizon))
      ? { "information-by-horizon": informationChart(summary, { against: "horizon", subtitle }) }
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

/** Sources drawn from the prior of location finding, whose designs are places among them. */
const priorInPlane = async (model: Model): Promise<readonly (readonly number[])[]> => {
  const dimensions = model.design.length;
  if (dimensions < 2) return [];
  const { drawOuter } = await import("../../../design/policy.js");
  const { randomStream } = await import("../../../core/random.js");
  const drawn = drawOuter(model, PRIOR_DRAWS, randomStream("prior in the plane"));
  const names = model.parameters.map(({ name }) => name);
  const sources = names.filter((_, k) => k % dimensions === 0).map((_, k) => names.slice(k * dimensions));
  return sources.flatMap(([x, y]) =>
    Array.from({ length: PRIOR_DRAWS }, (_, i) => [drawn[x][i], drawn[y][i]]),
  );
};
