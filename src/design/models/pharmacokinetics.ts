/**
 * One-compartment pharmacokinetics with first-order absorption: after a dose, the concentration at time t is
 * dose ka / (volume (ka - ke)) (e^(-ke t) - e^(-ka t)), ke = clearance / volume, read with log-normal error. Log
 * clearance is the target; the effect of a genotype on absorption is sensitive; volume is a nuisance. A design is a
 * sampling time.
 */

import { add, div, exp, log, mul, neg, sub } from "../../compute/index.js";
import { log as logOf } from "../../core/math.js";
import { logNormal, normal } from "../distribution.js";
import { defineModel, type Model, nuisance, real, sensitive, target } from "../model.js";

export interface PharmacokineticsOptions {
  /** The dose, in the units of volume times those of the concentration; 400 unless given. */
  readonly dose?: number | undefined;
  /** Standard deviation of the log concentration; 0.2 unless given. */
  readonly noise?: number | undefined;
  /** The latest sampling time, in hours; 24 unless given. The earliest is 0.1. */
  readonly latest?: number | undefined;
}

/**
 * When to draw blood after a dose, see the top of this file for the formula.
 *
 * @example
 * ```ts
 * import { pharmacokinetics } from "fairbed/design";
 *
 * const [{ name, low, high }] = pharmacokinetics({ latest: 12 }).design;
 * console.log(name, low, high); // time 0.1 12
 * ```
 */
export const pharmacokinetics = ({
  dose = 400,
  noise = 0.2,
  latest = 24,
}: PharmacokineticsOptions = {}): Model =>
  defineModel({
    name: "pharmacokinetics",
    parameters: {
      logClearance: target(normal(logOf(4), 0.3)),
      genotype: sensitive(normal(0, 0.5)),
      logVolume: nuisance(normal(logOf(20), 0.1)),
    },
    design: { time: real({ low: 0.1, high: latest }) },
    outcome: ({ logClearance, genotype, logVolume }, { time }) => {
      const elimination = exp(sub(logClearance, logVolume));
      // Faster than elimination, so that the difference below never vanishes.
      const absorption = add(elimination, exp(add(logOf(1.5), genotype)));
      const fraction = div(absorption, mul(exp(logVolume), sub(absorption, elimination)));
      const decay = sub(exp(neg(mul(elimination, time))), exp(neg(mul(absorption, time))));
      return logNormal(log(mul(dose, mul(fraction, decay))), noise);
    },
  });
