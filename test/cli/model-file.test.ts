import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { settledImportTexts } from "../../src/cli/commands/design/settled-import.js";
import { failureText } from "../../src/cli/failure.js";
import { needsDist } from "../setup/dist.js";
import { invoke } from "./invoke.js";

needsDist();
const folder = mkdtempSync(join(tmpdir(), "fairbed-model-file-"));
afterAll(() => rmSync(folder, { recursive: true }));

const modelFile = (name: string, before: string): string => {
  const path = join(folder, name);
  writeFileSync(
    path,
    `import { add, defineModel, mul, normal, real, sensitive, target } from "fairbed/design";
${before}
export default defineModel({
  name: "own",
  parameters: { theta: target(normal(0, 1)), phi: sensitive(normal(0, 1)) },
  design: { a: real({ low: -1, high: 1 }) },
  outcome: ({ theta, phi }, { a }) => normal(add(theta, mul(a, phi)), 1),
});
`,
  );
  return path;
};
const sizes = ["--steps", "4", "--starts", "1", "--outer", "10", "--inner", "20", "--batches", "2"];
const optimize = (model: string) => [
  ...["design", "optimize", "--model", model, "--horizon", "2", ...sizes],
  ...["--out", join(folder, "policy.json")],
];
const SLOW = 60_000;

describe("a model file", () => {
  test.each([
    ["await new Promise(() => {});", "js"],
    ["setTimeout(() => {}, 50); await new Promise<void>(() => {});", "ts"],
  ])(
    "that never finishes loading is one sentence: %s",
    async (line, kind) => {
      const path = modelFile(`never.${kind === "ts" ? "ts" : "mjs"}`, line);
      for (const words of [
        optimize(path),
        ["design", "sweep", "--model", path, "--out", join(folder, "s")],
      ]) {
        expect(await invoke(words)).toEqual({
          code: 1,
          stdout: "",
          stderr: `fairbed: ${settledImportTexts.unsettled(path)}\n`,
        });
      }
    },
    SLOW,
  );

  test(
    "that awaits something that comes is loaded",
    async () => {
      const path = modelFile("later.mjs", "await new Promise((resolve) => setTimeout(resolve, 300));");
      expect((await invoke(optimize(path))).code).toBe(0);
    },
    SLOW,
  );

  test(
    "that prints leaves stdout to the result",
    async () => {
      const prints = `console.log("log"); console.info("info"); console.table([1]); process.stdout.write("written\\n");`;
      const path = modelFile("prints.mjs", prints);
      const { code, stdout, stderr } = await invoke([...optimize(path), "--json"]);
      expect(code).toBe(0);
      expect(JSON.parse(stdout)).toMatchObject({ model: { name: "own" } });
      for (const said of ["log", "info", "written"]) expect(stderr).toContain(`${said}\n`);
    },
    SLOW,
  );

  test(
    "that never lets go of the thread is ended by Ctrl-C",
    async () => {
      const path = modelFile("held.mjs", `console.log("holding"); for (;;);`);
      const outcome = await invoke(optimize(path), {
        during: (child) => child.stderr?.once("data", () => child.kill("SIGINT")),
      });
      expect(outcome).toEqual({
        code: 130,
        stdout: "",
        stderr: `holding\nfairbed: ${failureText.interrupted}\n`,
      });
    },
    SLOW,
  );
});
