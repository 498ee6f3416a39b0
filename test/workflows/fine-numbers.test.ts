import { describe, expect, test } from "vitest";
import { seededStream } from "../../src/core/random.js";
import { tableOf } from "../../src/tables/table-of.js";
import { auditTable } from "../../src/workflows/audit-table.js";
import { fitModel } from "../../src/workflows/fit-model.js";
import { RECODED_FORMAT, readModel } from "../../src/workflows/fitted-model.js";
import { predict } from "../../src/workflows/predict.js";

const ROWS = 240;
/** Half of the rows are of either sex, in no order; `x` gives it away or not. */
const people = (x: (sex: number, i: number, noise: number) => number) => {
  const stream = seededStream(11);
  return Array.from({ length: ROWS }, (_, i) => {
    const sex = stream.uniform() < 0.5 ? 1 : 0;
    return {
      x: x(sex, i, stream.normal()),
      other: stream.integer(9),
      sex: sex === 1 ? "f" : "m",
      y: stream.uniform() < 0.5 ? "yes" : "no",
    };
  });
};
const LEAKS = [
  ["a moment in milliseconds", (sex: number, i: number) => 1_700_000_000_000 + 30_000 * sex + (i % 100)],
  ["1 and 1 + 1e-12", (sex: number) => 1 + sex * 1e-12],
  ["whole numbers at 2^53", (sex: number, i: number) => 2 ** 53 - 2000 + 1000 * sex + (i % 9)],
  ["an offset of 1e9", (sex: number, _: number, noise: number) => 1e9 + 6 * sex + noise],
] as const;

describe("a column that says the sex in digits that float32 does not hold", () => {
  for (const adversary of ["logistic", "forest", "lookup"]) {
    // A lookup needs values that repeat.
    test.each(LEAKS.filter(([name]) => adversary !== "lookup" || name === "1 and 1 + 1e-12"))(
      `${adversary} finds it: %s`,
      async (_, x) => {
        const { attributes } = await auditTable(tableOf(people(x)), {
          target: "y=yes",
          sensitive: ["sex"],
          adversaries: [adversary],
          permutations: 99,
          plants: 2,
        });
        const [{ audit }] = attributes;
        expect(audit.leakage.unconditional.nats).toBeGreaterThan(0.5);
        expect(audit.columns[0].name).toBe("x");
      },
    );
  }

  test("a trace behind whole numbers is found by trees", async () => {
    const table = tableOf(people((sex, i) => (i % 80) + sex * 1e-9));
    const { attributes } = await auditTable(table, {
      target: "y=yes",
      sensitive: ["sex"],
      adversaries: ["forest"],
      permutations: 99,
      plants: 2,
    });
    expect(attributes[0].audit.leakage.unconditional.nats).toBeGreaterThan(0.5);
  });
});

describe("a model", () => {
  const rows = people((sex, _, noise) => 3 * sex + noise);
  const shifted = rows.map((row) => ({ ...row, x: row.x + 1e9 }));
  const options = { target: "sex=f", features: ["x"], learner: "logistic" } as const;

  test("is as good with 1e9 added to a column as without", async () => {
    const [plain, moved] = [
      await fitModel(tableOf(rows), options),
      await fitModel(tableOf(shifted), options),
    ];
    const accuracy = ({ heldOut }: typeof plain) => heldOut?.overall[0].rates.accuracy.value ?? 0;
    expect(accuracy(plain)).toBeGreaterThan(0.9);
    expect(Math.abs(accuracy(moved) - accuracy(plain))).toBeLessThan(0.02);
  });

  test("is kept with how its numbers are encoded, and says of new rows what it said before", async () => {
    const model = await fitModel(tableOf(shifted), options);
    expect(model.format).toBe(RECODED_FORMAT);
    const again = readModel(JSON.stringify(model));
    const fresh = tableOf([{ x: 1e9 + 4 }, { x: 1e9 - 1 }]);
    expect((await predict(again, fresh)).probability).toEqual((await predict(model, fresh)).probability);
    expect((await predict(again, fresh)).predicted).toEqual(["f", "m"]);
  });
});
