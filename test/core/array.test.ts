import { describe, expect, test } from "vitest";
import {
  at,
  floatArray,
  fromRows,
  indexText,
  lengthText,
  raggedText,
  reshape,
  row,
  shapeText,
  zeros,
} from "../../src/core/array.js";
import { InputError } from "../../src/core/errors.js";

describe("row-major arrays", () => {
  test("wrapping, reshaping and rows share memory", () => {
    const data = Float64Array.from({ length: 24 }, (_, i) => i);
    const array = floatArray(data, [2, 3, 4]);
    expect(array.data).toBe(data);
    expect(at(array, 1, 2, 3)).toBe(23);
    expect(at(array, 1, 0, 2)).toBe(14);
    const second = row(array, 1);
    expect(second.shape).toEqual([3, 4]);
    expect(at(row(second, 2), 1)).toBe(21);
    second.data[0] = -1;
    expect(at(reshape(array, [24]), 12)).toBe(-1);
  });

  test("zeros and rows of numbers", () => {
    expect(zeros([2, 2], "float32").data).toEqual(new Float32Array(4));
    expect(zeros([3], "float64").data).toEqual(new Float64Array(3));
    expect(zeros([], "float64").data.length).toBe(1);
    expect(
      fromRows([
        [1, 2],
        [3, 4],
        [5, 6],
      ]),
    ).toEqual({ data: Float64Array.of(1, 2, 3, 4, 5, 6), shape: [3, 2] });
    expect(fromRows([])).toEqual({ data: new Float64Array(0), shape: [0, 0] });
  });

  test("a number is an array of the empty shape", () => {
    expect(at(floatArray(Float64Array.of(7), []))).toBe(7);
  });

  test("mistakes are named", () => {
    const array = zeros([2, 3], "float64");
    const fails = (f: () => unknown, text: string) => {
      expect(f).toThrow(InputError);
      expect(f).toThrow(text);
    };
    fails(() => floatArray(new Float64Array(5), [2, 3]), lengthText(5, [2, 3]));
    fails(() => floatArray(new Float64Array(5), [2.5, 2]), shapeText([2.5, 2]));
    fails(() => zeros([-1], "float32"), shapeText([-1]));
    fails(() => reshape(array, [7]), lengthText(6, [7]));
    fails(() => fromRows([[1, 2], [3]]), raggedText(1, 1, 2));
    fails(() => row(array, 2), indexText([2], [2, 3]));
    fails(() => row(array, 0.5), indexText([0.5], [2, 3]));
    fails(() => row(zeros([], "float64"), 0), indexText([0], []));
    fails(() => at(array, 0), indexText([0], [2, 3]));
    fails(() => at(array, 0, 3), indexText([0, 3], [2, 3]));
    fails(() => at(array, -1, 0), indexText([-1, 0], [2, 3]));
  });
});
