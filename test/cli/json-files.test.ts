/**
 * Every JSON file that a command reads, with something in it that is not what was expected: null, a list or a number for
 * an object, fields that are missing, of another type or absurdly large. Each is one sentence, or makes no difference.
 */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { describeFailure, failureText } from "../../src/cli/failure.js";
import { needsDist } from "../setup/dist.js";
import { recipe } from "../workflows/made-recipe.js";
import { runInProcess } from "./in-process.js";

needsDist();
const SLOW = 240_000;
const folder = mkdtempSync(join(tmpdir(), "fairbed-json-files-"));
afterAll(() => rmSync(folder, { recursive: true }));
const at = (name: string) => join(folder, name);

const row = (i: number) =>
  `${i},${(i * 7) % 11},${(i * 5) % 3},${i % 2 === 0 ? "a" : "b"},${(i * 7) % 11 > 4 ? "yes" : "no"}`;
const people = at("people.csv");
writeFileSync(
  people,
  ["id,skill,taste,group,hired", ...Array.from({ length: 120 }, (_, i) => row(i)), ""].join("\n"),
);
const TASK = ["--target", "hired=yes", "--sensitive", "group=a"];
const SIZES = ["--outer", "5", "--inner", "10", "--batches", "2"];

const optimize = async (kind: string): Promise<string> => {
  const path = at(`${kind}.json`);
  const training = kind === "static" ? ["--steps", "3", "--starts", "1"] : [];
  const words = [
    "design",
    "optimize",
    "--model",
    "location",
    "--horizon",
    "2",
    "--policy",
    kind,
    ...training,
  ];
  expect((await runInProcess([...words, ...SIZES, "--out", path])).failure).toBeUndefined();
  return readFileSync(path, "utf8");
};

interface ReadFile {
  readonly name: string;
  /** A good one. */
  readonly make: () => Promise<string>;
  readonly words: (path: string) => readonly string[];
}

const FILES: readonly ReadFile[] = [
  ...["static", "greedy"].map((kind) => ({
    name: `a ${kind} policy`,
    make: () => optimize(kind),
    words: (path: string) => ["design", "evaluate", path, ...SIZES],
  })),
  {
    name: "a history",
    make: async () => {
      await optimize("static");
      return JSON.stringify([{ design: [1, 2], outcome: 0.3 }]);
    },
    words: (path) => ["design", "next", at("static.json"), "--history", path],
  },
  {
    name: "a checkpoint",
    make: async () => JSON.stringify({ kind: "static", state: {}, settings: {} }),
    words: (path) => [
      ...["design", "optimize", "--model", "location", "--horizon", "2", "--steps", "3", "--starts", "1"],
      ...[...SIZES, "--resume", "--out", path.replace(/\.checkpoint$/, "")],
    ],
  },
  {
    name: "a model",
    make: async () => {
      const words = ["fit", people, ...TASK, "--out", at("model.json")];
      expect((await runInProcess(words)).failure).toBeUndefined();
      return readFileSync(at("model.json"), "utf8");
    },
    words: (path) => ["predict", path, people],
  },
  {
    name: "a recipe",
    make: async () => JSON.stringify(recipe),
    words: (path) => ["fit", people, ...TASK, "--recipe", path],
  },
  {
    name: "an acquisition",
    make: async () => {
      const words = ["acquire", people, ...TASK, "--budget", "10", "--trees", "5", "--method", "random"];
      const { result, failure } = await runInProcess(words);
      expect(failure).toBeUndefined();
      return JSON.stringify(result);
    },
    words: (path) => ["generalize", path, "--table", people, ...TASK, "--models", "logistic"],
  },
];

const WRONG: readonly unknown[] = [null, [], "x"];

type Path = readonly (string | number)[];

/** Places in a document, not too deep, and of a list the first alone. */
const pathsIn = (value: unknown, depth: number): readonly Path[] => {
  if (depth === 0 || typeof value !== "object" || value === null) return [];
  const entries = Array.isArray(value) ? value.slice(0, 1).entries() : Object.entries(value);
  return [...entries].flatMap(([name, each]) => [
    [name],
    ...pathsIn(each, depth - 1).map((path) => [name, ...path]),
  ]);
};

const replaced = (value: unknown, [first, ...rest]: Path, by: unknown): unknown => {
  if (first === undefined) return by;
  const copy = Array.isArray(value) ? [...value] : { ...(value as object) };
  const of = copy as Record<string | number, unknown>;
  of[first] = replaced(of[first], rest, by);
  return copy;
};

describe("sizes that no machine has", () => {
  test.each([
    ["--outer", "from 2 to 1000000"],
    ["--inner", "from 1 to 10000000"],
    ["--batches", "from 1 to 100000"],
    ["--horizon", "from 1 to 10000"],
    ["--steps", "from 1 to 100000000"],
    ["--starts", "from 1 to 100000000"],
  ])("%s of an option", async (option, expected) => {
    const { failure } = await runInProcess(["design", "optimize", "--model", "location", option, "1e12"]);
    expect(failure).toBe(`${option} <number> takes a whole number ${expected}, not "1e12".`);
  });

  test.each(["particles", "sweeps", "candidates"])(
    "%s of a policy",
    async (name) => {
      const policy = JSON.parse(await optimize("greedy"));
      for (const wrong of [1e12, 0.5, -1, null]) {
        writeFileSync(
          at("large.json"),
          JSON.stringify({ ...policy, search: { ...policy.search, [name]: wrong } }),
        );
        const { failure, code } = await runInProcess(["design", "evaluate", at("large.json"), ...SIZES]);
        expect({ failure, code }).toMatchObject({ failure: expect.stringContaining(`search.${name}`) });
        expect(code).not.toBe("unexpected");
      }
    },
    SLOW,
  );

  test("where nothing else said so before", () => {
    for (const ask of [
      () => new Float64Array(1e15),
      () => Array.from({ length: 1e12 }),
      () => new ArrayBuffer(1e15),
    ]) {
      expect(() => {
        try {
          ask();
        } catch (error) {
          throw new Error(describeFailure(error).message);
        }
      }).toThrow(failureText.tooLarge);
    }
  });
});

describe.each(FILES)("$name", ({ name, make, words }) => {
  test(
    "that is something else is one sentence",
    async () => {
      const good = await make();
      const document: unknown = JSON.parse(good);
      const path = name === "a checkpoint" ? at("resumed.json.checkpoint") : at("given.json");
      const outcomeOf = async (text: string) => {
        writeFileSync(path, text);
        const { failure, code } = await runInProcess(words(path));
        return code === "unexpected" || /\n/.test(failure ?? "") ? failure : undefined;
      };
      const texts = [
        ...["", "{", "null", "[]", "7", '"x"', "true", "{}", "[null]", "[[]]"],
        ...WRONG.flatMap((by) =>
          pathsIn(document, 1).map((at) => JSON.stringify(replaced(document, at, by))),
        ),
      ];
      const unexpected: string[] = [];
      for (const text of texts) {
        const failure = await outcomeOf(text);
        if (failure !== undefined) unexpected.push(`${text.slice(0, 200)}: ${failure}`);
      }
      expect(unexpected).toEqual([]);
    },
    SLOW,
  );
});
