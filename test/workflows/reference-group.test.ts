import { describe, expect, test } from "vitest";
import { tableOf } from "../../src/tables/table-of.js";
import { defineTask, taskTexts } from "../../src/tables/task.js";
import { auditTable } from "../../src/workflows/audit-table.js";
import { fitModel } from "../../src/workflows/fit-model.js";
import { rejectTable } from "../../src/workflows/mitigate.js";

/** Favourable: 30 of 60 of a, 45 of 60 of b, 12 of 48 of c. */
const RATES = [
  ["a", 60, 30],
  ["b", 60, 45],
  ["c", 48, 12],
] as const;
const table = tableOf(
  RATES.flatMap(([group, rows, good]) =>
    Array.from({ length: rows }, (_, i) => ({ group, x: i % 7, y: i < good ? "yes" : "no" })),
  ),
);
const roles = { target: "y=yes", sensitive: ["group"], referenceGroup: "c" };

describe("a reference group", () => {
  test("is what an audit holds base rates against", async () => {
    const quick = { adversaries: ["logistic"], plants: 2, permutations: 99 };
    const [{ against }] = (await auditTable(table, { ...roles, ...quick })).attributes;
    expect(against?.reference).toBe("c");
    expect(against?.positive).toBe("yes");
    const found = against?.groups.map(({ group, rate, difference }) => [group, rate, difference.value]);
    expect(found).toEqual([
      ["a", "baseRate", 30 / 60 - 12 / 48],
      ["b", "baseRate", 45 / 60 - 12 / 48],
    ]);
    const plain = await auditTable(table, { ...roles, ...quick, referenceGroup: undefined });
    expect(plain.attributes[0].against).toBeUndefined();
  });

  test("is what a model's rates are held against", async () => {
    const { heldOut } = await fitModel(table, roles);
    const [{ against, groups }] = heldOut?.groups ?? [];
    const rateOf = (name: string) =>
      groups?.find((each) => each.name === name)?.rates.selectionRate.value ?? 0;
    const a = against?.groups.find(({ group, rate }) => group === "a" && rate === "selectionRate");
    expect(a?.difference.value).toBeCloseTo(rateOf("a") - rateOf("c"), 12);
    expect(against?.groups).toHaveLength(6);
  });

  test("is the privileged one of a mitigation, unless another is named", async () => {
    expect((await rejectTable(table, { ...roles, trees: 5 })).privileged).toBe("c");
    expect((await rejectTable(table, { ...roles, trees: 5, privileged: "a" })).privileged).toBe("a");
  });

  test("must be a group", () => {
    expect(() => defineTask(table, { ...roles, referenceGroup: "d" })).toThrow(
      taskTexts.noGroup("d", ["a", "b", "c"]),
    );
  });
});
