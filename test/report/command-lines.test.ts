/** A command that is printed gives the numbers that it was printed for. */
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { afterAll, describe, expect, test } from "vitest";
import { linearGaussian } from "../../src/design/models/linear-gaussian.js";
import { decodePolicy } from "../../src/design/policy-file.js";
import {
  auditCommand,
  type CommandTable,
  campaignCommands,
  fitCommand,
  optimizeCommand,
  planCommand,
  planOptionsOf,
  shellLine,
  shellScript,
  sweepCommand,
} from "../../src/report/command-lines.js";
import { readTable } from "../../src/sources/source.js";
import { auditTable } from "../../src/workflows/audit-table.js";
import { designFrontier } from "../../src/workflows/design-frontier.js";
import { fitModel } from "../../src/workflows/fit-model.js";
import { plan } from "../../src/workflows/plan.js";
import { trainPolicy } from "../../src/workflows/train-policy.js";
import { runInProcess } from "../cli/in-process.js";
import { needsDist } from "../setup/dist.js";

needsDist();
const folder = mkdtempSync(join(tmpdir(), "fairbed-lines-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Names that a shell or a list of names would take apart. */
const SENSITIVE = "sex, at birth";
const FILE = join(folder, "it's people.csv");
const rows = Array.from({ length: 260 }, (_, i) => {
  const group = (i * 7) % 5 < 2 ? "f" : "m";
  const skill = (i * 37) % 11;
  const part = group === "f" ? (i * 13) % 9 : (i * 13) % 4;
  return `p${i},${skill},${part},${i % 4},"${group}",${skill + (group === "m" ? 2 : 0) + ((i * 29) % 5) > 7 ? "yes" : "no"}`;
});
writeFileSync(FILE, `id,skill,part time,noise,"${SENSITIVE}",hired\n${rows.join("\n")}\n`);

const roles = { target: "hired=yes", sensitive: [SENSITIVE], exclude: ["noise"], id: "id" };
const table: CommandTable = { file: FILE, ...roles };

/** The words as a shell gives them to the program, without its name. */
const wordsOf = (line: string): readonly string[] =>
  execFileSync("/bin/sh", ["-c", `set -- ${line}; for word do printf '%s\\0' "$word"; done`])
    .toString()
    .split("\0")
    .slice(1, -1);

const plainJson = (value: unknown): unknown => JSON.parse(JSON.stringify(value));

describe("a command line that gives the same result", () => {
  test("of an audit", async () => {
    const options = { adversaries: ["logistic", "lookup"], permutations: 99, plants: 2, level: 0.9, seed: 3 };
    const found = await auditTable(await readTable(FILE), { ...roles, ...options });
    const line = shellLine(auditCommand(table, found, join(folder, "report.html")));
    const { result, failure } = await runInProcess(wordsOf(line));
    expect(failure).toBeUndefined();
    const { leakage, certificate } = result as {
      leakage: { unconditional: { nats: number; interval: unknown } };
      certificate: { settings: unknown };
    };
    const own = found.attributes[0].audit.leakage.unconditional;
    expect(leakage.unconditional.nats).toBe(own.nats);
    expect(leakage.unconditional.interval).toEqual(own.interval);
    expect(certificate.settings).toMatchObject({ exclude: ["noise"], level: 0.9, permutations: 99 });
  });

  test("of designs, and of a frontier", async () => {
    const options = { noise: 0.7 };
    const model = linearGaussian(options);
    const search = { objective: "unconditional", horizon: 2, steps: 15, starts: 2 } as const;
    const evaluation = { outer: 20, inner: 200, batches: 3 };
    const design = { model: "linear-gaussian", options, ...search, beta: 0.3, seed: 4, evaluation };
    const found = await trainPolicy(model, {
      ...search,
      beta: 0.3,
      seed: 4,
      evaluation,
      source: { options },
    });
    const out = join(folder, "policy.json");
    const { failure } = await runInProcess(wordsOf(shellLine(optimizeCommand(design, out))));
    expect(failure).toBeUndefined();
    expect(decodePolicy(readFileSync(out))).toEqual(plainJson(found));

    const betas = [0, 0.7];
    const points = await designFrontier(model, { ...search, betas, evaluation, source: { options } });
    const sweepTo = join(folder, "frontier");
    const swept = await runInProcess(wordsOf(shellLine(sweepCommand(design, { betas, out: sweepTo }))));
    expect(swept.failure).toBeUndefined();
    const [names, ...lines] = readFileSync(join(sweepTo, "results.csv"), "utf8")
      .trim()
      .split("\n")
      .map((line) => line.split(","));
    const column = (name: string) => lines.map((line) => Number(line[names.indexOf(name)]));
    expect(column("target_lower")).toEqual(points.map(({ target }) => target.lower));
    expect(column("sensitive_upper")).toEqual(points.map(({ sensitive }) => sensitive.upper));
  });

  test("of a plan", async () => {
    const options = {
      parity: 0.8,
      labels: 20,
      metric: "eopp",
      methods: ["random", "epig"],
      learners: ["logistic"],
      trees: 5,
      seed: 2,
    } as const;
    const found = await plan(await readTable(FILE), { ...roles, ...options });
    expect(planOptionsOf(found)).toEqual({ parity: 0.8, labels: 20, metric: "eopp", seed: 2 });
    const line = shellLine(planCommand(table, options, { recipe: join(folder, "recipe.json") }));
    const { result, failure } = await runInProcess(wordsOf(line));
    expect(failure).toBeUndefined();
    expect(plainJson(result)).toMatchObject(plainJson(found) as object);
    expect(JSON.parse(readFileSync(join(folder, "recipe.json"), "utf8"))).toEqual(plainJson(found.recipe));

    const { learner, reweigh, rule } = found.recipe.fit;
    const model = await fitModel(await readTable(FILE), { ...roles, learner, reweigh, rule, seed: 1 });
    for (const choice of [{ recipe: join(folder, "recipe.json") }, found.recipe.fit]) {
      const out = join(folder, "model.json");
      const fitted = await runInProcess(wordsOf(shellLine(fitCommand(table, choice, { seed: 1, out }))));
      expect(fitted.failure).toBeUndefined();
      expect(JSON.parse(readFileSync(out, "utf8"))).toEqual(plainJson(model));
    }
  });

  test("says only what is not usual", () => {
    const settings = {
      bins: 4,
      folds: 5,
      level: 0.95,
      permutations: 999,
      plants: 8,
      mostRows: undefined,
      seed: 0,
      adversaries: ["logistic", "forest", "boosting", "mlp", "svm", "lookup"],
    };
    const people = { file: "people.csv", target: "hired=yes", sensitive: ["sex"] };
    expect(shellLine(auditCommand(people, { rows: 100, settings }))).toBe(
      "fairbed audit people.csv --target hired=yes --sensitive sex --seed 0",
    );
    expect(shellLine(auditCommand(people, { rows: 9000, settings }))).toContain("--adversaries");
    expect(shellLine(fitCommand({ ...people, file: "-x.csv" }, {}))).toBe(
      "fairbed fit ./-x.csv --target hired=yes --sensitive sex --seed 0",
    );
  });

  test("reaches the program as it is meant, whatever a name holds", () => {
    fc.assert(
      fc.property(fc.array(fc.string({ unit: "binary" }), { minLength: 1, maxLength: 4 }), (texts) => {
        const words = ["fairbed", ...texts.map((text) => text.replaceAll("\0", ""))];
        expect(wordsOf(shellLine({ words, description: "" }))).toEqual(
          words.slice(1).map((word) => Buffer.from(word).toString()),
        );
      }),
      { numRuns: 30 },
    );
  });

  test("is a script with all of them", () => {
    const script = shellScript(
      campaignCommands("hiring", {
        backup: "hiring.backup.jsonl",
        data: "hiring.csv",
        card: "hiring.card.html",
      }),
    );
    expect(script).toMatch(/^#!\/bin\/sh\n# .*\nset -eu\n/);
    expect(script).toContain("\nfairbed campaign restore hiring.backup.jsonl\n");
    expect(script).toContain("\nfairbed campaign export hiring --out hiring.csv --card hiring.card.html\n");
    const words = ["fairbed", "audit", "it's.csv", "--sensitive", "a,b"];
    expect(shellScript([{ words, description: "x" }], "powershell")).toContain(
      "\nfairbed audit 'it''s.csv' --sensitive 'a,b'\n",
    );
  });
});
