/** What the paper says in words of location finding (section 6.1 and its appendix). */
import type { DesignResult } from "./cell.js";
import { type ClaimCheck, checkClaim, type Part, paired, type SeedValues } from "./claim-verdict.js";
import { type DesignLine, designValues } from "./design-cells.js";
import type { Scale } from "./reproduction.js";
import type { Results } from "./store.js";
import { MARGINS, meanOverSeeds } from "./verdict.js";

type DesignNumber = (result: DesignResult) => number | undefined;
type ValuesOf = (line: DesignLine, of: DesignNumber) => SeedValues;

const line = (
  policy: DesignLine["policy"],
  beta: number,
  { objective = "conditional", horizon = 10 }: Partial<DesignLine> = {},
): DesignLine => ({ policy, objective, beta, horizon });

const NAMES = { static: "static", dad: "DAD" } as const;
const POLICIES = ["static", "dad"] as const;

/** Lower bounds, as in the paper. */
const target: DesignNumber = (result) => result.target[0];
const sensitive: DesignNumber = (result) => result.sensitive[0];
const QUANTITIES = [
  [target, "EIG_theta (nats)"],
  [sensitive, "EIG_phi (nats)"],
] as const;
const RATIOS: readonly (readonly [DesignNumber, string])[] = [
  [(result) => result.sensitive[0] / result.target[0], "EIG_phi / EIG_theta"],
  [(result) => result.sensitiveGivenTarget[0] / result.target[0], "EIG_{phi|theta} / EIG_theta"],
];

/** What is left of it at this beta, by seeds, of what the same seed has at beta 0. */
const shareOf = (valuesOf: ValuesOf, own: DesignLine, of: DesignNumber): SeedValues =>
  paired(valuesOf(own, of), valuesOf({ ...own, beta: 0 }, of), (at, most) => at / most);

const betterRatio = (valuesOf: ValuesOf): readonly Part[] =>
  POLICIES.flatMap((policy) =>
    [
      { name: "Random", own: line("random", 0) },
      { name: `BED (${NAMES[policy]})`, own: line(policy, 0) },
    ].flatMap(({ name, own }) =>
      RATIOS.map(([of, measure]) => ({
        compared: `FairBED (${NAMES[policy]}) less ${name}`,
        measure,
        expected: "less" as const,
        difference: paired(valuesOf(line(policy, 0.8), of), valuesOf(own, of)),
      })),
    ),
  );

const staticBelowDad = (valuesOf: ValuesOf): readonly Part[] =>
  [...RATIOS, ...QUANTITIES].map(([of, measure]) => ({
    compared: "FairBED (static) less FairBED (DAD), beta 0.8",
    measure,
    expected: "less",
    difference: paired(valuesOf(line("static", 0.8), of), valuesOf(line("dad", 0.8), of)),
  }));

const twoObjectives = (
  valuesOf: ValuesOf,
  betas: readonly number[],
  expected: Part["expected"],
): readonly Part[] =>
  betas.flatMap((beta) =>
    QUANTITIES.map(([of, measure]) => ({
      compared: `conditional less unconditional, static, beta ${beta}`,
      measure,
      expected,
      margin: MARGINS.nats,
      difference: paired(
        valuesOf(line("static", beta), of),
        valuesOf(line("static", beta, { objective: "unconditional" }), of),
      ),
    })),
  );

const mean = (values: readonly number[]): number =>
  values.reduce((sum, value) => sum + value, 0) / values.length;
const spread = (values: readonly number[]): number => {
  const centre = mean(values);
  return Math.sqrt(mean(values.map((value) => (value - centre) ** 2)));
};
const along = ({ designs = [] }: DesignResult, variable: number): readonly number[] =>
  designs.map((design) => design[variable]);

/** Of the sensitive coordinate. */
const PRIOR_MEAN = 3;

const whereDesignsAre = (valuesOf: ValuesOf): readonly Part[] => [
  {
    compared: "static, beta 0.7: along theta less along phi",
    measure: "standard deviation of the ten designs",
    expected: "more",
    difference: valuesOf(
      line("static", 0.7),
      (result) => spread(along(result, 0)) - spread(along(result, 1)),
    ),
  },
  {
    compared: "static, beta 0.7: designs and the prior mean of phi",
    measure: "mean distance along phi (standard deviations of the prior)",
    expected: "as much",
    difference: valuesOf(line("static", 0.7), (result) =>
      mean(along(result, 1).map((phi) => Math.abs(phi - PRIOR_MEAN))),
    ),
  },
];

const BETAS = [0, 0.2, 0.4, 0.6, 0.8, 1];

/** The step of beta at which the least is suppressed stands for all. */
const monotone = (valuesOf: ValuesOf): readonly Part[] =>
  POLICIES.map((policy) => {
    const steps = BETAS.slice(1).map((beta, i) => ({
      name: `beta ${beta} less beta ${BETAS[i]}`,
      difference: paired(
        valuesOf(line(policy, beta), sensitive),
        valuesOf(line(policy, BETAS[i]), sensitive),
      ),
    }));
    const size = ({ difference }: (typeof steps)[number]) =>
      meanOverSeeds(difference)?.mean ?? Number.NEGATIVE_INFINITY;
    const least = steps.reduce((a, b) => (size(b) > size(a) ? b : a));
    return {
      compared: `${NAMES[policy]}: ${least.name}, the smallest step`,
      measure: "EIG_phi (nats)",
      expected: "less",
      difference: least.difference,
    };
  });

const dadNeedsMore = (valuesOf: ValuesOf): readonly Part[] =>
  [0.6, 0.8, 1].map((beta) => ({
    compared: `DAD less static, beta ${beta}`,
    measure: "share left of EIG_phi at beta 0",
    expected: "more",
    difference: paired(
      shareOf(valuesOf, line("dad", beta), sensitive),
      shareOf(valuesOf, line("static", beta), sensitive),
    ),
  }));

const less = (values: SeedValues, constant: number): SeedValues =>
  values.map((value) => (value === undefined ? undefined : value - constant));

const plateau = (valuesOf: ValuesOf): readonly Part[] =>
  [1, 2, 5, 10].map((beta) => ({
    compared: `static, beta ${beta}: what is left less 0.02`,
    measure: "share left of EIG_phi at beta 0",
    expected: "as much",
    difference: less(shareOf(valuesOf, line("static", beta), sensitive), 0.02),
  }));

/** The paper gives no number: less than this of what can be learnt is not called substantial here. */
const SUBSTANTIAL = 0.25;

const keepsTarget = (valuesOf: ValuesOf): readonly Part[] =>
  [2, 5, 10].map((beta) => ({
    compared: `static, beta ${beta}: what is left less ${SUBSTANTIAL}`,
    measure: "share left of EIG_theta at beta 0",
    expected: "more",
    difference: less(shareOf(valuesOf, line("static", beta), target), SUBSTANTIAL),
  }));

const horizons = (valuesOf: ValuesOf): readonly Part[] =>
  [1, 2, 5, 10, 15, 20].map((horizon) => {
    const own = line("static", 0.5, { horizon });
    return {
      compared: `static, beta 0.5, ${horizon} observation${horizon === 1 ? "" : "s"}: of phi less of theta`,
      measure: "share lost of what is learnt at beta 0",
      expected: "more",
      difference: paired(shareOf(valuesOf, own, target), shareOf(valuesOf, own, sensitive)),
    };
  });

const APPENDIX = "the appendix on location finding";

export const locationClaims = (results: Results, scale: Scale): readonly ClaimCheck[] => {
  const valuesOf: ValuesOf = (own, of) => designValues(results, own, scale, of);
  return [
    ...checkClaim(
      "FairBED has a far better ratio of what is learnt about the two than the baselines",
      "section 6.1",
      betterRatio(valuesOf),
    ),
    ...checkClaim(
      "static designs have a better ratio than DAD, because they learn less about both",
      "section 6.1",
      staticBelowDad(valuesOf),
    ),
    ...checkClaim(
      "the two objectives behave similarly for small beta",
      "section 6.1",
      twoObjectives(valuesOf, [0.2, 0.4], "as much"),
    ),
    ...checkClaim(
      "the conditional objective suppresses both more strongly for larger beta",
      "section 6.1",
      twoObjectives(valuesOf, [0.8, 1], "less"),
    ),
    ...checkClaim(
      "designs spread along the target's coordinate and collapse to the prior mean of the sensitive one",
      "section 6.1",
      whereDesignsAre(valuesOf),
    ),
    ...checkClaim("EIG_phi is suppressed monotonically as beta grows", APPENDIX, monotone(valuesOf)),
    ...checkClaim("DAD needs a larger beta for as much suppression", APPENDIX, dadNeedsMore(valuesOf)),
    ...checkClaim(
      "for static designs the loss of EIG_phi plateaus at about 98 %, also above beta 1",
      APPENDIX,
      plateau(valuesOf),
    ),
    ...checkClaim(
      "static designs keep substantial information about the target above beta 1",
      APPENDIX,
      keepsTarget(valuesOf),
    ),
    ...checkClaim(
      "whatever the horizon, a larger share of EIG_phi is lost than of EIG_theta",
      APPENDIX,
      horizons(valuesOf),
    ),
  ];
};
