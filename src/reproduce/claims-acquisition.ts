/** What the paper says in words of active learning, and of mitigations on top (sections 6.2 to 6.4 and appendices). */
import {
  betasOf,
  ENTROPY,
  EPIG,
  fairbed,
  hfe,
  type Line,
  lineValues,
  type MetricName,
  RANDOM,
  sizeOf,
} from "./acquisition-lines.js";
import type { Metrics } from "./cell.js";
import {
  type ClaimCheck,
  checkClaim,
  type Expected,
  type Part,
  paired,
  type SeedValues,
} from "./claim-verdict.js";
import { advantageOver, type SeedPoint } from "./dominance.js";
import { generalizeCell, MODEL_NAMES, MODELS } from "./fig-generalization.js";
import { representationCell, SHOWN_WEIGHT } from "./fig-lfr-students.js";
import { type Scale, seedsOf } from "./reproduction.js";
import type { Results } from "./store.js";
import type { SeedMean } from "./verdict.js";

const TASKS = { census: "Census", students: "Student", celeba: "CelebA" } as const;
type ClaimTask = keyof typeof TASKS;
const TABLES = ["census", "students"] as const;
const ALL = ["census", "students", "celeba"] as const;

const FAIRBED = fairbed(10);

const MEASURES: Readonly<Partial<Record<MetricName, string>>> = {
  accuracy: "target accuracy",
  sensitiveAccuracy: "sensitive accuracy",
  dpRatio: "DP ratio",
  tprRatio: "EO-TPR ratio",
  fprRatio: "EO-FPR ratio",
  matchedDpRatio: "DP ratio at a matched selection rate",
};

type ValuesOf = (task: ClaimTask, line: Line, metric: MetricName, labels?: number) => SeedValues;

/** One acquisition less another. */
const less = (
  valuesOf: ValuesOf,
  task: ClaimTask,
  [own, other]: readonly [Line, Line],
  metric: MetricName,
  expected: Expected,
): Part => ({
  compared: `${TASKS[task]}: ${own.name}${own.beta === undefined ? "" : `, beta ${own.beta},`} less ${other.name}`,
  measure: MEASURES[metric] ?? metric,
  expected,
  difference: paired(valuesOf(task, own, metric), valuesOf(task, other, metric)),
  otherFeatures: task === "celeba",
  besides: metric === "matchedDpRatio",
});

const beatsOnParity = (valuesOf: ValuesOf): readonly Part[] =>
  ALL.flatMap((task) => [
    ...[RANDOM, ENTROPY, EPIG, hfe(10)].map((other) =>
      less(valuesOf, task, [FAIRBED, other], "dpRatio", "more"),
    ),
    ...[RANDOM, hfe(10)].map((other) => less(valuesOf, task, [FAIRBED, other], "matchedDpRatio", "more")),
  ]);

const beatsOnOdds = (valuesOf: ValuesOf): readonly Part[] =>
  ALL.flatMap((task) =>
    (["tprRatio", "fprRatio"] as const)
      .filter((metric) => task !== "celeba" || metric === "tprRatio")
      .map((metric) => less(valuesOf, task, [FAIRBED, RANDOM], metric, "more")),
  );

/** Nothing unless every seed has both. */
const pointsOf = (accuracies: SeedValues, values: SeedValues, sign: 1 | -1): readonly SeedPoint[] => {
  const points = accuracies.flatMap((accuracy, seed) => {
    const value = values[seed];
    return accuracy === undefined || value === undefined ? [] : [{ accuracy, value: sign * value }];
  });
  return points.length === accuracies.length ? points : [];
};

/** What a front has, at the same accuracy or above, beyond what one acquisition has. */
const frontLess = (
  front: readonly (readonly SeedPoint[])[],
  one: readonly SeedPoint[],
): SeedMean | undefined => {
  if (front.some((points) => points.length === 0)) return undefined;
  const behind = advantageOver(front, one);
  if (behind?.interval == null) return undefined;
  const [low, high] = behind.interval;
  return { ...behind, mean: -behind.mean, interval: [-high, -low] };
};

const frontLines = (scale: Scale): readonly Line[] => [EPIG, ...betasOf(scale).map(fairbed)];

interface Front {
  readonly accuracy: MetricName;
  readonly metric: MetricName;
  readonly sign: 1 | -1;
}
const LEAKAGE: Front = { accuracy: "accuracy", metric: "sensitiveAccuracy", sign: -1 };
const PARITY: Front = { accuracy: "accuracy", metric: "dpRatio", sign: 1 };
const MATCHED: Front = { accuracy: "matchedAccuracy", metric: "matchedDpRatio", sign: 1 };

const frontOverRandom = (valuesOf: ValuesOf, fronts: readonly Front[], scale: Scale): readonly Part[] =>
  TABLES.flatMap((task) =>
    fronts.map(({ accuracy, metric, sign }) => {
      const points = (line: Line) =>
        pointsOf(valuesOf(task, line, accuracy), valuesOf(task, line, metric), sign);
      return {
        compared: `${TASKS[task]}: FairBED's front at Random's accuracy less Random`,
        measure: `${MEASURES[metric] ?? metric}${sign === -1 ? ", lower by" : ""}`,
        expected: "more",
        difference: frontLess(frontLines(scale).map(points), points(RANDOM)),
        besides: metric === "matchedDpRatio",
      };
    }),
  );

const largerBudget = (valuesOf: ValuesOf, scale: Scale): readonly Part[] => {
  const { budget } = sizeOf("students", scale);
  const few = budget / 4;
  const points = (line: Line, labels: number) =>
    pointsOf(
      valuesOf("students", line, "accuracy", labels),
      valuesOf("students", line, "dpRatio", labels),
      1,
    );
  return [
    {
      compared: `Student: FairBED's front after ${budget} labels less FairBED, beta 10, after ${few}, at its accuracy`,
      measure: "DP ratio",
      expected: "more",
      difference: frontLess(
        frontLines(scale).map((line) => points(line, budget)),
        points(FAIRBED, few),
      ),
    },
  ];
};

const atLargeBeta = (valuesOf: ValuesOf, metric: MetricName, expected: Expected): readonly Part[] =>
  TABLES.flatMap((task) =>
    [10, 20].map((beta) => less(valuesOf, task, [fairbed(beta), RANDOM], metric, expected)),
  );

const onParWithHfe = (valuesOf: ValuesOf): readonly Part[] =>
  TABLES.flatMap((task) =>
    (["accuracy", "sensitiveAccuracy"] as const).map((metric) =>
      less(valuesOf, task, [FAIRBED, hfe(10)], metric, "as much"),
    ),
  );

const otherModels = (results: Results, scale: Scale): readonly Part[] =>
  TABLES.flatMap((task) =>
    MODEL_NAMES.map((model) => {
      const values = (line: Line) =>
        seedsOf(sizeOf(task, scale).seeds).map(
          (seed) => results.get(generalizeCell(task, line, model, seed, scale))?.metrics.sensitiveAccuracy,
        );
      return {
        compared: `${TASKS[task]}, ${MODELS[model]}: ${FAIRBED.name}, beta 10, less Random`,
        measure: "sensitive accuracy",
        expected: "less",
        difference: paired(values(FAIRBED), values(RANDOM)),
      };
    }),
  );

const withRepresentation = (valuesOf: ValuesOf, results: Results, scale: Scale): readonly Part[] => {
  const values = (line: Line, metric: keyof Metrics) =>
    seedsOf(sizeOf("students", scale).seeds).map(
      (seed) => results.get(representationCell(line, SHOWN_WEIGHT, seed, scale))?.metrics[metric],
    );
  const points = (line: Line) => pointsOf(values(line, "accuracy"), values(line, "dpRatio"), 1);
  const fair = values(FAIRBED, "dpRatio");
  return [
    {
      compared: "Student: front of FairBED with LFR at the accuracy of Random with LFR, less the latter",
      measure: "DP ratio",
      expected: "more",
      difference: frontLess(frontLines(scale).map(points), points(RANDOM)),
    },
    {
      compared: "Student: FairBED, beta 10, with LFR less Random with LFR",
      measure: "DP ratio",
      expected: "more",
      difference: paired(fair, values(RANDOM, "dpRatio")),
    },
    {
      compared: "Student: FairBED, beta 10, with LFR less FairBED, beta 10, alone",
      measure: "DP ratio",
      expected: "more",
      difference: paired(fair, valuesOf("students", FAIRBED, "dpRatio")),
    },
  ];
};

export const acquisitionClaims = (results: Results, scale: Scale): readonly ClaimCheck[] => {
  const valuesOf: ValuesOf = (task, line, metric, labels) =>
    lineValues(results, task, line, metric, scale, labels);
  return [
    ...checkClaim(
      "data gathered with FairBED improves demographic parity in all cases",
      "section 6.2",
      beatsOnParity(valuesOf),
    ),
    ...checkClaim(
      "equalised odds improve too, except for false positives on CelebA",
      "section 6.2",
      beatsOnOdds(valuesOf),
    ),
    ...checkClaim(
      "FairBED has a better front of target and sensitive accuracy than random acquisition",
      "section 6.2",
      frontOverRandom(valuesOf, [LEAKAGE], scale),
    ),
    ...checkClaim(
      "FairBED has a better front of accuracy and parity than random acquisition",
      "section 6.2 (Student), the appendix on Census",
      frontOverRandom(valuesOf, [PARITY, MATCHED], scale),
    ),
    ...checkClaim(
      "the front is better when the budget is larger",
      "section 6.2",
      largerBudget(valuesOf, scale),
    ),
    ...checkClaim(
      "as beta grows, FairBED generally keeps the accuracy on the target",
      "the appendices on Census and Student Graduation",
      atLargeBeta(valuesOf, "accuracy", "as much"),
    ),
    ...checkClaim(
      "as beta grows, FairBED lowers the accuracy on the sensitive attribute",
      "the appendices on Census and Student Graduation",
      atLargeBeta(valuesOf, "sensitiveAccuracy", "less"),
    ),
    ...checkClaim(
      "HFE and FairBED are on par in both accuracies",
      "the appendices on Census and Student Graduation",
      onParWithHfe(valuesOf),
    ),
    ...checkClaim(
      "for larger beta FairBED improves parity significantly over HFE",
      "the appendices on Census and Student Graduation",
      TABLES.map((task) => less(valuesOf, task, [fairbed(20), hfe(20)], "dpRatio", "more")),
    ),
    ...checkClaim(
      "that the sensitive attribute is harder to predict is a property of the data: it holds for other models too",
      "section 6.3",
      otherModels(results, scale),
    ),
    ...checkClaim(
      "FairBED with LFR dominates LFR on random data, and the gains add up",
      "section 6.4",
      withRepresentation(valuesOf, results, scale),
    ),
    ...checkClaim(
      "on CelebA a small loss of target accuracy buys a substantial loss of sensitive accuracy",
      "the appendix on CelebA",
      [
        less(valuesOf, "celeba", [FAIRBED, RANDOM], "accuracy", "as much"),
        less(valuesOf, "celeba", [FAIRBED, RANDOM], "sensitiveAccuracy", "less"),
      ],
    ),
  ];
};
