import { copyFileSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import { afterAll, expect, test } from "vitest";
import { reproduceTexts } from "../../src/cli/commands/experiments/reproduce.js";
import { datasetNamed } from "../../src/data/catalogue.js";
import { dataFolderTexts } from "../../src/data/data-folder.js";
import { catalogueTexts, REPRODUCTION_NAMES } from "../../src/experiments/reproduce/catalogue.js";
import { storeTexts } from "../../src/experiments/reproduce/store.js";
import { describeWithData } from "../setup/data.js";
import { needsDist } from "../setup/dist.js";
import { invoke } from "./invoke.js";

needsDist();
/** The first bytes of every PNG. */
const PNG = [0x89, 0x50, 0x4e, 0x47];
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
  expect(readFileSync(join(out, "cells.csv"), "utf8").split("\n")[0]).toMatch(
    /^key,kind,what,seed,labels,target lower,target upper,/,
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
  expect(await invoke(["reproduce", "all", "--from-results", "--resume"])).toMatchObject({
    code: 2,
    stderr: `fairbed: ${reproduceTexts.drawsOnly}\n`,
  });
  const none = join(folder, "no results");
  expect(await invoke(["reproduce", "all", "--from-results", none])).toMatchObject({
    code: 2,
    stderr: `fairbed: ${storeTexts.none(none)}\n`,
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

/** Every file under a folder, by its path from there. */
const contentsOf = (path: string): ReadonlyMap<string, Buffer> =>
  new Map(
    readdirSync(path, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name))
      .sort()
      .map((file) => [relative(path, file), readFileSync(file)]),
  );

/** The numbers of a text, and what is between them. */
const numbersIn = (text: string) => ({
  words: text.split(/-?\d+(?:\.\d+)?(?:e-?\d+)?/),
  numbers: (text.match(/-?\d+(?:\.\d+)?(?:e-?\d+)?/g) ?? []).map(Number),
});

const FILES = [
  "students-dropout/data.csv",
  "census-income-kdd/census-income.data.gz",
  "celeba/list_attr_celeba.txt.gz",
  "celeba/resnet18-layer3-gap-000001-010000.npy.gz",
  "adult/adult.data.gz",
  "adult/adult.test.gz",
];

describeWithData("reproduce all --quick", FILES, (data) => {
  const out = join(folder, "all");
  const env = { FAIRBED_DATA: data };
  const words = ["reproduce", "all", "--quick", "--quiet", "--json"];
  /** What is drawn from these results, beside what the run drew. */
  const drawnFrom = async (name: string, results: string) => {
    const again = join(folder, name);
    const { code, stdout } = await invoke([...words, "--out", again, "--from-results", results]);
    expect(code).toBe(0);
    return { answer: JSON.parse(stdout), files: contentsOf(again) };
  };

  test("stopped in the middle, it goes on where it was; then it is drawn again from its results", async () => {
    const results = join(out, "results.jsonl");
    const stopped = await invoke(["reproduce", "fig-lfr-students", "--quick", "--quiet", "--out", out], {
      env,
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

    const ledger = join(folder, "reproduction.md");
    const first = await invoke([...words, "--out", out, "--jobs", "2", "--ledger", ledger], { env });
    expect(first).toMatchObject({ code: 0, stderr: "" });
    const { cells, files, names, reproductions, notes } = JSON.parse(first.stdout);
    expect(notes).toEqual([]);
    expect(names).toEqual(REPRODUCTION_NAMES);
    expect(cells).toEqual({ wanted: cells.wanted, ran: cells.wanted - before, stored: cells.wanted });
    const drawn = contentsOf(out);
    expect([...drawn.keys()].filter((file) => file !== "results.jsonl").sort()).toEqual([...files].sort());
    const page = readFileSync(ledger, "utf8");
    for (const name of REPRODUCTION_NAMES) {
      // Every one but the tables has a figure, as SVG and as PNG, in the folder and beside the ledger.
      const own = files.filter((file: string) => new RegExp(`^${name}-[A-Za-z]+\\.svg$`).test(file));
      expect([name, own.length > 0]).toEqual([name, !name.startsWith("table-")]);
      expect(page).toContain(`\`${name}\``);
      for (const file of own) {
        expect(drawn.get(file)?.subarray(0, 4).toString()).toBe("<svg");
        expect([...(drawn.get(file.replace(/svg$/, "png"))?.subarray(0, 4) ?? [])]).toEqual(PNG);
        expect(page).toContain(`(reproduction/${file})`);
        expect(existsSync(join(folder, "reproduction", file))).toBe(true);
      }
    }
    // Its own settings, not those of the paper's protocol.
    expect(drawn.get("index.html")?.toString()).toContain("40 labels, 10 at a time, 2 seeds");
    expect(drawn.get("index.html")?.toString()).not.toContain("400 labels");

    const second = JSON.parse((await invoke([...words, "--out", out], { env })).stdout);
    expect(second.cells).toEqual({ ...cells, ran: 0 });
    expect(contentsOf(out)).toEqual(drawn);

    const exact = await drawnFrom("from lines", results);
    expect(exact.answer.reproductions).toEqual(reproductions);
    expect(exact.files).toEqual(new Map([...drawn].filter(([name]) => name !== "results.jsonl")));

    const compact = await drawnFrom("from tables", join(out, "results"));
    expect([...compact.files.keys()]).toEqual([...exact.files.keys()]);
    for (const [name, contents] of compact.files) {
      // Six significant digits of what was measured.
      if (name === "comparisons.csv") {
        const [ours, whole] = [contents, exact.files.get(name)].map((each) => numbersIn(String(each)));
        expect(ours.words).toEqual(whole.words);
        for (const [i, value] of ours.numbers.entries()) {
          expect(Math.abs(value - whole.numbers[i])).toBeLessThan(1e-5 * Math.max(1, Math.abs(value)));
        }
      }
      if (name.startsWith("results")) expect(contents).toEqual(exact.files.get(name));
    }
  }, 240_000);
});
