import { copyFileSync, existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { reproduceTexts } from "../../src/cli/commands/experiments/reproduce.js";
import { datasetNamed } from "../../src/data/catalogue.js";
import { dataFolderTexts } from "../../src/data/data-folder.js";
import { catalogueTexts, REPRODUCTION_NAMES } from "../../src/experiments/reproduce/catalogue.js";
import { describeWithData } from "../setup/data.js";
import { needsDist } from "../setup/dist.js";
import { invoke } from "./invoke.js";

needsDist();
const folder = mkdtempSync(join(tmpdir(), "fairbed-reproduce-cli-"));
afterAll(() => rmSync(folder, { recursive: true }));

test("a table in quick: once run, then only drawn, here and from a copy of its results", async () => {
  const out = join(folder, "location");
  const words = ["reproduce", "table-location", "--quick", "--quiet", "--json"];
  const first = await invoke([...words, "--out", out, "--jobs", "2"]);
  expect(first).toMatchObject({ code: 0, stderr: "" });
  const { cells, reproductions } = JSON.parse(first.stdout);
  expect(cells).toEqual({ wanted: 10, ran: 10, stored: 10 });
  expect(reproductions[0].comparisons).toHaveLength(10);
  expect(reproductions[0].comparisons[0]).toMatchObject({
    row: "Random",
    column: "EIG_phi / EIG_theta",
    paper: 1.009,
    seeds: 2,
    verdict: "not run",
  });
  const page = readFileSync(join(out, "index.html"), "utf8");
  expect(page).toContain("1.009 ± 0.034");
  expect(readFileSync(join(out, "cells.csv"), "utf8").split("\n")[0]).toBe(
    "key,kind,what,seed,labels,metric,value",
  );
  expect(JSON.parse(readFileSync(join(out, "cells.json"), "utf8"))).toHaveLength(10);

  const again = JSON.parse((await invoke([...words, "--out", out])).stdout);
  expect(again.cells).toEqual({ wanted: 10, ran: 0, stored: 10 });
  expect(again.reproductions).toEqual(reproductions);

  const copy = join(folder, "copy.jsonl");
  copyFileSync(join(out, "results.jsonl"), copy);
  const drawn = await invoke([...words, "--out", join(folder, "drawn"), "--from-results", copy]);
  expect(JSON.parse(drawn.stdout).reproductions).toEqual(reproductions);
  expect(existsSync(join(folder, "drawn", "results.jsonl"))).toBe(false);
});

test("what is not there is said in one sentence", async () => {
  expect(await invoke(["reproduce", "fig-horizn"])).toMatchObject({
    code: 2,
    stderr: `fairbed: ${catalogueTexts.unknown("fig-horizn", "fig-horizon")}\n`,
  });
  expect(await invoke(["reproduce"])).toMatchObject({
    code: 2,
    stderr: `fairbed: ${reproduceTexts.noNames(["all", ...REPRODUCTION_NAMES])}\n`,
  });
});

test("a table whose data is not here is not run, and says how to get it", async () => {
  const { code, stdout } = await invoke(
    ["reproduce", "table-celeba", "--quick", "--quiet", "--json", "--out", join(folder, "none")],
    { env: { FAIRBED_DATA: join(folder, "nowhere") } },
  );
  expect(code).toBe(0);
  const { notes, cells } = JSON.parse(stdout);
  expect(cells).toEqual({ wanted: 10, ran: 0, stored: 0 });
  expect(notes).toEqual([dataFolderTexts.notHere(datasetNamed("celeba"), join(folder, "nowhere"))]);
});

describeWithData("reproduce on Student Graduation", ["students-dropout/data.csv"], (data) => {
  test("a figure, as SVG and in the page; stopped in the middle, it goes on where it was", async () => {
    const out = join(folder, "students");
    const words = ["reproduce", "fig-lfr-students", "--quick", "--quiet", "--json", "--out", out];
    const results = join(out, "results.jsonl");
    const stopped = await invoke(words, {
      env: { FAIRBED_DATA: data },
      during: (child) => {
        const watch = setInterval(() => {
          if (!existsSync(results)) return;
          clearInterval(watch);
          child.kill("SIGINT");
        }, 20);
        child.on("close", () => clearInterval(watch));
      },
    });
    expect(stopped.code).toBe(130);
    const before = readFileSync(results, "utf8").split("\n").length - 1;
    expect(before).toBeGreaterThan(0);
    const { stdout } = await invoke(words, { env: { FAIRBED_DATA: data } });
    const { cells, files } = JSON.parse(stdout);
    // Random, EPIG and two betas; each acquired and represented; two seeds.
    expect(cells).toEqual({ wanted: 16, ran: 16 - before, stored: 16 });
    expect(files).toContain("fig-lfr-students-lfr.svg");
    expect(readFileSync(join(out, "fig-lfr-students-lfr.svg"), "utf8")).toMatch(/^<svg/);
    // The first bytes of every PNG.
    const png = readFileSync(join(out, "fig-lfr-students-lfr.png"));
    expect([...png.subarray(0, 4)]).toEqual([0x89, 0x50, 0x4e, 0x47]);
    expect(readFileSync(join(out, "index.html"), "utf8")).toContain("FairBED and LFR");
  });
});
