import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test, vi } from "vitest";
import { checkpointTexts } from "../../src/cli/commands/design/checkpoint.js";
import { evaluateTexts } from "../../src/cli/commands/design/evaluate.js";
import { fileTexts } from "../../src/cli/commands/design/files.js";
import { loadModelTexts } from "../../src/cli/commands/design/load-model.js";
import { hookTexts } from "../../src/cli/commands/design/model-hooks.js";
import { modelOptions } from "../../src/cli/commands/design/model-options.js";
import { namedModelTexts } from "../../src/cli/commands/design/named-model.js";
import { sweepTexts } from "../../src/cli/commands/design/sweep.js";
import { failureText } from "../../src/cli/failure.js";
import { jobPlaceTexts } from "../../src/cli/job-place.js";
import { historyTexts } from "../../src/design/history-file.js";
import { budgetTexts } from "../../src/design/leakage-budget.js";
import { catalogueTexts, MODEL_NAMES, shippedModel } from "../../src/design/model-catalogue.js";
import { policyFileTexts } from "../../src/design/policy-file.js";
import { renderTexts } from "../../src/report/render.js";
import { policyCheckpoint, policyCheckpointTexts } from "../../src/workflows/policy-checkpoint.js";
import { policySettings } from "../../src/workflows/policy-settings.js";
import { needsDist, ROOT } from "../setup/dist.js";
import { invoke as invokeAlone } from "./invoke.js";
import { invoke } from "./one-process.js";

needsDist();
const folder = mkdtempSync(join(tmpdir(), "fairbed-design-"));
afterAll(() => rmSync(folder, { recursive: true }));

const at = (name: string) => join(folder, name);
const file = (name: string, contents: unknown): string => {
  writeFileSync(at(name), typeof contents === "string" ? contents : JSON.stringify(contents));
  return at(name);
};
const design = (...words: string[]) => invoke(["design", ...words]);
const json = async (...words: string[]) => {
  const { code, stdout, stderr } = await design(...words, "--json");
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  return JSON.parse(stdout);
};
/** Little work: what it finds does not matter. */
const QUICK = ["--steps", "20", "--starts", "2", "--outer", "10", "--inner", "100", "--batches", "2"];

describe("design evaluate", () => {
  // theta is seen once and phi once, both N(0, 1) with noise N(0, 1): 0.5 log 2 nats each.
  const once = 0.5 * Math.log(2);
  const apart = file("apart.json", {
    designs: [
      [1, 0],
      [0, 1],
    ],
  });

  test("by closed form", async () => {
    const answer = await json("evaluate", apart, "--model", "linear-gaussian", "--exact");
    const exact = (value: number) => ({
      lower: expect.closeTo(value, 9),
      upper: expect.closeTo(value, 9),
      standardError: 0,
    });
    expect(answer).toMatchObject({
      policy: { kind: "static", horizon: 2 },
      model: { name: "linear-gaussian", options: {} },
      method: "closed form",
      target: exact(once),
      sensitive: exact(once),
      sensitiveGivenTarget: exact(once),
      joint: exact(2 * once),
      objectives: { conditional: exact(0.2 * once), unconditional: exact(0.2 * once) },
    });
    expect(answer.ratios.sensitive.paper).toBeCloseTo(1, 9);
    expect(answer.ratios.sensitiveGivenTarget.interval).toEqual([expect.closeTo(1, 9), expect.closeTo(1, 9)]);
  });

  test("by nested samples, which bracket it", async () => {
    const words = ["--outer", "400", "--inner", "2000", "--batches", "16", "--seed", "1"];
    const answer = await json("evaluate", apart, "--model", "linear-gaussian", ...words);
    for (const [name, value] of Object.entries({ target: once, sensitive: once, joint: 2 * once })) {
      const { lower, upper, standardError } = answer[name];
      expect(lower - 5 * standardError).toBeLessThan(value);
      expect(upper + 5 * standardError).toBeGreaterThan(value);
      expect(upper - lower).toBeLessThan(0.05);
    }
    expect(answer.samples).toEqual({ outer: 400, inner: 2000, batches: 16, seed: 1 });
  });

  test("over several models: the worst leakage, with its model named", async () => {
    const words = ["--model", "linear-gaussian", "--exact", "--against", '[{"noise": 0.5}, {"noise": 2}]'];
    const { fairness, sensitive } = await json("evaluate", apart, ...words);
    // The information of one observation: 0.5 log(1 + 1 / noise^2).
    const worst = 0.5 * Math.log(5);
    expect(fairness.unconditional.worst).toBe('{"noise":0.5}');
    expect(fairness.unconditional.leakage.upper).toBeCloseTo(worst, 9);
    expect(fairness.conditional.fairness.lower).toBeCloseTo(-worst, 9);
    expect(sensitive.upper).toBeCloseTo(once, 9);
    const { stdout } = await design("evaluate", apart, ...words);
    expect(stdout).toContain("worst leakage of 3 models");
  });

  test.each(["{}", "[1]", "[]", "[{"])("--against %s is refused", async (given) => {
    const { code, stderr } = await design(
      "evaluate",
      apart,
      "--model",
      "linear-gaussian",
      "--against",
      given,
    );
    expect(code).toBe(2);
    expect(stderr).toContain(namedModelTexts.notObjects(given));
  });

  test("whether demographic parity follows", async () => {
    const words = ["--model", "linear-gaussian", "--exact", "--parity"];
    const { parity } = await json("evaluate", apart, ...words);
    // phi is seen by itself: EIG_{phi|theta} is half of log 2.
    expect(parity.verdict).toBe("undecided");
    expect(parity.reasons).toEqual(["leakage"]);
    const blind = file("blind.json", { designs: [[1, 0]] });
    expect((await json("evaluate", blind, ...words)).parity.verdict).toBe("holds");
    const { stdout } = await design("evaluate", blind, ...words);
    expect(stdout).toContain("\nDemographic parity holds, since nothing leaks given the target (F_c = 0),");
  });

  test("says the same to a person", async () => {
    const { code, stdout } = await design("evaluate", apart, "--model", "linear-gaussian", "--exact");
    expect(code).toBe(0);
    expect(stdout).toMatch(/^information about the target +0\.3466 +0\.3466 +0\.0000$/m);
    expect(stdout).toMatch(/^the same, given the target +1\.000 +1\.000 +1\.000 ± 0\.000$/m);
  });

  test("every shipped model is named in the help", () => {
    for (const name of MODEL_NAMES) expect(modelOptions.model.summary).toContain(name);
  });
});

describe("a policy", () => {
  test("is found, evaluated with its own model and used", async () => {
    const out = at("found.json");
    const words = ["--model", "location", "--prior-mean", "1,2", "--horizon", "3", "--beta", "0.5"];
    const found = await json("optimize", ...words, ...QUICK, "--out", out);
    const stored = JSON.parse(readFileSync(out, "utf8"));
    expect(stored).toMatchObject({
      kind: "static",
      model: { name: "location", options: { priorMean: [1, 2] } },
      settings: { beta: 0.5, horizon: 3, steps: 20, starts: 2 },
      bounds: {
        target: { lower: found.target.lower },
        objective: { lower: found.objectives.conditional.lower },
      },
    });
    expect(stored.designs).toEqual(found.designs);
    expect(readdirSync(folder)).not.toContain("found.json.checkpoint");

    const again = await json("evaluate", out, "--outer", "10", "--inner", "100", "--batches", "2");
    expect(again.model.options).toEqual({ priorMean: [1, 2] });
    expect(again.target).toEqual(found.target);

    const history = file("one.json", [{ design: { x: 1, y: 2 }, outcome: 0.3 }]);
    const [x, y] = found.designs[1];
    expect(await json("next", out, "--history", history)).toMatchObject({
      observation: 2,
      horizon: 3,
      design: { x, y },
      outcomes: [{ name: "outcome", recordedAs: "its natural logarithm" }],
    });
    const { stdout: toPerson } = await design("next", out, "--history", history);
    expect(toPerson).toMatch(/^ {2}x = -?\d+(\.\d{1,3})?$/m);
    // The prior has a standard deviation of 1, and one reading leaves about as much: two decimals are enough.
    expect(toPerson).toMatch(/^ {2}theta +target +-?\d\.\d\d +\d\.\d\d +-?\d\.\d\d to -?\d\.\d\d$/m);
    const many = (length: number) => Array.from({ length }, () => ({ design: [1, 2], outcome: 0.3 }));
    const whole = await json("next", out, "--history", file("full.json", many(3)));
    expect(whole).toMatchObject({ done: true, observations: 3, posterior: { theta: { role: "target" } } });
    expect(whole).not.toHaveProperty("design");
    const over = file("over.json", many(4));
    expect(await design("next", out, "--history", over)).toMatchObject({
      code: 2,
      stderr: `fairbed: ${historyTexts.full(over, 4, 3)}\n`,
    });

    const elsewhere = await json("evaluate", out, "--prior-mean", "0,0", "--outer", "10", "--inner", "100");
    expect(elsewhere.warnings).toContain(evaluateTexts.otherNumbers);
    expect(await design("evaluate", out, "--model", "psychometric")).toEqual({
      code: 2,
      stdout: "",
      stderr: `fairbed: ${policyFileTexts.otherModel(out, "location", "psychometric")}\n`,
    });
  });

  test.each(["dad", "random", "greedy"])("%s: its file is used in another process", async (kind) => {
    const out = at(`${kind}.policy`);
    const quick = ["--horizon", "2", "--outer", "2", "--inner", "100", "--batches", "1"];
    const steps = kind === "dad" ? ["--steps", "3"] : [];
    await json("optimize", "--model", "location", "--policy", kind, ...quick, ...steps, "--out", out);
    const next = await json("next", out, "--history", file("none.json", []));
    expect(next.design).toEqual({ x: expect.any(Number), y: expect.any(Number) });
    const apart = await invokeAlone(["design", "next", out, "--history", at("none.json"), "--json"]);
    expect(JSON.parse(apart.stdout)).toEqual(next);
  });

  test("within a leakage budget", async () => {
    const words = ["--model", "linear-gaussian", "--horizon", "1", "--steps", "30", "--starts", "1"];
    const found = await json("optimize", ...words, "--budget-nats", "0.4", "--out", at("budget.json"));
    expect(found.sensitiveGivenTarget.upper).toBeLessThan(0.45);
    expect(found.frontier).toHaveLength(8);
    expect(found.settings.beta).toBe(JSON.parse(readFileSync(at("budget.json"), "utf8")).settings.beta);
  }, 180_000);
});

describe("a killed run", () => {
  test.each([
    ["static", ["--steps", "2500", "--starts", "3", "--horizon", "3"]],
    ["dad", ["--steps", "3000", "--horizon", "3"]],
    [
      "budget",
      ["--policy", "static", "--budget-nats", "0.3", "--steps", "300", "--starts", "1", "--horizon", "1"],
    ],
  ])(
    "%s: ends as one that was not killed",
    async (kind, training) => {
      const words = (out: string, ...more: string[]) =>
        ["optimize", "--model", "location", ...(kind === "budget" ? [] : ["--policy", kind]), ...training]
          .concat(["--outer", "10", "--inner", "100", "--batches", "2", "--out", at(out), "--quiet"])
          .concat(more);
      const checkpoint = `${kind}-killed.checkpoint`;
      const killed = await invoke(["design", ...words(`${kind}-killed`)], {
        during: (child) => {
          const watch = setInterval(() => {
            if (!readdirSync(folder).includes(checkpoint)) return;
            clearInterval(watch);
            child.kill("SIGKILL");
          }, 20);
          child.on("exit", () => clearInterval(watch));
        },
      });
      expect(killed.code).toBeNull();
      const otherBeta = await design(...words(`${kind}-killed`, "--resume", "--beta", "0.3"));
      expect(otherBeta).toMatchObject({
        code: 2,
        stderr: `fairbed: ${checkpointTexts.unusable(at(checkpoint), policyCheckpointTexts.otherSettings("beta", 0.8, 0.3))}\n`,
      });
      const resumed = await design(...words(`${kind}-killed`, "--resume"));
      expect(resumed.stdout).toContain("Resumed and found");
      const whole = await design(...words(`${kind}-whole`));
      expect([resumed.code, whole.code]).toEqual([0, 0]);
      expect(readFileSync(at(`${kind}-killed`)).equals(readFileSync(at(`${kind}-whole`)))).toBe(true);
      expect(readdirSync(folder)).not.toContain(checkpoint);
    },
    300_000,
  );

  test("interrupted, it says how to go on; begun anew, that it replaces what was left", async () => {
    const [out, checkpoint] = [at("left"), at("left.checkpoint")];
    const words = (steps: string) => [
      ...["optimize", "--model", "location", "--steps", steps, "--starts", "1", "--horizon", "1"],
      ...["--outer", "10", "--inner", "100", "--batches", "2", "--out", out],
    ];
    const interrupted = await invoke(["design", ...words("1000000")], {
      during: (child) => {
        const watch = setInterval(() => {
          if (!readdirSync(folder).includes("left.checkpoint")) return;
          clearInterval(watch);
          child.kill("SIGINT");
        }, 20);
        child.on("exit", () => clearInterval(watch));
      },
    });
    expect(interrupted.code).toBe(130);
    expect(interrupted.stderr).toContain(
      `fairbed: ${failureText.interruptedWithState(checkpointTexts.goOn(checkpoint))}\n`,
    );
    const anew = await design(...words("5"));
    expect(anew).toMatchObject({
      code: 0,
      stderr: expect.stringContaining(checkpointTexts.left(checkpoint)),
    });
    expect((await design(...words("5"))).stderr).not.toContain(checkpoint);
  }, 120_000);

  test("a number that is none leaves the last good state, and says where", async () => {
    // Tells more the larger x is, until log(1.5 - x) is none: training walks there.
    const model = file(
      "cliff.mjs",
      `import { add, defineModel, log, mul, normal, real, sensitive, sub, target } from "fairbed/design";
      export default defineModel({
        name: "cliff",
        parameters: { theta: target(normal(0, 1)), phi: sensitive(normal(0, 1)) },
        design: { x: real() },
        outcome: ({ theta, phi }, { x }) => normal(add(mul(theta, sub(3, log(sub(1.5, x)))), mul(0.1, phi)), 1),
      });`,
    );
    const words = ["--steps", "400", "--starts", "1", "--rate", "0.05", "--beta", "0", "--horizon", "2"];
    const out = at("cliff.json");
    const { code, stderr } = await design("optimize", "--model", model, ...words, "--out", out, "--quiet");
    expect(code).toBe(2);
    expect(stderr).toMatch(/^fairbed: training stopped at step \d+, /);
    expect(stderr).toContain(`; ${checkpointTexts.lastGood(`${out}.checkpoint`)}\n`);
    expect(stderr).not.toContain("error's checkpoint");
    expect(JSON.parse(readFileSync(`${out}.checkpoint`, "utf8"))).toMatchObject({
      format: "fairbed checkpoint",
    });
  }, 60_000);

  test("a damaged checkpoint is one sentence", async () => {
    file("broken.json.checkpoint", "nonsense");
    const words = ["--model", "location", "--resume", "--out", at("broken.json")];
    expect(await design("optimize", ...words)).toEqual({
      code: 2,
      stdout: "",
      stderr: `fairbed: ${checkpointTexts.damaged(at("broken.json.checkpoint"))}\n`,
    });
  });
});

describe("--resume", () => {
  const words = (out: string, ...more: string[]) => [
    ...["optimize", "--model", "location", "--steps", "2", "--starts", "1", "--horizon", "1", "--resume"],
    ...["--outer", "10", "--inner", "100", "--batches", "2", "--out", at(out), ...more],
  ];
  const model = shippedModel("location", {});
  const settings = { ...policySettings({ horizon: 1, steps: 2, starts: 1 }), model: model.name };

  test("says that it starts from the beginning where there is no checkpoint", async () => {
    const { code, stderr } = await design(...words("fresh.json"));
    expect(code).toBe(0);
    expect(stderr).toContain(`${checkpointTexts.none(at("fresh.json.checkpoint"))}\n`);
  });

  test.each([
    ["JSON of something else", {}, checkpointTexts.notCheckpoint(at("other.json.checkpoint"))],
    [
      "a checkpoint of a model that has changed",
      policyCheckpoint({ ...settings, "model's hash": "0" }, {}),
      checkpointTexts.unusable(at("other.json.checkpoint"), policyCheckpointTexts.changedModel(model.name)),
    ],
  ])("refuses %s, names the file and says how to start again", async (_, checkpoint, text) => {
    file("other.json.checkpoint", checkpoint);
    const { code, stdout, stderr } = await design(...words("other.json", "--quiet"));
    expect({ code, stdout, stderr }).toEqual({ code: 2, stdout: "", stderr: `fairbed: ${text}\n` });
    expect(text).toMatch(/other\.json\.checkpoint.+start again without --resume$/);
  });
});

describe("a model of one's own", () => {
  mkdirSync(at("models"));
  const body = (slope: string) => `
    defineModel({
      name: "mine",
      parameters: { theta: target(normal(0, 1)), phi: sensitive(normal(0, 1)) },
      design: { x: real({ low: -2, high: 2 }) },
      outcome: ({ theta, phi }, { x }) => normal(add(mul(theta, ${slope}), mul(phi, x)), 1),
    })`;
  const imports = 'import { add, defineModel, mul, normal, real, sensitive, target } from "fairbed/design";';
  const designs = file("zero.json", { designs: [[0]] });
  const exact = async (model: string, ...words: string[]) =>
    (await json("evaluate", designs, "--model", model, "--exact", ...words)).target.lower;

  test("in JavaScript, as the default export or as `model`", async () => {
    file("models/default.mjs", `${imports}\nexport default ${body("1")};`);
    file("models/named.mjs", `${imports}\nexport const model = ${body("1")};`);
    // y = theta + noise: 0.5 log(1 + 1).
    expect(await exact(at("models/default.mjs"))).toBeCloseTo(0.5 * Math.log(2), 9);
    expect(await exact(at("models/named.mjs"))).toBeCloseTo(0.5 * Math.log(2), 9);
  });

  test("in TypeScript, with types, another file and options of its own", async () => {
    file("models/slope.ts", "export const slope: number = 2;");
    file(
      "models/mine.ts",
      `${imports}\nimport type { Model } from "fairbed/design";\nimport { slope } from "./slope.js";\n
       interface Options { readonly factor?: number }
       export default ({ factor = 1 }: Options): Model => ${body("slope * factor")};`,
    );
    expect(await exact(at("models/mine.ts"))).toBeCloseTo(0.5 * Math.log(5), 9);
    const options = ["--model-options", '{"factor": 2}'];
    expect(await exact(at("models/mine.ts"), ...options)).toBeCloseTo(0.5 * Math.log(17), 9);
    const out = at("mine.json");
    const few = ["--outer", "4", "--inner", "50", "--batches", "2"];
    await json(
      ...["optimize", "--model", at("models/mine.ts"), "--horizon", "1", ...options],
      ...["--steps", "4", "--starts", "1", ...few, "--out", out],
    );
    // The policy names the file of its model, and the options that it was made with.
    const found = await json("evaluate", out, ...few);
    expect(found.model).toEqual({ name: "mine", options: { factor: 2 } });
    expect(JSON.parse(readFileSync(out, "utf8")).model.file).toBe("models/mine.ts");
    mkdirSync(at("elsewhere"));
    const moved = at("elsewhere/mine.json");
    writeFileSync(moved, readFileSync(out));
    expect(await design("evaluate", moved, ...few)).toMatchObject({
      code: 2,
      stderr: `fairbed: ${namedModelTexts.movedModel(moved, "mine", "models/mine.ts")}\n`,
    });
    const unsaid = { ...JSON.parse(readFileSync(out, "utf8")) };
    delete unsaid.model.file;
    const nameless = file("nameless.json", unsaid);
    expect(await design("evaluate", nameless)).toMatchObject({
      code: 2,
      stderr: `fairbed: ${namedModelTexts.unknownOrigin(nameless, "mine")}\n`,
    });
  });

  test.each([
    ["models/nothing.mjs", "export const a = 1;", loadModelTexts.noModel],
    ["models/plain.mjs", "export default { name: 'x', parameters: {} };", loadModelTexts.noModel],
  ])("%s has none", async (name, source, text) => {
    const path = file(name, source);
    expect(await design("evaluate", designs, "--model", path)).toEqual({
      code: 2,
      stdout: "",
      stderr: `fairbed: ${text(path)}\n`,
    });
  });

  test.each([
    ["models/syntax.ts", "export default const;"],
    ["models/throws.mjs", "throw new Error('no');"],
    ["models/import.mjs", "import './nowhere.mjs';"],
    [
      "models/no-target.mjs",
      `${imports}\nexport default defineModel({ name: "m", parameters: {}, design: {} });`,
    ],
  ])("%s says in one sentence why not", async (name, source) => {
    const { code, stderr } = await design("evaluate", designs, "--model", file(name, source));
    expect(code).toBe(2);
    expect(stderr).toMatch(/^fairbed: .+\n$/);
    expect(stderr).not.toContain("something unexpected");
  });

  const early = "// A comment.\nimport { real } from 'fairbed/design';\n";
  test.each([
    [
      "models/shorthand.mjs",
      "export default {\n  a = real(),\n};",
      "Invalid shorthand property initializer",
      4,
    ],
    [
      "models/shorthand.ts",
      "export default {\n  a = real(),\n};",
      "Invalid shorthand property initializer",
      4,
    ],
    ["models/open.ts", "\nexport default function ({", 'Unexpected token, expected ","', 4],
    ["models/thrown.mjs", "const fail = () => {\n  throw new Error('no');\n};\nfail();", "no", 4],
  ])("%s says on which line", async (name, source, reason, line) => {
    const path = file(name, early + source);
    const { stderr } = await design("evaluate", designs, "--model", path);
    expect(stderr).toBe(`fairbed: ${loadModelTexts.failed(path, reason, line)}\n`);
  });

  test.each([
    ["twice.ts", "target(normal(0, 1) as Distribution)", "sensitive(normal(0, 1))"],
    ["twice.mjs", "target(normal(0, 1))", "target(normal(0, 2))"],
  ])("that uses a name twice is told on which line: %s", async (name, first, second) => {
    const path = file(
      `models/${name}`,
      `${imports}
export default defineModel({
  parameters: {
    effect: ${first}, // effect: 1
    ["effect"]: ${first},
    "effect": ${second},
  },
});`,
    );
    const { code, stderr } = await design("evaluate", designs, "--model", path);
    expect([code, stderr]).toEqual([
      2,
      `fairbed: ${loadModelTexts.twice(path, { key: "effect", line: 6, firstLine: 4 })}\n`,
    ]);
  });

  test("that imports from a part that fairbed does not have is told which there are", async () => {
    const path = file("models/part.mjs", 'import { real } from "fairbed/desing";\nexport default real();\n');
    const { exports } = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8"));
    const parts = Object.keys(exports).filter((name) => !name.endsWith(".json"));
    const names = [
      "fairbed",
      ...parts
        .slice(1)
        .map((name) => `fairbed${name.slice(1)}`)
        .sort(),
    ];
    const { stderr } = await design("evaluate", designs, "--model", path);
    const reason = hookTexts.noPart("fairbed/desing", names);
    expect(stderr).toBe(`fairbed: ${loadModelTexts.failed(path, reason)}\n`);
  });
});

describe("bad input is one sentence and exit code 2", () => {
  const good = file("good.json", { designs: [[1, 2]] });
  const wide = file("wide.json", { designs: [[1, 2, 3]] });
  const nan = file("nan.json", '{"designs": [[1, NaN]]}');
  const text = file("text.json", "hello");
  test.each([
    [["evaluate", good, "--model", "lcation"], catalogueTexts.unknownModel("lcation", "location")],
    [["evaluate", good], namedModelTexts.noModel],
    [["evaluate", at("nowhere.json"), "--model", "location"], fileTexts.missing(at("nowhere.json"))],
    [["evaluate", folder, "--model", "location"], fileTexts.folder(folder)],
    [["evaluate", good, "--model", "./nowhere.ts"], fileTexts.missing("./nowhere.ts")],
    [["evaluate", wide, "--model", "location"], policyFileTexts.width(wide, 1, 3, ["x", "y"])],
    [["evaluate", nan, "--model", "location"], policyFileTexts.notANumber(nan)],
    [["evaluate", good, "--model", "location", "--model-options", "3"], namedModelTexts.notObject("3")],
    [
      ["optimize", "--model", "location", "--beta", "-1"],
      '--beta <number> takes a number of at least 0, not "-1".',
    ],
    [
      ["optimize", "--model", "location", "--beta", "NaN"],
      '--beta <number> takes a number of at least 0, not "NaN".',
    ],
    [
      ["optimize", "--model", "location", "--horizon", "0"],
      '--horizon <number> takes a whole number from 1 to 10000, not "0".',
    ],
    [["optimize", "--model", "location", "--out", at("none/p.json")], /^the folder of .* does not exist/],
    [["optimize", "--model", "location", "--budget-nats", "0"], /takes a number above 0, not "0"/],
    [["next", good, "--model", "location", "--history", text], /^.*text\.json is not JSON/],
    [["evaluate", text, "--model", "location"], /^.*text\.json is neither JSON nor a network/],
    [["sweep", "--model", "location", "--betas", "0,-1"], /takes numbers of at least 0 with commas/],
    [["sweep", "--model", "location", "--out", text], /is a file, or lies in one; name a folder/],
    [["evaluat", good], "unknown command 'evaluat'; did you mean evaluate?"],
  ])("%j", async (words, message) => {
    const { code, stdout, stderr } = await design(...words);
    expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
    const said = /^fairbed: (.*)\n$/.exec(stderr)?.[1];
    if (typeof message === "string") expect(said).toBe(message);
    else expect(said).toMatch(message);
  });

  test.each([
    ["cut.json", '[\n{"design": {"x": 1, "y": 2},\n "outcome": 0.3', 3],
    ["comma.json", '[\n{"design": {"x": 1 "y": 2}}]', 2],
  ])(
    "a history that is no JSON is told on which line, without its contents: %s",
    async (name, text, line) => {
      const { stderr } = await design("next", good, "--model", "location", "--history", file(name, text));
      expect(stderr).toBe(`fairbed: ${fileTexts.notJson(at(name), line)}\n`);
    },
  );

  test("a budget that nothing meets", async () => {
    const words = ["--model", "location", "--horizon", "1", "--steps", "2", "--starts", "1"];
    const unmet = ["--budget-nats", "1e-9", "--out", at("unmet.json")];
    // As an interrupted search leaves it.
    file("unmet.json.checkpoint", "{}");
    const { code, stdout, stderr } = await design("optimize", ...words, ...unmet);
    // Nothing was asked wrongly.
    expect([code, stdout]).toEqual([1, ""]);
    expect(stderr).toContain(`fairbed: ${budgetTexts.unmet(1e-9, 0).slice(0, 30)}`);
    const frontier = stderr
      .slice(stderr.indexOf("The frontier in nats, for a budget of 1e-9 nats"))
      .split("\n");
    expect(frontier[1]).toMatch(/beta +target, at least +leakage, at most +within$/);
    expect(frontier.slice(2).filter((line) => /^ +\d.+ no$/.test(line))).toHaveLength(8);
    expect(readdirSync(folder)).not.toContain("unmet.json.checkpoint");
  }, 180_000);
});

describe("design sweep", () => {
  const words = ["sweep", "--model", "location", "--betas", "0,0.8", "--horizons", "1,2", "--seeds", "2"]
    .concat(QUICK)
    .concat(["--out", at("sweep"), "--quiet"]);

  test("has a cell for every setting, and goes on where it stopped", async () => {
    const whole = await json(...words);
    expect(whole.cells).toEqual({ total: 8, found: 0, computed: 8 });
    expect(
      whole.summary.map(({ beta, horizon, seeds }: Record<string, number>) => [horizon, beta, seeds]),
    ).toEqual([
      [1, 0, 2],
      [1, 0.8, 2],
      [2, 0, 2],
      [2, 0.8, 2],
    ]);
    const csv = readFileSync(at("sweep/results.csv"), "utf8");
    const [header, ...lines] = csv.trimEnd().split("\n");
    expect(lines).toHaveLength(8);
    for (const line of lines) expect(line.split(",")).toHaveLength(header.split(",").length);
    for (const name of ["frontier", "designs", "information-by-beta", "information-by-horizon"]) {
      expect(readFileSync(at(`sweep/${name}.svg`), "utf8")).toMatch(/^<svg /);
    }
    // One cell is lost and one was cut short: these two are computed again, to the same.
    const stored = readFileSync(at("sweep/results.jsonl"), "utf8").split("\n");
    expect(stored).toHaveLength(9);
    writeFileSync(at("sweep/results.jsonl"), [...stored.slice(1, 7), stored[7].slice(0, 100)].join("\n"));
    const again = await json(...words);
    expect(again.cells).toEqual({ total: 8, found: 6, computed: 2 });
    expect(again.summary).toEqual(whole.summary);
    expect(readFileSync(at("sweep/results.csv"), "utf8")).toBe(csv);
    const policy = lines[0].split(",").at(-1) ?? "";
    expect(await json("next", join(at("sweep"), policy), "--history", file("start.json", []))).toMatchObject({
      observation: 1,
    });
  });

  test("interrupted, it says how to go on from what is finished", async () => {
    const out = at("interrupted");
    const long = ["--model", "location", "--betas", "0", "--horizons", "1,30", "--steps", "5000"];
    const sizes = ["--starts", "1", "--outer", "100", "--inner", "2000", "--batches", "2"];
    const words = [...long, ...sizes, "--jobs", "1", "--figures", "none", "--out", out];
    const interrupted = await invoke(["design", "sweep", ...words], {
      during: (child) => {
        const watch = setInterval(() => {
          if (!existsSync(join(out, "results.jsonl"))) return;
          clearInterval(watch);
          child.kill("SIGINT");
        }, 20);
        child.on("exit", () => clearInterval(watch));
      },
    });
    expect(interrupted.code).toBe(130);
    expect(interrupted.stderr).toContain(
      `fairbed: ${failureText.interruptedWithState(jobPlaceTexts.goOn(1, "cells"))}\n`,
    );
    expect(jobPlaceTexts.goOn(1, "cells")).toBe("the same command goes on from the 1 finished cell");
  }, 120_000);

  test("says how many cells there are", () => {
    expect([sweepTexts.cells(1, 0), sweepTexts.cells(1, 1), sweepTexts.cells(2, 1)]).toEqual([
      "1 cell, not from before.",
      "1 cell, from before.",
      "2 cells, 1 of them from before.",
    ]);
  });

  test("without figures, and on one core, is the same", async () => {
    const alone = [...words.slice(0, -2), at("alone"), "--jobs", "1", "--figures", "none"];
    expect((await json(...alone)).files).toEqual([at("alone/results.csv"), at("alone/results.json")]);
    expect(readFileSync(at("alone/results.csv"), "utf8")).toBe(readFileSync(at("sweep/results.csv"), "utf8"));
  });

  test("without the packages of figures says how to do without them too", async () => {
    vi.resetModules();
    vi.doMock("vega", () => {
      throw new Error("Cannot find package 'vega'");
    });
    const { requireCharts } = await import("../../src/report/render.js");
    const { sweep } = await import("../../src/cli/commands/design/sweep.js");
    const input = { arguments: {}, options: { figures: "svg", device: "cpu" } };
    await expect(sweep.run({ ...input, context: {} } as never)).rejects.toThrow(
      renderTexts.noVegaOr(sweepTexts.noFigures),
    );
    await expect(requireCharts()).rejects.toThrow(/vega-lite@6\.4$/);
    expect(renderTexts.noVegaOr(sweepTexts.noFigures)).toMatch(/, or leave .* --figures none$/);
    vi.doUnmock("vega");
  });
});
