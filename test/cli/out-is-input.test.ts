/** No command writes over a table that it reads, and none works for a file that cannot be written. */
import {
  existsSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { writeText } from "../../src/cli/atomic-write.js";
import type { Command } from "../../src/cli/command.js";
import { allCommands } from "../../src/cli/main.js";
import { requireOutputs } from "../../src/cli/out-folder.js";
import { needsDist } from "../setup/dist.js";
import { invoke } from "./one-process.js";

needsDist();

const rows = Array.from(
  { length: 80 },
  (_, i) => `${i % 2 ? "f" : "m"},${(i * 7) % 11},${(i * 7) % 11 > 5 ? "yes" : "no"}`,
);
const TABLE = `sex,skill,hired\n${rows.join("\n")}\n`;
const ROLES = ["--target", "hired=yes", "--sensitive", "sex"];

describe("an --out that is an input", () => {
  let folder = "";
  const at = (name: string) => join(folder, name);
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), "fairbed-out-"));
    for (const name of ["people.csv", "other.csv"]) writeFileSync(at(name), TABLE);
    symlinkSync(at("people.csv"), at("link.csv"));
    linkSync(at("people.csv"), at("same.csv"));
  });
  afterAll(() => rmSync(folder, { recursive: true }));

  test.each<[string, (people: string, other: string) => string[]]>([
    ["fit", (people) => ["fit", people, ...ROLES]],
    ["acquire", (people) => ["acquire", people, ...ROLES]],
    ["audit, the second table", (people, other) => ["audit", other, people, ...ROLES]],
    ["rank, the pool", (people, other) => ["rank", people, "--labelled", other, ...ROLES]],
    ["rank, what is labelled", (people, other) => ["rank", other, "--labelled", people, ...ROLES]],
    ["predict", (people, other) => ["predict", other, people]],
    ["mitigate lfr", (people) => ["mitigate", "lfr", people, ...ROLES]],
    [
      "mitigate roc, its test rows",
      (people, other) => ["mitigate", "roc", other, "--test", people, ...ROLES],
    ],
    ["mitigate rule", (people) => ["mitigate", "rule", people, ...ROLES]],
    ["mitigate reweigh", (people) => ["mitigate", "reweigh", people, ...ROLES]],
    ["plan", (people) => ["plan", people, ...ROLES, "--parity", "0.8"]],
  ])("is refused by %s, by any of its names, and the table stays", async (_, line) => {
    for (const out of ["people.csv", "link.csv", "same.csv"].map(at)) {
      const { code, stderr } = await invoke([...line(at("people.csv"), at("other.csv")), "--out", out]);
      expect({ code, stderr }).toEqual({ code: 2, stderr: `fairbed: ${writeText.isInput(out)}\n` });
    }
    expect(readFileSync(at("people.csv"), "utf8")).toBe(TABLE);
  });
});

const commands = await allCommands();

/** Every option of every command that names something to write. */
const outputs = commands.flatMap((command) =>
  Object.entries(command.options).flatMap(([name, { writes }]) =>
    writes === undefined ? [] : [{ title: `${command.name} --${name}`, command, name, writes }],
  ),
);
/** What would be given to a command: an output, and everything else it may read. */
const given = (command: Command, output: string, out: string, input?: string) => {
  const readable = Object.entries(command.options).filter(
    ([name, { parse, choices, writes, fallback }]) =>
      name !== output &&
      parse !== undefined &&
      choices === undefined &&
      writes === undefined &&
      fallback === undefined,
  );
  return [
    ...Object.keys(command.arguments).map((name) => ({
      where: name,
      input: { arguments: { [name]: input }, options: { [output]: out } },
    })),
    ...readable.map(([name]) => ({
      where: `--${name}`,
      input: { arguments: {}, options: { [output]: out, [name]: input } },
    })),
  ];
};

describe("everything that a command writes", () => {
  let folder = "";
  const at = (...names: string[]) => join(folder, ...names);
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), "fairbed-outputs-"));
    mkdirSync(at("pool"));
    for (const name of ["people.csv", "policy.json", join("pool", "part.parquet")])
      writeFileSync(at(name), TABLE);
    symlinkSync(at("people.csv"), at("link.csv"));
    linkSync(at("people.csv"), at("same.csv"));
    symlinkSync(folder, at("elsewhere"));
  });
  afterAll(() => rmSync(folder, { recursive: true }));

  test("is known by its option", () => {
    const words = commands.flatMap(({ name, options }) =>
      Object.values(options)
        .filter(
          ({ flags, summary }) =>
            /--(out|ledger)\b/.test(flags) || /^write|^also write|^where .* go/.test(summary),
        )
        .map(({ flags, writes }) => `${name} ${flags} ${writes}`),
    );
    expect(words.length).toBeGreaterThan(12);
    expect(words.filter((each) => !/ (file|folder)$/.test(each))).toEqual([]);
  });

  test.each(outputs.filter(({ writes }) => writes === "file"))(
    "is no input, by any name: $title",
    async ({ command, name }) => {
      const names = ["people.csv", "link.csv", "same.csv", join("elsewhere", "people.csv")].map((each) =>
        at(each),
      );
      for (const out of [...names, relative(process.cwd(), at("people.csv"))]) {
        for (const { where, input } of given(command, name, out, at("people.csv"))) {
          await expect(requireOutputs(command, input), `${where} ${out}`).rejects.toThrow(
            writeText.isInput(out),
          );
        }
      }
      for (const argument of Object.keys(command.arguments)) {
        const out = at("pool", "part.parquet");
        const input = { arguments: { [argument]: at("pool") }, options: { [name]: out } };
        await expect(requireOutputs(command, input)).rejects.toThrow(writeText.isInput(out));
      }
      expect(readFileSync(at("people.csv"), "utf8")).toBe(TABLE);
    },
  );

  test.each(outputs)("can be written, or nothing is done: $title", async ({ command, name, writes }) => {
    const check = (out: string) => requireOutputs(command, { arguments: {}, options: { [name]: out } });
    const before = readdirSync(folder);
    await check(at("new.out"));
    const inFile = at("people.csv", "below");
    const long = at("x".repeat(300));
    await expect(check(long)).rejects.toThrow(writeText.tooLong(long));
    if (writes === "file") {
      await check(at("policy.json"));
      const nowhere = at("nowhere", "x");
      await expect(check(nowhere)).rejects.toThrow(writeText.noFolder(nowhere));
      await expect(check(inFile)).rejects.toThrow(writeText.noFolder(inFile));
      await expect(check(folder)).rejects.toThrow(writeText.isFolder(folder));
    } else {
      await check(at("made", "of", "many"));
      await expect(check(inFile)).rejects.toThrow(writeText.isFile(inFile));
    }
    // Nothing is left behind.
    expect(readdirSync(folder)).toEqual(before);
  });

  // Whom everything is allowed cannot write there either.
  test.runIf(existsSync("/sys"))("needs permission", async () => {
    for (const { command, name } of outputs) {
      const out = "/sys/fairbed-report";
      const input = { arguments: {}, options: { [name]: out } };
      await expect(requireOutputs(command, input)).rejects.toMatchObject({ code: "write-refused" });
    }
  });

  test("is not the same file twice", async () => {
    const plan = commands.find(({ name }) => name === "plan");
    if (plan === undefined) throw new Error("there is a plan");
    const options = { out: at("new.html"), recipe: at("elsewhere", "new.html") };
    await expect(requireOutputs(plan, { arguments: {}, options })).rejects.toThrow("to be written twice");
  });

  test("is looked at before anything is read or done", async () => {
    const out = at("nowhere", "x");
    for (const words of [
      ["acquire", at("missing.csv"), ...ROLES],
      ["rank", at("missing.csv"), "--labelled", at("missing.csv"), ...ROLES],
      ["design", "optimize", "--model", at("missing.mjs")],
      ["demo"],
    ]) {
      const { code, stderr } = await invoke([...words, "--out", out]);
      expect({ code, stderr }).toEqual({ code: 2, stderr: `fairbed: ${writeText.noFolder(out)}\n` });
    }
  });
});
