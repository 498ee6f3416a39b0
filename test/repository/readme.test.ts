/** The example in the README runs as it stands. */
import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { needsDist } from "../setup/dist.js";

needsDist();

test("the README's example prints a value and a derivative", async () => {
  const readme = readFileSync(new URL("../../README.md", import.meta.url), "utf8");
  const example = /```ts\n([\s\S]*?)```/.exec(readme)?.[1] ?? "";
  const names = /import \{([^}]*)\} from "fairbed";/.exec(example)?.[1] ?? "";
  const library = await import(new URL("../../dist/index.js", import.meta.url).href);
  const printed: number[][] = [];
  const run = new Function(
    "library",
    "console",
    `const {${names}} = library;\n${example.replace(/^import.*$/m, "")}`,
  );
  run(library, { log: (...values: number[]) => printed.push(values) });
  expect(printed).toHaveLength(1);
  // The mean of a density that is at most 1, over ten observations.
  expect(printed[0][0]).toBeLessThan(0);
  expect(printed[0].every(Number.isFinite)).toBe(true);
});
