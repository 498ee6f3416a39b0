/** Every `@example` of the public surface is a program: it runs as it stands and prints what it says it prints. */
import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { transform } from "sucrase";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { examplesOf, publicSurface } from "../../scripts/public-surface.mjs";
import { needsDist, ROOT } from "../setup/dist.js";

needsDist();

interface Example {
  readonly name: string;
  readonly code: string;
}

/** Prints what each example logs, as a line of JSON each, so that one process runs them all. */
const RUNNER = `
import { format } from "node:util";
const answer = (value) => process.stdout.write(JSON.stringify(value) + "\\n");
for (const file of process.argv.slice(2)) {
  const logged = [];
  console.log = (...values) => logged.push(format(...values));
  try {
    await import(file);
    answer({ logged });
  } catch (error) {
    answer({ logged, failed: String(error?.stack ?? error) });
  }
}
process.exit(0);
`;

/** What the comments behind or below \`console.log(…);\` promise; undefined for a line that promises nothing. */
const promised = (code: string): (string | undefined)[] =>
  [...code.matchAll(/^\s*console\.log\(.*\);(?:\s*\/\/ (.*))?$/gm)].map(([, comment]) => comment?.trim());

describe("examples in doc comments", () => {
  const documented: Example[] = [];
  const undocumented: string[] = [];
  let answers: { readonly logged: string[]; readonly failed?: string }[] = [];
  let project = "";

  beforeAll(() => {
    const seen = new Set<string>();
    for (const { entry, name, place, declaration } of publicSurface(ROOT)) {
      const key = `${place.file}#${place.name}`;
      const codes = examplesOf(declaration.doc);
      const needed =
        (entry === "." && !declaration.isType) ||
        (["./design", "./active", "./fairness", "./mitigation"].includes(entry) &&
          declaration.isFunction &&
          !place.file.includes("/compute/") &&
          !place.file.includes("/core/"));
      if (needed && codes.length === 0) undocumented.push(`fairbed${entry.slice(1)}: ${name}`);
      if (seen.has(key)) continue;
      seen.add(key);
      for (const code of codes) documented.push({ name: `fairbed${entry.slice(1)}: ${name}`, code });
    }
    project = mkdtempSync(join(tmpdir(), "fairbed-examples-"));
    mkdirSync(join(project, "node_modules"));
    symlinkSync(ROOT, join(project, "node_modules", "fairbed"));
    writeFileSync(join(project, "package.json"), JSON.stringify({ type: "module" }));
    writeFileSync(join(project, "run.mjs"), RUNNER);
    const files = documented.map(({ code }, i) => {
      const file = join(project, `example-${i}.js`);
      writeFileSync(file, transform(code, { transforms: ["typescript"], disableESTransforms: true }).code);
      return file;
    });
    const { stdout, stderr } = spawnSync(process.execPath, [join(project, "run.mjs"), ...files], {
      encoding: "utf8",
      maxBuffer: 2 ** 26,
    });
    answers = stdout.split("\n").flatMap((line) => (line === "" ? [] : [JSON.parse(line)]));
    if (answers.length < files.length) {
      throw new Error(`${documented[answers.length]?.name} ended the process: ${stderr}`);
    }
  }, 300_000);
  afterAll(() => rmSync(project, { recursive: true, force: true }));

  test("are there for every root name and every function of design, active, fairness and mitigation", () => {
    expect([...new Set(undocumented)]).toEqual([]);
  });

  test("run without error", () => {
    const failures = documented.flatMap(({ name }, i) =>
      answers[i].failed === undefined ? [] : [`${name}: ${answers[i].failed}`],
    );
    expect(failures).toEqual([]);
  });

  test("print what they promise", () => {
    const broken = documented.flatMap(({ name, code }, i) => {
      const { logged } = answers[i];
      return promised(code).flatMap((text, at) => {
        const said = logged[at]?.replace(/\s+/g, " ");
        return text === undefined || text === said ? [] : [`${name} promises ${text} and prints ${said}`];
      });
    });
    expect(broken).toEqual([]);
  });
});
