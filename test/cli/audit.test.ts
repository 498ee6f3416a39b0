import { createHash } from "node:crypto";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { writeText } from "../../src/cli/atomic-write.js";
import { seededStream } from "../../src/core/random.js";
import { rareTexts } from "../../src/core/rare-values.js";
import { auditInputTexts } from "../../src/workflows/audit-inputs.js";
import { auditTableTexts } from "../../src/workflows/audit-table.js";
import { needsDist, ROOT } from "../setup/dist.js";
import { invoke } from "./invoke.js";

needsDist();
const folder = mkdtempSync(join(tmpdir(), "fairbed-audit-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const at = (name: string) => join(folder, name);
const run = (words: readonly string[]) =>
  invoke(["audit", ...words], { program: join(ROOT, "test", "cli", "audit.mjs") });
const FAST = ["--adversaries", "logistic,lookup", "--plants", "2", "--permutations", "99", "--quiet"];

/** People with a group, an age, a town that follows the group with this chance of an error, and an outcome. */
const people = (name: string, error: number, rows = 160): string => {
  const stream = seededStream("people");
  const lines = ["group,race,age,town,skill,hired"];
  for (let row = 0; row < rows; row++) {
    const group = stream.integer(2);
    const town = stream.uniform() < error ? 1 - group : group;
    const skill = stream.integer(4);
    const hired = stream.uniform() < 0.1 + 0.15 * skill + 0.25 * group;
    lines.push(
      `${"fm"[group]},${"xy"[stream.integer(2)]},${20 + stream.integer(40) + 5 * group},t${town},${skill},${hired ? "yes" : "no"}`,
    );
  }
  writeFileSync(at(name), `${lines.join("\n")}\n`);
  return at(name);
};
const before = people("before.csv", 0.1);
const after = people("after.csv", 0.5);
const LABELS = ["--target", "hired=yes", "--sensitive", "group"];

describe("fairbed audit", () => {
  test("JSON, a report and a certificate that another run confirms", async () => {
    const out = at("report.html");
    const words = [before, ...LABELS, ...FAST, "--seed", "3"];
    const { code, stdout, stderr } = await run([...words, "--out", out, "--json"]);
    expect(stderr).toBe("");
    expect(code).toBe(0);
    const result = JSON.parse(stdout);
    for (const kind of ["unconditional", "conditional"]) {
      const { nats, interval, pValue, detectable, winner, adversaries } = result.leakage[kind];
      expect(nats).toBeGreaterThan(0.1);
      expect(interval[0]).toBeLessThanOrEqual(nats);
      expect(interval[1]).toBeGreaterThanOrEqual(nats);
      expect(pValue).toBeLessThan(0.01);
      expect(detectable).toBeGreaterThan(0);
      expect(adversaries.map(({ name }: { name: string }) => name)).toContain(winner);
      expect(result.leakage[kind].records).toBeUndefined();
    }
    expect(result.groups.map(({ name }: { name: string }) => name)).toEqual(["f", "m"]);
    expect(result.columns[0].name).toBe("town");
    expect(result.parity.conditions.independent.nats).toBe(result.leakage.unconditional.nats);
    expect(readFileSync(out, "utf8")).toContain("<svg");
    const certificate = JSON.parse(readFileSync(at("report.certificate.json"), "utf8"));
    expect(certificate.inputs[0].sha256).toBe(
      createHash("sha256").update(readFileSync(before)).digest("hex"),
    );
    expect(certificate.seed).toBe(3);
    const again = JSON.parse((await run([...words, "--json"])).stdout);
    expect(again.certificate).toEqual(certificate);
  });

  test("two tables, several attributes, a quantity, test rows", async () => {
    const { stdout } = await run([before, after, ...LABELS, ...FAST, "--json"]);
    const [difference] = JSON.parse(stdout).comparison.attributes;
    expect(difference.unconditional.interval[1]).toBeLessThan(0);

    const several = ["--target", "hired=yes", "--sensitive", "group,race", "--test", after];
    const both = JSON.parse((await run([before, ...several, ...FAST, "--bits", "--json"])).stdout);
    expect(both.attributes.map(({ sensitive }: { sensitive: string }) => sensitive)).toEqual([
      "group",
      "race",
      "group and race",
    ]);
    expect(both.groups).toHaveLength(4);
    expect(both.groups[0].testRows).toBeGreaterThan(0);
    // The unit of the words is no matter of the numbers.
    expect(both.unit).toBe("nats");
    expect(both.leakage.unconditional).not.toHaveProperty("bits");

    const words = ["--target", "hired=yes", "--sensitive", "age", "--bins", "3"];
    const quantity = await run([before, ...words, ...FAST]);
    expect(quantity.code).toBe(0);
    expect(quantity.stdout).toContain(auditInputTexts.binned("age", 3));
    expect(quantity.stdout).not.toMatch(/NaN|undefined/);
  });

  test("a group of one person is named nowhere", async () => {
    const rare = at("rare.csv");
    const [heading, first, ...lines] = readFileSync(before, "utf8").split("\n");
    writeFileSync(rare, [heading, first.replace(/^[fm]/, "SECRETX"), ...lines].join("\n"));
    const out = at("rare.html");
    const { stdout } = await run([rare, ...LABELS, ...FAST, "--out", out, "--json"]);
    const { groups } = JSON.parse(stdout);
    expect(groups[2]).toEqual({ name: rareTexts.some("group", 1), rows: 1, share: 1 / 160 });
    const words = await run([rare, ...LABELS, ...FAST]);
    expect(words.stdout).toContain(`  ${rareTexts.some("group", 1)}: 1 row\n`);
    const page = readFileSync(out, "utf8");
    expect(page).toContain(rareTexts.some("group", 1));
    expect(page + stdout + words.stdout).not.toContain("SECRETX");
  });

  test("mistakes are answered with one sentence", async () => {
    const refused = async (words: readonly string[], text: string) => {
      const { code, stderr } = await run(words);
      expect(stderr).toContain(text);
      expect(code).toBe(2);
    };
    await refused(
      [before, ...LABELS, "--adversaries", "oracle"],
      auditTableTexts.adversary("oracle", ["logistic", "forest", "boosting", "mlp", "svm", "lookup"]),
    );
    await refused(["--task", "students", before, "--sensitive", "x"], "--task");
    await refused([before, "--sensitive", "group"], "--target");
    const nowhere = join(folder, "none", "report.html");
    await refused([at("no-table.csv"), ...LABELS, "--out", nowhere], writeText.noFolder(nowhere));
  });
});
