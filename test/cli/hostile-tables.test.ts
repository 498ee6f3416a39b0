/** Names that JavaScript's objects have already, names with marks that charts read as paths, and degenerate tables. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { seededStream } from "../../src/core/random.js";
import { csvText } from "../../src/tables/csv.js";
import { needsDist } from "../setup/dist.js";
import { runInProcess } from "./in-process.js";
import { withoutColumns } from "./records.js";

needsDist();
vi.setConfig({ testTimeout: 120_000 });

const folder = mkdtempSync(join(tmpdir(), "fairbed-hostile-"));
const at = (name: string): string => join(folder, name);
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const NAMES = [
  "constructor",
  "toString",
  "__proto__",
  "hasOwnProperty",
  "valueOf",
  "a.b[0]",
  'say "hi"',
  "\u202eevil",
  "🦊\nfox",
];

/** A target, a sensitive column and features by hostile names, with hostile values in them. */
const hostile = (rows: number, seed: number) => {
  const stream = seededStream(seed);
  return [
    ["id", "target", "group", ...NAMES],
    ...Array.from({ length: rows }, (_, i) => {
      const group = i % 3;
      const target = stream.uniform() < 0.3 + 0.2 * group ? "constructor" : "toString";
      return [
        i < NAMES.length ? `${NAMES[i]} ${seed}` : `p${seed} ${i}`,
        target,
        ["__proto__", "constructor", "a.b[0]"][group],
        ...NAMES.map((_, c) =>
          c % 2 === 0 ? NAMES[stream.integer(NAMES.length)] : stream.integer(9) + group,
        ),
      ];
    }),
  ];
};

const ROLES = ["--target", "target=constructor", "--sensitive", "group", "--id", "id"];
/** Sensitive and target by the names themselves. */
const OWN = ["--target", "toString>=5", "--sensitive", "constructor", "--exclude", "id"];
const AUDIT = ["--adversaries", "logistic,lookup", "--folds", "3", "--permutations", "99", "--plants", "2"];

beforeAll(() => {
  writeFileSync(at("people.csv"), csvText(hostile(150, 1)));
  const others = hostile(60, 2);
  writeFileSync(at("others.csv"), csvText(others));
  // The target of ROLES and that of OWN.
  writeFileSync(at("pool.csv"), csvText(withoutColumns(others, ["target", "toString"])));
  writeFileSync(at("pilot.csv"), csvText(hostile(300, 3)));
});

const commandsOn = (table: string, pool: string, others: string): readonly (readonly string[])[] => [
  ["data", "describe", table],
  ["audit", table, ...AUDIT, "--out", at("audit.html")],
  ["fit", table, "--folds", "2", "--out", at("model.json")],
  ["fit", table, "--folds", "2", "--decide", "reject-option"],
  ["rank", pool, "--labelled", table, "--trees", "5", "--top", "4", "--out", at("ranked.csv")],
  ["acquire", table, "--trees", "5", "--budget", "4", "--batch", "2", "--out", at("acquire.html")],
  ["generalize", table, "--test", others, "--models", "forest"],
  ["mitigate", "roc", table, "--trees", "5", "--out", at("roc.csv")],
  ["mitigate", "rule", table, "--trees", "5", "--out", at("rule.csv")],
  ["mitigate", "reweigh", table, "--trees", "5", "--out", at("reweigh.csv")],
  [
    "mitigate",
    "lfr",
    table,
    "--trees",
    "5",
    "--steps",
    "10",
    "--restarts",
    "1",
    "--prototypes",
    "2",
    "--out",
    at("lfr.csv"),
  ],
];
const nameOf = ([first, second]: readonly string[]): string =>
  first === "data" || first === "mitigate" ? `${first} ${second}` : first;

describe("a table with hostile names", () => {
  const all = commandsOn(at("people.csv"), at("pool.csv"), at("others.csv")).flatMap((argv) => [
    [`${nameOf(argv)}, as values, groups and ids`, [...argv, ...ROLES]] as const,
    [`${nameOf(argv)}, as columns`, [...argv, ...OWN]] as const,
  ]);
  test.each(all)("%s", async (_, argv) => {
    const { failure, printed, result } = await runInProcess(argv);
    expect(failure).toBeUndefined();
    expect(printed).not.toMatch(/\[native code\]|\[object Object\]|undefined/);
    expect(JSON.stringify(result)).not.toContain("[native code]");
  });

  test("plan", async () => {
    const argv = [
      "plan",
      at("pilot.csv"),
      "--parity",
      "0.6",
      "--labels",
      "12",
      "--trees",
      "3",
      "--method",
      "random",
      "--learner",
      "forest",
      "--minutes",
      "1e-9",
    ];
    const outs = ["--out", at("plan.html"), "--recipe", at("recipe.json")];
    const { failure, printed } = await runInProcess([...argv, ...outs, ...ROLES]);
    expect(failure).toBeUndefined();
    expect(printed).not.toMatch(/\[native code\]|\[object Object\]/);
  });

  test("predict", async () => {
    const { failure, files } = await runInProcess([
      "predict",
      at("model.json"),
      at("others.csv"),
      "--id",
      "id",
      "--out",
      at("predicted.csv"),
    ]);
    expect(failure).toBeUndefined();
    expect([...files.values()][0]).toContain("__proto__ 2");
  });
});

/** Rows of a table that has a target, a group and two features, unless it says otherwise. */
const plain = (rows: number, cells: (i: number) => readonly (string | number)[]) => [
  ["y", "group", "x", "z"],
  ...Array.from({ length: rows }, (_, i) => cells(i)),
];
const usual = (i: number) => [i % 3 === 0 ? "yes" : "no", ["f", "m"][(i >> 1) % 2], i % 7, (i * 13) % 11];

const DEGENERATE: Readonly<Record<string, readonly (readonly (string | number)[])[]>> = {
  "one row": plain(1, usual),
  "two rows": plain(2, usual),
  "no rows": plain(0, usual),
  "one class": plain(60, (i) => ["yes", ...usual(i).slice(1)]),
  "one group": plain(60, (i) => [usual(i)[0], "f", i % 7, i % 11]),
  "no value of the target": plain(60, (i) => ["", ...usual(i).slice(1)]),
  "no value of the group": plain(60, (i) => [usual(i)[0], "", i % 7, i % 11]),
  "nothing but missing features": plain(60, (i) => [...usual(i).slice(0, 2), "", ""]),
  "constant features": plain(60, (i) => [...usual(i).slice(0, 2), 5, "same"]),
  "one constant feature": plain(60, (i) => [...usual(i).slice(0, 3), 5]),
  "texts of numbers that are none": plain(60, (i) => [
    ...usual(i).slice(0, 2),
    ["NaN", "Infinity", "-inf", "1e999"][i % 4],
    i % 7,
  ]),
  "two columns of one name": [["y", "group", "x", "x"], ...plain(60, usual).slice(1)],
  "columns without names": [["y", "group", "", " "], ...plain(60, usual).slice(1)],
  "a group of one": plain(60, (i) => [usual(i)[0], i === 7 ? "solo" : usual(i)[1], i % 7, i % 11]),
  "300 groups": plain(900, (i) => [usual(i)[0], `group ${i % 300}`, i % 7, i % 11]),
  "90 groups": plain(900, (i) => [usual(i)[0], `group ${i % 90}`, i % 7, i % 11]),
  "every label its own": plain(60, (i) => [`label ${i}`, ...usual(i).slice(1)]),
  "numbers too large for numbers": plain(60, (i) => [
    ...usual(i).slice(0, 2),
    `9007199254740993${i % 10}`,
    i % 7,
  ]),
  "very long names": [["y", "group", "x".repeat(5000), "z"], ...plain(60, usual).slice(1)],
};

/** Ends a command where nothing was foreseen. */
const UNFORESEEN = /something unexpected|\[native code\]|Cannot read|is not a function|\bundefined\b|\bNaN\b/;

describe.each(Object.entries(DEGENERATE))("a table with %s", (name, records) => {
  const [table, pool] = [at(`${name}.csv`), at(`${name}, a pool.csv`)];
  beforeAll(() => {
    writeFileSync(table, csvText(records));
    writeFileSync(pool, csvText(withoutColumns(records, ["y"])));
  });
  const roles = ["--target", "y=yes", "--sensitive", "group"];
  test.each(commandsOn(table, pool, table).map((argv) => [nameOf(argv), [...argv, ...roles]] as const))(
    "is a result or one sentence: %s",
    async (_, argv) => {
      const { failure, printed } = await runInProcess(argv);
      if (failure === undefined) expect(printed).not.toMatch(UNFORESEEN);
      else {
        expect(failure).not.toMatch(UNFORESEEN);
        expect(failure.trim().split("\n")).toHaveLength(1);
      }
    },
  );
});
