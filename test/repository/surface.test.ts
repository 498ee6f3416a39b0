/** What the library's users can name: functions, the types of their arguments and results, and the texts of errors. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, expectTypeOf, test } from "vitest";
import type {
  Axis,
  Backend,
  BootstrapOptions,
  CompileOptions,
  Dense,
  DensePort,
  InputAxes,
  Moments,
  RandomStream,
  RowStatistic,
  Sizes,
  StreamKey,
  StreamName,
} from "../../src/index.js";
import * as fairbed from "../../src/index.js";
import { ROOT } from "../setup/dist.js";

test("the types that signatures use have names", () => {
  expectTypeOf<Parameters<Dense["bind"]>[0]>().toEqualTypeOf<DensePort>();
  expectTypeOf<Parameters<typeof fairbed.bootstrap>[1]>().toEqualTypeOf<RowStatistic>();
  expectTypeOf<Parameters<typeof fairbed.bootstrap>[2]>().toEqualTypeOf<BootstrapOptions>();
  expectTypeOf<Parameters<typeof fairbed.randomStream>[0]>().toEqualTypeOf<StreamName>();
  expectTypeOf<RandomStream["key"]>().toEqualTypeOf<StreamKey>();
  expectTypeOf<ReturnType<typeof fairbed.momentsOf>>().toEqualTypeOf<Moments>();
  expectTypeOf<NonNullable<CompileOptions<InputAxes>["backend"]>>().toEqualTypeOf<Backend>();
  expectTypeOf<keyof Sizes>().toEqualTypeOf<Axis>();
});

test("running moments, of parts and together", () => {
  const { addValue, mergeMoments, momentsOf, NO_VALUES, sampleVariance, standardError } = fairbed;
  const parts = mergeMoments([1, 2].reduce(addValue, NO_VALUES), momentsOf([3, 4]));
  expect(parts).toEqual({ n: 4, mean: 2.5, m2: 5 });
  expect(sampleVariance(parts)).toBeCloseTo(5 / 3, 15);
  expect(standardError(parts)).toBeCloseTo(Math.sqrt(5 / 12), 15);
});

test("what the pages of docs/ import is there", () => {
  for (const page of readdirSync(join(ROOT, "docs")).filter((name) => name.endsWith(".md"))) {
    const text = readFileSync(join(ROOT, "docs", page), "utf8");
    for (const [, names] of text.matchAll(/import \{([^}]*)\} from "fairbed"/g)) {
      for (const name of names
        .split(",")
        .map((each) => each.trim())
        .filter((each) => each !== "")) {
        if (!name.startsWith("type ")) expect(fairbed, `${page}: ${name}`).toHaveProperty(name);
      }
    }
  }
  for (const name of ["estimatePolicy", "fairness", "checkParity", "greedyPolicy", "withinLeakageBudget"]) {
    expect(fairbed).toHaveProperty(name);
  }
});

test("what errors say can be matched", () => {
  const { compile, InputError, randomStream, texts } = fairbed;
  expect(() => compile(({ x }) => x, { inputs: { x: [] }, backend: "gpu" as "js" })).toThrow(
    new InputError("backend", texts.backendTexts.unknown("gpu")),
  );
  expect(() => randomStream(-1)).toThrow(texts.streamNameText(-1));
});

test("every text of core and compute is among them", async () => {
  const known = new Set<unknown>(Object.values(fairbed.texts));
  const files = ["core", "compute"].flatMap((folder) =>
    readdirSync(join(ROOT, "src", folder), { recursive: true, encoding: "utf8" })
      .filter((path) => path.endsWith(".ts"))
      .map((path) => join(ROOT, "src", folder, path)),
  );
  expect(files.length).toBeGreaterThan(50);
  for (const file of files) {
    for (const [name, value] of Object.entries(await import(file))) {
      if (/[tT]exts?$/.test(name) && !known.has(value))
        expect.fail(`${name} of ${file} is not in src/texts.ts`);
    }
  }
});
