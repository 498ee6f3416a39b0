import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { writeText } from "../../src/cli/atomic-write.js";
import { commands } from "../../src/cli/commands/mitigation.js";
import { InputError } from "../../src/core/errors.js";
import { seededStream } from "../../src/core/random.js";
import { rareTexts } from "../../src/core/rare-values.js";
import { rejectOptionTexts } from "../../src/mitigation/reject-option.js";
import { stratify } from "../../src/mitigation/stratify.js";
import { readTaskTexts } from "../../src/sources/read-task.js";
import { rejectTableTexts } from "../../src/workflows/mitigate.js";
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
  const result = await command.run({
    arguments: { table: path },
    options: {
      ...defaults,
      target: "hired=yes",
      sensitive: ["group"],
      exclude: ["chance"],
      id: "id",
      ...given,
    },
    context: {
      signal: new AbortController().signal,
      checkpoint: async () => {},
      progress: () => ({ update: () => {}, end: () => {} }),
      say: () => {},
      writeFile: async (file, data) => writeFileSync(file, data as string),
    },
  });
  return {
    result: JSON.parse(JSON.stringify(result)),
    words: command.print?.(result) ?? "",
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
    expect(result.warnings).toEqual(
      result.representation.collapse === undefined ? [] : [result.representation.collapse],
    );
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
    expect(result.warnings).toEqual([rejectOptionTexts.outside(1.5, 2, result.rule.difference)]);
    expect(words).toContain("Warning: no threshold");
  });

  it("lets the privileged group be named", async () => {
    const { result } = await run("roc", table, { scores: "chance", privileged: "b" });
    expect(result.privileged).toBe("b");
    expect(result.metrics.before.difference).toBeGreaterThan(0.2);
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

it.each(["roc", "lfr"])("%s looks for the folder of --out before the work", async (name) => {
  const out = join(folder, "none", "out.csv");
  await expect(run(name, join(folder, "no-table.csv"), { out })).rejects.toThrow(writeText.noFolder(out));
});

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
