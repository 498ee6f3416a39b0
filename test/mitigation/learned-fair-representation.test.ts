import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { InputError } from "../../src/core/errors.js";
import { seededStream } from "../../src/core/random.js";
import type { FeatureMatrix } from "../../src/learners/classifier.js";
import { featureTexts } from "../../src/learners/features.js";
import { mitigationTexts } from "../../src/mitigation/groups.js";
import {
  aif360Representation,
  applyRepresentation,
  type FairRepresentation,
  learnFairRepresentation,
  predictFromRepresentation,
  representationTexts,
} from "../../src/mitigation/learned-fair-representation.js";
import { RepresentationLoss, type RepresentationProblem } from "../../src/mitigation/lfr/objective.js";
import { rowSums } from "../../src/mitigation/lfr/row-sums.js";

// AIF360's numbers for five rows and two prototypes, two of the rows exactly at a prototype.
const SMALL: RepresentationProblem = {
  x: Float64Array.of(0, 0, 1, 0, 0, 1, 1, 1, 2, 1),
  columns: 2,
  labels: Uint8Array.of(0, 0, 1, 1, 1),
  privileged: Uint8Array.of(0, 0, 0, 1, 1),
  prototypes: 2,
  reconstruction: 0.01,
  prediction: 1,
  parity: 50,
  parityForm: "mean",
};
const PARAMETERS = Float64Array.of(0.2, 0.9, 0, 0, 1, 1);

describe("the loss of learned fair representations", () => {
  it("has AIF360's parts, assignments and predictions", () => {
    const loss = new RepresentationLoss(SMALL);
    const parts = loss.parts(PARAMETERS);
    expect(parts.reconstruction).toBeCloseTo(0.5864401339, 10);
    expect(parts.prediction).toBeCloseTo(0.4750769606, 10);
    expect(parts.parity).toBeCloseTo(0.3911308258, 10);
    expect(parts.loss).toBeCloseTo(20.0374826496, 9);
    expect(loss.assignments[0]).toBeCloseTo(0.8044296825, 10);
    expect(loss.assignments[1]).toBeCloseTo(0.1955703175, 10);
    expect(loss.assignments[8]).toBeCloseTo(0.2251211527, 10);
    expect(loss.assignments[9]).toBeCloseTo(0.7748788473, 10);
    const predicted = [0.3368992222, 0.55, 0.55, 0.7631007778, 0.7424151931];
    predicted.forEach((y, n) => {
      expect(loss.raw[n]).toBeCloseTo(y, 10);
    });
  });

  it("adds the gaps up where that is asked for", () => {
    const parts = new RepresentationLoss({ ...SMALL, parityForm: "sum" }).parts(PARAMETERS);
    expect(parts.parity).toBeCloseTo(0.7822616515, 9);
    expect(new RepresentationLoss({ ...SMALL, parity: 1 }).parts(PARAMETERS).loss).toBeCloseTo(
      0.8720721877,
      10,
    );
  });

  it("has AIF360's gradient, with rows at a prototype left out of its distance", () => {
    const gradient = new Float64Array(6);
    const value = new RepresentationLoss(SMALL).evaluate(PARAMETERS, gradient);
    expect(value).toBeCloseTo(20.0374826496, 9);
    const expected = [0.17112835, -0.32018661, -2.54270627, -0.46512676, 10.38221014, 5.91778993];
    expected.forEach((g, i) => {
      // All digits that were published, which were cut off and not rounded.
      expect(Math.abs(gradient[i] - g)).toBeLessThan(1e-8);
    });
  });

  it("has the gradient that differences give", () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 0, max: 1_000_000 }),
        fc.integer({ min: 1, max: 6 }),
        fc.integer({ min: 2, max: 10 }),
        fc.constantFrom("sum" as const, "mean" as const),
        fc.constantFrom(0, 0.05),
        (seed, columns, prototypes, parityForm, smoothing) => {
          const stream = seededStream(seed);
          const rows = 11;
          const problem: RepresentationProblem = {
            x: Float64Array.from({ length: rows * columns }, () => stream.normal()),
            columns,
            labels: Uint8Array.from({ length: rows }, (_, n) => n % 2),
            privileged: Uint8Array.from({ length: rows }, (_, n) => Number(n % 3 === 0)),
            prototypes,
            reconstruction: 0.7,
            prediction: 1.3,
            parity: 2,
            parityForm,
          };
          const loss = new RepresentationLoss(problem);
          const at = Float64Array.from({ length: loss.size }, () => stream.uniform());
          const gradient = new Float64Array(loss.size);
          loss.evaluate(at, gradient, smoothing);
          at.forEach((x, i) => {
            const h = 1e-6;
            const up = loss.parts(at.with(i, x + h), smoothing).loss;
            const down = loss.parts(at.with(i, x - h), smoothing).loss;
            expect(Math.abs((up - down) / (2 * h) - gradient[i])).toBeLessThan(
              1e-6 * Math.max(1, Math.abs(gradient[i])),
            );
          });
        },
      ),
      // Where a gap between groups changes its sign within h there is no gradient; that seed would be rare.
      { numRuns: 60, seed: 5 },
    );
  });

  it("has a finite gradient where all rows are far from all but one prototype", () => {
    const loss = new RepresentationLoss(SMALL);
    const gradient = new Float64Array(6);
    for (const far of [300, 500, 800]) {
      const at = Float64Array.of(0.2, 0.9, 0, 0, far, far);
      expect(loss.evaluate(at, gradient)).toBeLessThan(100);
      expect([...gradient].every(Number.isFinite)).toBe(true);
    }
  });

  it("reconstructs as x_hat = M V says", () => {
    const loss = new RepresentationLoss({ ...SMALL, parity: 0, prediction: 0, reconstruction: 1 });
    const at = Float64Array.of(0.4, 0.6, -1, 0.3, 0.7, 2.2);
    const { loss: value } = loss.parts(at);
    const sums = [0, 0];
    for (let n = 0; n < 5; n++) {
      for (let j = 0; j < 2; j++) {
        const m = loss.assignments.subarray(2 * n, 2 * n + 2);
        sums[SMALL.privileged[n]] += (m[0] * at[2 + j] + m[1] * at[4 + j] - SMALL.x[2 * n + j]) ** 2;
      }
    }
    expect(value).toBeCloseTo(sums[0] / 6 + sums[1] / 4, 12);
  });

  it("adds up to the same bits with and without WebAssembly", () => {
    const stream = seededStream("row sums");
    for (const [rows, columns, prototypes] of [
      [1, 1, 2],
      [13, 5, 3],
      [40, 7, 19],
    ]) {
      const x = Float64Array.from({ length: rows * columns }, () => stream.normal());
      const v = Float64Array.from({ length: prototypes * columns }, () => stream.normal());
      const c = Float64Array.from({ length: prototypes * rows }, () => stream.normal());
      const run = (simd: boolean) => {
        const sums = rowSums(x, columns, prototypes, { simd });
        sums.v.set(v);
        for (let k = 0; k < prototypes; k++)
          sums.c.set(c.subarray(k * rows, (k + 1) * rows), k * sums.stride);
        sums.findDistances();
        sums.findSums();
        const distances = Array.from({ length: prototypes * rows }, (_, i) => {
          return sums.distances[Math.floor(i / rows) * sums.stride + (i % rows)];
        });
        return { distances, sums: [...sums.sums] };
      };
      const fast = run(true);
      expect(fast).toEqual(run(false));
      const [k, n] = [prototypes - 1, rows - 1];
      const difference = Array.from({ length: columns }, (_, j) => x[n * columns + j] - v[k * columns + j]);
      expect(fast.distances[k * rows + n]).toBeCloseTo(Math.hypot(...difference), 12);
      let sum = 0;
      for (let i = 0; i < rows; i++) sum += c[k * rows + i] * x[i * columns];
      expect(fast.sums[2 * k * columns] + fast.sums[2 * k * columns + 1]).toBeCloseTo(sum, 12);
    }
  });
});

/** The label depends on the first column, the group on the second, and a little on the first. */
const makeRows = (rows: number, columns = 4) => {
  const stream = seededStream("rows with a group");
  const labels = new Int32Array(rows);
  const privileged = new Int32Array(rows);
  const values = new Float32Array(rows * columns);
  for (let n = 0; n < rows; n++) {
    labels[n] = stream.integer(2);
    privileged[n] = stream.uniform() < 0.3 + 0.4 * labels[n] ? 1 : 0;
    for (let j = 0; j < columns; j++) values[n * columns + j] = 5 * j + (j + 1) * stream.normal();
    values[n * columns] += 3 * labels[n];
    values[n * columns + 1] += 5 * privileged[n];
  }
  const features: FeatureMatrix = { values, rows, columns };
  return { features, labels, privileged };
};

/** sum_k |mean M of one group - mean M of the other|. */
const gapOf = (representation: FairRepresentation, { features, privileged }: ReturnType<typeof makeRows>) => {
  const { values, columns } = applyRepresentation(representation, features);
  const members = privileged.reduce((sum, each) => sum + each, 0);
  return Array.from({ length: columns }, (_, k) =>
    privileged.reduce((sum, group, n) => {
      const share = group === 1 ? 1 / members : -1 / (privileged.length - members);
      return sum + share * values[n * columns + k];
    }, 0),
  ).reduce((sum, gap) => sum + Math.abs(gap), 0);
};

describe("learnFairRepresentation", () => {
  const rows = makeRows(120);
  const settings = { maxSteps: 300, restarts: 3 };

  it("brings the groups together as parity weighs more, and still predicts", async () => {
    const [free, fair] = await Promise.all(
      [0, 10].map((parity) => learnFairRepresentation(rows, seededStream(1), { ...settings, parity })),
    );
    expect(gapOf(free, rows)).toBeGreaterThan(0.1);
    expect(gapOf(fair, rows)).toBeLessThan(0.01);
    expect(gapOf(fair, rows)).toBeCloseTo(fair.losses.parity, 5);
    expect(fair.collapse).toBeUndefined();
    const right = (representation: FairRepresentation) =>
      predictFromRepresentation(representation, rows.features).filter(
        (p, n) => Number(p > 0.5) === rows.labels[n],
      ).length / 120;
    expect(right(free)).toBeGreaterThan(0.9);
    expect(right(fair)).toBeGreaterThan(0.6);
  });

  it("gets past the kinks at which exact steps end, and says where those collapse", async () => {
    const settled = { parity: 10, maxSteps: 1000, restarts: 3 };
    const exact = await learnFairRepresentation(rows, seededStream(1), { ...settled, smoothing: 0 });
    const smooth = await learnFairRepresentation(rows, seededStream(1), settled);
    expect(exact.collapse).toBe(representationTexts.oneClass(false));
    expect(smooth.collapse).toBeUndefined();
    expect(smooth.losses.loss).toBeLessThan(exact.losses.loss);
    expect(smooth.losses.loss).toBeCloseTo(
      0.01 * smooth.losses.reconstruction + smooth.losses.prediction + 10 * smooth.losses.parity,
      12,
    );
  });

  it("gives probabilities of prototypes, those of the loss", async () => {
    const representation = await learnFairRepresentation(rows, seededStream(1), settings);
    const { values, columns, rows: count } = applyRepresentation(representation, rows.features);
    expect([count, columns]).toEqual([120, 5]);
    for (let n = 0; n < count; n++) {
      const row = values.subarray(n * columns, (n + 1) * columns);
      expect(row.reduce((sum, m) => sum + m, 0)).toBeCloseTo(1, 6);
    }
    // By definition, for one row.
    const { means, scales } = representation.standardisation ?? { means: [], scales: [] };
    const x = Array.from(rows.features.values.subarray(28, 32), (value, j) => (value - means[j]) / scales[j]);
    const near = representation.prototypes.map((v) =>
      Math.exp(-Math.hypot(...v.map((each, j) => each - x[j]))),
    );
    const total = near.reduce((sum, each) => sum + each, 0);
    near.forEach((each, k) => {
      expect(values[7 * columns + k]).toBeCloseTo(each / total, 6);
    });
    const some = applyRepresentation(representation, rows.features, Int32Array.of(7, 3));
    expect([...some.values]).toEqual([...values.subarray(35, 40), ...values.subarray(15, 20)]);
    const [p] = predictFromRepresentation(representation, rows.features, Int32Array.of(7));
    const expected = near.reduce((sum, each, k) => sum + (representation.weights[k] * each) / total, 0);
    expect(p).toBeCloseTo(Math.min(1, Math.max(0, expected)), 10);
  });

  it("is the same for the same stream, and after a trip through JSON", async () => {
    const [first, again] = await Promise.all(
      [1, 1].map((seed) => learnFairRepresentation(rows, seededStream(seed), settings)),
    );
    expect(again).toEqual(first);
    const other = await learnFairRepresentation(rows, seededStream(2), settings);
    expect(other.prototypes).not.toEqual(first.prototypes);
    const restored: FairRepresentation = JSON.parse(JSON.stringify(first));
    expect(applyRepresentation(restored, rows.features)).toEqual(applyRepresentation(first, rows.features));
  });

  it("is the same whether it is watched or not, and stops when told to", async () => {
    const seen: number[] = [];
    const plain = await learnFairRepresentation(rows, seededStream(1), settings);
    const onProgress = ({ done }: { readonly done: number }) => seen.push(done);
    expect(await learnFairRepresentation(rows, seededStream(1), { ...settings, onProgress })).toEqual(plain);
    expect(seen).toEqual([...seen].sort((a, b) => a - b));
    const stop = new AbortController();
    const learning = learnFairRepresentation(rows, seededStream(1), { ...settings, signal: stop.signal });
    stop.abort(new Error("enough"));
    await expect(learning).rejects.toThrow("enough");
  });

  it("keeps the best of its starts", async () => {
    const representation = await learnFairRepresentation(rows, seededStream(3), {
      maxSteps: 400,
      restarts: 4,
    });
    expect(representation.starts).toHaveLength(4);
    const { loss, reason } = representation.starts[representation.start];
    expect(loss).toBe(Math.min(...representation.starts.map((start) => start.loss)));
    expect(representation.losses.loss).toBe(loss);
    expect(reason).not.toBe("behind");
    for (const { steps } of representation.starts) expect(steps).toBeLessThanOrEqual(400);
  });

  it("learns from the rows that are given", async () => {
    const half = Int32Array.from({ length: 60 }, (_, i) => 2 * i);
    const { labels, privileged, features } = rows;
    const some = {
      features,
      rows: half,
      labels: Array.from(half, (row) => labels[row]),
      privileged: Array.from(half, (row) => privileged[row]),
    };
    const values = Float32Array.from(
      { length: 240 },
      (_, i) => features.values[8 * Math.floor(i / 4) + (i % 4)],
    );
    const apart = { ...some, features: { values, rows: 60, columns: 4 }, rows: undefined };
    expect(await learnFairRepresentation(some, seededStream(1), settings)).toEqual(
      await learnFairRepresentation(apart, seededStream(1), settings),
    );
  });

  it("leaves w free where that is asked for, and then fits more closely", async () => {
    const [within, free] = await Promise.all(
      [true, false].map((bounded) =>
        learnFairRepresentation(rows, seededStream(1), { ...settings, bounded }),
      ),
    );
    for (const w of within.weights) expect(Math.abs(w - 0.5)).toBeLessThanOrEqual(0.5);
    expect(Math.max(...free.weights.map((w) => Math.abs(w - 0.5)))).toBeGreaterThan(0.5);
    expect(free.losses.loss).toBeLessThan(within.losses.loss);
  });

  it("stays within AIF360's bounds with its settings", async () => {
    const { weights, standardisation, losses } = await learnFairRepresentation(rows, seededStream(1), {
      ...aif360Representation,
      ...settings,
    });
    for (const w of weights) {
      expect(w).toBeGreaterThanOrEqual(0);
      expect(w).toBeLessThanOrEqual(1);
    }
    expect(standardisation).toBeUndefined();
    expect(losses.loss).toBeCloseTo(
      0.01 * losses.reconstruction + losses.prediction + 50 * losses.parity,
      12,
    );
  });

  it("says when all rows look alike", async () => {
    // Far from all rows in comparison with how they differ, every row sees the prototypes alike.
    const { features, labels, privileged } = rows;
    const flat = { ...features, values: features.values.map((value) => value * 1e-6) };
    const representation = await learnFairRepresentation(
      { features: flat, labels, privileged },
      seededStream(1),
      {
        ...settings,
        standardise: false,
        maxSteps: 5,
      },
    );
    expect(representation.spread).toBeLessThan(0.001);
    expect(representation.collapse).toBe(representationTexts.alike(representation.spread));
  });

  it("says when it predicts one outcome for all", async () => {
    const { features, privileged } = rows;
    // A label that no column says anything about, and that is rare.
    const labels = Int32Array.from({ length: 120 }, (_, n) => Number(n % 20 === 7));
    const representation = await learnFairRepresentation({ features, labels, privileged }, seededStream(1), {
      ...settings,
      reconstruction: 1,
      prediction: 0.01,
    });
    expect(representation.favoured).toBe(0);
    expect(representation.spread).toBeGreaterThan(0.01);
    expect(representation.collapse).toBe(representationTexts.oneClass(false));
  });

  it("takes constant columns", async () => {
    const { features, labels, privileged } = rows;
    const constant = { ...features, values: features.values.map((value, i) => (i % 4 === 2 ? 0.1 : value)) };
    const { prototypes, standardisation } = await learnFairRepresentation(
      { features: constant, labels, privileged },
      seededStream(1),
      settings,
    );
    expect(standardisation?.scales[2]).toBe(1);
    expect(prototypes.flat().every(Number.isFinite)).toBe(true);
  });

  it("refuses what it cannot use, in one sentence", async () => {
    const says = async (make: () => unknown, text: string) => {
      await expect(async () => make()).rejects.toThrow(InputError);
      await expect(async () => make()).rejects.toThrow(text);
    };
    const learn = (change: object, options: object = {}) =>
      learnFairRepresentation({ ...rows, ...change }, seededStream(1), options);
    await says(() => learn({ labels: [0, 1] }), mitigationTexts.lengths("labels", 2, 120));
    await says(() => learn({ privileged: [0, 1] }), mitigationTexts.lengths("groups", 2, 120));
    await says(() => learn({ labels: rows.labels.with(5, 2) }), mitigationTexts.label(5));
    await says(() => learn({ privileged: rows.privileged.with(6, -1) }), mitigationTexts.group(6));
    await says(() => learn({ labels: rows.labels.map(() => 1) }), mitigationTexts.oneLabel(120));
    await says(
      () => learn({ privileged: rows.privileged.map(() => 0) }),
      mitigationTexts.absent("privileged", 120),
    );
    await says(() => learn({ rows: Int32Array.of(120) }), featureTexts.row(120, 120));
    const option = (name: string, given: unknown, expected: string) =>
      representationTexts.option(name, given, expected);
    await says(() => learn({}, { prototypes: 1 }), option("prototypes", 1, "a whole number of at least 2"));
    await says(() => learn({}, { restarts: 0 }), option("restarts", 0, "a whole number of at least 1"));
    await says(() => learn({}, { maxSteps: 0 }), option("maxSteps", 0, "a whole number of at least 1"));
    await says(
      () => learn({}, { parity: -1 }),
      option("weight of parity", -1, "a finite number of at least 0"),
    );
    await says(() => learn({}, { smoothing: -1 }), option("smoothing", -1, "a finite number of at least 0"));
    await says(() => learn({}, { parityForm: "max" }), option("parityForm", "max", '"sum" or "mean"'));
    const representation = await learnFairRepresentation(rows, seededStream(1), { maxSteps: 2, restarts: 1 });
    const narrow = { values: new Float32Array(3), rows: 1, columns: 3 };
    await says(() => applyRepresentation(representation, narrow), featureTexts.columns(3, 4));
  });
});
