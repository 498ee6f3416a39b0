/** `fairbed plan` from the table to the commands that go on with its recipe. */
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { recipeOptionTexts } from "../../src/cli/commands/active/recipe-option.js";
import { seededStream } from "../../src/core/random.js";
import { csvText } from "../../src/tables/csv.js";
import { planningTexts } from "../../src/workflows/plan-settings.js";
import { readRecipe, recipeTexts } from "../../src/workflows/recipe.js";
import { needsDist } from "../setup/dist.js";
import { recipe } from "../workflows/made-recipe.js";
import { type Ran, runInProcess } from "./in-process.js";
import { withoutColumns } from "./records.js";

needsDist();
vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 });

const folder = mkdtempSync(join(tmpdir(), "fairbed-plan-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const at = (name: string): string => join(folder, name);

const people = (rows: number, seed: number) => {
  const stream = seededStream(seed);
  return [
    ["skill", "age", "sex", "hired"],
    ...Array.from({ length: rows }, () => {
      const sex = stream.uniform() < 0.4 ? "f" : "m";
      const skill = stream.integer(20);
      const hired = stream.uniform() < (skill + (sex === "m" ? 4 : 0)) / 24 ? "yes" : "no";
      return [skill, 20 + stream.integer(40), sex, hired];
    }),
  ];
};

const ROLES = ["--target", "hired=yes", "--sensitive", "sex"];
const PLAN = ["plan", at("pilot.csv"), ...ROLES, "--labels", "12", "--trees", "3", "--minutes", "1e-9"];
const SMALL = ["--learner", "logistic", "--method", "fairbed"];

interface Settings {
  readonly method: string;
  readonly settings: {
    readonly shares: string;
    readonly randomPart: number;
    readonly reweigh: boolean;
    readonly batch: number;
    readonly budget: number;
    readonly goal: { readonly beta: number };
  };
}
const methodOf = ({ result, failure }: Ran): Settings => {
  expect(failure).toBeUndefined();
  return (result as { methods: Settings[] }).methods[0];
};

beforeAll(() => {
  writeFileSync(at("pilot.csv"), csvText(people(300, 1)));
  writeFileSync(at("pool.csv"), csvText(withoutColumns(people(80, 2), ["hired"])));
  writeFileSync(at("made.json"), JSON.stringify(recipe));
});

describe("plan", () => {
  let ran: Ran;
  beforeAll(async () => {
    ran = await runInProcess([
      ...PLAN,
      ...SMALL,
      "--parity",
      "0.8",
      "--out",
      at("plan.html"),
      "--recipe",
      at("recipe.json"),
    ]);
  });

  test("says what to do first, and what it rests on", () => {
    expect(ran.failure).toBeUndefined();
    const [about, ...lines] = (ran.printed ?? "").split("\n").filter((line) => !line.startsWith("NOT MET"));
    expect(about).toContain("target hired=yes, parity of sex");
    expect(lines.find((line) => line !== "" && !line.startsWith("Note"))).toMatch(/^Recommended: /);
    expect(ran.printed).toContain("One seed does not tell how many labels the level needs.");
    expect(ran.printed).toContain("the time limit cut the plan short");
    expect(ran.printed).toContain("leakage (nats)");
    expect(ran.printed).not.toMatch(/NaN|undefined/);
  });

  test("writes a recipe that can be read, and a page that says the same", () => {
    const written = readRecipe(JSON.parse(readFileSync(at("recipe.json"), "utf8")));
    const page = readFileSync(at("plan.html"), "utf8");
    expect(page).toContain(written.description.replaceAll("'", "&#39;"));
    expect(page).toContain(`--recipe ${at("recipe.json")}`);
    expect(page.match(/<svg/g)).toHaveLength(4);
    expect(page).not.toMatch(/NaN|undefined/);
    // The commands that the page names take what it names.
    expect(page).toContain(
      "fairbed rank pool.csv --labelled labelled.csv --target hired=yes --sensitive sex",
    );
  });

  test.each([
    [[], planningTexts.noLevel],
    [["--parity", "80"], planningTexts.level(80)],
    [["--parity", "0.8", "--labels", "5"], planningTexts.labelsFew(5)],
    [["--parity", "0.8", "--out", at("nowhere/plan.html")], "nowhere"],
    [["--parity", "0.8", "--recipe", at("pilot.csv")], "pilot.csv"],
  ])("refuses %j before it works", async (options, said) => {
    const started = readFileSync(at("pilot.csv"), "utf8");
    const { failure } = await runInProcess([...PLAN, ...options]);
    expect(failure).toContain(said);
    expect(readFileSync(at("pilot.csv"), "utf8")).toBe(started);
    expect(existsSync(at("nowhere"))).toBe(false);
  });
});

describe("--recipe", () => {
  const acquire = ["acquire", at("pilot.csv"), ...ROLES, "--trees", "3"];
  const rank = [
    "rank",
    at("pool.csv"),
    "--labelled",
    at("pilot.csv"),
    ...ROLES,
    "--trees",
    "3",
    "--top",
    "8",
  ];
  const fit = ["fit", at("pilot.csv"), ...ROLES, "--folds", "2"];

  test("acquire does as the recipe says, and as its own options say where they are given", async () => {
    const made = methodOf(await runInProcess([...acquire, "--recipe", at("made.json"), "--budget", "8"]));
    expect(made.method).toBe("fairbed");
    expect(made.settings).toMatchObject({
      shares: "population",
      randomPart: 0.25,
      reweigh: true,
      batch: 4,
      budget: 8,
      goal: { beta: 3 },
    });
    const own = [
      "--method",
      "epig",
      "--batch",
      "2",
      "--budget",
      "6",
      "--shares",
      "equal",
      "--random-part",
      "0.5",
      "--beta",
      "7",
    ];
    const given = methodOf(await runInProcess([...acquire, "--recipe", at("made.json"), ...own]));
    expect(given.method).toBe("epig");
    expect(given.settings).toMatchObject({
      shares: "equal",
      randomPart: 0.5,
      reweigh: true,
      batch: 2,
      budget: 6,
    });
  });

  test("an option that was given wins even where it is what it would be without", async () => {
    const { settings } = methodOf(
      await runInProcess([...acquire, "--recipe", at("made.json"), "--budget", "8", "--batch", "1"]),
    );
    expect(settings.batch).toBe(1);
  });

  test("quotas and the paper's way say themselves who is asked", async () => {
    const small = [...acquire, "--recipe", at("made.json"), "--budget", "8"];
    expect(methodOf(await runInProcess([...small, "--paper"])).settings).toMatchObject({
      shares: "none",
      randomPart: 0,
    });
    expect(methodOf(await runInProcess([...small, "--quota", "sex=f:4-"])).settings).toMatchObject({
      shares: "none",
      randomPart: 0,
    });
  });

  test("rank does", async () => {
    const settingsOf = ({ result, failure }: Ran) => {
      expect(failure).toBeUndefined();
      return (result as { settings: object }).settings;
    };
    expect(settingsOf(await runInProcess([...rank, "--recipe", at("made.json")]))).toMatchObject({
      method: "fairbed",
      beta: 3,
      shares: "population",
      randomPart: 0.25,
      reweigh: true,
    });
    expect(
      settingsOf(
        await runInProcess([...rank, "--recipe", at("made.json"), "--beta", "5", "--shares", "none"]),
      ),
    ).toMatchObject({
      beta: 5,
      shares: "none",
      reweigh: true,
    });
  });

  test("fit does, with its rule unless another way to decide is given", async () => {
    const modelOf = ({ result, failure }: Ran) => {
      expect(failure).toBeUndefined();
      return result as { learner: string; reweighed?: boolean; rule?: { metric: string; level: number } };
    };
    const made = modelOf(await runInProcess([...fit, "--recipe", at("made.json")]));
    expect(made).toMatchObject({ learner: "logistic", reweighed: true, rule: { metric: "dp", level: 0.85 } });
    const given = ["--learner", "forest", "--rule", "eopp"];
    const own = modelOf(await runInProcess([...fit, "--recipe", at("made.json"), ...given]));
    expect(own).toMatchObject({ learner: "forest", reweighed: true, rule: { metric: "eopp", level: 0.8 } });
    const stricter = modelOf(await runInProcess([...fit, "--recipe", at("made.json"), "--parity", "0.95"]));
    expect(stricter.rule).toMatchObject({ metric: "dp", level: 0.95 });
    const other = modelOf(
      await runInProcess([...fit, "--recipe", at("made.json"), "--decide", "reject-option"]),
    );
    expect(other.rule).toBeUndefined();
    const plain = modelOf(await runInProcess([...fit, "--recipe", at("made.json"), "--rule", "none"]));
    expect(plain.rule).toBeUndefined();
  });

  test.each([
    ["no such file", at("nothing.json"), recipeOptionTexts.unread(at("nothing.json"))],
    ["no JSON", at("pilot.csv"), recipeOptionTexts.notJson(at("pilot.csv"))],
    ["no recipe", at("other.json"), recipeTexts.format],
  ])("%s is refused with a sentence", async (_, path, said) => {
    writeFileSync(at("other.json"), "[1]");
    for (const command of [acquire, rank, fit])
      expect((await runInProcess([...command, "--recipe", path])).failure).toContain(said);
  });
});
