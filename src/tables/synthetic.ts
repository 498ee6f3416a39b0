/**
 * A pool whose causal graph is known, so that everything about it can be computed exactly:
 *
 *     group (phi) ──> proxy_1, proxy_2, …
 *     group (phi) ──bias──> outcome (theta) <── merit_1, merit_2, …
 *     noise_1, noise_2, … stand alone
 *
 * Merit does not depend on the group: whatever the outcome owes to the group is bias, and a model without the group
 * can only learn it through the proxies. All features are discrete, so information is a finite sum.
 */
import { InputError } from "../core/errors.js";
import { exp, log } from "../core/math.js";
import { type RandomStream, seededStream } from "../core/random.js";
import { columnOfNumbers, columnOfTexts, type Table, tableOfColumns } from "./table.js";
import type { TaskSettings } from "./task.js";

export interface SyntheticOptions {
  readonly rows: number;
  readonly seed?: number | undefined;
  /** The log-odds of the outcome differ between the groups by four times this; 0 is no bias. */
  readonly bias?: number | undefined;
  /** How many features each kind has. */
  readonly proxies?: number | undefined;
  readonly legitimate?: number | undefined;
  readonly noise?: number | undefined;
}

/** In nats, for one record. */
export interface ExactLeakage {
  /** I(x; phi): what the features say about the group. */
  readonly unconditional: number;
  /** I(x; phi | theta): the same when the outcome is known. */
  readonly conditional: number;
  /** I(theta; phi): what the outcome alone says about the group. */
  readonly outcome: number;
}

export interface SyntheticData {
  readonly table: Table;
  readonly settings: Pick<TaskSettings, "target" | "sensitive">;
  readonly leakage: ExactLeakage;
  /** [rows], p(theta = 1 | x): the best that a model without the group can say. */
  readonly targetGivenFeatures: Float64Array;
  /** [rows], p(phi = 1 | x). */
  readonly sensitiveGivenFeatures: Float64Array;
  /** One arrow of the graph each. */
  readonly graph: readonly string[];
}

export const syntheticTexts = {
  rows: (given: number) => `rows was ${given}: give a whole number of at least 1.`,
  bias: (given: number) => `bias was ${given}: give a number from 0 to 5.`,
  count: (name: string, given: number, least: number, most: number) =>
    `${name} was ${given}: give a whole number from ${least} to ${most}.`,
};

const PROXY_LEVELS = 4;
const MERIT_LEVELS = 3;
const NOISE_LEVELS = 4;
/** More would make the sums over all combinations of levels long. */
const MOST_FEATURES = 5;
const MOST_NOISE = 1000;

/**
 * A made-up table whose leakage is known exactly, to try things out on: the outcome depends on merit, and by `bias` on the
 * group, which other columns give away in part.
 *
 * @example
 * ```ts
 * import { syntheticPool } from "fairbed";
 *
 * const { table, settings, leakage } = syntheticPool({ rows: 500, bias: 0.5 });
 * console.log(table.rows, leakage.unconditional > 0); // 500 true
 * ```
 */
export const syntheticPool = ({
  rows,
  seed = 0,
  bias = 0.5,
  proxies = 2,
  legitimate = 3,
  noise = 2,
}: SyntheticOptions): SyntheticData => {
  if (!Number.isSafeInteger(rows) || rows < 1) throw new InputError("synthetic", syntheticTexts.rows(rows));
  if (!(bias >= 0 && bias <= 5)) throw new InputError("synthetic", syntheticTexts.bias(bias));
  requireCount("proxies", proxies, 0, MOST_FEATURES);
  requireCount("legitimate", legitimate, 1, MOST_FEATURES);
  requireCount("noise", noise, 0, MOST_NOISE);

  const model = modelOf(bias, proxies, legitimate);
  const stream = seededStream(seed).split("synthetic pool");
  const groups = drawLevels(stream.split("group"), rows, () => [0.5, 0.5]);
  const proxyLevels = Array.from({ length: proxies }, (_, proxy) =>
    drawLevels(stream.split("proxy").split(proxy), rows, (row) => model.proxy[proxy][groups[row]]),
  );
  const meritLevels = Array.from({ length: legitimate }, (_, merit) =>
    drawLevels(stream.split("merit").split(merit), rows, () => uniform(MERIT_LEVELS)),
  );
  const noiseLevels = Array.from({ length: noise }, (_, index) =>
    drawLevels(stream.split("noise").split(index), rows, () => uniform(NOISE_LEVELS)),
  );
  const merits = Float64Array.from({ length: rows }, (_, row) =>
    meritLevels.reduce((sum, levels, merit) => sum + model.merit[merit] * (levels[row] - 1), 0),
  );
  const outcomes = drawLevels(stream.split("outcome"), rows, (row) => {
    const yes = model.outcome(merits[row], groups[row]);
    return [1 - yes, yes];
  });

  const sensitiveGivenFeatures = Float64Array.from({ length: rows }, (_, row) => {
    const likelihood = (group: 0 | 1) =>
      proxyLevels.reduce((product, levels, proxy) => product * model.proxy[proxy][group][levels[row]], 1);
    const [a, b] = [likelihood(0), likelihood(1)];
    return b / (a + b);
  });
  const targetGivenFeatures = sensitiveGivenFeatures.map(
    (b, row) => (1 - b) * model.outcome(merits[row], 0) + b * model.outcome(merits[row], 1),
  );

  const name = (kind: string) => (levels: Uint8Array, index: number) =>
    columnOfNumbers(`${kind}_${index + 1}`, levels);
  const table = tableOfColumns(
    [
      columnOfTexts(
        "group",
        Array.from(groups, (group) => (group === 1 ? "B" : "A")),
      ),
      ...proxyLevels.map(name("proxy")),
      ...meritLevels.map(name("merit")),
      ...noiseLevels.map(name("noise")),
      columnOfTexts(
        "outcome",
        Array.from(outcomes, (outcome) => (outcome === 1 ? "yes" : "no")),
      ),
    ],
    { name: "synthetic" },
  );
  return {
    table,
    settings: { target: "outcome=yes", sensitive: ["group=B"] },
    leakage: exactLeakage(model),
    targetGivenFeatures,
    sensitiveGivenFeatures,
    graph: [
      ...proxyLevels.map((_, index) => `group -> proxy_${index + 1}`),
      ...meritLevels.map((_, index) => `merit_${index + 1} -> outcome`),
      ...(bias > 0 ? [`group -> outcome (log-odds differ by ${4 * bias})`] : []),
    ],
  };
};

interface SyntheticModel {
  /** [proxies][2 groups][levels]: p(proxy | phi). */
  readonly proxy: readonly (readonly (readonly number[])[])[];
  /** [legitimate]: log-odds for each step of merit. */
  readonly merit: readonly number[];
  /** p(theta = 1 | merit, phi). */
  outcome(merit: number, group: number): number;
}

const modelOf = (bias: number, proxies: number, legitimate: number): SyntheticModel => ({
  // p(level | phi) is proportional to exp(±s (level - 1.5)); each proxy says less than the one before.
  proxy: Array.from({ length: proxies }, (_, proxy) => {
    const strength = 0.9 / (1 + 0.5 * proxy);
    return [-1, 1].map((sign) => {
      const weights = Array.from({ length: PROXY_LEVELS }, (_, level) =>
        exp(sign * strength * (level - 1.5)),
      );
      const sum = weights.reduce((a, b) => a + b);
      return weights.map((weight) => weight / sum);
    });
  }),
  merit: Array.from({ length: legitimate }, (_, merit) => 1.5 / (1 + 0.25 * merit)),
  outcome: (merit, group) => 1 / (1 + exp(-(merit + 2 * bias * (2 * group - 1)))),
});

/**
 * By summing over every combination of levels. With p(phi) = 1/2 and p(x, phi) = p(phi) p(proxies | phi) p(merits),
 * I(x; phi) = sum p(x, phi) log p(phi | x) / p(phi); given theta, the same with p(x, phi, theta). Noise adds nothing
 * to either and is left out.
 */
const exactLeakage = ({ proxy, merit, outcome }: SyntheticModel): ExactLeakage => {
  const proxyCells = combinations(proxy.length, PROXY_LEVELS).map((levels) =>
    [0, 1].map((group) => levels.reduce((product, level, at) => product * proxy[at][group][level], 1)),
  );
  const meritCells = combinations(merit.length, MERIT_LEVELS).map((levels) =>
    levels.reduce((sum, level, at) => sum + merit[at] * (level - 1), 0),
  );
  const meritWeight = 1 / meritCells.length;
  // p(theta, phi), over all merits.
  const joint = [0, 1].map((group) => {
    const yes = meritCells.reduce((sum, each) => sum + meritWeight * outcome(each, group), 0);
    return [0.5 * (1 - yes), 0.5 * yes];
  });
  let unconditional = 0;
  for (const [a, b] of proxyCells) {
    unconditional += 0.5 * (a * log((2 * a) / (a + b)) + b * log((2 * b) / (a + b)));
  }
  let conditional = 0;
  for (const each of meritCells) {
    const yes = [outcome(each, 0), outcome(each, 1)];
    for (const theta of [0, 1]) {
      const ofTheta = joint[0][theta] + joint[1][theta];
      for (const likelihood of proxyCells) {
        const cell = [0, 1].map(
          (group) => 0.5 * meritWeight * likelihood[group] * (theta === 1 ? yes[group] : 1 - yes[group]),
        );
        const both = cell[0] + cell[1];
        for (const group of [0, 1]) {
          // log p(phi | x, theta) / p(phi | theta)
          conditional += cell[group] * log((cell[group] / both) * (ofTheta / joint[group][theta]));
        }
      }
    }
  }
  let ofOutcome = 0;
  for (const theta of [0, 1]) {
    const ofTheta = joint[0][theta] + joint[1][theta];
    for (const group of [0, 1]) ofOutcome += joint[group][theta] * log(joint[group][theta] / (0.5 * ofTheta));
  }
  return { unconditional, conditional, outcome: ofOutcome };
};

/** Every way to give `count` features one of `levels` levels. */
const combinations = (count: number, levels: number): readonly (readonly number[])[] =>
  Array.from({ length: count }).reduce<(readonly number[])[]>(
    (all) => all.flatMap((before) => Array.from({ length: levels }, (_, level) => [...before, level])),
    [[]],
  );

const uniform = (levels: number): readonly number[] => Array.from({ length: levels }, () => 1 / levels);

const drawLevels = (
  stream: RandomStream,
  rows: number,
  probabilities: (row: number) => readonly number[],
): Uint8Array => {
  const levels = new Uint8Array(rows);
  for (let row = 0; row < rows; row++) {
    const of = probabilities(row);
    const u = stream.uniform();
    let level = 0;
    for (let below = of[0]; u >= below && level < of.length - 1; below += of[level]) level += 1;
    levels[row] = level;
  }
  return levels;
};

const requireCount = (name: string, given: number, least: number, most: number): void => {
  if (Number.isSafeInteger(given) && given >= least && given <= most) return;
  throw new InputError("synthetic", syntheticTexts.count(name, given, least, most));
};
