import { describe, expect, test } from "vitest";
import { conditionalFairbedEpig, marginalMembers } from "../../src/active/conditional.js";
import { epig } from "../../src/active/epig.js";
import { fairbedBald, fairbedEpig, hfe } from "../../src/active/fairbed.js";
import { type ExactMembers, type Members, productMembers } from "../../src/active/members.js";
import { bald, predictiveEntropy } from "../../src/active/scores.js";
import { seededStream } from "../../src/core/random.js";
import { drawMembers } from "./drawn-members.js";
import * as V from "./vectors.js";

const close = (given: ArrayLike<number>, expected: readonly number[], within = 1e-9): void => {
  expect(given.length).toBe(expected.length);
  expected.forEach((value, n) => {
    expect(Math.abs(given[n] - value), `row ${n}: ${given[n]} and not ${value}`).toBeLessThan(within);
  });
};

const THETA = { pool: V.binary(V.THETA_POOL), targets: V.binary(V.THETA_TARGETS) };
const PHI = { pool: V.binary(V.PHI_POOL), targets: V.binary(V.PHI_TARGETS) };

describe("published vectors", () => {
  test("EPIG of two classes, in float64 and, being exact in it, float32", () => {
    close(epig(THETA.pool, THETA.targets), V.EPIG_THETA);
    close(epig(PHI.pool, PHI.targets), V.EPIG_PHI);
    close(epig(V.single(THETA.pool), V.single(THETA.targets)), V.EPIG_THETA);
    close(epig(V.single(THETA.pool), THETA.targets), V.EPIG_THETA);
  });

  test("EPIG of votes", () => {
    const sure = V.THETA_POOL.slice(0, 3);
    close(epig(V.votes(sure), V.votes(V.THETA_TARGETS)), V.EPIG_THETA.slice(0, 3));
    close(epig(V.votes(sure), THETA.targets), V.EPIG_THETA.slice(0, 3));
    close(epig(THETA.pool, V.votes(V.THETA_TARGETS)), V.EPIG_THETA);
  });

  test("EPIG of three classes", () => {
    close(epig(V.exact(V.THREE_POOL), V.exact(V.THREE_TARGETS)), V.EPIG_THREE);
  });

  test("predictive entropy and BALD", () => {
    close(predictiveEntropy(THETA.pool), V.ENTROPY_THETA);
    close(bald(THETA.pool), V.BALD_THETA);
    close(predictiveEntropy(V.votes(V.THETA_POOL.slice(0, 3))), V.ENTROPY_THETA.slice(0, 3));
    close(bald(V.votes(V.THETA_POOL.slice(0, 3))), V.BALD_THETA.slice(0, 3));
  });

  test("FairBED-EPIG", () => {
    const strong = fairbedEpig(THETA, [PHI], { beta: 10 });
    close(strong.score, V.FAIRBED_10);
    close(strong.target, V.EPIG_THETA);
    close(strong.leakage, V.EPIG_PHI);
    close(fairbedEpig(THETA, [PHI], { beta: 0.5 }).score, V.FAIRBED_HALF);
  });
});

describe("several sensitive labels", () => {
  test("sum and worst case, candidate by candidate", () => {
    const two = [PHI, THETA];
    const [phi, theta] = [V.EPIG_PHI, V.EPIG_THETA];
    close(
      fairbedEpig(THETA, two, { beta: 2 }).leakage,
      phi.map((x, n) => x + theta[n]),
    );
    const worst = fairbedEpig(THETA, two, { beta: 2, combine: "worst" });
    close(
      worst.leakage,
      phi.map((x, n) => Math.max(x, theta[n])),
    );
    close(
      worst.score,
      theta.map((x, n) => x - 2 * Math.max(phi[n], x)),
    );
  });
});

describe("FairBED-BALD and HFE", () => {
  test("are the differences of their parts", () => {
    // BALD of the sensitive pool by hand: two even votes, one unanimous, one where all members say 1/2.
    const sensitive = [Math.LN2, Math.LN2, 0, 0];
    const fair = fairbedBald(THETA.pool, [PHI.pool], { beta: 3 });
    close(
      fair.score,
      V.BALD_THETA.map((x, n) => x - 3 * sensitive[n]),
    );
    const entropies = [Math.LN2, Math.LN2, 0, Math.LN2];
    const heuristic = hfe(THETA.pool, [PHI.pool], { beta: 3 });
    close(heuristic.leakage, entropies);
    close(
      heuristic.score,
      V.ENTROPY_THETA.map((x, n) => x - 3 * entropies[n]),
    );
  });
});

describe("target weights", () => {
  test("repeat a target as often as they say", () => {
    const stream = seededStream("weights");
    const pool = drawMembers(stream, 5, 4, 3);
    const targets = drawMembers(stream, 2, 4, 3);
    const size = 4 * 3;
    const repeated: ExactMembers = {
      ...targets,
      rows: 4,
      values: Float64Array.from(
        [0, 0, 0, 1].flatMap((t) => [...targets.values.subarray(t * size, (t + 1) * size)]),
      ),
    };
    close(epig(pool, targets, { weights: [3, 1] }), [...epig(pool, repeated)], 1e-13);
  });
});

describe("the conditional objective", () => {
  /** Every probability of (y, z_theta, z_phi) written out, and the informations from them as sums of p log(p / ...). */
  const enumerated = (pool: Members & { values: Float64Array }, targets: ExactMembers, sensitive: number) => {
    const { members: K, classes: C } = pool;
    const A = C / sensitive;
    const P = (n: number, k: number, c: number) => pool.values[(n * K + k) * C + c];
    const T = (t: number, k: number, c: number) => targets.values[(t * K + k) * C + c];
    const range = (n: number) => Array.from({ length: n }, (_, i) => i);
    const mean = (values: number[]) => values.reduce((a, b) => a + b, 0) / values.length;
    return range(pool.rows).map((n) => {
      const target: number[] = [];
      const leakage: number[] = [];
      for (const t of range(targets.rows)) {
        for (const u of range(targets.rows)) {
          const p = (y: number, a: number, b: number) =>
            mean(
              range(K).map((k) => {
                const left = range(sensitive).reduce((sum, d) => sum + T(t, k, a * sensitive + d), 0);
                const right = range(A).reduce((sum, c) => sum + T(u, k, c * sensitive + b), 0);
                return P(n, k, y) * left * right;
              }),
            );
          const total = (test: (y: number, a: number, b: number) => boolean) => {
            let sum = 0;
            for (const y of range(C))
              for (const a of range(A))
                for (const b of range(sensitive)) if (test(y, a, b)) sum += p(y, a, b);
            return sum;
          };
          let [i, l] = [0, 0];
          for (const y of range(C)) {
            for (const a of range(A)) {
              const ya = total((yy, aa) => yy === y && aa === a);
              const onlyA = total((_, aa) => aa === a);
              i += ya * Math.log(ya / (total((yy) => yy === y) * onlyA));
              for (const b of range(sensitive)) {
                const ab = total((_, aa, bb) => aa === a && bb === b);
                l += p(y, a, b) * Math.log((p(y, a, b) * onlyA) / (ya * ab));
              }
            }
          }
          target.push(i);
          leakage.push(l);
        }
      }
      return { target: mean(target), leakage: mean(leakage) };
    });
  };

  test.each([
    [2, 2],
    [3, 2],
    [2, 3],
  ])("of a joint model of %d x %d classes is what enumeration gives", (a, b) => {
    const stream = seededStream(`joint ${a} ${b}`);
    const pool = drawMembers(stream, 2, 3, a * b);
    const targets = drawMembers(stream, 3, 3, a * b);
    const expected = enumerated(pool, targets, b);
    const given = conditionalFairbedEpig(
      { pool, targets },
      { beta: 1.5, sensitiveClasses: b, partners: "all" },
    );
    close(
      given.target,
      expected.map((e) => e.target),
      1e-12,
    );
    close(
      given.leakage,
      expected.map((e) => e.leakage),
      1e-12,
    );
    close(
      given.score,
      expected.map((e) => e.target - 1.5 * e.leakage),
      1e-12,
    );
    // It is a score of its own: not the difference of the marginals' EPIGs.
    const marginal = (label: "target" | "sensitive") => ({
      pool: marginalMembers(pool, b, label),
      targets: marginalMembers(targets, b, label),
    });
    const apart = fairbedEpig(marginal("target"), [marginal("sensitive")], { beta: 1.5 });
    expect(Math.abs(apart.leakage[0] - given.leakage[0])).toBeGreaterThan(1e-4);
  });

  test("of two separate models is the unconditional one (appendix C)", () => {
    const stream = seededStream("separate");
    const theta = { pool: drawMembers(stream, 4, 3, 2), targets: drawMembers(stream, 3, 3, 2) };
    const phi = { pool: drawMembers(stream, 4, 5, 3), targets: drawMembers(stream, 3, 5, 3) };
    const joint = {
      pool: productMembers(theta.pool, phi.pool),
      targets: productMembers(theta.targets, phi.targets),
    };
    const unconditional = fairbedEpig(theta, [phi], { beta: 10 });
    for (const partners of ["all", 2, 1] as const) {
      const conditional = conditionalFairbedEpig(joint, { beta: 10, sensitiveClasses: 3, partners });
      close(conditional.target, [...unconditional.target], 1e-12);
      if (partners === "all") close(conditional.score, [...unconditional.score], 1e-11);
      // Cyclic partners visit every target equally often, so the mean over them is the same here.
      else close(conditional.leakage, [...unconditional.leakage], 1e-12);
    }
  });
});
