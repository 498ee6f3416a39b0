import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { writeText } from "../../src/cli/atomic-write.js";
import { commands } from "../../src/cli/commands/mitigation.js";
import { requireOutputs } from "../../src/cli/out-folder.js";
import { InputError } from "../../src/core/errors.js";
import { seededStream } from "../../src/core/random.js";
import { rareTexts } from "../../src/core/rare-values.js";
import { fairRuleTexts } from "../../src/mitigation/fair-rule.js";
import { rejectOptionTexts } from "../../src/mitigation/reject-option.js";
import { stratify } from "../../src/mitigation/stratify.js";
import { readTaskTexts } from "../../src/sources/read-task.js";
import { rejectTableTexts } from "../../src/workflows/mitigate.js";
import { reweighTableTexts } from "../../src/workflows/mitigate-reweigh.js";
import { mitigationSplitTexts } from "../../src/workflows/mitigation-split.js";

const folder = mkdtempSync(join(tmpdir(), "fairbed-mitigation-"));
afterAll(() => rmSync(folder, { recursive: true }));
const write = (name: string, contents: string): string => {
  writeFileSync(join(folder, name), contents);
  return join(folder, name);
};

/** People of whom the group "a" is hired more often, by a skill that it also has more of. */
const people = (rows: number, name: string): string => {
  const stream = seededStream(name);
  const lines = Array.from({ length: rows }, (_, i) => {
    const group = ["a", "b"][stream.integer(2)];
    const skill = stream.normal() + (group === "a" ? 0.9 : 0);
    const hired = skill + 0.5 * stream.normal() > 0.4 ? "yes" : "no";
    const chance = 1 / (1 + Math.exp(-2 * (skill - 0.4)));
    const town = ["north", "south"][stream.integer(2)];
    return [`${name}${i}`, skill.toFixed(3), town, stream.integer(3), group, hired, chance.toFixed(4)].join(
      ",",
    );
  });
  return ["id,skill,town,level,group,hired,chance", ...lines, ""].join("\n");
};
const table = write("people.csv", people(600, "p"));
const other = write("others.csv", people(200, "q"));

/** Runs a command as the command line does, with its options' own defaults. */
const run = async (name: string, path: string, given: Record<string, unknown>) => {
  const command = commands.find((each) => each.name === `mitigate ${name}`);
  if (command === undefined) throw new Error(`there is no command mitigate ${name}`);
  const defaults = Object.fromEntries(
    Object.entries(command.options).map(([key, { fallback }]) => [key, fallback]),
  );
  for (const key of Object.keys(given)) if (!(key in defaults)) throw new Error(`there is no option ${key}`);
  const input = {
    arguments: { table: path },
    options: {
      ...defaults,
      target: "hired=yes",
      sensitive: ["group"],
      exclude: ["chance"],
      id: "id",
      ...given,
    },
  };
  await requireOutputs(command, input);
  const result = await command.run({
    ...input,
    given: new Set(Object.keys(given)),
    context: {
      signal: new AbortController().signal,
      checkpoint: async () => {},
      saysHowToGoOn: () => {},
      untilStopped: async () => {},
      progress: () => ({ update: () => {}, end: () => {} }),
      say: () => {},
      writeFile: async (file, data) => writeFileSync(file, data as string),
    },
  });
  return {
    result: JSON.parse(JSON.stringify(result)),
    words: command.print?.(result, input.options) ?? "",
  };
};

const quick = { trees: 30, steps: 200, restarts: 2 };

describe("mitigate lfr", () => {
  it("brings the groups together, and gives the representation of every row", async () => {
    const out = join(folder, "fair.csv");
    const { result, words } = await run("lfr", table, { ...quick, parity: 20, out });
    expect(result.privileged).toBe("a");
    // Shares are rounded in each of the four strata.
    expect(result.rows).toEqual({ train: 419, test: 181 });
    const { forest, representation } = result.metrics;
    expect(forest.difference).toBeLessThan(-0.2);
    expect(Math.abs(representation.difference)).toBeLessThan(Math.abs(forest.difference) - 0.1);
    // The test rows differ from those that it was learnt from, which is said first.
    expect(result.warnings).toEqual([
      ...(result.representation.collapse === undefined ? [] : [result.representation.collapse]),
      result.band.sentence,
    ]);
    expect(words).toMatch(/^NOT MET: fitted to a difference of selection rates/);
    const lines = readFileSync(out, "utf8").trimEnd().split("\n");
    expect(lines).toHaveLength(601);
    expect(lines[0]).toBe("id,prototype 1,prototype 2,prototype 3,prototype 4,prototype 5");
    const [id, ...values] = lines[7].split(",");
    expect(id).toBe("p6");
    expect(values.reduce((sum, value) => sum + Number(value), 0)).toBeCloseTo(1, 5);
    expect(words).toContain("forest on the representation");
    expect(words).not.toContain("NaN");
  });

  it("learns from one table and tests on another", async () => {
    const { result } = await run("lfr", table, { ...quick, test: other });
    expect(result.rows).toEqual({ train: 600, test: 200 });
  });

  it("gives the same for the same seed", async () => {
    const [first, again] = [
      await run("lfr", table, { ...quick, seed: 3 }),
      await run("lfr", table, { ...quick, seed: 3 }),
    ];
    expect({ ...first.result, seconds: 0 }).toEqual({ ...again.result, seconds: 0 });
  });
});

describe("mitigate roc", () => {
  it("makes a forest fair at some cost", async () => {
    const { result, words } = await run("roc", table, { trees: 50 });
    expect(result.rows).toEqual({ train: 293, validation: 126, test: 181 });
    expect(result.rule.withinBand).toBe(true);
    expect(result.metrics.before.difference).toBeLessThan(-0.2);
    expect(Math.abs(result.metrics.after.difference)).toBeLessThan(0.2);
    expect(words).toContain("reject option");
  });

  it("takes scores of another model", async () => {
    const out = join(folder, "roc.csv");
    const { result } = await run("roc", table, { scores: "chance", test: other, out });
    expect(result.rows).toEqual({ train: 0, validation: 600, test: 200 });
    const [heading, ...lines] = readFileSync(out, "utf8").trimEnd().split("\n");
    expect(heading).toBe("id,score,before,after");
    expect(lines).toHaveLength(200);
    const groups = new Map(
      readFileSync(other, "utf8")
        .split("\n")
        .map((line) => [line.split(",")[0], line.split(",")[4]]),
    );
    const { threshold, margin } = result.rule;
    for (const line of lines) {
      const [id, score, before, after] = line.split(",");
      expect(Number(before)).toBe(Number(Number(score) > 0.5));
      const limit = groups.get(id) === "a" ? threshold + margin : threshold - margin;
      expect(Number(after)).toBe(Number(Number(score) > limit));
    }
  });

  it("says when no rule is fair enough", async () => {
    const { result, words } = await run("roc", table, { scores: "chance", lower: 1.5, upper: 2 });
    expect(result.rule.withinBand).toBe(false);
    expect(result.warnings).toContain(rejectOptionTexts.outside(1.5, 2, result.rule.difference));
    expect(words).toContain("Warning: no threshold");
  });

  it("lets the privileged group be named", async () => {
    const { result } = await run("roc", table, { scores: "chance", privileged: "b" });
    expect(result.privileged).toBe("b");
    expect(result.metrics.before.difference).toBeGreaterThan(0.2);
  });
});

/** Group and outcome of each person by id. */
const known = (path: string) =>
  new Map(
    readFileSync(path, "utf8")
      .trimEnd()
      .split("\n")
      .slice(1)
      .map((line) => line.split(","))
      .map(([id, , , , group, hired]) => [id, { group, hired: Number(hired === "yes") }]),
  );
/** The lower over the higher rate of groups a and b among the lines "id,…,decision" that `counts` keeps. */
const ratioOf = (
  lines: readonly string[],
  path: string,
  counts: (hired: number | undefined) => boolean,
): number => {
  const about = known(path);
  const rates = ["a", "b"].map((group) => {
    const own = lines
      .map((line) => line.split(","))
      .filter(([id]) => about.get(id)?.group === group && counts(about.get(id)?.hired));
    return own.reduce((sum, line) => sum + Number(line[line.length - 1]), 0) / own.length;
  });
  return Math.min(...rates) / Math.max(...rates);
};

describe("mitigate rule", () => {
  it.each([
    ["dp", () => true],
    ["eopp", (hired: number | undefined) => hired === 1],
  ] as const)("decides rows that nothing was fitted on, %s", async (metric, counts) => {
    const out = join(folder, `rule-${metric}.csv`);
    const { result, words } = await run("rule", table, { trees: 50, metric, out, test: other });
    // Shares are rounded in each of the four strata.
    expect(result.rows).toEqual({ train: 419, validation: 181, test: 200 });
    expect(result.groups).toEqual(["a", "b"]);
    expect(result.rule.reached).toBe(true);
    expect(result.rule.ratio).toBeGreaterThanOrEqual(0.8);
    const [heading, ...lines] = readFileSync(out, "utf8").trimEnd().split("\n");
    expect(heading).toBe("id,score,before,after");
    expect(lines).toHaveLength(200);
    expect(result.reached.ratio).toBeCloseTo(ratioOf(lines, other, counts), 10);
    const name = metric === "dp" ? "dpRatio" : "tprRatio";
    expect(result.metrics.after[name]).toBeCloseTo(result.reached.ratio, 10);
    expect(result.metrics.after.accuracy).toBeCloseTo(result.reached.accuracy, 10);
    expect(result.metrics.after[name]).toBeGreaterThan(result.metrics.before[name]);
    expect(result.reached.interval[0]).toBeLessThanOrEqual(result.reached.ratio);
    expect(words).toContain("fair rule");
    expect(words).toContain("does not see the attribute");
    expect(words).not.toContain("NaN");
  });

  it("gives the same for the same seed, and something else for predicted groups", async () => {
    const [first, again, soft] = [
      await run("rule", table, { trees: 20, selectionRate: 0.4 }),
      await run("rule", table, { trees: 20, selectionRate: 0.4 }),
      await run("rule", table, { trees: 20, selectionRate: 0.4, soft: true }),
    ];
    expect({ ...first.result, seconds: 0 }).toEqual({ ...again.result, seconds: 0 });
    expect([first.result.rule.countedBy, soft.result.rule.countedBy]).toEqual(["groups", "probabilities"]);
    expect(Math.abs(first.result.rule.selectionRate - 0.4)).toBeLessThan(0.05);
  });

  it("says where the level cannot be reached", async () => {
    // Features that say nothing about the group: no multipliers help, and the share to select is given.
    const { result, words } = await run("rule", table, {
      trees: 10,
      scores: "chance",
      features: ["town"],
      level: 1,
      selectionRate: 0.3,
    });
    expect(result.rule.reached).toBe(false);
    expect(result.warnings).toContain(fairRuleTexts.notReached(1, result.rule.ratio, 0.3));
    expect(words).toContain("Warning: no multipliers reach a ratio of 1");
  });

  it("compares several groups, and leaves out one of a few people", async () => {
    const lines = people(600, "m")
      .split("\n")
      .map((line, i) => (i % 4 === 1 ? line.replace(/,b,/, ",c,") : line))
      .map((line) => line.replace(/^m7,(.*),[abc],(yes|no),/, "m7,$1,SECRETX,$2,"));
    const { result, words } = await run("rule", write("several.csv", lines.join("\n")), { trees: 30 });
    expect(result.groups).toEqual(["a", "b", "c"]);
    expect(result.rule.multipliers).toHaveLength(3);
    expect(result.rule.ratio).toBeGreaterThanOrEqual(0.8);
    expect(result.notes).toHaveLength(1);
    expect(result.notes[0]).toContain("left out of the comparison");
    expect(words + JSON.stringify(result)).not.toContain("SECRETX");
  });
});

describe("mitigate reweigh", () => {
  it("gives every row a weight, under which outcome and group are independent", async () => {
    const out = join(folder, "weights.csv");
    const { result, words } = await run("reweigh", table, { trees: 50, test: other, out });
    expect(result.rows).toEqual({ train: 600, test: 200 });
    const [heading, ...lines] = readFileSync(out, "utf8").trimEnd().split("\n");
    expect(heading).toBe("id,weight");
    expect(lines).toHaveLength(800);
    const about = known(table);
    const sums = [0, 0, 0, 0];
    for (const line of lines.slice(0, 600)) {
      const [id, weight] = line.split(",");
      const person = about.get(id);
      sums[(person?.hired ?? 0) * 2 + Number(person?.group === "a")] += Number(weight);
    }
    expect((sums[0] * sums[3]) / (sums[1] * sums[2])).toBeCloseTo(1, 9);
    expect(result.cells).toHaveLength(4);
    expect(result.metrics.after.dpRatio).toBeGreaterThan(result.metrics.before.dpRatio);
    expect(words).toContain("forest, reweighed");
    expect(words).not.toContain("NaN");
  });

  it("says which cell is empty", async () => {
    const lines = people(300, "e")
      .split("\n")
      .filter((line) => !line.includes(",b,yes,"))
      .concat(
        people(40, "c")
          .split("\n")
          .slice(1)
          .map((line) => line.replace(/,[ab],/, ",c,")),
      );
    const { result } = await run("reweigh", write("empty.csv", lines.join("\n")), { trees: 5 });
    expect(result.warnings).toContain(reweighTableTexts.empty("yes", "b"));
  });
});

describe("a group of one person", () => {
  const rare = write("rare.csv", people(200, "r").replace(/^r7,(.*),[ab],(yes|no),/m, "r7,$1,SECRETX,yes,"));

  it("is neither named nor taken as the privileged one", async () => {
    const attempt = run("roc", rare, { privileged: "z" });
    await expect(attempt).rejects.toThrow(mitigationSplitTexts.privileged("z", ["a", "b"], 3));
    expect(mitigationSplitTexts.privileged("z", ["a", "b"], 3)).toContain(
      "give one of a, b (groups of fewer",
    );
    const { result, words } = await run("roc", rare, { scores: "chance" });
    expect(result.privileged).toBe("a");
    expect(words + JSON.stringify(result)).not.toContain("SECRETX");
  });

  it("is not named by a feature either", async () => {
    const town = write("town.csv", people(200, "t").replace(/^(t7,[^,]*),[a-z]+,/m, "$1,SECRETX,"));
    const { result } = await run("lfr", town, { trees: 3, steps: 5, restarts: 1, testFraction: 0.02 });
    expect(result.featureNames).toContain(`town: ${rareTexts.some("value", 1)}`);
    expect(JSON.stringify(result)).toContain("north");
    expect(JSON.stringify(result)).not.toContain("SECRETX");
  });

  it("is refused where there is no other", async () => {
    const lines = people(12, "s")
      .split("\n")
      .map((line, i) => line.replace(/,[ab],/, `,g${i % 4},`));
    await expect(run("roc", write("few.csv", lines.join("\n")), { scores: "chance" })).rejects.toThrow(
      mitigationSplitTexts.rareGroups,
    );
  });
});

it.each(["roc", "lfr", "rule", "reweigh"])(
  "%s looks for the folder of --out before the work",
  async (name) => {
    const out = join(folder, "none", "out.csv");
    await expect(run(name, join(folder, "no-table.csv"), { out })).rejects.toThrow(writeText.noFolder(out));
  },
);

describe("wrong use", () => {
  it.each([
    [{ target: "level" }, mitigationSplitTexts.outcomes("level", 3)],
    [{ sensitive: ["group", "town"] }, mitigationSplitTexts.oneSensitive(["group", "town"])],
    [{ privileged: "z" }, mitigationSplitTexts.privileged("z", ["a", "b"], 2)],
    [{ scores: "town" }, rejectTableTexts.scores("town")],
    [{ scores: "level" }, rejectOptionTexts.score(0, 2).slice(-40)],
    [{ test: other, task: "students" }, readTaskTexts.testWithTask],
    [{ testFraction: 0.001 }, mitigationSplitTexts.fewRows("to test on")],
  ])("is said in one sentence: %j", async (given, text) => {
    const attempt = run("roc", table, given);
    await expect(attempt).rejects.toThrow(InputError);
    await expect(attempt).rejects.toThrow(text);
  });
});

describe("stratify", () => {
  it("takes the same share of every outcome in every group", () => {
    const rows = Int32Array.from({ length: 100 }, (_, i) => i);
    const labels = rows.map((i) => Number(i % 10 < 3));
    const groups = rows.map((i) => Number(i >= 60));
    const { rest, part } = stratify(rows, labels, groups, 0.5, seededStream(1));
    expect(new Set([...rest, ...part]).size).toBe(100);
    const count = (of: Int32Array, label: number, group: number) =>
      of.filter((row) => labels[row] === label && groups[row] === group).length;
    expect([count(part, 0, 0), count(part, 1, 0), count(part, 0, 1), count(part, 1, 1)]).toEqual([
      21, 9, 14, 6,
    ]);
  });
});
