import { describe, expect, test } from "vitest";
import { defineCommand } from "../../src/cli/command.js";
import {
  grouped,
  integer,
  integers,
  optionalInteger,
  optionalReal,
  optionText,
  reals,
  text,
  texts,
} from "../../src/cli/options.js";
import { buildProgram, Finished } from "../../src/cli/program.js";

describe("lists of numbers", () => {
  const option = reals("--betas <numbers>", "some", [0], { min: 0 });

  test("have commas between them", () => {
    expect(option.parse?.("0, 0.5,1e-3")).toEqual([0, 0.5, 1e-3]);
    expect(integers("--n <numbers>", "some", [1]).parse?.("5,10")).toEqual([5, 10]);
  });

  test.each(["", "1,", "1,-2", "1;2", "NaN", "1,Infinity"])("%j is none", (given) => {
    const expected = "numbers of at least 0 with commas between them";
    expect(() => option.parse?.(given)).toThrow(optionText.wrongValue("--betas <numbers>", given, expected));
  });

  test("of whole ones have no fractions", () => {
    expect(() => integers("--n <numbers>", "some", [1]).parse?.("1,2.5")).toThrow(/takes whole numbers with/);
  });
});

describe("numbers without a fallback", () => {
  test("are undefined when they are not given", () => {
    expect(optionalReal("--a <number>", "one").fallback).toBeUndefined();
    expect(optionalInteger("--a <number>", "one").fallback).toBeUndefined();
  });

  test("may have to be above something", () => {
    const option = optionalReal("--rate <number>", "one", { above: 0 });
    expect(option.parse?.("1e-9")).toBe(1e-9);
    expect(() => option.parse?.("0")).toThrow('--rate <number> takes a number above 0, not "0".');
  });
});

describe("lists of texts", () => {
  const option = texts("--exclude <columns>", "some");

  test("have commas between them, two for one inside, and add up", () => {
    expect(option.parse?.("a, b", undefined)).toEqual(["a", "b"]);
    expect(option.parse?.("c,,d,e", ["a", "b"])).toEqual(["a", "b", "c,d", "e"]);
    expect(option.fallback).toBeUndefined();
  });

  test.each([
    ['"age, in ""years""",other', ['age, in "years"', "other"]],
    ['a, "b,c" ,"d"', ["a", "b,c", "d"]],
    // Quotes that are not around a whole text are part of it.
    ['size "L",12"', ['size "L"', '12"']],
    ['"a" b,c', ['"a" b', "c"]],
    ['"a,b', ['"a', "b"]],
    ["a,,,b,", ["a,", "b"]],
  ])("may be in quotes as in CSV: %s", (given, expected) => {
    expect(option.parse?.(given)).toEqual(expected);
  });

  test("of nothing are none", () => {
    expect(() => option.parse?.(" , ")).toThrow(/takes texts with commas between them/);
  });
});

describe("options in groups", () => {
  const command = defineCommand({
    name: "probe",
    group: "Probes",
    summary: "for tests",
    examples: [],
    arguments: {},
    options: {
      ...grouped("Rare ones", { rare: integer("--rare <number>", "seldom", 3) }),
      often: text("--often <text>", "mostly"),
      ...grouped("Odd ones", { odd: text("--odd <text>", "never") }),
    },
    run: async ({ options }) => options,
    print: () => "",
  });
  const parse = async (...words: readonly string[]) => {
    let printed = "";
    let options: unknown;
    const write = (given: string) => {
      printed += given;
    };
    const program = buildProgram({
      commands: [command],
      version: "1",
      stdout: { write },
      stderr: { write },
      run: async ({ input }) => {
        options = input.options;
      },
    });
    await program.parseAsync(["probe", ...words], { from: "user" }).catch((error: unknown) => {
      if (!(error instanceof Finished)) throw error;
    });
    return { printed, options };
  };

  test("stand under their headings, after those without one and the ones of every command", async () => {
    const { printed } = await parse("--help");
    const places = [
      "Options:",
      "--often",
      "--json",
      "--help",
      "Rare ones:",
      "--rare",
      "Odd ones:",
      "--odd",
    ].map((each) => printed.indexOf(each));
    expect(places.every((place) => place > 0)).toBe(true);
    expect(places).toEqual(places.toSorted((a, b) => a - b));
    expect(printed.match(/Options:/g)).toHaveLength(1);
  });

  test("are read like the others", async () => {
    expect((await parse("--odd", "x", "--often", "y")).options).toEqual({ rare: 3, often: "y", odd: "x" });
  });
});
