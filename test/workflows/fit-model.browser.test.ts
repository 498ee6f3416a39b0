/** A model's file in a page: the same predictions as in Node, bit for bit, and the same model when it is fitted there. */
import { expect, test } from "vitest";
import type * as Library from "../../src/browser.js";
import { LEARNER_NAMES } from "../../src/learners/learner-names.js";
import { describeInChromium, serve } from "../setup/chromium.js";
import { needsDist, ROOT } from "../setup/dist.js";

needsDist();

/** Numbers of many digits, categories, missing cells and an unseen level, without a random number. */
const csv = (rows: number, labelled: boolean): string => {
  const lines = [`id,a,b,town${labelled ? ",y" : ""}`];
  for (let i = 0; i < rows; i++) {
    const [a, b] = [Math.fround(((i * 37) % 101) / 7), i % 11 === 0 ? "" : String((i * i) % 53)];
    const town = ["Zoë", "x", i % 9 === 0 && !labelled ? "new" : "z"][i % 3];
    lines.push(
      `p${i},${a},${b},${town}${labelled ? `,${["low", "high"][Number((i * 37) % 101 > 40 + (i % 5))]}` : ""}`,
    );
  }
  return lines.join("\n");
};

const bitsOf = async (library: typeof Library, file: string, text: string): Promise<string[]> => {
  const { probabilities, predicted, margin } = await library.predict(
    library.readModel(file),
    await library.parseTable(text),
  );
  const all = Float64Array.from([...probabilities, ...(margin ?? [])]);
  return [...Array.from(new BigUint64Array(all.buffer), String), ...predicted];
};

const fitted = async (library: typeof Library, text: string): Promise<string> =>
  JSON.stringify(
    await library.fitModel(await library.parseTable(text), {
      target: "y=high",
      id: "id",
      folds: 2,
      replicates: 100,
    }),
  );

/** Every way of mitigating, as one text of all model files. */
const fittedFairly = async (library: typeof Library, text: string, more: string): Promise<string> => {
  const table = await library.parseTable(text);
  const unlabelled = await library.parseTable(more);
  const files: string[] = [];
  for (const choices of [
    { reweigh: true, rule: { metric: "dp" as const, by: "both" as const }, unlabelled },
    { rule: { metric: "eopp" as const, level: 0.9 } },
    { represent: { maxSteps: 20, restarts: 1 }, rule: true as const, unlabelled },
    { represent: { maxSteps: 20, restarts: 1 }, rejectOption: true as const },
  ]) {
    const model = await library.fitModel(table, {
      target: "y=high",
      sensitive: ["town=x"],
      features: ["a", "b"],
      learner: "logistic",
      folds: 2,
      replicates: 100,
      ...choices,
    });
    files.push(JSON.stringify(model));
  }
  return JSON.stringify(files);
};

describeInChromium("a fitted model in Chromium", (browser) => {
  test("answers as in Node, whatever learnt it", async () => {
    const library: typeof Library = await import(new URL("../../dist/index.js", import.meta.url).href);
    const [known, asked] = [csv(80, true), csv(60, false)];
    const files: string[] = [];
    for (const learner of LEARNER_NAMES) {
      const options = { target: "y=high", id: "id", learner, folds: 2, replicates: 100 };
      files.push(JSON.stringify(await library.fitModel(await library.parseTable(known), options)));
    }
    const server = await serve({
      isolated: false,
      folder: ROOT,
      handlers: { "/": () => "<!doctype html><title>model</title>" },
    });
    const page = await browser().newPage();
    try {
      await page.goto(`${server.url}/`);
      const inPage = (use: unknown, ...given: readonly string[]) =>
        page.evaluate(
          `import("/dist/browser.js").then((library) => (${use})(library, ${given.map((each) => JSON.stringify(each)).join(", ")}))`,
        );
      for (const file of files)
        expect(await inPage(bitsOf, file, asked)).toEqual(await bitsOf(library, file, asked));
      expect(await inPage(fitted, known)).toBe(await fitted(library, known));
      const mitigated = await fittedFairly(library, known, asked);
      expect(await inPage(fittedFairly, known, asked)).toBe(mitigated);
      for (const file of JSON.parse(mitigated) as string[])
        expect(await inPage(bitsOf, file, asked)).toEqual(await bitsOf(library, file, asked));
    } finally {
      await page.close();
      await server.close();
    }
  });
});
