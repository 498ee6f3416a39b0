import { afterAll, describe, expect, test } from "vitest";
import { epig } from "../../src/active/epig.js";
import { denseJointEntropies, meansOf } from "../../src/active/kernels/dense.js";
import { voteJointEntropies } from "../../src/active/kernels/votes.js";
import { reorderMembers, takeRows } from "../../src/active/members.js";
import { referenceJointEntropies } from "../../src/active/reference.js";
import { Workspace } from "../../src/compute/workspace.js";
import { seededStream } from "../../src/core/random.js";
import type { DenseMembers } from "../../src/learners/classifier.js";
import { drawMembers, drawVotes } from "./drawn-members.js";

const workspaces = [1, 2].map((threads) => new Workspace({ threads }));
const plain = new Workspace({ threads: 1, relaxed: false });
afterAll(() => {
  for (const workspace of [...workspaces, plain]) workspace.dispose();
});

const furthest = (a: Float64Array, b: Float64Array): number =>
  a.reduce((most, value, n) => Math.max(most, Math.abs(value - b[n])), a.length === b.length ? 0 : Infinity);

const rising = (count: number): Float64Array =>
  Float64Array.from({ length: count }, (_, i) => (i + 1) / ((count * (count + 1)) / 2));
const equal = (count: number): Float64Array => new Float64Array(count).fill(1 / count);

describe("votes", () => {
  // 1 to 9 words of 64 bits: from 9 on the words are a loop.
  test.each([1, 31, 32, 33, 64, 65, 100, 128, 300, 512, 513, 600])("of %d members are exact", (members) => {
    const stream = seededStream(`votes ${members}`);
    const pool = drawVotes(stream, 67, members);
    const targets = drawVotes(stream, 13, members);
    for (const weights of [equal(13), rising(13)]) {
      const expected = referenceJointEntropies(pool, targets, weights);
      for (const workspace of workspaces) {
        expect(furthest(voteJointEntropies(workspace, pool, targets, weights), expected)).toBeLessThan(1e-13);
      }
    }
  });

  test("unanimous candidates, for either class, have the same score to the bit", () => {
    const members = 100;
    const targets = drawVotes(seededStream("unanimous"), 50, members);
    const words = new Uint32Array(8);
    words.set([0xffffffff, 0xffffffff, 0xffffffff, 0xf], 4);
    const [none, all] = voteJointEntropies(
      workspaces[0],
      { kind: "votes", rows: 2, members, classes: 2, words },
      targets,
      equal(50),
    );
    expect(none).toBe(all);
  });
});

describe("dense", () => {
  test.each([
    [2, 2, 1, 1],
    [2, 2, 100, 1],
    [2, 2, 100, 0.05],
    [2, 2, 7, 0.01],
    [3, 3, 33, 1],
    [4, 2, 100, 0.2],
    [2, 5, 12, 1],
    [1, 2, 5, 1],
  ])(
    "%d x %d classes, %d members: within 1e-6 of float64",
    (classes, targetClasses, members, concentration) => {
      const stream = seededStream(`dense ${classes} ${targetClasses} ${members} ${concentration}`);
      const pool = drawMembers(stream, 131, members, classes, concentration);
      const targets = drawMembers(stream, 37, members, targetClasses, concentration);
      const memberWeights = drawMembers(stream, 1, 1, members).values;
      for (const weights of [equal(37), rising(37)]) {
        for (const given of [undefined, memberWeights]) {
          const expected = referenceJointEntropies(pool, targets, weights, given);
          for (const workspace of [...workspaces, plain]) {
            const found = denseJointEntropies(
              workspace,
              pool,
              targets,
              weights,
              meansOf(pool, targets, given),
              given,
            );
            expect(furthest(found, expected)).toBeLessThan(1e-6);
          }
        }
      }
    },
  );

  test("a row's bits depend neither on the threads nor on the other rows", () => {
    const stream = seededStream("bits");
    const pool = drawMembers(stream, 203, 50, 2);
    const targets = drawMembers(stream, 21, 50, 2);
    const [one, two] = workspaces.map((workspace) =>
      denseJointEntropies(workspace, pool, targets, equal(21)),
    );
    expect(two).toEqual(one);
    const rows = [202, 3, 77, 78, 150];
    const some = denseJointEntropies(workspaces[1], takeRows(pool, rows), targets, equal(21));
    expect([...some]).toEqual(rows.map((row) => one[row]));
  });

  test("more rows than are in memory at a time", () => {
    const members = 3000;
    const some = (rows: number): DenseMembers => {
      const values = new Float32Array(2 * rows * members);
      for (let i = 0; i < rows * members; i++) {
        values[2 * i + 1] = (Math.imul(i + rows, 0x9e3779b1) >>> 0) / 2 ** 32;
        values[2 * i] = 1 - values[2 * i + 1];
      }
      return { kind: "dense", rows, members, classes: 2, values };
    };
    const [pool, targets] = [some(1500), some(2)];
    const found = denseJointEntropies(workspaces[1], pool, targets, equal(2));
    const rows = [0, 1390, 1391, 1392, 1499];
    const expected = referenceJointEntropies(takeRows(pool, rows), targets, equal(2));
    expect(
      furthest(
        Float64Array.from(rows, (row) => found[row]),
        expected,
      ),
    ).toBeLessThan(1e-6);
  });
});

describe("EPIG of large inputs", () => {
  test("is the same by bits, by votes as numbers, and in float64", () => {
    const stream = seededStream("large");
    const pool = drawVotes(stream, 400, 40);
    const targets = drawVotes(stream, 60, 40);
    const asNumbers = (given: typeof pool): DenseMembers => {
      const values = new Float32Array(given.rows * 80);
      for (let i = 0; i < given.rows * 40; i++) {
        const [n, k] = [Math.floor(i / 40), i % 40];
        const vote = (given.words[2 * n + (k >> 5)] >>> (k & 31)) & 1;
        values[2 * i] = 1 - vote;
        values[2 * i + 1] = vote;
      }
      return { kind: "dense", rows: given.rows, members: 40, classes: 2, values };
    };
    const bits = epig(pool, targets);
    const numbers = epig(asNumbers(pool), asNumbers(targets));
    const twice = (given: DenseMembers) => ({ ...given, values: Float64Array.from(given.values) });
    const exact = epig(twice(asNumbers(pool)), twice(asNumbers(targets)));
    expect(furthest(bits, exact)).toBeLessThan(1e-13);
    expect(furthest(bits, numbers)).toBeLessThan(1e-6);
    expect(Math.max(...exact)).toBeGreaterThan(0.01);
  });

  test("is the same whichever order the members have, if it is the same on both sides", () => {
    const stream = seededStream("order");
    const pool = drawMembers(stream, 10, 6, 3);
    const targets = drawMembers(stream, 4, 6, 3);
    const order = [3, 1, 5, 0, 2, 4];
    const both = epig(reorderMembers(pool, order), reorderMembers(targets, order));
    expect(furthest(both, epig(pool, targets))).toBeLessThan(1e-14);
    expect(furthest(epig(pool, reorderMembers(targets, order)), epig(pool, targets))).toBeGreaterThan(1e-3);
    const packed = drawVotes(stream, 5, 6);
    const reordered = reorderMembers(packed, order);
    expect(furthest(epig(reordered, reorderMembers(packed, order)), epig(packed, packed))).toBeLessThan(
      1e-14,
    );
  });
});
