import { describe, expect, test } from "vitest";
import { seededStream } from "../../src/core/random.js";
import { columnTypeTexts } from "../../src/tables/column-types.js";
import { fitEncoder, loadEncoder, saveEncoder } from "../../src/tables/encoder.js";
import { rareLevelTexts } from "../../src/tables/rare-levels.js";
import { tableOf } from "../../src/tables/table-of.js";
import { defineTask, taskTexts } from "../../src/tables/task.js";
import { tellingTexts } from "../../src/tables/telling-columns.js";

const people = (
  rows: number,
  more: (i: number, y: number, s: number) => Record<string, string | number | null>,
) => {
  const stream = seededStream(2);
  return tableOf(
    Array.from({ length: rows }, (_, i) => {
      const y = stream.uniform() < 0.4 ? 1 : 0;
      const s = stream.uniform() < 0.5 ? 1 : 0;
      return { x: stream.integer(9), y, s: s === 1 ? "f" : "m", ...more(i, y, s) };
    }),
  );
};
const roles = { target: "y=1", sensitive: ["s"] };

describe("a column that nearly names the row", () => {
  // 7158 of 7214 names in a table of convictions: here 97 of 100.
  const table = people(100, (i) => ({ name: `person ${i < 97 ? i : 0}` }));

  test("is left out, with a note that says how to keep it", () => {
    const { features, notes } = defineTask(table, roles);
    expect(features).toEqual(["x"]);
    expect(notes).toEqual([taskTexts.rowsOfTheirOwn("name", 97, 100)]);
    expect(notes[0]).toContain('--keep "name"');
  });

  test("is kept where that is asked for", () => {
    const { features } = defineTask(table, { ...roles, keep: ["name"] });
    expect(features).toEqual(["x", "name"]);
  });

  test("is not one of a few rows, nor one of texts that repeat", () => {
    expect(
      defineTask(
        people(40, (i) => ({ name: `person ${i}` })),
        roles,
      ).features,
    ).toEqual(["x", "name"]);
    expect(
      defineTask(
        people(100, (i) => ({ town: `town ${i % 80}` })),
        roles,
      ).features,
    ).toEqual(["x", "town"]);
  });
});

describe("values that few rows have", () => {
  // 130 charges of one row each, and one of the other 270.
  const table = people(400, (i) => ({ charge: i < 130 ? `charge ${i}` : "theft" }));

  test("are one of their own among very many, and that is said", () => {
    const task = defineTask(table, { ...roles, features: ["charge"] });
    const encoder = fitEncoder(task);
    expect(encoder.featureNames).toEqual(["charge=theft", "charge is rare"]);
    expect(task.notes).toEqual([rareLevelTexts.grouped("charge", 131, 130, 10)]);
    const matrix = encoder.encode(
      tableOf([{ charge: "charge 4" }, { charge: "theft" }, { charge: "arson" }]),
    );
    expect([...matrix.values]).toEqual([0, 1, 1, 0, 0, 1]);
    const saved = saveEncoder(encoder);
    expect(saved).not.toContain("charge 4");
    expect(loadEncoder(saved).encode(table).values).toEqual(encoder.encode(table).values);
  });

  test("are levels of their own where that is asked for, or there are not so many", () => {
    const all = defineTask(table, { ...roles, features: ["charge"], minLevel: 1 });
    expect(fitEncoder(all).featureNames).toHaveLength(131);
    expect(all.notes).toEqual([]);
    const few = people(400, (i) => ({ charge: i < 99 ? `charge ${i}` : "theft" }));
    expect(fitEncoder(defineTask(few, { ...roles, features: ["charge"] })).featureNames).toHaveLength(100);
  });

  test("in places of an ordinal code: the others after the levels, then what is missing", () => {
    const own = tableOf(
      ["a", "a", "b", null, "c", "a"].map((v, i) => ({ v, y: i % 2, s: i > 2 ? "f" : "m" })),
    );
    const task = defineTask(own, { ...roles, features: ["v"], minLevel: 2 });
    const encoder = fitEncoder(task, undefined, { categories: "ordinal" });
    expect([...encoder.encode(own).values]).toEqual([0, 0, 1, 2, 1, 0]);
  });

  test("and at most a thousand of very many are kept apart", () => {
    const many = people(24_000, (i) => ({ zip: `zip ${i % 1200}` }));
    const names = fitEncoder(defineTask(many, { ...roles, features: ["zip"] })).featureNames;
    expect(names.length).toBeLessThanOrEqual(1001);
  });

  test("a least number that is none is refused", () => {
    for (const minLevel of [0, 2.5, Number.NaN])
      expect(() => defineTask(table, { ...roles, minLevel })).toThrow(rareLevelTexts.minLevel(minLevel));
  });
});

describe("columns that are taken otherwise", () => {
  const table = people(60, (i) => ({ code: i % 5, size: i % 7 === 0 ? "unknown" : String(10 + (i % 3)) }));

  test("codes are categories, here and in another table", () => {
    const task = defineTask(table, { ...roles, features: ["code"], categorical: ["code"] });
    const encoder = fitEncoder(task);
    expect(encoder.featureNames).toEqual(["code=0", "code=1", "code=2", "code=3", "code=4"]);
    expect([...encoder.encode(tableOf([{ code: 3 }])).values]).toEqual([0, 0, 0, 1, 0]);
  });

  test("a category of codes may be the target or sensitive", () => {
    const more = people(60, (i) => ({ area: i % 12 }));
    expect(() => defineTask(more, { ...roles, sensitive: ["area"] })).toThrow("different numbers");
    const task = defineTask(more, { ...roles, sensitive: ["area"], categorical: ["area"] });
    expect(task.sensitive[0].classes).toHaveLength(12);
  });

  test("texts are numbers, and what is none is missing and said", () => {
    const task = defineTask(table, { ...roles, features: ["size"], numeric: ["size"] });
    expect(task.notes).toContain(columnTypeTexts.lost("size", 9));
    const encoder = fitEncoder(task);
    expect(encoder.featureNames).toEqual(["size", "size is missing"]);
    const matrix = loadEncoder(saveEncoder(encoder)).encode(tableOf([{ size: "12" }, { size: "large" }]));
    expect([...matrix.values]).toEqual([12, 0, 11, 1]);
  });

  test("one that is both, or has no number, is refused", () => {
    expect(() => defineTask(table, { ...roles, numeric: ["size"], categorical: ["size"] })).toThrow(
      columnTypeTexts.both("size"),
    );
    expect(() => defineTask(table, { ...roles, numeric: ["s"] })).toThrow(columnTypeTexts.noNumbers("s"));
    expect(() => defineTask(table, { ...roles, categorical: ["nothing"] })).toThrow("nothing");
  });
});

describe("a column that nearly is the target or an attribute", () => {
  test("is warned of, with how often it is right", () => {
    const table = people(1000, (i, y, s) => ({
      again: i % 30 === 0 ? 1 - y : y,
      years: 50 * y + (i % 40),
      title: s === 1 ? "Ms" : "Mr",
      useful: i % 3 === 0 ? 1 - y : y,
    }));
    const { notes, target } = defineTask(table, roles);
    const zeros = target.labels.filter((label) => label === 0).length / 1000;
    const ones = table.columns.find(({ name }) => name === "s");
    const women = ones?.kind === "categorical" ? ones.codes.filter((code) => code === 0).length / 1000 : 0;
    expect(notes).toEqual([
      // 34 of 1000 are not what the outcome is.
      tellingTexts.target("again", "y=1", { right: 0.966, mostFrequent: zeros }),
      // To the precision of a quantile.
      tellingTexts.target("years", "y=1", { right: 0.989, mostFrequent: zeros }),
      tellingTexts.sensitive("title", "s", { right: 1, mostFrequent: Math.max(women, 1 - women) }),
    ]);
  });

  test("is none where every row has a value of its own, or the classes are few", () => {
    const stream = seededStream(8);
    const table = people(300, () => ({ noise: stream.normal(), town: `town ${stream.integer(200)}` }));
    expect(defineTask(table, { ...roles, minLevel: 1 }).notes).toEqual([]);
    const few = people(40, (_, y) => ({ copy: y }));
    expect(defineTask(few, roles).notes).toEqual([]);
  });
});
