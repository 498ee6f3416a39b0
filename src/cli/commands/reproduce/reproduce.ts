/** `fairbed reproduce`: tables and figures of the paper, run, drawn and compared. */

import { existsSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { isGpuFailure } from "../../../compute/webgpu/failure.js";
import { gpuReason } from "../../../compute/webgpu/texts.js";
import { EnvironmentError, InputError } from "../../../core/errors.js";
import { between, fixed, withError } from "../../../core/number-text.js";
import { jobKey } from "../../../jobs/job.js";
import type { JobStore } from "../../../jobs/job-store.js";
import type { JobsRun } from "../../../jobs/run-jobs.js";
import type { DesignCell } from "../../../reproduce/cell.js";
import type { cellJob } from "../../../reproduce/cell-jobs.js";
import type { ClaimCheck } from "../../../reproduce/claim-verdict.js";
import type { Scale } from "../../../reproduce/reproduction.js";
import type { ResultStore } from "../../../reproduce/store.js";
import type { Comparison } from "../../../reproduce/verdict.js";
import { type ComputeDevice, deviceTexts, type UsedDevice, usedDevice } from "../../../workflows/device.js";
import { withClaimedFolder } from "../../claimed-folder.js";
import { type CommandContext, defineCommand } from "../../command.js";
import { deviceOption } from "../../device-option.js";
import { jobPlaceTexts, queueOption, runMissing } from "../../job-place.js";
import {
  argumentList,
  flag,
  integer,
  optionalInteger,
  outFile,
  outFolder,
  textOrAlone,
} from "../../options.js";
import { makeFolder } from "../../out-folder.js";
import { rightAligned } from "../../text-table.js";

export const reproduceTexts = {
  noNames: (names: readonly string[]) => `name one or more tables and figures, or all: ${names.join(", ")}`,
  noShipped: (option: string) =>
    `${option} takes the results in the folder results/ of fairbed's repository, which this copy does not have: give --from-results a results.jsonl or a results folder that fairbed reproduce wrote, or leave ${option} out`,
  drawsOnly: (option: string) =>
    `--from-results runs nothing, so ${option} is of no use with it: give one of the two`,
  noneRan: (notes: readonly string[]) => `nothing could be run: ${notes.join("; ")}`,
  leftOut: (policies: number) =>
    `${policies} ${policies === 1 ? "policy is" : "policies are"} left out, which only a GPU trains in reasonable time: add --device gpu`,
  /** `other` is whether they hold some of it in the protocol that was not asked for. */
  nothing: (quick: boolean, other = false) =>
    `these results hold nothing of what was named${quick ? " in the quick protocol" : ""}: ${other ? (quick ? "leave --quick out, for they have it in the paper's protocol, or " : "add --quick, for they have it in the quick protocol, or ") : ""}run it first, without --from-results, or name other results, tables or figures`,
};

/** The results that the repository has; the package has none. */
const SHIPPED = fileURLToPath(new URL("../../../../results", import.meta.url));

export const reproduce = defineCommand({
  name: "reproduce",
  group: "Reproduction and many machines",
  summary: "run the paper's tables and figures",
  examples: [
    { line: "reproduce table-location --quick", description: "a small run that shows the shape of it" },
    {
      line: "reproduce table-ratios fig-pareto-census --jobs 2",
      description: "two of them by the paper's protocol",
    },
    { line: "reproduce all --queue postgres://host", description: "on all machines that run fairbed worker" },
    { line: "reproduce all --resume", description: "run what the results of the repository lack" },
    {
      line: "reproduce all --from-results",
      description: "draw everything again from those, without running",
    },
  ],
  arguments: { names: argumentList("which ones, or all") },
  options: {
    quick: flag("--quick", "a much smaller protocol of the same shape"),
    seeds: optionalInteger("--seeds <number>", "how many seeds; the protocol's number unless given", {
      min: 1,
      max: 10_000,
    }),
    out: outFolder(
      "--out <folder>",
      "where results and figures go; a later run goes on from there",
      "reproduction",
    ),
    jobs: integer("--jobs <number>", "processes that run cells; 1 uses all cores for one cell at a time", 1, {
      min: 1,
      max: 256,
    }),
    queue: queueOption,
    device: deviceOption,
    resume: flag(
      "--resume",
      "begin with the results of the repository too; without it, with those in the folder of --out alone",
    ),
    fromResults: textOrAlone(
      "--from-results [path]",
      "run nothing and draw a results.jsonl, a results folder or a folder of --out; those of the repository unless given",
    ),
    ledger: outFile(
      "--ledger <file.md>",
      "also write a Markdown page, with its figures in a folder of its name",
    ),
  },
  reportsProgress: true,
  async run({ arguments: { names: words }, options, context }) {
    const started = performance.now();
    const { REPRODUCTION_NAMES, reproductionsNamed } = await import("../../../reproduce/catalogue.js");
    const { cellJob } = await import("../../../reproduce/cell-jobs.js");
    const { requireCharts } = await import("../../../report/render.js");
    const { paperComparisons, verdictsInWords } = await import("../../../report/reproduction-report.js");
    const { drawnOf, storedOf, writeAll } = await import("./reproduce-files.js");
    const names = words
      .flatMap((word) => word.split(","))
      .flatMap((word) => (word.trim() === "" ? [] : [word.trim()]));
    if (names.length === 0) {
      throw new InputError("no-names", reproduceTexts.noNames(["all", ...REPRODUCTION_NAMES]));
    }
    const reproductions = reproductionsNamed(names);
    let used = await deviceFor(options.device, options.fromResults === undefined);
    let scale: Scale = {
      quick: options.quick,
      seeds: options.seeds,
      device: used.used === "gpu" ? "gpu" : undefined,
    };
    const cellsOf = (of: Scale) => reproductions.flatMap((each) => each.cells(of));
    let wanted = cellsOf(scale);
    const draw = async (store: ResultStore, { ran, notes }: JobsRun) => {
      const drawn = drawnOf(reproductions, store, scale);
      const { all, found } = storedOf(wanted, store);
      const { out, ledger } = options;
      const files = await writeAll({
        drawn,
        found,
        store,
        scale,
        names,
        shipped: options.resume || options.fromResults === true,
        notes,
        out,
        ledger,
        context,
      });
      const comparisons = paperComparisons(
        drawn.map(({ reproduction: { beyond = false }, drawing }) => ({ beyond, ...drawing })),
      );
      return {
        names: reproductions.map(({ name }) => name),
        quick: options.quick,
        out,
        cells: { wanted: all, ran, stored: found.length },
        reproductions: drawn.map(({ reproduction: { name, title, source }, drawing }) => ({
          name,
          title,
          source,
          findings: drawing.findings ?? [],
          asked: drawing.asked ?? [],
          comparisons: drawing.comparisons,
          measured: drawing.measured,
          claims: drawing.claims ?? [],
        })),
        summary: comparisons.length === 0 ? "" : verdictsInWords(comparisons),
        notes,
        files,
        ledger,
        seconds: (performance.now() - started) / 1000,
      };
    };
    if (options.fromResults !== undefined) {
      const store = await storeFor(options);
      if (storedOf(wanted, store).found.length === 0) {
        const other = storedOf(cellsOf({ ...scale, quick: !options.quick }), store).found.length > 0;
        throw new InputError("no-results", reproduceTexts.nothing(options.quick, other));
      }
      // Only now: nobody should install what draws results that are not there.
      await requireCharts();
      await makeFolder(options.out);
      return draw(store, { ran: 0, notes: [] });
    }
    if (options.resume) requireShipped("--resume");
    await requireCharts();
    return withClaimedFolder(options.out, async () => {
      const store = await storeFor(options);
      const label = { label: "reproduce", unit: "cells" };
      let onGpu = 0;
      try {
        if (scale.device !== undefined) {
          onGpu = await runDesignsHere(wanted.map(cellJob), store.jobs, context);
        }
      } catch (error) {
        if (options.device !== "auto" || !isGpuFailure(error)) throw error;
        // The processor's results are others, and are not mixed with those that the GPU has left.
        used = { asked: "auto", used: "cpu", note: gpuReason(error.message) };
        scale = { ...scale, device: undefined };
        wanted = cellsOf(scale);
      }
      const jobs = wanted.map(cellJob);
      const missing = missingOnGpu(jobs, store.jobs).length;
      const leftOut = missing === 0 ? [] : [reproduceTexts.leftOut(missing)];
      // Before the rest, which may take hours.
      for (const line of leftOut) context.say(line);
      const others = jobs.filter((job) => !isForGpu(job));
      const rest = await runMissing(others, store.jobs, options, label, context);
      const run = { ran: rest.ran + onGpu, notes: [...rest.notes, ...leftOut, ...deviceNotes(used)] };
      // A page without a number would look as if something had been done.
      if (storedOf(wanted, store).found.length === 0) {
        throw new EnvironmentError("no-results", reproduceTexts.noneRan(run.notes));
      }
      return draw(store, run);
    });
  },
  print: ({ quick, cells, reproductions, summary, notes, files, ledger, out, seconds }) =>
    [
      ...reproductions.flatMap(({ name, title, findings, comparisons, claims }) => [
        `${name}: ${title}`,
        ...findings.map((finding) => `- ${finding}`),
        ...(comparisons.length > 0 ? [...comparisonLines(comparisons), ""] : []),
        ...(claims.length > 0 ? [...claimLines(claims), ""] : []),
      ]),
      ...(quick
        ? ["The quick protocol is not the paper's, so there are no verdicts on its numbers."]
        : summary === ""
          ? []
          : [`${summary}.`]),
      ...notes.map((note) => `Note: ${note}`),
      `${cells.stored} of ${cells.wanted} cells have a result, ${cells.ran} of them new, in ${fixed(seconds, 1)} s.`,
      `${files.length} files in ${out}; begin with ${join(out, "index.html")}.`,
      ...(ledger === undefined ? [] : [`The ledger is ${ledger}.`]),
    ].join("\n"),
});

/** The device that policies of location finding are trained on; where nothing is run, whose results are drawn. */
const deviceFor = async (asked: ComputeDevice, running: boolean): Promise<UsedDevice> => {
  if (!running) return { asked: "cpu", used: asked === "gpu" ? "gpu" : "cpu" };
  return usedDevice(asked);
};

const deviceNotes = (device: UsedDevice): readonly string[] =>
  device.asked === "cpu"
    ? []
    : [`${deviceTexts.used(device)} Only the policies of location finding are for a GPU.`];

type CellJob = ReturnType<typeof cellJob>;

const isForGpu = ({ input }: CellJob): boolean => input.kind === "design" && input.device === "gpu";

const missingOnGpu = (jobs: readonly CellJob[], store: JobStore): readonly CellJob[] =>
  jobs.filter((job) => isForGpu(job) && !store.has(jobKey(job)));

/** How many cells were run: the policies that are for a GPU, in this process, and nowhere else. */
const runDesignsHere = async (
  jobs: readonly CellJob[],
  store: JobStore,
  { signal, saysHowToGoOn, progress: show }: CommandContext,
): Promise<number> => {
  const pending = missingOnGpu(jobs, store);
  if (pending.length === 0) return 0;
  const { runDesignsOnGpu } = await import("../../../reproduce/designs-on-gpu.js");
  const progress = show("policies", 1000);
  const byCell = new Map(pending.map((job) => [job.input, job]));
  try {
    await runDesignsOnGpu(
      pending.map(({ input }) => input as DesignCell),
      {
        signal,
        onProgress: (share) => progress.update(Math.round(1000 * share)),
        onResult: (cell, result, seconds) => {
          const job = byCell.get(cell);
          if (job === undefined) return;
          store.append(job, result, seconds);
          const finished = new Set(jobs.map(jobKey).filter((key) => store.has(key))).size;
          saysHowToGoOn(jobPlaceTexts.goOn(finished, "cells"));
        },
      },
    );
  } finally {
    progress.end();
  }
  return pending.length;
};

const claimLines = (claims: readonly ClaimCheck[]): readonly string[] =>
  claims.flatMap(({ claim, compared, measure, difference, verdict }, i) => [
    ...(claims[i - 1]?.claim === claim ? [] : [claim]),
    `  ${compared}, ${measure}: ${
      difference === null
        ? "–"
        : `${fixed(difference.mean, 3)}${difference.interval === null ? "" : ` (${between(difference.interval)})`}`
    }, ${verdict}`,
  ]);

const comparisonLines = (comparisons: readonly Comparison[]): readonly string[] =>
  rightAligned([
    ["", "", "paper", "here", "apart", "verdict"],
    ...comparisons.map(({ row, column, paper, paperError, ours, standardError, apart, verdict }) => [
      row,
      column,
      `${paper} ± ${paperError}`,
      ours === null ? "–" : withError(ours, standardError),
      apart === null ? "–" : `${fixed(apart, 1)} se`,
      verdict,
    ]),
  ]);

const requireShipped = (option: string): void => {
  if (!existsSync(SHIPPED)) throw new InputError("no-results", reproduceTexts.noShipped(option));
};

/** Where results are read from, and written to where something is run. */
const storeFor = async ({
  fromResults,
  resume,
  queue,
  out,
}: {
  readonly fromResults: string | true | undefined;
  readonly resume: boolean;
  readonly queue: string | undefined;
  readonly out: string;
}): Promise<ResultStore> => {
  const { ResultStore: Store, RESULTS } = await import("../../../reproduce/store.js");
  const shipped = (option: string): ResultStore => {
    requireShipped(option);
    return Store.read(SHIPPED);
  };
  if (fromResults !== undefined) {
    const useless = resume ? "--resume" : queue !== undefined ? "--queue" : undefined;
    if (useless !== undefined) throw new InputError("draws-only", reproduceTexts.drawsOnly(useless));
    return fromResults === true ? shipped("--from-results") : Store.read(fromResults);
  }
  return Store.open(join(out, RESULTS), resume ? shipped("--resume") : undefined);
};
