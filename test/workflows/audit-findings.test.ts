/** What an audit tells while it runs: the same as it says in the end, in an order that a page can fill in by. */
import { describe, expect, it } from "vitest";
import { InputError } from "../../src/core/errors.js";
import { seededStream } from "../../src/core/random.js";
import { auditLeakage, lookup } from "../../src/fairness/leakage.js";
import { tableOf } from "../../src/tables/table-of.js";
import { type AuditFinding, type AuditOptions, auditTable } from "../../src/workflows/audit-table.js";

/** A column that copies the sex in nine of ten cases, one that leans on it, noise, and a race without any say. */
const people = (rows = 150, seed = "findings") => {
  const stream = seededStream(seed);
  return tableOf(
    Array.from({ length: rows }, () => {
      const sex = stream.integer(2);
      return {
        sex: "fm"[sex],
        race: "xyz"[stream.integer(3)],
        copy: stream.uniform() < 0.1 ? 1 - sex : sex,
        age: 20 + stream.integer(40) + 5 * sex,
        noise: stream.uniform(),
        hired: stream.uniform() < 0.3 + 0.3 * sex ? "yes" : "no",
      };
    }),
  );
};

const OPTIONS: AuditOptions = {
  target: "hired=yes",
  sensitive: ["sex"],
  adversaries: ["logistic", "lookup"],
  plants: 2,
  permutations: 99,
};

const listen = async (more: Partial<AuditOptions> = {}, table = people()) => {
  const found: AuditFinding[] = [];
  const audited = await auditTable(table, {
    ...OPTIONS,
    ...more,
    // As a worker would send it.
    onFound: (each) => found.push(structuredClone(each)),
  });
  return { found, audited };
};

const ofKind = <Kind extends AuditFinding["kind"]>(found: readonly AuditFinding[], kind: Kind) =>
  found.filter((each): each is Extract<AuditFinding, { kind: Kind }> => each.kind === kind);

const steps = (found: readonly AuditFinding[]) =>
  found.map((each) =>
    each.kind === "adversary"
      ? `${each.adversary.name}${each.givenTarget ? " given" : ""}`
      : each.kind === "leakage"
        ? `leakage${each.givenTarget ? " given" : ""}`
        : each.kind,
  );

describe("what an audit tells while it runs", () => {
  it("changes nothing about the answer", async () => {
    for (const more of [{}, { sensitive: ["sex", "race"] }, { test: people(60, "test") }]) {
      const { audited } = await listen(more);
      expect(audited).toStrictEqual(await auditTable(people(), { ...OPTIONS, ...more }));
    }
  });

  it("comes in the order in which it is known, the columns again with every refit", async () => {
    const { found } = await listen();
    expect(steps(found)).toEqual([
      "groups",
      "logistic",
      "lookup",
      "leakage",
      ...Array.from({ length: 1 + 4 }, () => "columns"), // race, copy, age and noise
      "logistic given",
      "lookup given",
      "leakage given",
      "parity",
    ]);
    const several = await listen({ sensitive: ["sex", "race"] });
    const names = ["sex", "race", "sex and race"];
    expect(several.found.slice(0, 3).map(({ kind, attribute }) => [kind, attribute])).toEqual(
      names.map((name) => ["groups", name]),
    );
    expect([...new Set(several.found.slice(3).map(({ attribute }) => attribute))]).toEqual(names);
  });

  it("is what the finished audit says, to the last bit", async () => {
    for (const more of [
      { sensitive: ["sex", "race"] },
      { test: people(60, "test") },
      { referenceGroup: "m" },
    ]) {
      const { found, audited } = await listen(more);
      for (const { name, audit, parity, leftOut, against } of audited.attributes) {
        const own = found.filter(({ attribute }) => attribute === name);
        expect(ofKind(own, "groups")).toStrictEqual([
          {
            kind: "groups",
            attribute: name,
            table: "first",
            groups: audit.groups,
            leftOut,
            positive: parity.positive,
            level: 0.95,
          },
        ]);
        for (const givenTarget of [false, true]) {
          const leakage = givenTarget ? audit.leakage.conditional : audit.leakage.unconditional;
          const told = ofKind(own, "adversary").filter((each) => each.givenTarget === givenTarget);
          expect(told.map(({ adversary }) => adversary)).toStrictEqual(leakage?.adversaries);
          expect(new Set(told.map(({ entropy }) => entropy))).toEqual(new Set([leakage?.entropy]));
          const [finished] = ofKind(own, "leakage").filter((each) => each.givenTarget === givenTarget);
          expect({ ...finished.leakage, records: leakage?.records }).toStrictEqual(leakage);
        }
        const columns = ofKind(own, "columns");
        expect(columns.map(({ finished }) => finished)).toEqual(
          columns.map((_, at) => at === columns.length - 1),
        );
        expect(columns.at(-1)?.columns).toStrictEqual(audit.columns);
        for (const [at, each] of columns.entries()) {
          expect(each.columns).toStrictEqual(
            audit.columns.map((column, place) => (place < at ? column : { ...column, without: undefined })),
          );
        }
        const [said] = ofKind(own, "parity");
        expect(said.parity).toStrictEqual(parity);
        expect(said.against).toStrictEqual(against);
      }
    }
  });

  it("says which of two tables it is about", async () => {
    const second = people(150, "other");
    const { found, audited } = await listen({ second });
    const first = found.filter(({ table }) => table === "first");
    expect(steps(found.slice(first.length))).toEqual(steps(first));
    expect(found.slice(first.length).every(({ table }) => table === "second")).toBe(true);
    const [, other] = ofKind(found, "leakage").filter(({ givenTarget }) => !givenTarget);
    expect(other.leakage.nats).toBe(audited.comparison?.attributes[0].second);
  });

  it("leaves out an adversary that cannot learn from the table, as the answer does", async () => {
    const told: string[] = [];
    const sensitive = Int32Array.from({ length: 60 }, (_, row) => row % 2);
    const audit = await auditLeakage(
      {
        features: { values: Float32Array.from(sensitive), rows: 60, columns: 1 },
        sensitive,
        groupNames: ["a", "b"],
      },
      {
        stream: seededStream(0),
        adversaries: {
          refuses: {
            name: "refuses",
            fit() {
              throw new InputError("wide", "too many columns.");
            },
          },
          lookup: lookup(),
        },
        plants: 0,
        permutations: 99,
        onFound: (each) => {
          if (each.kind === "adversary") told.push(each.adversary.name);
        },
      },
    );
    expect(told).toEqual(["lookup"]);
    expect(audit.leakage.unconditional.adversaries.map(({ name }) => name)).toEqual(told);
  });

  it("waits for who listens, and stops after any finding when told to", async () => {
    const { found } = await listen();
    for (const last of found.keys()) {
      const stop = new AbortController();
      let told = 0;
      const stopped = auditTable(people(), {
        ...OPTIONS,
        signal: stop.signal,
        onFound: async () => {
          if (told++ < last) return;
          await new Promise((resolve) => setTimeout(resolve));
          stop.abort(new Error("enough"));
        },
      });
      await expect(stopped).rejects.toThrow("enough");
      expect(told).toBe(last + 1);
    }
  });

  it("ends with the error of who listens", async () => {
    const failed = auditTable(people(), {
      ...OPTIONS,
      onFound: () => Promise.reject(new Error("the page is gone")),
    });
    await expect(failed).rejects.toThrow("the page is gone");
  });
});
