/** A fitted model: its metrics against a count by hand, its file, and what it says of other tables. */
import { readFileSync } from "node:fs";
import { describe, expect, it, test } from "vitest";
import { seededStream } from "../../src/core/random.js";
import { rareTexts } from "../../src/core/rare-values.js";
import { wilsonInterval } from "../../src/core/stats.js";
import { VERSION } from "../../src/core/version.js";
import { LEARNER_NAMES } from "../../src/learners/by-name.js";
import { labelTexts } from "../../src/tables/label.js";
import {
  type Column,
  columnNamed,
  columnOfNumbers,
  columnOfTexts,
  selectRows,
  type Table,
} from "../../src/tables/table.js";
import { taskTexts } from "../../src/tables/task.js";
import { fitModel, fitTexts } from "../../src/workflows/fit-model.js";
import { type FittedModel, modelTexts, readModel } from "../../src/workflows/fitted-model.js";
import { heldOutParts, heldOutTexts } from "../../src/workflows/held-out-metrics.js";
import { predict, predictTexts } from "../../src/workflows/predict.js";

const tableOfColumns = (columns: readonly Column[], rows: number): Table => ({
  name: "people",
  rows,
  columns,
  notes: [],
});

/** Skill decides, with an error for one in ten; a town of three, a few missing numbers, an odd id. */
const people = (rows: number, unlabelled = 0): Table => {
  const stream = seededStream("people");
  const skill = Array.from({ length: rows }, () => stream.integer(10));
  const sex = Array.from({ length: rows }, () => (stream.uniform() < 0.4 ? "f" : "m"));
  const town = Array.from({ length: rows }, () => ["01", "1", 'Zoë, "x"'][stream.integer(3)]);
  const hired = skill.map((each, i) => {
    if (i >= rows - unlabelled) return undefined;
    return each > 4 !== stream.uniform() < 0.1 ? "yes" : "no";
  });
  return tableOfColumns(
    [
      columnOfTexts(
        "id",
        skill.map((_, i) => `=P${i}`),
      ),
      columnOfNumbers("skill", skill),
      columnOfNumbers(
        "age",
        skill.map((_, i) => (i % 7 === 0 ? Number.NaN : 20 + ((i * 13) % 40))),
      ),
      columnOfTexts("town", town),
      columnOfTexts("sex", sex),
      columnOfNumbers(
        "weight",
        skill.map((_, i) => i % 3),
      ),
      columnOfTexts("hired", hired),
    ],
    rows,
  );
};
const OPTIONS = {
  target: "hired=yes",
  sensitive: ["sex"],
  id: "id",
  exclude: ["weight"],
  replicates: 100,
} as const;
const bits = (values: Float64Array): string =>
  Array.from(new BigUint64Array(values.buffer, values.byteOffset, values.length)).join();
const texts = (table: Table, name: string): (string | undefined)[] => {
  const column = columnNamed(table, name);
  if (column.kind === "numeric") return [...column.values].map(String);
  return [...column.codes].map((code) => column.levels[code]);
};

describe("fitModel", () => {
  it("is fitted on all rows with a label, and says which were left out", async () => {
    const model = await fitModel(people(120, 20), OPTIONS);
    expect(model.rows).toBe(100);
    expect(model.notes).toContain(taskTexts.unlabelled(20, "hired=yes"));
    expect(model.heldOut).toMatchObject({ method: "cross-validation", folds: 5, rows: 100, level: 0.95 });
    expect(model.columns).toEqual([
      { name: "skill", kind: "numeric" },
      { name: "age", kind: "numeric" },
      { name: "town", kind: "categorical" },
    ]);
    expect(model.target).toEqual({ name: "hired=yes", classes: ["no", "yes"] });
    // One in ten labels is wrong, and the rest is a threshold that a tree finds.
    const { accuracy } = model.heldOut?.overall[0].rates ?? {};
    expect(accuracy?.value).toBeGreaterThan(0.75);
    expect(accuracy?.interval?.[0]).toBeLessThan(accuracy?.value ?? 0);
  });

  it("without labels that may be missing gives the model of the labelled rows alone", async () => {
    const whole = people(120, 20);
    const alone = selectRows(
      whole,
      Array.from({ length: 100 }, (_, row) => row),
    );
    const [one, two] = [await fitModel(whole, OPTIONS), await fitModel(alone, OPTIONS)];
    expect(one.learner).toEqual(two.learner);
    expect(one.heldOut).toEqual(two.heldOut);
  });

  it("has the rates of a held-out part as counted by hand from its predictions", async () => {
    const table = people(200);
    const testFraction = 0.25;
    const model = await fitModel(table, { ...OPTIONS, testFraction, seed: 4 });
    expect(model.heldOut).toMatchObject({ method: "test-fraction", testFraction });
    // The same rows held out, and the same model of the rest, made by themselves.
    const labels = Int32Array.from(texts(table, "hired"), (text) => Number(text === "yes"));
    const all = Int32Array.from(labels.keys());
    const stream = seededStream(4).split("fit");
    const [{ learntFrom, judged }] = heldOutParts(
      all,
      labels,
      { folds: 5, testFraction },
      stream.split("held out"),
    );
    expect(judged).toHaveLength(model.heldOut?.rows ?? 0);
    const groups = model.heldOut?.groups[0].groups ?? [];
    const sexes = texts(table, "sex");
    for (const { name, rows, rates } of groups) {
      const own = [...judged].filter((row) => sexes[row] === name);
      expect(rows).toBe(own.length);
      const positives = own.filter((row) => labels[row] === 1).length;
      expect(rates.baseRate.value).toBe(positives / own.length);
      expect(rates.baseRate.interval).toEqual(wilsonInterval(positives, own.length, 0.95));
    }
    expect([...learntFrom, ...judged].sort((a, b) => a - b)).toEqual([...all]);
    const share = (rows: Int32Array) => rows.filter((row) => labels[row] === 1).length / rows.length;
    expect(share(judged)).toBeCloseTo(share(all), 1);
  });

  it("counts weights in the fits and in the rates", async () => {
    const table = people(150);
    const plain = await fitModel(table, OPTIONS);
    const weighted = await fitModel(table, { ...OPTIONS, weights: "weight" });
    expect(weighted.learner.fitted).not.toEqual(plain.learner.fitted);
    // Rows of weight 0 count for nothing: the base rate is the weighted share.
    const [labels, weights] = [texts(table, "hired"), texts(table, "weight").map(Number)];
    const total = weights.reduce((sum, weight) => sum + weight, 0);
    const yes = weights.reduce((sum, weight, i) => sum + (labels[i] === "yes" ? weight : 0), 0);
    expect(weighted.heldOut?.overall[0].rates.baseRate.value).toBeCloseTo(yes / total, 12);
  });

  it("judges several attributes and their intersection, several classes one by one, and names no small group", async () => {
    const table = people(90);
    const sexes = texts(table, "sex").map((sex, i) => (i === 3 ? "SECRET" : sex));
    const grades = texts(table, "skill").map(
      (skill) => ["low", "middle", "top", "top"][Math.floor(Number(skill) / 3)],
    );
    const columns = table.columns.map((column) =>
      column.name === "sex" ? columnOfTexts("sex", sexes) : column,
    );
    const graded = { ...table, columns: [...columns, columnOfTexts("grade", grades)] };
    const model = await fitModel(graded, { ...OPTIONS, target: "grade", sensitive: ["sex", "hired"] });
    expect(model.target.classes).toEqual(["low", "middle", "top"]);
    const { overall, groups } = model.heldOut ?? { overall: [], groups: [] };
    expect(overall.map(({ positive }) => positive)).toEqual(["low", "middle", "top"]);
    expect([...new Set(groups.map(({ sensitive }) => sensitive))]).toEqual(["sex", "hired", "sex and hired"]);
    expect(groups[0].groups.map(({ name }) => name)).toContain(rareTexts.some("group", 1));
    expect(JSON.stringify(model.heldOut)).not.toContain("SECRET");
    const shares = overall.map(({ rates }) => rates.baseRate.value ?? 0);
    expect(shares.reduce((sum, share) => sum + share, 0)).toBeCloseTo(1, 12);
    const { table: answers, probabilities } = await predict(model, graded, { id: "id" });
    expect(answers.columns.map(({ name }) => name)).toEqual([
      "id",
      "predicted",
      "probability",
      "probability of low",
      "probability of middle",
      "probability of top",
    ]);
    const [predicted, probability] = [texts(answers, "predicted"), texts(answers, "probability").map(Number)];
    predicted.forEach((name, row) => {
      const own = [...probabilities.subarray(3 * row, 3 * row + 3)];
      expect(probability[row]).toBe(Math.max(...own));
      expect(model.target.classes[own.indexOf(Math.max(...own))]).toBe(name);
    });
  });

  it("has no held-out metrics where nothing can be held out, and says so", async () => {
    const table = tableOfColumns(
      [columnOfNumbers("x", [1, 2, 3, 4]), columnOfTexts("y", ["a", "a", "a", "b"])],
      4,
    );
    const model = await fitModel(table, { target: "y=b" });
    expect(model.heldOut).toBeUndefined();
    expect(model.notes).toContain(heldOutTexts.fewRows);
  });

  it("refuses what it cannot be fitted on, with one sentence", async () => {
    const table = people(40);
    const fit = (options: object) => fitModel(table, { ...OPTIONS, ...options });
    await expect(async () => fit({ target: "town=Paris" })).rejects.toThrow(/has no value "Paris"/);
    await expect(async () => fit({ learner: "oracle" })).rejects.toThrow(/there is no learner "oracle"/);
    await expect(async () => fit({ folds: 1 })).rejects.toThrow(fitTexts.folds(1));
    await expect(async () => fit({ testFraction: 1 })).rejects.toThrow(fitTexts.testFraction(1));
    await expect(async () => fit({ level: 1 })).rejects.toThrow(fitTexts.level(1));
    const one = {
      ...table,
      columns: table.columns.map((c) =>
        c.name === "hired"
          ? columnOfTexts(
              "hired",
              texts(table, "sex").map(() => "yes"),
            )
          : c,
      ),
    };
    await expect(async () => fitModel(one, OPTIONS)).rejects.toThrow(labelTexts.oneClass("hired=yes"));
    const none = people(40, 40);
    await expect(async () => fitModel(none, OPTIONS)).rejects.toThrow(labelTexts.allMissing("hired"));
  });

  it("gives the same model with and without progress, and stops", async () => {
    const table = people(80);
    const seen: number[] = [];
    const quiet = await fitModel(table, OPTIONS);
    const loud = await fitModel(table, { ...OPTIONS, onProgress: ({ done }) => seen.push(done) });
    expect(loud).toEqual(quiet);
    const stop = new AbortController();
    stop.abort(new Error("enough"));
    await expect(fitModel(table, { ...OPTIONS, signal: stop.signal })).rejects.toThrow("enough");
    await expect(predict(quiet, table, { signal: stop.signal })).rejects.toThrow("enough");
  });
});

describe("a model's file", () => {
  test.each(LEARNER_NAMES)("of %s gives the same predictions, bit for bit", async (learner) => {
    const table = people(90);
    const model = await fitModel(table, { ...OPTIONS, learner, folds: 2 });
    const again = readModel(JSON.stringify(model));
    expect(JSON.stringify(again)).toBe(JSON.stringify(model));
    const asked = people(300);
    const [one, two] = [await predict(model, asked, { id: "id" }), await predict(again, asked, { id: "id" })];
    expect(bits(one.probabilities)).toBe(bits(two.probabilities));
    expect(one.predicted).toEqual(two.predicted);
    expect(one.probability.every((p, row) => p > 0.5 === (one.predicted[row] === "yes") || p === 0.5)).toBe(
      true,
    );
  });

  it("says which version wrote it", async () => {
    const { version } = await fitModel(people(60), OPTIONS);
    expect(version).toBe(VERSION);
    expect(VERSION).toBe(JSON.parse(readFileSync("package.json", "utf8")).version);
  });

  it("is refused where it is of another format or damaged", async () => {
    const model = await fitModel(people(60), OPTIONS);
    expect(() => readModel("{")).toThrow(modelTexts.notJson);
    expect(() => readModel("[]")).toThrow(modelTexts.notModel);
    expect(() => readModel("null")).toThrow(modelTexts.notModel);
    const changed = (change: object) => JSON.stringify({ ...model, ...change });
    expect(() => readModel(changed({ format: "fairbed-model-9", version: "9.1.0" }))).toThrow(
      modelTexts.otherFormat("fairbed-model-9", "9.1.0"),
    );
    for (const part of ["encoder", "learner", "target", "columns", "notes"] satisfies (keyof FittedModel)[])
      for (const value of [undefined, null, 3, [], {}])
        if (!(part === "notes" && Array.isArray(value)))
          expect(() => readModel(changed({ [part]: value }))).toThrow(modelTexts.damaged(part));
    expect(() => readModel(changed({ target: { ...model.target, classes: ["a"] } }))).toThrow(
      modelTexts.damaged("target"),
    );
  });
});

describe("predict", () => {
  it("answers for every row, by its id or number, whatever else the table has", async () => {
    const model = await fitModel(people(80), OPTIONS);
    const asked = people(30);
    const { table, notes } = await predict(model, asked, { id: "id" });
    expect(notes).toEqual([]);
    expect(table.columns.map(({ name }) => name)).toEqual(["id", "predicted", "probability"]);
    expect(texts(table, "id").slice(0, 2)).toEqual(["=P0", "=P1"]);
    const bare = {
      ...asked,
      columns: asked.columns.filter(({ name }) => ["town", "age", "skill"].includes(name)).reverse(),
    };
    const numbered = (await predict(model, bare)).table;
    expect(texts(numbered, "row").slice(0, 2)).toEqual(["0", "1"]);
    expect(texts(numbered, "probability")).toEqual(texts(table, "probability"));
  });

  it("says what it had not seen, and goes by the rest", async () => {
    const model = await fitModel(people(80), OPTIONS);
    const asked = people(4);
    const changed = (name: string, column: Column) => ({
      ...asked,
      columns: asked.columns.map((each) => (each.name === name ? column : each)),
    });
    const town = await predict(model, changed("town", columnOfTexts("town", ["x", "y", "1", undefined])));
    expect(town.notes).toEqual([predictTexts.unseen("town", 2), predictTexts.missing("town", 1)]);
    const skill = await predict(model, changed("skill", columnOfTexts("skill", Array(4).fill(undefined))));
    expect(skill.notes).toEqual([predictTexts.missing("skill", 4)]);
    // A missing age is nothing new to it.
    expect(
      (await predict(model, changed("age", columnOfNumbers("age", Array(4).fill(Number.NaN))))).notes,
    ).toEqual([]);
  });

  it("refuses tables that lack columns, rows or numbers", async () => {
    const model = await fitModel(people(80), OPTIONS);
    const asked = people(4);
    const without = (...names: string[]) => ({
      ...asked,
      columns: asked.columns.filter(({ name }) => !names.includes(name)),
    });
    await expect(predict(model, without("skill", "town"))).rejects.toThrow(
      predictTexts.noColumns(["skill", "town"]),
    );
    await expect(predict(model, selectRows(asked, []))).rejects.toThrow(predictTexts.noRows);
    const words = {
      ...asked,
      columns: asked.columns.map((c) =>
        c.name === "skill" ? columnOfTexts("skill", ["a", "b", "c", "d"]) : c,
      ),
    };
    await expect(predict(model, words)).rejects.toThrow(predictTexts.kind("skill"));
    await expect(predict(model, asked, { id: "name" })).rejects.toThrow(/has no column "name"/);
  });
});
