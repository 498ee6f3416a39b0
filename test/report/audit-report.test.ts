import { describe, expect, test } from "vitest";
import { seededStream } from "../../src/core/random.js";
import {
  auditLeakage,
  auditParity,
  type LeakageEstimate,
  leakageDifference,
  lookup,
} from "../../src/fairness/leakage.js";
import { logistic } from "../../src/learners/logistic.js";
import { auditCertificate } from "../../src/report/audit-certificate.js";
import { type AuditReport, auditHtml } from "../../src/report/audit-report.js";
import { auditTexts, impossibility, verdict } from "../../src/report/audit-wording.js";
import type { AttributeAudit, TableAudit } from "../../src/workflows/audit-table.js";

/** Groups, a column that copies them with this chance of an error, and a target that is what it likes. */
const attribute = async (error: number, rows = 240): Promise<AttributeAudit> => {
  const stream = seededStream("report").split(String(error));
  const sensitive = Int32Array.from({ length: rows }, () => stream.integer(2));
  const values = new Float32Array(2 * rows);
  sensitive.forEach((group, row) => {
    values[2 * row] = stream.uniform() < error ? 1 - group : group;
    values[2 * row + 1] = stream.normal();
  });
  const target = sensitive.map((group) => Number(stream.uniform() < 0.3 + 0.4 * group));
  const input = {
    features: { values, rows, columns: 2 },
    sourceColumns: ["<b>copy</b>", "noise"],
    sensitive,
    groupNames: ["a & b", "c"],
    target,
    targetNames: ["no", "yes"],
  };
  const adversaries = { logistic: logistic({ members: 5 }), lookup: lookup() };
  const audit = await auditLeakage(input, {
    stream: seededStream(1),
    adversaries,
    plants: 3,
    permutations: 99,
    replicates: 100,
  });
  const parity = await auditParity(input, {
    stream: seededStream(2),
    predictor: logistic({ members: 5 }),
    replicates: 100,
  });
  return { name: "group", audit, parity, leftOut: [] };
};

const reportOf = (one: AttributeAudit, more: Partial<AuditReport> = {}): AuditReport => {
  const audited: TableAudit = {
    table: "people.csv",
    rows: 240,
    target: "hired=yes",
    targetNames: ["no", "yes"],
    sensitive: ["group"],
    features: ["copy", "noise"],
    attributes: [one],
    notes: ["a note"],
    settings: {
      bins: 4,
      folds: 5,
      level: 0.95,
      permutations: 99,
      plants: 3,
      mostRows: 5000,
      seed: 7,
      adversaries: ["logistic", "lookup"],
    },
  };
  const inputs = [{ role: "table", name: "people.csv", rows: 240, sha256: "ab".repeat(32) }] as const;
  const certificate = auditCertificate(audited, inputs);
  return { ...audited, givenTarget: false, bits: false, certificate, ...more };
};

describe("the audit's report", () => {
  test("says what was found, needs no other file and runs nothing", async () => {
    const one = await attribute(0.1);
    const report = reportOf(one);
    const page = await auditHtml(report);
    const { unconditional } = one.audit.leakage;
    expect(page).toContain(verdict(unconditional, "group", false, false).replaceAll("'", "&#39;"));
    expect(page).toContain("&lt;b&gt;copy&lt;/b&gt;");
    expect(page).not.toContain("<b>copy");
    expect(page).not.toMatch(/NaN|undefined|Infinity/);
    expect(page).not.toMatch(/<script|src=|href="http|url\(http/);
    expect(page.match(/<svg/g)?.length).toBe(4);
    expect(page).toContain("ab".repeat(32));
    // The groups come before the leakage.
    expect(page.indexOf("Who is in the table")).toBeLessThan(page.indexOf("How much is given away"));
    expect(await auditHtml(report)).toBe(page);
  });

  test("base rates that differ rule out having both parities, in plain words", async () => {
    const { parity } = await attribute(0.1);
    expect(parity.baseRates).toBe("differ");
    expect(impossibility(parity)).toBe(auditTexts.differ(parity));
    expect(auditTexts.differ(parity)).toContain("not satisfy both demographic parity");
    expect(impossibility({ ...parity, baseRates: "unclear" })).toBe(auditTexts.unclear(parity));
    expect(impossibility({ ...parity, baseRates: "unknown" })).toBe(auditTexts.unknown);
  });

  test("none found is never said without what could have been", async () => {
    const { audit } = await attribute(0.5);
    const { unconditional } = audit.leakage;
    expect(unconditional.pValue).toBeGreaterThan(0.05);
    const said = verdict(unconditional, "group", false, false);
    expect(said).toContain("No leakage about group was found");
    expect(said).toContain("four times out of five");
    expect(said).toContain(unconditional.detectable?.toFixed(3) ?? "?");
    const blind: LeakageEstimate = { ...unconditional, detectable: undefined };
    expect(verdict(blind, "group", false, false)).toContain("does not mean that there is none");
  });

  test("bits are nats over log 2", async () => {
    const { audit } = await attribute(0.1);
    const { unconditional } = audit.leakage;
    const bits = (unconditional.nats / Math.log(2)).toFixed(3);
    expect(verdict(unconditional, "group", true, false)).toContain(`${bits} bits`);
  });

  test("compares two tables", async () => {
    const [one, two] = [await attribute(0.1), await attribute(0.5)];
    const page = await auditHtml(
      reportOf(one, {
        comparison: {
          table: "fairer.csv",
          attributes: [
            {
              name: "group",
              first: one.audit.leakage.unconditional.nats,
              second: two.audit.leakage.unconditional.nats,
              unconditional: leakageDifference(
                one.audit.leakage.unconditional,
                two.audit.leakage.unconditional,
              ),
              conditional: undefined,
            },
          ],
        },
      }),
    );
    expect(page).toContain("Compared with fairer.csv");
    expect(page).toContain("the second table gives away less");
  });
});
