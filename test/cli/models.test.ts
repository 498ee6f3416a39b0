import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { writeText } from "../../src/cli/atomic-write.js";
import { fileTexts } from "../../src/cli/commands/design/files.js";
import { mitigationChoiceTexts } from "../../src/cli/commands/models/mitigation-choices.js";
import { predictCommandTexts } from "../../src/cli/commands/models/predict.js";
import { seededStream } from "../../src/core/random.js";
import { readTaskTexts } from "../../src/sources/read-task.js";
import { taskTexts } from "../../src/tables/task.js";
import { fitMitigationTexts } from "../../src/workflows/fit-mitigations.js";
import { fitTexts } from "../../src/workflows/fit-model.js";
import { modelTexts } from "../../src/workflows/fitted-model.js";
import { predictTexts } from "../../src/workflows/predict.js";
import { needsDist } from "../setup/dist.js";
import { invoke } from "./one-process.js";

needsDist();
const folder = mkdtempSync(join(tmpdir(), "fairbed-models-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const at = (name: string) => join(folder, name);

/** Codes that look like numbers, ids that a spreadsheet would run, some labels missing. */
const people = (name: string, rows: number, unlabelled = 0): string => {
  const stream = seededStream("people");
  const lines = ["who,sex,code,skill,weight,hired"];
  for (let row = 0; row < rows; row++) {
    const skill = stream.integer(8);
    const hired = row < rows - unlabelled ? (skill > 3 !== stream.uniform() < 0.1 ? "yes" : "no") : "";
    lines.push(
      `=${row},${"fm"[stream.integer(2)]},${["01", "1", "x"][row % 3]},${skill},${row % 3},${hired}`,
    );
  }
  writeFileSync(at(name), `${lines.join("\n")}\n`);
  return at(name);
};
const labelled = people("labelled.csv", 120, 20);
const fresh = people("new.csv", 12, 12);
const ROLES = ["--target", "hired=yes", "--sensitive", "sex", "--id", "who"];
const json = async (...words: string[]) => {
  const { stdout, stderr, code } = await invoke([...words, "--json"]);
  expect([code, stderr]).toEqual([0, ""]);
  return JSON.parse(stdout);
};

describe("fairbed fit and predict", () => {
  test("a model of the labelled rows, and its predictions by id", async () => {
    const out = at("model.json");
    const { code, stdout } = await invoke(["fit", labelled, ...ROLES, "--out", out]);
    expect(code).toBe(0);
    expect(stdout).toContain("fitted on 100 rows");
    expect(stdout).toContain(taskTexts.unlabelled(20, "hired=yes"));
    expect(stdout).not.toMatch(/NaN|undefined/);
    const model = JSON.parse(readFileSync(out, "utf8"));
    expect(model.columns.map(({ name }: { name: string }) => name)).toEqual(["code", "skill", "weight"]);

    const predictions = at("predictions.csv");
    expect((await invoke(["predict", out, fresh, "--id", "who", "--out", predictions])).code).toBe(0);
    const lines = readFileSync(predictions, "utf8").trim().split("\n");
    expect(lines).toHaveLength(13);
    expect(lines[0]).toBe("who,predicted,probability");
    expect(lines[1]).toMatch(/^'=0,(yes|no),[0-9.]+$/);
    // The same on standard output, rows by number where none is named.
    const shown = await invoke(["predict", out, fresh]);
    expect(shown.stdout.split("\n")[0]).toBe("row,predicted,probability");
    const numbered = shown.stdout
      .trim()
      .split("\n")
      .map((line) => line.split(",").slice(1).join());
    expect(numbered).toEqual(lines.map((line) => line.split(",").slice(1).join()));
    const { predictions: records, counts } = await json("predict", out, fresh, "--id", "who");
    expect(records[0].who).toBe("=0");
    expect(counts.yes + counts.no).toBe(12);
  });

  test("what was text stays text, though all of it looks like numbers", async () => {
    const out = at("codes.json");
    await json("fit", labelled, ...ROLES, "--out", out);
    const codes = at("codes.csv");
    writeFileSync(codes, "code,skill,weight\n01,7,0\n1,7,0\n");
    const { predictions, notes } = await json("predict", out, codes);
    expect(notes).toEqual([]);
    expect(predictions).toHaveLength(2);
  });

  test("decides by a rule that sees no attribute, and says what it reached", async () => {
    const out = at("rule.json");
    const words = ["fit", labelled, ...ROLES, "--learner", "logistic", "--reweigh"];
    const asked = [...words, "--rule", "dp", "--parity", "0.9", "--out", out];
    const { code, stdout } = await invoke([...asked, "--unlabelled", fresh]);
    expect(code).toBe(0);
    expect(stdout).toContain("Rows are reweighed");
    expect(stdout).toContain("a rule for a ratio of 0.9 between the selection rates of sex");
    // The twenty without a label and those of the other file.
    expect(stdout).toContain("chosen (soft) on 32 rows without labels: ratio ");
    expect(stdout).toMatch(/on rows that no such rule was chosen on: ratio 0\.\d+ \(/);
    expect(stdout).not.toMatch(/NaN|undefined/);
    const { predictions } = await json("predict", out, fresh, "--id", "who");
    expect(Object.keys(predictions[0])).toEqual(["who", "predicted", "probability", "margin"]);
    for (const { predicted, margin } of predictions) expect(predicted).toBe(margin > 0 ? "yes" : "no");
    const { rule } = await json(...asked);
    expect(rule).toMatchObject({ metric: "dp", level: 0.9, groups: ["f", "m"] });
    expect(rule.chosenOn).toMatchObject({ by: "soft", unlabelled: 20, labelled: 0 });
  });

  test("the reject option needs the group, which is said", async () => {
    const out = at("reject.json");
    const { stdout } = await invoke(["fit", labelled, ...ROLES, "--decide", "reject-option", "--out", out]);
    expect(stdout).toContain("fairbed predict needs the group of every row");
    expect((await invoke(["predict", out, fresh])).code).toBe(0);
    const blind = at("blind.csv");
    writeFileSync(blind, "code,skill,weight\n01,7,0\n");
    const { code, stderr } = await invoke(["predict", out, blind]);
    expect([code, stderr]).toEqual([2, `fairbed: ${predictTexts.noAttribute(["sex"])}\n`]);
  });

  test("mistakes are answered with one sentence", async () => {
    const refused = async (words: readonly string[], text: string) => {
      const { code, stderr } = await invoke(words);
      expect(stderr).toContain(text);
      expect(code).toBe(2);
    };
    const out = at("small.json");
    await json("fit", labelled, ...ROLES, "--out", out);
    await refused(["fit", labelled], readTaskTexts.noTarget);
    await refused(["fit", labelled, ...ROLES, "--parity", "0.9"], mitigationChoiceTexts.noRule("--parity"));
    await refused(["fit", labelled, ...ROLES, "--unlabelled", fresh], fitTexts.unusedUnlabelled);
    await refused(
      ["fit", labelled, ...ROLES, "--rule", "dp", "--decide", "reject-option"],
      fitMitigationTexts.twoDecisions,
    );
    await refused(
      ["fit", labelled, "--target", "hired=yes", "--rule", "dp"],
      fitMitigationTexts.noSensitive("the fair rule"),
    );
    await refused(["fit", labelled, ...ROLES, "--learner", "oracle"], "forest, logistic, boosting, mlp, svm");
    const nowhere = join(folder, "none", "model.json");
    await refused(["fit", labelled, ...ROLES, "--out", nowhere], writeText.noFolder(nowhere));
    await refused(["predict", at("absent.json"), fresh], fileTexts.missing(at("absent.json")));
    await refused(["predict", labelled, fresh], predictCommandTexts.noModelFile(labelled));
    const other = at("other.json");
    writeFileSync(other, "{}");
    await refused(["predict", other, fresh], predictCommandTexts.noModelFile(other));
    const damaged = at("damaged.json");
    writeFileSync(damaged, JSON.stringify({ format: JSON.parse(readFileSync(out, "utf8")).format }));
    await refused(
      ["predict", damaged, fresh],
      predictCommandTexts.noModel(damaged, modelTexts.damaged("encoder")),
    );
    const narrow = at("narrow.csv");
    writeFileSync(narrow, "code,weight\nx,1\ny,2\n");
    await refused(["predict", out, narrow], predictTexts.noColumns(["skill"]));
  });
});
