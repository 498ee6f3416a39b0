/** The audit of a table as a function: what it looks at, what it compares, and that watching changes nothing. */
import { describe, expect, it } from "vitest";
import type { Progress } from "../../src/core/options.js";
import { seededStream } from "../../src/core/random.js";
import { auditLeakage, defaultAdversaries } from "../../src/fairness/leakage.js";
import { fitEncoder } from "../../src/tables/encoder.js";
import { columnOfNumbers, columnOfTexts, selectRows, type Table } from "../../src/tables/table.js";
import { defineTask } from "../../src/tables/task.js";
import { ADVERSARY_NAMES, AUDIT_DEFAULTS } from "../../src/workflows/audit-defaults.js";
import { auditInputTexts } from "../../src/workflows/audit-inputs.js";
import { auditTable, auditTableTexts } from "../../src/workflows/audit-table.js";

/** A column that copies the group with this chance of an error, an age that leans on it, and a race without any say. */
const people = (error: number, rows = 160): Table => {
  const stream = seededStream("people");
  const draw = Array.from({ length: rows }, () => {
    const group = stream.integer(2);
    return {
      group,
      copy: stream.uniform() < error ? 1 - group : group,
      age: 20 + stream.integer(40) + 5 * group,
      race: stream.integer(3),
      hired: stream.uniform() < 0.3 + 0.3 * group,
    };
  });
  return {
    name: `people ${error}`,
    rows,
    notes: [],
    columns: [
      columnOfTexts(
        "group",
        draw.map(({ group }) => "fm"[group]),
      ),
      columnOfNumbers(
        "copy",
        draw.map(({ copy }) => copy),
      ),
      columnOfNumbers(
        "age",
        draw.map(({ age }) => age),
      ),
      columnOfTexts(
        "race",
        draw.map(({ race }) => "xyz"[race]),
      ),
      columnOfTexts(
        "hired",
        draw.map(({ hired }) => (hired ? "yes" : "no")),
      ),
    ],
  };
};
const FAST = {
  adversaries: ["logistic", "lookup"],
  plants: 2,
  permutations: 99,
  target: "hired=yes",
} as const;

describe("auditTable", () => {
  it("is the audit of the encoded columns with the streams of the seed", async () => {
    const table = people(0.1);
    const { attributes, features, settings } = await auditTable(table, {
      ...FAST,
      sensitive: ["group"],
      seed: 3,
    });
    expect(features).toEqual(["copy", "age", "race"]);
    expect(settings).toEqual({
      ...AUDIT_DEFAULTS,
      folds: 5,
      plants: 2,
      permutations: 99,
      seed: 3,
      adversaries: FAST.adversaries,
    });
    const task = defineTask(table, { target: "hired=yes", sensitive: ["group"] });
    const encoded = fitEncoder(task).encode(table);
    const { logistic, lookup } = defaultAdversaries();
    const alone = await auditLeakage(
      {
        features: encoded,
        sourceColumns: encoded.sourceColumns,
        sensitive: task.sensitive[0].labels,
        groupNames: ["f", "m"],
        target: task.target.labels,
        targetNames: ["no", "yes"],
      },
      {
        stream: seededStream(3).split("audit").split("group"),
        adversaries: { logistic, lookup },
        plants: 2,
        permutations: 99,
      },
    );
    expect(attributes[0].audit).toEqual(alone);
    // Nine in ten copies are right: ln 2 - H(0.1) = 0.368 nats, and the age adds to them.
    const { nats, interval } = alone.leakage.unconditional;
    expect(interval[0]).toBeLessThan(0.6);
    expect(nats).toBeGreaterThan(0.25);
  });

  it("looks at several attributes and their intersection, at quantities in classes, and at roles in parts", async () => {
    const audited = await auditTable(people(0.1), { ...FAST, sensitive: ["group", "race"] });
    expect(audited.attributes.map(({ name }) => name)).toEqual(["group", "race", "group and race"]);
    expect(audited.sensitive).toEqual(["group", "race"]);
    const together = await auditTable(people(0.1), {
      ...FAST,
      sensitive: ["group", "race"],
      combineSensitive: true,
    });
    expect(together.attributes.map(({ name }) => name)).toEqual(["group and race"]);
    for (const sensitive of ["age", { column: "age" }]) {
      const aged = await auditTable(people(0.1), { ...FAST, sensitive: [sensitive], bins: 3 });
      expect(aged.attributes[0].audit.groups).toHaveLength(3);
      expect(aged.notes).toContain(auditInputTexts.binned("age", 3));
    }
  });

  it("compares a second table, record by record where they are the same", async () => {
    const [before, after] = [people(0.05), people(0.5)];
    const options = { ...FAST, sensitive: ["group"] };
    const { comparison } = await auditTable(before, { ...options, second: after });
    expect(comparison?.table).toBe(after.name);
    const [{ unconditional, first, second }] = comparison?.attributes ?? [];
    expect(second).toBeLessThan(first);
    expect(unconditional.interval[1]).toBeLessThan(0);
    // The same people, of whom another column is known.
    expect(unconditional.paired).toBe(true);
    const fewer = await auditTable(before, { ...options, second: selectRows(after, [...Array(150).keys()]) });
    expect(fewer.comparison?.attributes[0].unconditional.paired).toBe(false);
    const same = await auditTable(before, { ...options, second: { ...before, name: "again" } });
    expect(same.comparison?.attributes[0].unconditional).toMatchObject({ nats: 0, paired: true });
    const renamed = {
      ...after,
      columns: after.columns.map((c) =>
        c.name === "group" ? { ...c, levels: ["a", "b"] } : c,
      ) as Table["columns"],
    };
    await expect(auditTable(before, { ...options, second: renamed })).rejects.toThrow(
      auditTableTexts.otherAttributes(before.name, renamed.name),
    );
  });

  it("judges on test rows, which must have groups of the table", async () => {
    const options = { ...FAST, sensitive: ["group"] };
    const { attributes } = await auditTable(people(0.1), { ...options, test: people(0.1, 60) });
    expect(attributes[0].audit.groups.reduce((sum, { testRows }) => sum + (testRows ?? 0), 0)).toBe(60);
    const test = people(0.1, 20);
    const strange = {
      ...test,
      columns: test.columns.map((c) =>
        c.name === "group" ? { ...c, levels: ["a", "b"] } : c,
      ) as Table["columns"],
    };
    await expect(auditTable(people(0.1), { ...options, test: strange })).rejects.toThrow(
      auditInputTexts.noTest(strange.name, "group"),
    );
  });

  it("gives the same numbers whether it is watched or not, and stops when told to", async () => {
    const table = people(0.2, 120);
    const options = { ...FAST, adversaries: ["lookup", "forest"], sensitive: ["group"] };
    const plain = await auditTable(table, options);
    const seen: Progress[] = [];
    const watched = await auditTable(table, { ...options, onProgress: (progress) => seen.push(progress) });
    expect(watched).toEqual(plain);
    for (const [i, { done, total, label }] of seen.entries()) {
      expect(label).toBe("group");
      expect(done).toBeLessThanOrEqual(total);
      expect(done).toBeGreaterThanOrEqual(seen[i - 1]?.done ?? 0);
    }
    const stop = new AbortController();
    const stopped = auditTable(table, { ...options, signal: stop.signal, plants: 20 });
    stop.abort(new Error("enough"));
    await expect(stopped).rejects.toThrow("enough");
  });

  it("knows its adversaries by name", async () => {
    expect(Object.keys(defaultAdversaries())).toEqual([...ADVERSARY_NAMES]);
    for (const name of ["oracle", "toString"])
      await expect(
        auditTable(people(0.1), { ...FAST, sensitive: ["group"], adversaries: [name] }),
      ).rejects.toThrow(auditTableTexts.adversary(name, ADVERSARY_NAMES));
  });
});

describe("two tables of the same people", () => {
  const withIds = (table: Table): Table => ({
    ...table,
    columns: [
      ...table.columns,
      columnOfTexts(
        "person",
        Array.from({ length: table.rows }, (_, row) => `p${row}`),
      ),
    ],
  });
  const first = withIds(people(0.2, 600));
  // The same people with a worse copy of the group, so that less is given away.
  const less = {
    ...first,
    columns: first.columns.map((column) =>
      column.name === "copy" && column.kind === "numeric"
        ? columnOfNumbers(
            "copy",
            column.values.map((value, row) => (row % 5 === 0 ? 1 - value : value)),
          )
        : column,
    ),
  };
  const shuffled = selectRows(less, seededStream("order").permutation(600));
  const compare = async (second: Table, id: string | undefined) => {
    const exclude = id === undefined ? ["person"] : [];
    const { comparison } = await auditTable(first, { ...FAST, sensitive: ["group"], id, exclude, second });
    return comparison?.attributes[0].unconditional;
  };

  it("are compared in pairs, by their order or by their ids, and what differs is found", async () => {
    const [ordered, byId, unpaired] = [
      await compare(less, "person"),
      await compare(shuffled, "person"),
      await compare(shuffled, undefined),
    ];
    expect(byId).toEqual(ordered);
    expect(ordered?.paired).toBe(true);
    expect(ordered?.basis).toBe("held out");
    expect(ordered?.interval[1]).toBeLessThan(0);
    expect(unpaired?.paired).toBe(false);
    const width = (of: typeof ordered) => (of === undefined ? Number.NaN : of.interval[1] - of.interval[0]);
    expect(width(ordered)).toBeLessThan(0.9 * width(unpaired));
  });
});
