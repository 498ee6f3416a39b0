import { describe, expect, it, test } from "vitest";
import { strategyNames } from "../../src/active/strategy-names.js";
import { seededStream } from "../../src/core/random.js";
import { columnNamed, selectRows, type Table } from "../../src/tables/table.js";
import { type TableRecord, tableOf } from "../../src/tables/table-of.js";
import { columnQuotaTexts } from "../../src/workflows/groups-by.js";
import { rankTexts } from "../../src/workflows/rank-plan.js";
import { type RankOptions, rankPool } from "../../src/workflows/rank-pool.js";
import { rankSettings, rankSettingsTexts } from "../../src/workflows/rank-settings.js";

const people = (rows: number, seed: number): Table => {
  const stream = seededStream(seed);
  return tableOf(
    Array.from({ length: rows }, (_, i): TableRecord => {
      const skill = stream.integer(12);
      const sex = stream.uniform() < 0.5 ? "f" : "m";
      return {
        id: `p${i}`,
        skill,
        town: ["north", "south", null][stream.integer(3)],
        taste: stream.uniform() < 0.1 ? null : stream.integer(9) / 2,
        height: stream.normal() + (sex === "m" ? 1.5 : 0),
        sex,
        age: stream.uniform() < 0.4 ? "young" : "old",
        hired: stream.uniform() < skill / 12 ? "yes" : "no",
        price: 1 + stream.integer(3),
        weight: stream.integer(4),
      };
    }),
  );
};

const all = people(1500, 5);
const rowsOf = (from: number, to: number): Table =>
  selectRows(
    all,
    Array.from({ length: to - from }, (_, i) => from + i),
  );
const base: RankOptions = {
  labelled: rowsOf(0, 120),
  target: "hired=yes",
  sensitive: ["sex"],
  exclude: ["price", "weight", "age"],
  forest: { trees: 25 },
  sensitiveForest: { trees: 25, minLeaf: 5 },
  predictSample: 60,
  id: "id",
  top: 9,
};
/** Rows that have the target count as labelled, so a pool is without it. */
const openRows = (from: number, to: number): Table => {
  const rows = rowsOf(from, to);
  return { ...rows, columns: rows.columns.filter(({ name }) => name !== "hired") };
};
const pool = openRows(120, 1500);

describe("the composition of a ranking", () => {
  const shareOf = (column: string, value: string, table: Table, rows?: readonly number[]): number => {
    const of = columnNamed(table, column);
    if (of.kind === "numeric") throw new Error("not a column of texts");
    const picked = rows ?? [...of.codes.keys()];
    return picked.filter((row) => of.levels[of.codes[row]] === value).length / picked.length;
  };

  it("is that of the labelled rows and of what is recommended, beside the pool's", async () => {
    const { composition, candidates } = await rankPool(pool, { ...base, sensitive: ["sex", "age"], top: 40 });
    expect(composition.map(({ attribute }) => attribute)).toEqual(["sex", "age"]);
    const [{ labelled, recommended }] = composition;
    const rows = candidates.map(({ row }) => row);
    expect(recommended).toMatchObject({ acquired: 40, unknown: 0, cells: [] });
    const f = recommended?.groups.find(({ group }) => group === "f");
    expect(f?.share).toBeCloseTo(shareOf("sex", "f", pool, rows), 12);
    expect(f?.population).toBeCloseTo(shareOf("sex", "f", pool), 12);
    expect(f?.interval?.[1]).toBeGreaterThan(f?.share ?? 1);
    const own = labelled?.groups.find(({ group }) => group === "f");
    expect(own?.share).toBeCloseTo(shareOf("sex", "f", base.labelled), 12);
    expect(own?.population).toBe(f?.population);
    // The outcomes of the pool are not known.
    expect(labelled?.cells).toHaveLength(4);
    expect(labelled?.cells.every(({ population }) => population === null)).toBe(true);
    expect(candidates[0]).not.toHaveProperty("sensitive");
  });

  it("is the same for a pool in parts", async () => {
    const parts = () => [openRows(120, 700), openRows(700, 1500)];
    expect((await rankPool(parts, base)).composition).toEqual((await rankPool(pool, base)).composition);
  });

  it("says null where a table does not have the column", async () => {
    const bare: Table = { ...pool, columns: pool.columns.filter(({ name }) => name !== "sex") };
    const [{ labelled, recommended }] = (await rankPool(bare, base)).composition;
    expect(recommended).toBeNull();
    expect(labelled?.groups.every(({ population }) => population === null)).toBe(true);
    const other = { ...base, sensitiveTable: rowsOf(0, 60) };
    expect((await rankPool(bare, other)).composition[0]).toEqual({
      attribute: "sex",
      labelled: null,
      recommended: null,
    });
  });

  it("has a note where a group is below half its share of the pool", async () => {
    const quotas = { column: "sex", quotas: [{ value: "f", atMost: 1 }] };
    const { notes } = await rankPool(pool, { ...base, top: 40, quotas });
    expect(
      notes.some((note) => /^f \(sex\) makes up 2\.5 % of what is recommended and \d+ %/.test(note)),
    ).toBe(true);
  });
});

describe("rankPool", () => {
  it("has its defaults in one place", () => {
    expect(rankSettings()).toMatchObject({
      method: "fairbed",
      beta: 10,
      top: 20,
      predictSample: 200,
      seed: 0,
    });
    expect(rankSettings({ method: "fairbed-set" })).toMatchObject({
      beta: 3,
      correction: "none",
      sensitiveForest: { minLeaf: 5 },
    });
    expect(() => rankSettings({ costWeight: 1 })).toThrow(rankSettingsTexts.costWeight);
  });

  it.each(strategyNames)("is the same in any parts, watched or not: %s", async (method) => {
    const options = { ...base, method };
    const whole = await rankPool(pool, options);
    expect(whole.candidates.map(({ rank }) => rank)).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9]);
    const watched = { ...options, onProgress: () => {}, signal: new AbortController().signal };
    expect(await rankPool(pool, watched)).toEqual(whole);
    if (method === "random") return;
    const parts = () => [openRows(120, 130), openRows(130, 700), openRows(700, 1500)];
    expect(await rankPool(parts, options)).toEqual(whole);
  });

  // With costs of nothing every candidate is scored; without any, most are ruled out.
  it.each([
    ["fairbed", {}],
    ["fairbed", { correction: "none" }],
    ["fairbed", { sensitive: ["sex", "age"], combine: "worst" }],
    ["fairbed", { beta: 0 }],
    ["epig", {}],
  ] as const)("finds the same few without scoring all: %s %o", async (method, choices) => {
    const options: RankOptions = { ...base, method, ...choices, top: 7 };
    const few = await rankPool(pool, options);
    const scored = await rankPool(pool, { ...options, costs: "price", costWeight: 0 });
    const without = ({ candidates }: typeof few) => candidates.map(({ cost: _, ...each }) => each);
    expect(without(few)).toEqual(without(scored));
  });

  it("stops when it is told to", async () => {
    await expect(rankPool(pool, { ...base, signal: AbortSignal.abort("enough") })).rejects.toBe("enough");
  });

  it("keeps quotas, and says when they cannot be kept", async () => {
    const quotas = {
      column: "town",
      quotas: [
        { value: "north", atLeast: 6 },
        { value: "south", atMost: 1 },
      ],
    };
    const { candidates } = await rankPool(pool, { ...base, quotas });
    const [town] = pool.columns.filter(({ name }) => name === "town");
    if (town.kind !== "categorical") throw new Error("town is text");
    const towns = candidates.map(({ row }) => town.levels[town.codes[row]]);
    expect(towns.filter((each) => each === "north").length).toBeGreaterThanOrEqual(6);
    expect(towns.filter((each) => each === "south").length).toBeLessThanOrEqual(1);
    await expect(rankPool(pool, { ...base, quotas, top: 5 })).rejects.toThrow(columnQuotaTexts.room(6, 5));
  });

  it("refuses a pool of nothing but labelled rows, and a missing cost", async () => {
    await expect(rankPool(openRows(0, 50), base)).rejects.toThrow(rankTexts.allDone(["hired"]));
    const gap = tableOf([
      { id: "x", skill: 1, town: "north", taste: 1, height: 1, price: 1 },
      { id: "y", skill: 1, town: "north", taste: 1, height: 1, price: null },
    ]);
    await expect(rankPool(gap, { ...base, costs: "price" })).rejects.toThrow(rankTexts.cost("price", 1));
  });

  it("never recommends whoever has a label in the pool, with ids or without, in one table or in parts", async () => {
    const hired = columnNamed(all, "hired");
    if (hired.kind === "numeric") throw new Error("hired is text");
    const partly = (from: number, to: number): Table => {
      const rows = rowsOf(from, to);
      // Every third is still open.
      const codes = Int32Array.from({ length: to - from }, (_, i) =>
        (from + i) % 3 === 0 ? -1 : hired.codes[from + i],
      );
      return {
        ...rows,
        columns: rows.columns.map((own) => (own.name === "hired" ? { ...hired, codes } : own)),
      };
    };
    for (const id of ["id", undefined]) {
      const options = { ...base, exclude: ["price", "weight", "age", "id"], id };
      const whole = await rankPool(partly(120, 660), options);
      expect(whole.candidates.map(({ row }) => (120 + row) % 3).every((left) => left === 0)).toBe(true);
      expect(whole.notes).toContain(rankTexts.done(360));
      const inParts = await rankPool(() => [partly(120, 130), partly(130, 660)], options);
      expect(inParts.candidates).toEqual(whole.candidates);
      await expect(rankPool(rowsOf(120, 300), options)).rejects.toThrow(rankTexts.allDone(["hired"]));
    }
  });

  it("gives all that are left where fewer are left than are wanted", async () => {
    const { candidates } = await rankPool(openRows(115, 124), base);
    expect(candidates.map(({ id }) => id).sort()).toEqual(["p120", "p121", "p122", "p123"]);
  });
});

describe("a batch of rank", () => {
  // Forty copies of the candidate that is worth the most, among others: a hundred of them would be asked by scores alone.
  const copied = (): Table => {
    const stream = seededStream(3);
    return tableOf(
      Array.from({ length: 400 }, (_, i) => ({
        id: `c${i}`,
        skill: i % 4 === 0 ? 6 : stream.integer(12),
        town: i % 4 === 0 ? "north" : ["north", "south", null][stream.integer(3)],
        taste: i % 4 === 0 ? 2 : stream.integer(9) / 2,
        height: i % 4 === 0 ? 0.7 : stream.normal(),
      })),
    );
  };
  const kinds = (rows: readonly number[]) => new Set(rows.map((row) => (row % 4 === 0 ? "copy" : row)));
  const options: RankOptions = { ...base, method: "epig", shares: "none", randomPart: 0, top: 12 };

  it("does not ask for copies of the same by default, as it did and does by the scores alone", async () => {
    const candidates = copied();
    const asked = async (more: Partial<RankOptions>) =>
      (await rankPool(candidates, { ...options, ...more })).candidates.map(({ row }) => row);
    expect(kinds(await asked({}))).toHaveProperty("size", 12);
    expect(await asked({ batchKind: "joint" })).toEqual(await asked({}));
    expect(await asked({ paper: true })).toEqual(await asked({ batchKind: "top", paper: true }));
    const top = await asked({ batchKind: "top" });
    expect(kinds(top).size).toBeLessThan(12);
  });

  it("is the same on any number of threads", async () => {
    const threads = (count: number): Partial<RankOptions> => ({
      forest: { trees: 25, threads: count },
      sensitiveForest: { trees: 25, minLeaf: 5, threads: count },
    });
    const [one, two] = await Promise.all(
      [1, 2].map((count) => rankPool(pool, { ...base, ...threads(count), top: 30 })),
    );
    expect(one.candidates).toEqual(two.candidates);
  });

  it("keeps the shares of groups where it is small: no batch of 25 is of the largest group alone", async () => {
    const race = (i: number) => (i % 20 < 16 ? "w" : i % 20 < 18 ? "b" : i % 20 < 19 ? "a" : "o");
    const withRace = (table: Table): Table => {
      const levels = ["w", "b", "a", "o"];
      const codes = Int32Array.from({ length: table.rows }, (_, i) => levels.indexOf(race(i)));
      return {
        ...table,
        columns: [...table.columns, { name: "race", kind: "categorical", levels, codes }],
      };
    };
    const { composition } = await rankPool(withRace(pool), {
      ...base,
      labelled: withRace(base.labelled),
      sensitive: ["race"],
      exclude: ["price", "weight", "age", "sex"],
      top: 25,
    });
    const shares = Object.fromEntries(
      (composition[0].recommended?.groups ?? []).map(({ group, share }) => [group, share]),
    );
    // 19 of 25 are chosen: 15, 2, 1 and 1 by the shares; the other six are drawn.
    expect(shares.w).toBeLessThanOrEqual((15 + 6) / 25);
    expect(shares.b).toBeGreaterThanOrEqual(2 / 25);
    expect(shares.a).toBeGreaterThanOrEqual(1 / 25);
    expect(shares.o).toBeGreaterThanOrEqual(1 / 25);
  });

  it("says which methods have no joint batches", () => {
    expect(rankSettings().batchKind).toBe("joint");
    expect(rankSettings({ paper: true }).batchKind).toBe("top");
    expect(rankSettings({ method: "entropy" }).batchKind).toBe("top");
    expect(rankSettings({ correction: "permutation" }).batchKind).toBe("top");
    for (const method of ["entropy", "fairbed-set", "fairbed-conditional", "epig-minimax"] as const) {
      expect(() => rankSettings({ method, batchKind: "joint" })).toThrow(rankSettingsTexts.noJoint(method));
    }
    expect(() => rankSettings({ correction: "permutation", batchKind: "joint" })).toThrow(
      rankSettingsTexts.jointPermutation,
    );
  });
});

describe("costs", () => {
  const cheapest = tableOf([
    ...Array.from({ length: 60 }, (_, i) => ({
      id: `c${i}`,
      skill: i % 12,
      town: "north",
      taste: 2,
      height: i % 3,
      price: i % 12 === 0 ? 1 : 40,
    })),
  ]);
  const options: RankOptions = { ...base, costs: "price", shares: "none", randomPart: 0, top: 5 };

  it("are shown and do not decide unless it is said what they are worth", async () => {
    const ask = async (more: Partial<RankOptions>) =>
      (await rankPool(cheapest, { ...options, ...more })).candidates;
    const free = await ask({ costs: undefined });
    const shown = await ask({});
    expect(shown.map(({ row }) => row)).toEqual(free.map(({ row }) => row));
    expect(shown.every(({ cost, net, score }) => [1, 40].includes(cost) && net === score)).toBe(true);
    // A nat a unit, the former default: the cheapest win, whatever they say.
    expect((await ask({ costWeight: 1 })).map(({ cost }) => cost)).toEqual([1, 1, 1, 1, 1]);
    expect(shown.map(({ cost }) => cost)).not.toEqual([1, 1, 1, 1, 1]);
  });
});

describe("weights", () => {
  // Every value of x has both labels; those that speak against x count for nothing where there are weights.
  const labelled = tableOf(
    Array.from({ length: 80 }, (_, i) => {
      const [x, y] = [i % 2, i % 4 < 2 ? i % 2 : 1 - (i % 2)];
      return { x, z: i % 5, sex: i % 3 === 0 ? "f" : "m", y: y === 1 ? "yes" : "no", w: x === y ? 1 : 0 };
    }),
  );
  const candidates = tableOf(Array.from({ length: 20 }, (_, i) => ({ x: i % 2, z: i % 5 })));
  const options: RankOptions = {
    labelled,
    target: "y=yes",
    sensitive: ["sex"],
    features: ["x"],
    method: "entropy",
    top: 20,
  };

  test("of 0 take rows out of the fits: then nothing is uncertain", async () => {
    const plain = await rankPool(candidates, { ...options, randomPart: 0 });
    expect(Math.min(...plain.candidates.map(({ score }) => score))).toBeGreaterThan(0.1);
    const weighted = await rankPool(candidates, { ...options, randomPart: 0, weights: "w" });
    expect(weighted.candidates.map(({ score }) => score)).toEqual(new Array(20).fill(0));
  });

  test("are no feature, and must be numbers of at least 0", async () => {
    expect((await rankPool(candidates, { ...options, features: undefined, weights: "w" })).features).toEqual([
      "x",
      "z",
    ]);
    await expect(rankPool(candidates, { ...options, weights: "sex" })).rejects.toThrow("weights");
  });

  test("count in the sensitive models too", async () => {
    const fair = { ...base, exclude: ["price", "age"] };
    const plain = await rankPool(pool, { ...fair, exclude: ["price", "age", "weight"], method: "hfe" });
    const weighted = await rankPool(pool, { ...fair, weights: "weight", method: "hfe" });
    expect(weighted.features).toEqual(plain.features);
    expect(weighted.candidates).not.toEqual(plain.candidates);
  });
});

describe("ids", () => {
  const row = (id: unknown, i: number) => ({ id, x: i % 4, z: (i * 7) % 5 }) as TableRecord;
  const labelledBy = (ids: readonly unknown[]) =>
    tableOf(
      Array.from({ length: 40 }, (_, i) => ({
        ...row(ids[i] ?? null, i),
        sex: i % 3 === 0 ? "f" : "m",
        y: i % 4 < 2 ? "yes" : "no",
      })),
    );
  const asked = async (labelled: readonly unknown[], ids: readonly unknown[]) => {
    const { candidates } = await rankPool(tableOf(ids.map(row)), {
      labelled: labelledBy(labelled),
      target: "y=yes",
      sensitive: ["sex"],
      id: "id",
      top: 20,
      forest: { trees: 5 },
      sensitiveForest: { trees: 5 },
    });
    return candidates.map(({ id }) => id).sort();
  };

  it.each([
    ["numbers here, texts there", [7, 8], ["7", "9", "x"], ["9", "x"]],
    ["texts here, numbers there", ["7", "x"], [7, 8, 9], ["8", "9"]],
    ["zeros at the start", ["007"], ["7", "07", "007"], ["07", "7"]],
    ["long numbers", [9007199254740993n], ["9007199254740993", "9007199254740992"], ["9007199254740992"]],
    ["spaces around", [" a b "], ["a b", "ab"], ["ab"]],
    ["powers of ten", [1000], ["1e3", "1000"], ["1e3"]],
    ["letters that are written differently", ["Jos\u00e9"], ["José", "Jose\u0301"], ["Jose\u0301"]],
  ])("nobody is asked twice: %s", async (_, labelled, ids, left) => {
    expect(await asked(labelled, ids)).toEqual(left);
  });

  it("two rows with the same id are refused", async () => {
    await expect(asked([1], ["2", "3", "2"])).rejects.toThrow(rankTexts.twice("id", 0, 2));
  });
});
