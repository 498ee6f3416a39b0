import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { afterAll, describe, expect, test } from "vitest";
import type { CommandContext } from "../../src/cli/command.js";
import { commands } from "../../src/cli/commands/sources.js";
import { describeFailure } from "../../src/cli/failure.js";
import { buildProgram } from "../../src/cli/program.js";
import { datasetTexts } from "../../src/sources/catalogue.js";
import { fileTexts } from "../../src/sources/file-kind.js";
import { getTexts } from "../../src/sources/get-dataset.js";
import { queryTexts } from "../../src/sources/query-relation.js";
import { readTaskTexts } from "../../src/sources/read-task.js";
import { sourceTexts } from "../../src/sources/source.js";
import { encodingTexts } from "../../src/sources/text-encoding.js";
import { dialectTexts } from "../../src/tables/dialect.js";
import { labelTexts } from "../../src/tables/label.js";
import { tableTexts } from "../../src/tables/table.js";
import { taskTexts } from "../../src/tables/task.js";
import { describeWithData } from "../setup/data.js";
import { needsDist } from "../setup/dist.js";
import { invoke } from "./one-process.js";

needsDist();
const folder = mkdtempSync(join(tmpdir(), "fairbed-data-cli-"));
afterAll(() => rmSync(folder, { recursive: true }));
const at = (name: string) => join(folder, name);
const file = (name: string, contents: string | Uint8Array): string => {
  writeFileSync(at(name), contents);
  return at(name);
};
const data = (...words: string[]) => invoke(["data", ...words], { env: { FAIRBED_DATA: at("cache") } });

const PEOPLE = file(
  "people.csv",
  `name;age;sex;income;same;size\n${Array.from({ length: 40 }, (_, row) => `p${row % 30};${20 + row};${row % 2 === 0 ? "F" : "M"};${row % 3 === 0 ? "high" : "low"};1;${row % 5}`).join("\n")}\n`,
);

describe("data describe", () => {
  test("shows types before use, for a person and as JSON", async () => {
    const { code, stdout, stderr } = await data("describe", PEOPLE);
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    expect(stdout).toMatch(/^.*people\.csv: 40 rows, 6 columns$/m);
    expect(stdout).toMatch(/^age +number +40 +0 +20 to 59$/m);
    expect(stdout).toMatch(/^sex +category +2 +0 +F, M$/m);
    const json = await data("describe", PEOPLE, "--json");
    expect(JSON.parse(json.stdout)).toMatchObject({
      rows: 40,
      columns: [{ name: "name", type: "category" }, {}, {}, {}, {}, {}],
    });
  });

  test("shows a task: classes, features, what is left out and the rule for what is missing", async () => {
    const words = ["--target", "income=high", "--sensitive", "sex,age>=40", "--exclude", "name"];
    const { code, stdout } = await data("describe", PEOPLE, ...words, "--json");
    expect(code).toBe(0);
    expect(JSON.parse(stdout).task).toMatchObject({
      target: {
        name: "income=high",
        classes: [
          { name: "low", rows: 26 },
          { name: "high", rows: 14 },
        ],
      },
      sensitive: [{ name: "sex" }, { name: "age>=40", classes: [{ rows: 20 }, { rows: 20 }] }],
    });
    expect(JSON.parse(stdout).task.features).toEqual(["size"]);
    const again = ["--target", "income=high", "--sensitive", "sex", "--sensitive", "name"];
    const repeated = await data("describe", PEOPLE, ...again);
    expect(repeated.stdout).toContain(`note: ${taskTexts.constant("same")}`);
    expect(repeated.stdout).toMatch(/^sensitive {2}sex .*\nsensitive {2}name /m);
  });

  test("queries, and dialects that are told", async () => {
    const query = "SELECT sex, count(*) AS n FROM data GROUP BY sex ORDER BY sex";
    const answer = await data("describe", PEOPLE, "--query", query, "--json");
    expect(JSON.parse(answer.stdout)).toMatchObject({
      rows: 2,
      columns: [{ name: "sex" }, { name: "n", example: "20" }],
    });
    const plain = file("plain.txt", "x:?\ny:z\n");
    const told = await data(
      "describe",
      plain,
      "--delimiter",
      ":",
      "--header",
      "no",
      "--missing",
      "?",
      "--json",
    );
    expect(JSON.parse(told.stdout)).toMatchObject({ rows: 2, columns: [{ missing: 0 }, { missing: 1 }] });
  });
});

describe("values of a few people are not named", () => {
  const rows = Array.from({ length: 40 }, (_, row) => {
    const sex = row === 7 ? "SECRETX" : row % 2 === 0 ? "F" : "M";
    return `${sex},${row % 3 === 0 ? "high" : "low"},${row}.5`;
  });
  const secret = file("secret.csv", `sex,income,cost\n${rows.join("\n")}\n`);

  test("in the classes of a task", async () => {
    const words = ["describe", secret, "--target", "income=high", "--sensitive", "sex"];
    const { stdout } = await data(...words);
    expect(stdout).toContain("sex (F: 20, M: 19, a value of fewer than 5 rows)");
    const json = await data(...words, "--json");
    expect(JSON.parse(json.stdout).task.sensitive[0]).toMatchObject({
      classes: [
        { name: "F", rows: 20 },
        { name: "M", rows: 19 },
      ],
      rareClasses: 1,
    });
    expect(stdout + json.stdout).not.toContain("SECRETX");
  });

  test("in errors and suggestions", async () => {
    for (const [sensitive, text] of [
      ["sex=foo", labelTexts.noValue("sex", "foo", undefined, ["F", "M"], 3)],
      ["sex=SECRET", labelTexts.noValue("sex", "SECRET", undefined, ["F", "M"], 3)],
      ["cost=3.2", labelTexts.noValue("cost", "3.2", undefined, [], 40)],
    ]) {
      const { message } = await failure(
        "describe",
        secret,
        "--target",
        "income=high",
        "--sensitive",
        sensitive,
      );
      expect(message).toContain(text);
      expect(message).not.toMatch(/SECRETX|3\.5/);
    }
  });
});

/** The same command line without a process of its own, which takes a second; its failure as the process would say it. */
const failure = async (...words: string[]) => {
  const run = async () => {
    const program = buildProgram({
      commands,
      version: "",
      stdout: { write: () => {} },
      stderr: { write: () => {} },
      run: async ({ command, input }) => {
        const context = {} as CommandContext;
        await command.run({ ...input, context });
      },
    });
    await program.parseAsync(["data", ...words], { from: "user" });
  };
  const error = await run().then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  const { exitCode, message } = describeFailure(error);
  return { code: exitCode, message };
};

/** Those that are also seen as a person sees them. */
const SHOWN = ["no such file", "ragged rows", "no such column", "duplicate ids"];

describe("bad input is one sentence and exit code 2", () => {
  const names = ["name", "age", "sex", "income", "same", "size"];
  const task = (target: string, ...more: string[]) => [
    PEOPLE,
    "--target",
    target,
    "--sensitive",
    "sex",
    ...more,
  ];
  const ids = file("ids.csv", "id,a,b\n1,x,u\n2,y,v\n1,x,v\n");
  const cases: [string, string[], string][] = [
    ["no such file", [at("none.csv")], fileTexts.missing(at("none.csv"))],
    ["a folder", [folder], fileTexts.folder(folder)],
    ["an empty file", [file("empty.csv", "")], fileTexts.empty(at("empty.csv"))],
    ["no rows", [file("header.csv", "a,b\n")], sourceTexts.noRows(at("header.csv"))],
    ["ragged rows", [file("ragged.csv", "a,b\n1,2\n3\n")], dialectTexts.ragged(at("ragged.csv"), 3, 1, 2)],
    [
      "not the encoding that was said",
      [file("latin.csv", Buffer.from("a\ncaf\xe9\n", "latin1")), "--encoding", "utf-8"],
      encodingTexts.not(at("latin.csv"), "utf-8"),
    ],
    ["no separator", [file("comma.csv", "a,b\n1,2\n"), "--delimiter", ""], dialectTexts.delimiter("")],
    [
      "no table",
      [file("image.csv", Buffer.from([0x89, 0x50, 0x4e, 0x47, 0]))],
      fileTexts.noTable(at("image.csv"), "a picture"),
    ],
    ["no such column", task("incom"), tableTexts.noColumn(PEOPLE, "incom", "income", names)],
    ["no such value", task("income=hgh"), labelTexts.noValue("income", "hgh", "high", [], 2)],
    ["one class", task("same"), labelTexts.oneClass("same")],
    ["a quantity", task("age"), labelTexts.manyNumbers("age", 40, 40)],
    [
      "all missing",
      [file("missing.csv", "a,b,c\n1,,x\n2,,y\n"), "--target", "b", "--sensitive", "c"],
      labelTexts.allMissing("b"),
    ],
    ["a constant feature alone", task("income=high", "--features", "same"), taskTexts.noFeatures(PEOPLE)],
    [
      "duplicate ids",
      [ids, "--target", "a", "--sensitive", "b", "--id", "id"],
      taskTexts.idTwice("id", 0, 2),
    ],
    ["no sensitive column", [PEOPLE, "--target", "income"], readTaskTexts.noSensitive],
    [
      "a query that is wrong",
      [PEOPLE, "--query", "SELECT nothing FROM data"],
      "the query cannot be answered (Binder Error",
    ],
    [
      "a query that is no SQL",
      [PEOPLE, "--query", "SELECT * FRM data"],
      queryTexts.wrong('Parser Error: syntax error at or near "data"'),
    ],
    ["no Parquet file", [file("text.parquet", "a,b\n1,2\n")], fileTexts.notParquet(at("text.parquet"))],
    [
      "JSON lines that are broken",
      [file("broken.jsonl", '{"a":1,"b":"x"}\n{"a":2,"b":"y"}\n{"a": "SECRET", broken\n{"a":3,"b":"z"}\n')],
      sourceTexts.json(at("broken.jsonl"), 3),
    ],
  ];

  test.each(cases)("%s", async (_, words, text) => {
    const { code, message } = await failure("describe", ...words);
    expect(code).toBe(2);
    expect(message).toContain(text);
    expect(message).not.toContain("\n");
  });

  test.each(cases.filter(([name]) => SHOWN.includes(name)))("%s, for a person", async (_, words, text) => {
    const before = readdirSync(folder);
    const { code, stdout, stderr } = await data("describe", ...words);
    expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
    expect(stderr).toMatch(/^fairbed: [^\n]+\n$/);
    expect(stderr).toContain(text);
    expect(readdirSync(folder)).toEqual(before);
  });
});

describe("data list and data get", () => {
  test("list names, sizes, licences and sources", async () => {
    const { code, stdout } = await data("list");
    expect(code).toBe(0);
    for (const name of ["students", "census", "adult", "german", "bank", "celeba"]) {
      expect(stdout).toMatch(new RegExp(`^${name} `, "m"));
    }
    expect(stdout).toContain("licence: CC BY 4.0");
    const json = JSON.parse((await data("list", "--json")).stdout);
    expect(json).toMatchObject({
      folder: at("cache"),
      datasets: [{ name: "students", here: false }, {}, {}, {}, {}, {}],
    });
  });

  test("what cannot be had is said, and nothing is left behind", async () => {
    const unknown = await data("get", "germn");
    expect(unknown.code).toBe(2);
    expect(unknown.stderr).toBe(`fairbed: ${datasetTexts.unknown("germn", "german", [])}\n`);
    const byHand = await data("get", "celeba");
    expect(byHand.code).toBe(2);
    expect(byHand.stderr).toContain("agree to the terms");
    mkdirSync(at("wrong"));
    file("wrong/german.data", "A11 6\n");
    const wrong = await data("get", "german", "--from", at("wrong"));
    expect(wrong.code).toBe(2);
    expect(wrong.stderr).toContain("is not the published file");
    const none = await data("get", "german", "--from", at("nowhere"));
    expect(none.stderr).toBe(`fairbed: ${getTexts.noFolder(at("nowhere"))}\n`);
    expect(existsSync(at("cache"))).toBe(false);
  });
});

test("a dataset is here only with all its bytes", async () => {
  const cut = (name: string, contents: string | Uint8Array) => {
    mkdirSync(at("cut/german-credit"), { recursive: true });
    writeFileSync(at(`cut/german-credit/${name}`), contents);
  };
  const german = async () => {
    const { stdout } = await invoke(["data", "list"], { env: { FAIRBED_DATA: at("cut") } });
    return /^german .*\[here\]$/m.test(stdout);
  };
  cut("german.data", "x".repeat(79792));
  expect(await german()).toBe(false);
  cut("german.data", "x".repeat(79793));
  expect(await german()).toBe(true);
  rmSync(at("cut/german-credit/german.data"));
  cut("german.data.gz", gzipSync("x".repeat(79793)));
  expect(await german()).toBe(true);
  cut("german.data.gz", gzipSync("x".repeat(1000)));
  expect(await german()).toBe(false);
});

describeWithData("data get --from", ["german-credit/german.data", "adult/adult.data.gz"], (source) => {
  test("takes the files, shows size, checksum, licence and citation, and knows them next time", async () => {
    const first = await data("get", "german", "--from", source);
    expect({ code: first.code, stderr: first.stderr }).toEqual({ code: 0, stderr: "" });
    expect(first.stdout).toContain(
      "79793 bytes, sha256 b21f3d81db8071257d5ff1deaeba1fd4303b62712e6fcc9715c7a86202cb5871",
    );
    expect(first.stdout).toContain("licence: CC BY 4.0");
    expect(first.stdout).toContain("doi:10.24432/C5NC77");
    const again = await data("get", "german");
    expect(again.stdout).toContain("(was here already)");
    expect((await data("list")).stdout).toMatch(/^german .*\[here\]$/m);
  });
});
