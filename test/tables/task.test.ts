import { describe, expect, test } from "vitest";
import { InputError } from "../../src/core/errors.js";
import { applyRule, labelTexts } from "../../src/tables/label.js";
import {
  appendRows,
  byCodePoint,
  type Column,
  columnNamed,
  columnOfNumbers,
  columnOfTexts,
  dropColumns,
  selectRows,
  tableOfColumns,
  tableTexts,
} from "../../src/tables/table.js";
import { defineTask, type TaskSettings, taskTexts } from "../../src/tables/task.js";
import { contents } from "../sources/files.js";

const table = tableOfColumns(
  [
    columnOfNumbers("age", [20, 30, 40, Number.NaN, 60, 70]),
    columnOfTexts("sex", ["F", "M", "F", "M", undefined, "M"]),
    columnOfTexts("race", ["x", "x", "y", "y", "y", "z"]),
    columnOfNumbers("grade", [1, 2, 3, 1, 2, 3]),
    columnOfTexts("income", ["high.", "low", "low", "high.", "low", undefined]),
    columnOfNumbers("weight", [1, 2, 0, 1, 1, 1]),
    columnOfNumbers("id", [11, 12, 13, 14, 15, 16]),
    columnOfNumbers("constant", [7, 7, 7, 7, 7, 7]),
    columnOfNumbers("empty", new Float64Array(6).fill(Number.NaN)),
    columnOfNumbers("score>=5", [1, 2, 3, 4, 5, 6]),
    columnOfNumbers("many", [1.5, 2.5, 3.5, 4.5, 5.5, 6.5]),
  ],
  { name: "people.csv" },
);
const settings = (more: Partial<TaskSettings> = {}): TaskSettings => ({
  target: "income=high.",
  sensitive: ["sex"],
  ...more,
});
const labelsOf = (target: TaskSettings["target"]) => {
  const { classes, labels } = defineTask(table, settings({ target })).target;
  return { classes, labels: [...labels] };
};

describe("a label", () => {
  test("of one value against the rest; class 1 is the value", () => {
    expect(labelsOf("income=high.")).toEqual({ classes: ["low", "high."], labels: [1, 0, 0, 1, 0, -1] });
    expect(labelsOf(" income = high. ")).toEqual(labelsOf("income=high."));
    expect(labelsOf({ column: "income", positive: "high." })).toEqual(labelsOf("income=high."));
    expect(labelsOf("race=y")).toEqual({ classes: ["not y", "y"], labels: [0, 0, 1, 1, 1, 0] });
  });

  test("of a value that is a number", () => {
    expect(labelsOf("grade=2.0")).toEqual({ classes: ["not 2", "2"], labels: [0, 1, 0, 0, 1, 0] });
    expect(labelsOf({ column: "grade", positive: 2 })).toEqual(labelsOf("grade=2"));
  });

  test("of every value, in order", () => {
    expect(labelsOf("race")).toEqual({ classes: ["x", "y", "z"], labels: [0, 0, 1, 1, 1, 2] });
    expect(labelsOf("grade")).toEqual({ classes: ["1", "2", "3"], labels: [0, 1, 2, 0, 1, 2] });
    expect(labelsOf({ column: "race" })).toEqual(labelsOf("race"));
  });

  test.each([
    ["age>=40", ["not >=40", ">=40"], [0, 0, 1, -1, 1, 1]],
    ["age>40", ["not >40", ">40"], [0, 0, 0, -1, 1, 1]],
    ["age<40", ["not <40", "<40"], [1, 1, 0, -1, 0, 0]],
    ["age <= 40", ["not <=40", "<=40"], [1, 1, 1, -1, 0, 0]],
    ["score>=5>=3", ["not >=3", ">=3"], [0, 0, 1, 1, 1, 1]],
    ["score>=5", ["1", "2", "3", "4", "5", "6"], [0, 1, 2, 3, 4, 5]],
  ])("by %s", (target, classes, labels) => {
    expect(labelsOf(target)).toEqual({ classes, labels });
  });

  test("is applied to another table by its rule, which is plain data", () => {
    const { rule } = defineTask(table, settings({ target: "race" })).target;
    const stored = JSON.parse(JSON.stringify(rule));
    const other = tableOfColumns([columnOfTexts("race", ["z", "new", undefined, "x"])]);
    expect([...applyRule(stored, other)]).toEqual([2, -1, -1, 0]);
    const { rule: high } = defineTask(table, settings()).target;
    const numbers = tableOfColumns([columnOfNumbers("income", [1, 2])]);
    expect([...applyRule(high, numbers)]).toEqual([0, 0]);
  });
});

describe("a task", () => {
  test("learns from everything but the target, the sensitive columns, weights and ids", () => {
    const task = defineTask(table, settings({ weights: "weight", id: "id", exclude: ["many"] }));
    expect(task.features).toEqual(["age", "race", "grade", "score>=5"]);
    expect(task.notes).toEqual([
      taskTexts.constant("constant"),
      taskTexts.empty("empty"),
      taskTexts.unlabelled(1, "income=high."),
      taskTexts.unlabelled(1, "sex"),
    ]);
    expect(task.weights).toEqual(Float64Array.of(1, 2, 0, 1, 1, 1));
    expect(task.id).toBe("id");
    expect([...task.sensitive[0].labels]).toEqual([0, 1, 0, 1, -1, 1]);
  });

  test("that lacks a column says how a name with commas and quotes is given", () => {
    const name = 'age, in "years"';
    const people = tableOfColumns([
      ...table.columns.filter((column) => column.name !== "age"),
      columnOfNumbers(name, [1, 2, 3, 4, 5, 6]),
    ]);
    expect(() => defineTask(people, settings({ exclude: ["age"] }))).toThrow(
      'did you mean "age, in "years"", written "age, in ""years""" in a list of columns?',
    );
    expect(defineTask(people, settings({ exclude: [name] })).features).not.toContain(name);
  });

  test("learns from the sensitive column only when it is named", () => {
    const task = defineTask(table, settings({ features: ["sex", "age"] }));
    expect(task.features).toEqual(["age", "sex"]);
    expect(defineTask(table, settings({ features: ["sex", "age"], exclude: ["sex"] })).features).toEqual([
      "age",
    ]);
  });

  test("may have several sensitive attributes, or their combination", () => {
    const several = settings({ sensitive: ["sex=M", "race", "age>=40"] });
    expect(defineTask(table, several).sensitive.map(({ name }) => name)).toEqual([
      "sex=M",
      "race",
      "age>=40",
    ]);
    expect(defineTask(table, several).features).not.toContain("age");
    const [combined, ...none] = defineTask(table, {
      ...settings({ sensitive: ["sex", "race"] }),
      combineSensitive: true,
    }).sensitive;
    expect(none).toEqual([]);
    expect(combined.name).toBe("sex and race");
    // Only what occurs, in the order of the parts: F and x, F and y, M and x, M and y, M and z.
    expect(combined.classes).toEqual(["F and x", "F and y", "M and x", "M and y", "M and z"]);
    expect([...combined.labels]).toEqual([0, 2, 1, 3, -1, 4]);
    expect([...applyRule(combined.rule, table)]).toEqual([...combined.labels]);
  });

  test("leaves out texts that every row has of its own", () => {
    const names = Array.from({ length: 60 }, (_, row) => `person ${row}`);
    const people = tableOfColumns([
      columnOfTexts("name", names),
      columnOfNumbers(
        "x",
        names.map((_, row) => row % 7),
      ),
      columnOfNumbers(
        "y",
        names.map((_, row) => row % 2),
      ),
      columnOfNumbers(
        "z",
        names.map((_, row) => row % 3),
      ),
    ]);
    const task = defineTask(people, { target: "y=1", sensitive: ["z"] });
    expect(task.features).toEqual(["x"]);
    expect(task.notes).toEqual([taskTexts.rowsOfTheirOwn("name", 60, 60)]);
  });

  describe("without an id", () => {
    const steps = (rows: number, numberOf: (row: number) => number) =>
      Array.from({ length: rows }, (_, row) => numberOf(row));
    /** The notes where one column more has these numbers. */
    const notesOf = (name: string, numbers: readonly number[], more: Partial<TaskSettings> = {}) => {
      const of = (modulus: number) => numbers.map((_, row) => row % modulus);
      const people = tableOfColumns([
        columnOfNumbers("x", of(7)),
        columnOfNumbers("y", of(2)),
        columnOfNumbers("z", of(3)),
        columnOfNumbers(name, numbers),
      ]);
      const { features, notes } = defineTask(people, { target: "y=1", sensitive: ["z"], ...more });
      expect(features.includes(name)).toBe(more.id === undefined);
      return notes;
    };
    const mixed = steps(30, (row) => (row * 7) % 30);

    test.each([
      ["id", steps(30, (row) => 2001 + row)],
      ["number", steps(30, (row) => 5 * row)],
      ["number", steps(30, (row) => -row)],
      ["patient_id", mixed],
    ])("says that the whole numbers of the rows are learnt from: %s", (name, numbers) => {
      expect(notesOf(name, numbers)).toEqual([taskTexts.numbersOfTheirOwn(name)]);
      expect(notesOf(name, numbers, { id: name })).toEqual([]);
      expect(notesOf(name, numbers, { keep: [name] })).toEqual([]);
      expect(notesOf(name, numbers, { features: [name] })).toEqual([]);
    });

    test.each([
      ["of few rows", "id", steps(19, (row) => row)],
      ["in no order", "distance", mixed],
      ["that are not whole", "id", steps(30, (row) => row + 0.5)],
      ["that are there twice", "id", steps(30, (row) => Math.floor(row / 2))],
      ["that are missing", "id", steps(30, (row) => (row === 3 ? Number.NaN : row))],
    ])("says nothing of numbers %s", (_, name, numbers) => {
      expect(notesOf(name, numbers)).toEqual([]);
    });
  });
});

describe("bad settings are refused in one sentence", () => {
  const names = table.columns.map(({ name }) => name);
  const long = tableOfColumns([
    columnOfNumbers(
      "many",
      Array.from({ length: 30 }, (_, row) => row),
    ),
    columnOfTexts("word", Array.from({ length: 120 }, (_, row) => `w${row}`).slice(0, 30)),
    columnOfNumbers(
      "y",
      Array.from({ length: 30 }, (_, row) => row % 2),
    ),
  ]);
  test.each<[string, TaskSettings, string]>([
    [
      "a column that is nearly one",
      settings({ target: "incme" }),
      tableTexts.noColumn("people.csv", "incme", "income", names),
    ],
    [
      "a column with a value",
      settings({ target: "incme=high." }),
      tableTexts.noColumn("people.csv", "incme", "income", names),
    ],
    [
      "no such column at all",
      settings({ sensitive: ["zzzzzz"] }),
      tableTexts.noColumn("people.csv", "zzzzzz", undefined, names),
    ],
    [
      "a value that is nearly one of a few people",
      settings({ target: "income=hihg." }),
      labelTexts.noValue("income", "hihg.", undefined, [], 2),
    ],
    [
      "no such value at all",
      settings({ target: "income=zzzzzzz" }),
      labelTexts.noValue("income", "zzzzzzz", undefined, [], 2),
    ],
    ["one class", settings({ target: "age>=10" }), labelTexts.oneClass("age>=10")],
    ["a constant target", settings({ target: "constant" }), labelTexts.oneClass("constant")],
    ["an empty target", settings({ target: "empty" }), labelTexts.allMissing("empty")],
    ["an empty sensitive column", settings({ sensitive: ["empty>=1"] }), labelTexts.allMissing("empty")],
    [
      "a threshold on text",
      settings({ target: "income>=3" }),
      labelTexts.noNumberColumn("income", "income>=3"),
    ],
    ["a threshold that is no number", settings({ target: "age>=old" }), labelTexts.noNumber("age>=old")],
    ["no sensitive column", settings({ sensitive: [] }), taskTexts.noSensitive],
    ["a sensitive column twice", settings({ sensitive: ["sex", "sex"] }), labelTexts.twice("sex")],
    ["no features", settings({ features: ["constant"] }), taskTexts.noFeatures("people.csv")],
    [
      "an unknown feature",
      settings({ features: ["agee"] }),
      tableTexts.noColumn("people.csv", "agee", "age", names),
    ],
    [
      "an unknown exclusion",
      settings({ exclude: ["agee"] }),
      tableTexts.noColumn("people.csv", "agee", "age", names),
    ],
    ["weights that are text", settings({ weights: "race" }), taskTexts.weightsAreText("race")],
    ["a weight that is missing", settings({ weights: "age" }), taskTexts.weightValue("age", 3)],
    ["ids that are there twice", settings({ id: "grade" }), taskTexts.idTwice("grade", 0, 3)],
    ["an id that is missing", settings({ id: "age" }), taskTexts.idMissing("age", 3)],
  ])("%s", (_, given, text) => {
    expect(() => defineTask(table, given)).toThrow(InputError);
    expect(() => defineTask(table, given)).toThrow(text);
  });

  test("numbers and levels without end", () => {
    expect(() => defineTask(long, { target: "many", sensitive: ["y"] })).toThrow(
      labelTexts.manyNumbers("many", 30, 10),
    );
    const words = tableOfColumns([
      columnOfTexts(
        "word",
        Array.from({ length: 120 }, (_, row) => `w${row}`),
      ),
      columnOfNumbers(
        "y",
        Array.from({ length: 120 }, (_, row) => row % 2),
      ),
    ]);
    expect(() => defineTask(words, { target: "word", sensitive: ["y"] })).toThrow(
      labelTexts.manyLevels("word", 120),
    );
  });
});

describe("a table", () => {
  const small = tableOfColumns([columnOfNumbers("a", [1, 2, 3]), columnOfTexts("b", ["x", undefined, "y"])]);

  test("keeps its columns in step", () => {
    expect(() => tableOfColumns([columnOfNumbers("a", [1]), columnOfNumbers("b", [1, 2])])).toThrow(
      tableTexts.lengths("b", 2, 1),
    );
    expect(() => tableOfColumns([columnOfNumbers("a", [1]), columnOfNumbers("a", [1])])).toThrow(
      tableTexts.sameName("a"),
    );
    expect(() => columnNamed(small, "c")).toThrow(InputError);
  });

  test("gives rows, drops columns, and goes on in another", () => {
    expect(contents(selectRows(small, [2, 0, 0]))).toEqual({ a: [3, 1, 1], b: ["y", "x", "x"] });
    expect(contents(dropColumns(small, ["a"]))).toEqual({ b: ["x", null, "y"] });
    const below = tableOfColumns([columnOfTexts("a", ["4", undefined]), columnOfTexts("b", ["w", "y"])]);
    expect(contents(appendRows(small, below))).toEqual({
      a: ["1", "2", "3", "4", null],
      b: ["x", null, "y", "w", "y"],
    });
  });

  test("has levels in the order of code points, as UTF-8 bytes have it", () => {
    const levels = ["b", "a", "", "é", "z", "\u{1F600}", "\uFFFD", "ab"];
    const bytes = [...levels].sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)));
    expect([...levels].sort(byCodePoint)).toEqual(bytes);
  });
});

describe("a task whose labels are still to come", () => {
  const features = columnOfNumbers("x", [1, 2, 3]);
  const open = (column: Column, target: string) =>
    defineTask(
      tableOfColumns([features, column]),
      { target, sensitive: [] },
      { open: true, sensitiveElsewhere: true },
    ).target;

  test("may have an empty column, or one class", () => {
    const empty = open(columnOfNumbers("hired", [Number.NaN, Number.NaN, Number.NaN]), "hired=yes");
    expect([...empty.labels]).toEqual([-1, -1, -1]);
    expect(empty.classes).toEqual(["not yes", "yes"]);
    const one = open(columnOfTexts("hired", ["no", undefined, "no"]), "hired=yes");
    expect([...one.labels]).toEqual([0, -1, 0]);
    expect(one.classes).toEqual(["no", "yes"]);
    expect([...open(columnOfNumbers("score", [Number.NaN, 7, 2]), "score>=5").labels]).toEqual([-1, 1, 0]);
  });

  test("needs to know its classes", () => {
    expect(() => open(columnOfTexts("hired", ["no", undefined, "no"]), "hired")).toThrow(
      labelTexts.openClasses("hired"),
    );
  });

  test("says nothing of rows without a label", () => {
    const column = columnOfTexts("hired", ["no", undefined, "yes"]);
    const { notes } = defineTask(
      tableOfColumns([features, column]),
      { target: "hired=yes", sensitive: [] },
      { open: true, sensitiveElsewhere: true },
    );
    expect(notes).toEqual([]);
  });
});
