import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { acquireTexts } from "../../src/cli/commands/active/acquire.js";
import { quotaOptionTexts } from "../../src/cli/commands/active/quota-option.js";
import { rankCommandTexts } from "../../src/cli/commands/active/rank.js";
import { seededStream } from "../../src/core/random.js";
import { readTaskTexts } from "../../src/sources/read-task.js";
import { suppliedTexts } from "../../src/sources/supplied-members.js";
import { labelTexts } from "../../src/tables/label.js";
import { taskTexts } from "../../src/tables/task.js";
import { settingsTexts } from "../../src/workflows/acquisition-settings.js";
import { againstRandomTexts } from "../../src/workflows/against-random.js";
import { columnQuotaTexts } from "../../src/workflows/groups-by.js";
import { rankTexts } from "../../src/workflows/rank-plan.js";
import { rowSessionTexts } from "../../src/workflows/row-session.js";
import { simulateTexts } from "../../src/workflows/simulate.js";
import { needsDist } from "../setup/dist.js";
import { invoke } from "./one-process.js";

needsDist();
const folder = mkdtempSync(join(tmpdir(), "fairbed-active-"));
afterAll(() => rmSync(folder, { recursive: true }));
const at = (name: string) => join(folder, name);
const write = (name: string, contents: string): string => {
  writeFileSync(at(name), contents);
  return at(name);
};

/** People with a skill that decides, a taste that gives their group away, and a town that says nothing. */
const people = (rows: number, name: string): string => {
  const stream = seededStream(name);
  const lines = Array.from({ length: rows }, (_, i) => {
    const group = stream.uniform() < 0.5 ? "a" : "b";
    const skill = stream.normal() + (group === "a" ? 0.5 : 0);
    const taste = stream.normal() + (group === "a" ? 1.5 : -1.5);
    const town = ["north", "south", "east"][stream.integer(3)];
    const hired = skill + 0.3 * stream.normal() > 0 ? "yes" : "no";
    return [i, skill.toFixed(3), taste.toFixed(3), town, group, hired, i % 2 ? 1 : 3].join(",");
  });
  return ["id,skill,taste,town,group,hired,price", ...lines, ""].join("\n");
};
const table = write("people.csv", people(500, "people"));
const TASK = ["--target", "hired=yes", "--sensitive", "group=a", "--exclude", "price", "--id", "id"];
const QUICK = ["--budget", "12", "--batch", "4", "--trees", "20"];

const json = async (...words: string[]) => {
  const { code, stdout, stderr } = await invoke([...words, "--json", "--quiet"]);
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  return JSON.parse(stdout);
};

describe("acquire", () => {
  test("gives rows, metrics over seeds with intervals, and the parts of every score", async () => {
    const chosen = ["--shares", "none", "--random-part", "0"];
    const words = ["acquire", table, ...TASK, ...QUICK, ...chosen, "--seeds", "2", "--checkpoints", "0,6"];
    const answer = await json(...words);
    const [one] = answer.methods;
    expect(one.acquired).toHaveLength(2);
    expect(one.acquired[0]).toHaveLength(12);
    expect(new Set(one.acquired[0]).size).toBe(12);
    for (const name of ["accuracy", "sensitiveAccuracy", "dpRatio", "tprRatio", "fprRatio"]) {
      const { mean, standardError, interval } = one.final[name];
      expect(mean).toBeGreaterThanOrEqual(0);
      expect(mean).toBeLessThanOrEqual(1);
      expect(standardError).toBeGreaterThanOrEqual(0);
      expect(interval[0]).toBeLessThanOrEqual(mean);
      expect(interval[1]).toBeGreaterThanOrEqual(mean);
    }
    expect(one.checkpoints.map(({ labels }: { labels: number }) => labels)).toEqual([0, 8, 12]);
    const { score, target, leakage } = one.parts[0][0];
    expect(score).toBeCloseTo(target - 10 * leakage, 9);
    expect(one.parts[0][0].probability).toBeNull();
    const usual = await json("acquire", table, ...TASK, ...QUICK);
    const drawn = usual.methods[0].parts[0].filter(
      ({ probability }: { probability: unknown }) => probability !== null,
    );
    expect(drawn).toHaveLength(3);
    expect(drawn[0]).toMatchObject({ target: null, leakage: null });
    expect(answer.seconds).toBeGreaterThan(0);
  });

  test("a method comes with the settings it was measured with, and words come first", async () => {
    const words = ["acquire", table, ...TASK, "--budget", "2", "--trees", "20"];
    const settingsOf = async (...more: string[]) => {
      const { goal, sensitiveForest, sensitiveCorrection } = (await json(...words, ...more)).methods[0]
        .settings;
      return [goal.beta, sensitiveForest.minLeaf, sensitiveCorrection];
    };
    expect(await settingsOf()).toEqual([10, 10, "analytic"]);
    expect(await settingsOf("--method", "fairbed-set")).toEqual([3, 5, "none"]);
    expect(await settingsOf("--method", "fairbed-set", "--beta", "0.3", "--sensitive-leaf", "7")).toEqual([
      0.3,
      7,
      "none",
    ]);
  });

  test("the same seed gives the same rows, another one others", async () => {
    const rows = async (seed: string) =>
      (await json("acquire", table, ...TASK, ...QUICK, "--seed", seed)).methods[0].acquired[0];
    const first = await rows("3");
    expect(await rows("3")).toEqual(first);
    expect(await rows("4")).not.toEqual(first);
  });

  test.each([
    ["random", []],
    ["epig", []],
    ["bald", []],
    ["entropy", []],
    ["hfe", []],
    ["fairbed", ["--paper"]],
    ["fairbed", ["--sensitive-model", "pretrained", "--batch-kind", "joint"]],
    ["fairbed", ["--leakage-budget", "1", "--costs", "price"]],
    ["fairbed", ["--quota", "town=north:6-,town=south:-2"]],
    ["fairbed", ["--dp-at-least", "0.9", "--correction", "analytic"]],
  ])("%s %j", async (method, more) => {
    const answer = await json("acquire", table, ...TASK, ...QUICK, "--method", method, ...more);
    expect(answer.methods[0].acquired[0]).toHaveLength(12);
    expect(answer.methods[0].final.accuracy.mean).toBeGreaterThan(0.6);
  });

  test("several methods are compared on the same splits, in one shape, with a report", async () => {
    const out = join(folder, "report.html");
    const words = ["acquire", table, ...TASK, ...QUICK, "--seeds", "2", "--method", "random,epig,fairbed"];
    const answer = await json(...words, "--out", out);
    expect(answer.methods.map(({ method }: { method: string }) => method)).toEqual([
      "random",
      "epig",
      "fairbed",
    ]);
    expect(answer.initial).toHaveLength(2);
    const alone = await json("acquire", table, ...TASK, ...QUICK, "--seeds", "2", "--method", "epig");
    expect(alone.methods[0]).toEqual(answer.methods[1]);
    expect(Object.keys(alone)).toEqual(Object.keys(answer).filter((name) => name !== "report"));
    for (const { composition } of answer.methods) {
      const [{ attribute, groups }] = composition;
      expect(attribute).toBe("group=a");
      const sum = (of: (group: { acquired: { mean: number }; population: number }) => number) =>
        groups.map(of).reduce((a: number, b: number) => a + b, 0);
      expect(sum(({ acquired }) => acquired.mean)).toBeCloseTo(1, 12);
      expect(sum(({ population }) => population)).toBeCloseTo(1, 12);
      const inCells = composition[0].cells.map(({ population }: { population: number }) => population);
      expect(inCells).toHaveLength(4);
      expect(inCells.reduce((a: number, b: number) => a + b, 0)).toBeCloseTo(1, 12);
    }
    const html = readFileSync(out, "utf8");
    expect(html.match(/<svg/g)).toHaveLength(7);
    for (const text of [
      "Who was asked",
      "FairBED",
      "all candidates",
      "accuracy at a parity of 0.8",
      "groups told apart (AUC)",
      "leakage in nats",
    ])
      expect(html).toContain(text);
    const { stdout } = await invoke([...words, "--quiet"]);
    for (const row of ["random", "epig", "fairbed (beta 10)"]) expect(stdout).toContain(`\n${row} `);
  });

  test("a goal that was not met is said first, in JSON and on the page; each method is compared with random", async () => {
    const out = join(folder, "unmet.html");
    const words = ["acquire", table, ...TASK, ...QUICK, "--seeds", "2", "--leakage-budget", "0.000001"];
    const answer = await json(...words, "--out", out);
    expect(answer).toMatchObject({ met: false, againstRandom: { asked: false, level: 0.95 } });
    expect(answer.methods[0].goal).toMatchObject({ met: false, wanted: 0.000001 });
    expect(answer.methods[0].goal.reached.interval).toHaveLength(2);
    const page = readFileSync(out, "utf8");
    expect(page.indexOf("NOT MET: fairbed")).toBeGreaterThan(0);
    expect(page.indexOf("NOT MET: fairbed")).toBeLessThan(page.indexOf('class="lead"'));
    expect(page).toContain("What is gained over drawing at random");
    const { stdout } = await invoke([...words, "--quiet"]);
    expect(stdout).toMatch(/^NOT MET: fairbed was to keep within a leakage budget/);
    expect(stdout).toContain(`\n${answer.againstRandom.methods[0].sentence}\n`);
    const one = await invoke(["acquire", table, ...TASK, ...QUICK, "--quiet"]);
    expect(one.stdout).toContain(againstRandomTexts.oneSeed);
    expect(one.stdout).not.toContain("NOT MET");
  });

  test("weights count in the fits and in the metrics", async () => {
    const [head, ...rows] = readFileSync(table, "utf8").trim().split("\n");
    const heavy = rows.map((row) => `${row},${row.includes(",yes,") ? 9 : 1}`);
    const weighted = write("weighted.csv", [`${head},weight`, ...heavy, ""].join("\n"));
    const words = ["acquire", weighted, ...TASK, ...QUICK, "--method", "random"];
    const plain = await json(...words, "--exclude", "weight");
    const counted = await json(...words, "--weights", "weight");
    expect(counted.methods[0].acquired).toEqual(plain.methods[0].acquired);
    expect(counted.methods[0].final.selectionRate.mean).toBeGreaterThan(
      plain.methods[0].final.selectionRate.mean,
    );
    expect(counted.methods[0].final.accuracy.mean).not.toBe(plain.methods[0].final.accuracy.mean);
  });

  test("a supplied sensitive model: a table with a column for each member", async () => {
    const stream = seededStream("members");
    const rows = Array.from({ length: 500 }, () =>
      [0, 1, 2].map(() => stream.uniform().toFixed(3)).join(","),
    );
    const members = write("members.csv", ["m1,m2,m3", ...rows, ""].join("\n"));
    const answer = await json("acquire", table, ...TASK, ...QUICK, "--sensitive-model", members);
    expect(answer.methods[0].acquired[0]).toHaveLength(12);
    const short = write("short.csv", "m1,m2\n0.1,0.2\n");
    const { code, stderr } = await invoke(["acquire", table, ...TASK, ...QUICK, "--sensitive-model", short]);
    expect({ code, stderr }).toEqual({ code: 2, stderr: `fairbed: ${suppliedTexts.rows(short, 1, 500)}\n` });
  });

  test("several sensitive columns: metrics for each, by name", async () => {
    const words = ["--target", "hired=yes", "--sensitive", "group=a,town=north", "--exclude", "price,id"];
    const answer = await json("acquire", table, ...words, ...QUICK, "--combine", "worst");
    expect(Object.keys(answer.methods[0].bySensitive)).toEqual(["group=a", "town=north"]);
    expect(answer.methods[0].bySensitive["group=a"]).toEqual(answer.methods[0].final);
    const { stdout } = await invoke(["acquire", table, ...words, ...QUICK, "--quiet"]);
    expect(stdout).toContain("For town=north:");
  });

  test("rows without a label are counted", async () => {
    const gaps = write("gaps.csv", readFileSync(table, "utf8").replace(",yes,", ",,").replace(",no,", ",,"));
    const { notes } = await json("acquire", gaps, ...TASK, ...QUICK);
    expect(notes).toContain(taskTexts.unlabelled(2, "hired=yes"));
  });

  test("says it to a person", async () => {
    const { code, stdout } = await invoke(["acquire", table, ...TASK, ...QUICK, "--quiet"]);
    expect(code).toBe(0);
    // The rows of tables and the words below them; a warning, a note and a comparison are one line each, however long.
    const wide = stdout
      .split("\n")
      .filter(
        (line) => line.length > 100 && !/^Warning|^Note|^The report|: target |random acquisition/.test(line),
      );
    expect(wide).toEqual([]);
    expect(stdout).toMatch(/^what they give away +AUC +nats +guessed +score gap$/m);
    expect(stdout).toMatch(/^after 12 labels +accuracy +selected +parity +matched +at parity 0.8$/m);
    expect(stdout).toMatch(/^fairbed \(beta 10\) +0\.\d+/m);
    expect(stdout).toMatch(/^asked, by group=a/m);
  });

  const one = write("one.csv", people(60, "one").replaceAll(/,no,/g, ",yes,"));
  test.each([
    [[], readTaskTexts.noTable],
    [[table, "--sensitive", "group"], readTaskTexts.noTarget],
    [[table, "--target", "hired"], readTaskTexts.noSensitive],
    [[table, "--task", "students"], readTaskTexts.tableAndTask],
    [[table, ...TASK, "--budget", "5000"], simulateTexts.budget(5000, 500)],
    [[table, ...TASK, "--budget", "400"], rowSessionTexts.budget(400, 259)],
    [[table, ...TASK, "--paper", "--sensitive-leaf", "5"], settingsTexts.paperLeaf],
    [[table, ...TASK, "--leakage-budget", "1", "--dp-at-least", "0.8"], settingsTexts.twoGoals],
    [[one, "--target", "hired", "--sensitive", "group"], labelTexts.oneClass("hired")],
    [[table, ...TASK, "--method", "epig", "--leakage-budget", "1"], settingsTexts.goalMethod(["epig"])],
    [[table, ...TASK, "--batch-kind", "softmax"], simulateTexts.temperature],
    [[table, ...TASK, "--cost-weight", "2"], simulateTexts.costWeight],
    [
      [table, ...TASK, "--sensitive-model", "revealled"],
      acquireTexts.sensitiveModel("revealled", "revealed"),
    ],
    [[table, ...TASK, "--budget", "12", "--checkpoints", "50"], simulateTexts.checkpoint(50, 12)],
    [[table, "--target", "hired=yes", "--sensitive", "hired"], taskTexts.targetIsSensitive("hired")],
    [[table, ...TASK, "--features", "skill,hired"], taskTexts.targetIsFeature("hired")],
  ])("%j: one sentence and exit 2", async (words, text) => {
    const { code, stdout, stderr } = await invoke(["acquire", ...words]);
    expect({ code, stdout, stderr }).toEqual({ code: 2, stdout: "", stderr: `fairbed: ${text}\n` });
  });

  test("the password of a database is never shown", async () => {
    const address = "postgres://reader:s3cret@127.0.0.1:9/people";
    for (const words of [
      ["acquire", address, ...TASK],
      ["rank", address, "--labelled", table, ...TASK],
      ["rank", table, "--labelled", address, ...TASK],
      ["generalize", address, ...TASK],
      ["generalize", address, "--test", table, ...TASK],
      ["audit", address, ...TASK.slice(0, 4)],
      ["mitigate", "roc", address, ...TASK.slice(0, 4)],
      ["data", "describe", address],
    ]) {
      const { code, stdout, stderr } = await invoke([...words, "--json"]);
      expect(code).not.toBe(0);
      expect(stdout + stderr).not.toContain("s3cret");
    }
  });

  test("a column that does not exist: the nearest name", async () => {
    const { code, stderr } = await invoke(["acquire", table, "--target", "hird=yes", "--sensitive", "group"]);
    expect(code).toBe(2);
    expect(stderr).toContain('"hired"');
  });
});

describe("rank", () => {
  const labelled = write("labelled.csv", people(60, "labelled"));
  const pool = write(
    "pool.csv",
    people(300, "pool")
      .split("\n")
      .filter((line) => line !== "")
      .map((line) =>
        line
          .split(",")
          .filter((_, i) => i !== 4 && i !== 5)
          .join(","),
      )
      .join("\n"),
  );
  const words = ["rank", pool, "--labelled", labelled, ...TASK, "--trees", "20", "--top", "7"];

  test("the best candidates with their ids and parts, best first", async () => {
    const answer = await json(...words, "--batch-kind", "top");
    expect(answer.candidates.map(({ rank }: { rank: number }) => rank)).toEqual([1, 2, 3, 4, 5, 6, 7]);
    // A quarter is drawn at random, after those that were chosen by their scores.
    const reasons = answer.candidates.map(({ reason }: { reason: string }) => reason);
    expect(reasons).toEqual([...new Array(5).fill("score"), "random", "random"]);
    // Sixty ids of the pool are labelled already, and five were chosen before the first draw.
    expect(answer.candidates[5].probability).toBe(1 / 235);
    const chosen = answer.candidates.slice(0, 5);
    const scores = chosen.map(({ score }: { score: number }) => score);
    expect(scores).toEqual(scores.toSorted((a: number, b: number) => b - a));
    for (const { row, id } of answer.candidates) expect(id).toBe(String(row));
    for (const { score, target, leakage } of chosen) expect(score).toBeCloseTo(target - 10 * leakage, 9);
    expect(answer.features).toEqual(["skill", "taste", "town"]);
    expect(answer.rows).toBe(300);
  });

  test("costs, another table for the sensitive model, and a CSV file", async () => {
    const out = at("next.csv");
    const chosen = ["--shares", "none", "--random-part", "0"];
    const answer = await json(
      ...words,
      ...chosen,
      "--batch-kind",
      "top",
      "--costs",
      "price",
      "--cost-weight",
      "1",
      "--sensitive-table",
      table,
      "--out",
      out,
    );
    const lines = readFileSync(out, "utf8").trim().split("\n");
    expect(lines[0]).toBe("rank,row,id,score,target,leakage,cost,net,reason,probability");
    const nets = answer.candidates.map(({ net }: { net: number }) => net);
    expect(nets).toEqual(nets.toSorted((a: number, b: number) => b - a));
    expect(lines).toHaveLength(8);
    expect(answer.candidates.filter(({ cost }: { cost: number }) => cost === 1).length).toBeGreaterThan(4);
  });

  test("rows that are labelled already are left out, and ids must differ", async () => {
    const answer = await json(...words);
    expect(answer.notes).toContain(rankTexts.done(60));
    expect(Math.min(...answer.candidates.map(({ id }: { id: string }) => Number(id)))).toBeGreaterThan(59);
    const twice = write("twice.csv", "id,skill,taste,town\n900,1,1,north\n900,0,1,south\n");
    const { code, stderr } = await invoke(["rank", twice, ...words.slice(2)]);
    expect({ code, stderr }).toEqual({ code: 2, stderr: `fairbed: ${rankTexts.twice("id", 0, 1)}\n` });
  });

  test("with another table for the sensitive model, labels need no sensitive column", async () => {
    const plain = write(
      "plain.csv",
      readFileSync(labelled, "utf8")
        .split("\n")
        .map((line) =>
          line
            .split(",")
            .filter((_, i) => i !== 4)
            .join(","),
        )
        .join("\n"),
    );
    const asked = ["rank", pool, "--labelled", plain, "--sensitive-table", table, ...words.slice(4)];
    const answer = await json(...asked);
    expect(answer.sensitive).toEqual(["group=a"]);
    expect(answer.candidates[0].leakage).not.toBeNull();
    expect(answer.features).toEqual(["skill", "taste", "town"]);
  });

  test("what is no information is not called so", async () => {
    const { candidates } = await json(...words, "--method", "random");
    expect(candidates[0]).toMatchObject({ target: null, leakage: null });
    const { stdout } = await invoke([...words, "--method", "entropy", "--quiet"]);
    expect(stdout).toContain("leakage is not looked at");
  });

  test("quotas", async () => {
    const all = await json(...words, "--top", "9", "--quota", "town=north:4-,town=south:-1");
    const rows = readFileSync(pool, "utf8").split("\n");
    const towns = all.candidates.map(({ row }: { row: number }) => rows[row + 1].split(",")[3]);
    expect(towns.filter((town: string) => town === "north").length).toBeGreaterThanOrEqual(4);
    expect(towns.filter((town: string) => town === "south").length).toBeLessThanOrEqual(1);
    const many = await invoke([...words, "--quota", "town=north:9-"]);
    expect(many).toMatchObject({ code: 2, stderr: `fairbed: ${columnQuotaTexts.room(9, 7)}\n` });
    const { code, stderr } = await invoke([...words, "--quota", "town=north"]);
    expect({ code, stderr }).toEqual({
      code: 2,
      stderr: `fairbed: ${quotaOptionTexts.form("town=north")}\n`,
    });
  });

  test("says it to a person, and what is missing", async () => {
    const { stdout } = await invoke([...words, "--quiet"]);
    expect(stdout).toContain("300 candidates, 60 rows are labelled");
    const { code, stderr } = await invoke(["rank", pool, ...TASK]);
    expect({ code, stderr }).toEqual({ code: 2, stderr: `fairbed: ${rankCommandTexts.noLabelled}\n` });
  });

  test("a bad pool leaves nothing behind", async () => {
    const before = readdirSync(folder);
    const empty = write("empty.csv", "skill,taste,town\n");
    const { code } = await invoke(["rank", empty, "--labelled", labelled, ...TASK, "--out", at("none.csv")]);
    expect(code).toBe(2);
    expect(readdirSync(folder)).toEqual([...before, "empty.csv"].toSorted());
  });
});
