import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { seededStream } from "../../src/core/random.js";
import { encoderTexts, fitEncoder, loadEncoder, saveEncoder } from "../../src/tables/encoder.js";
import { fitNumberCode, isNumberCode, writeNumber } from "../../src/tables/number-code.js";
import { columnOfNumbers, tableOfColumns } from "../../src/tables/table.js";
import { tableOf } from "../../src/tables/table-of.js";
import { defineTask, taskTexts } from "../../src/tables/task.js";

const tableOfNumbers = (values: ArrayLike<number>) => tableOfColumns([columnOfNumbers("x", values)]);
const encoded = (values: ArrayLike<number>) => {
  const table = tableOfNumbers(values);
  const encoder = fitEncoder({ table, features: ["x"] });
  return { encoder, matrix: encoder.encode(table) };
};
/** How many rows the encoding tells apart. */
const different = (values: ArrayLike<number>): number => {
  const { matrix } = encoded(values);
  const rows = Array.from({ length: matrix.rows }, (_, row) =>
    matrix.values.slice(row * matrix.columns, (row + 1) * matrix.columns).join(),
  );
  return new Set(rows).size;
};
const every = (count: number, of: (i: number) => number) =>
  Float64Array.from({ length: count }, (_, i) => of(i));

describe("what float32 holds is encoded as it is", () => {
  test.each([
    ["whole numbers", every(200, (i) => i * 37)],
    ["decimals", every(200, (i) => i / 10)],
    ["numbers that are drawn", every(20_000, (i) => seededStream(3).split(i).normal())],
    ["grades that were computed in two ways", every(100, (i) => (i % 2 === 0 ? 0.1 + 0.2 : 0.3) + (i % 10))],
    ["one number", every(9, () => 1e9 + 0.5)],
  ])("%s", (_, values) => {
    const { encoder, matrix } = encoded(values);
    expect(encoder.rules.columns[0]).not.toHaveProperty("code");
    expect(matrix.values).toEqual(Float32Array.from(values));
  });
});

describe("what float64 tells apart stays apart", () => {
  const stream = seededStream(5);
  const drawn = every(500, () => stream.normal());
  test.each([
    ["moments in milliseconds", every(500, (i) => 1_700_000_000_000 + i * 7)],
    ["an offset of 1e9", drawn.map((x) => x + 1e9)],
    ["whole numbers up to 2^53", every(500, (i) => 2 ** 53 - 1 - i)],
    ["whole numbers beyond 2^53", every(500, (i) => 2 ** 53 + 2 * i)],
    ["1 and 1 + 1e-12", every(50, (i) => 1 + (i % 2) * 1e-12)],
    ["whole numbers with a trace", every(500, (i) => (i >> 1) + (i % 2) * 1e-9)],
    ["mixed sizes", every(500, (i) => (i % 2 === 0 ? 1e-12 * i : 1e9 + i))],
    ["beyond float32", every(50, (i) => 1e300 * (1 + i))],
    ["below float32", every(50, (i) => 1e-200 * i)],
    ["days with milliseconds", every(500, (i) => 19_000 + i / 86_400_000)],
    ["minus an offset", drawn.map((x) => x - 1e12)],
  ])("%s", (_, values) => {
    expect(different(values)).toBe(new Set(values).size);
  });

  test("the code keeps the order, in parts as in one", () => {
    const whole = fc.integer({ min: -(2 ** 20), max: 2 ** 20 });
    fc.assert(
      fc.property(
        fc.double({ noNaN: true, min: -1e15, max: 1e15 }),
        fc.array(whole, { minLength: 30 }),
        (at, steps) => {
          const values = Float64Array.from(steps, (step) => at + step);
          const { code } = fitNumberCode(values.slice());
          if (code === undefined) return;
          const parts = (value: number) => {
            const own = new Float32Array(code.parts);
            writeNumber(own, 0, value, code);
            return own;
          };
          const ordered = values.toSorted();
          for (let i = 1; i < ordered.length; i++) {
            const [low, high] = [parts(ordered[i - 1]), parts(ordered[i])];
            const first = low.findIndex((part, p) => part !== high[p]);
            if (first >= 0) expect(low[first]).toBeLessThan(high[first]);
          }
        },
      ),
    );
  });

  test("what cannot be kept is said, and only that", () => {
    const rows = Array.from({ length: 60 }, (_, i) => ({
      wide: i % 3 === 0 ? 1e300 : i * 1e-300,
      moment: 1.7e12 + i,
      y: i % 2,
      s: i % 5 > 2 ? "a" : "b",
    }));
    const task = defineTask(tableOf(rows), { target: "y=1", sensitive: ["s"], keep: ["moment"] });
    expect(task.notes).toEqual([taskTexts.notExact("wide")]);
  });

  test("what is missing is the median, with a column that says so", () => {
    const values = every(60, (i) => (i % 6 === 0 ? Number.NaN : 1.7e12 + i));
    const { encoder, matrix } = encoded(values);
    expect(encoder.featureNames).toEqual(["x", "x is missing"]);
    for (const [row, value] of values.entries())
      expect(matrix.values[2 * row + 1]).toBe(Number(Number.isNaN(value)));
  });
});

describe("a saved encoder", () => {
  test("encodes other rows in the same way, and is of a version that older ones refuse", () => {
    const table = tableOfNumbers(every(300, (i) => (i >> 1) + (i % 2) * 1e-9));
    const encoder = fitEncoder({ table, features: ["x"] });
    expect(encoder.featureNames).toEqual(["x", "x (fine part)"]);
    const saved = saveEncoder(encoder);
    expect(JSON.parse(saved).version).toBe(2);
    const others = tableOfNumbers([12, 12 + 1e-9, 1e12, -5]);
    expect(loadEncoder(saved).encode(others).values).toEqual(encoder.encode(others).values);
  });

  test("is of the first version where nothing is new, and such files are read", () => {
    const table = tableOfNumbers([1, 2, 3]);
    const saved = saveEncoder(fitEncoder({ table, features: ["x"] }));
    expect(JSON.parse(saved)).toEqual({
      format: "fairbed encoder",
      version: 1,
      categories: "one-hot",
      columns: [{ kind: "numeric", name: "x", median: 2, indicator: false }],
    });
    expect([...loadEncoder(saved).encode(table).values]).toEqual([1, 2, 3]);
  });

  test.each([
    { centre: Number.NaN, scale: 1, parts: 1 },
    { centre: 0, scale: 0, parts: 1 },
    { centre: 0, scale: 1, parts: 4 },
    7,
    null,
  ])("is refused with a broken code: %j", (code) => {
    expect(isNumberCode(code)).toBe(false);
    const columns = [{ kind: "numeric", name: "x", median: 0, indicator: false, code: code ?? 0 }];
    const text = JSON.stringify({ format: "fairbed encoder", version: 2, categories: "one-hot", columns });
    expect(() => loadEncoder(text)).toThrow(encoderTexts.notAnEncoder("its columns are broken"));
  });
});
