/**
 * How the numbers of a network become designs, and how designs and outcomes look to it: plain data that is stored
 * with the network.
 *
 * A network's outputs r and inputs should be of the order of one. With bounds a design follows from an output by a smooth
 * map into them, so that training optimises what is used:
 *
 *     xi = low + (high - low) sigmoid(r),   xi = low + unit softplus(r),   xi = high - unit softplus(r);
 *
 * a design with finitely many values has an output for each, the logit of its probability in training, and the likeliest
 * is taken when the network is used. Without bounds xi = r, unless the parameters of interest are not of the order of one
 * in the prior, when xi = centre + unit r with their mean and standard deviation.
 */
import { exp, log, log1p } from "../core/math.js";
import { type RandomStream, seededStream } from "../core/random.js";
import { meanEstimate, quantiles } from "../core/stats.js";
import { draw } from "./distribution.js";
import { drawParameters, type Model } from "./model.js";
import { drawOuter } from "./policy.js";

/** A quantity in units of its own: (value - centre) / unit. */
export interface Scale {
  readonly centre: number;
  readonly unit: number;
}

export type DesignScale =
  | ({ readonly kind: "free" } & Scale)
  | { readonly kind: "between"; readonly low: number; readonly high: number }
  | { readonly kind: "above"; readonly low: number; readonly unit: number }
  | { readonly kind: "below"; readonly high: number; readonly unit: number }
  | { readonly kind: "values"; readonly values: readonly number[] };

/** As it is. */
export const PLAIN: Scale = { centre: 0, unit: 1 };

/** Numbers with a centre and a spread inside these limits are of the order of one: they are left as they are. */
const FARTHEST = 16;
const WIDEST = 16;

const ofOrderOne = (centre: number, spread: number): boolean =>
  Math.abs(centre) <= FARTHEST && spread <= WIDEST && spread >= 1 / WIDEST;

/** The nearest power of two: scaling by it rounds nothing. */
export const powerOfTwo = (value: number): number => 2 ** Math.round(log(value) / Math.LN2);

/** How many outputs of a network a design variable takes. */
export const outputsOf = (scale: DesignScale): number => (scale.kind === "values" ? scale.values.length : 1);

/** The design that an output stands for; not for one with finitely many values. */
export const designFrom = (scale: Exclude<DesignScale, { kind: "values" }>, output: number): number => {
  switch (scale.kind) {
    case "free":
      return scale.centre + scale.unit * output;
    case "between":
      return Math.min(scale.high, scale.low + (scale.high - scale.low) * sigmoid(output));
    case "above":
      return scale.low + scale.unit * softplus(output);
    case "below":
      return scale.high - scale.unit * softplus(output);
  }
};

/** d(design)/d(output). */
export const slopeAt = (scale: Exclude<DesignScale, { kind: "values" }>, output: number): number => {
  switch (scale.kind) {
    case "free":
      return scale.unit;
    case "between": {
      const share = sigmoid(output);
      return (scale.high - scale.low) * share * (1 - share);
    }
    case "above":
      return scale.unit * sigmoid(output);
    case "below":
      return -scale.unit * sigmoid(output);
  }
};

/** The units in which a network reads a design. */
export const readingOf = (scale: DesignScale): Scale => {
  if (scale.kind === "free") return scale;
  if (scale.kind === "above") return { centre: scale.low, unit: scale.unit };
  if (scale.kind === "below") return { centre: scale.high, unit: scale.unit };
  const [low, high] =
    scale.kind === "between"
      ? [scale.low, scale.high]
      : [Math.min(...scale.values), Math.max(...scale.values)];
  return { centre: (low + high) / 2, unit: (high - low) / 2 };
};

/** Probabilities of the values from their outputs, written to `into`. */
export const softmax = (outputs: ArrayLike<number>, first: number, into: Float64Array): void => {
  let most = -Infinity;
  for (let k = 0; k < into.length; k++) most = Math.max(most, outputs[first + k]);
  let total = 0;
  for (let k = 0; k < into.length; k++) {
    into[k] = exp(outputs[first + k] - most);
    total += into[k];
  }
  for (let k = 0; k < into.length; k++) into[k] /= total;
};

/** The place of the largest of `count` outputs, the first where several are. */
export const likeliest = (outputs: ArrayLike<number>, first: number, count: number): number => {
  let best = 0;
  for (let k = 1; k < count; k++) if (outputs[first + k] > outputs[first + best]) best = k;
  return best;
};

/** Which value a uniform number falls on. */
export const chosenBy = (uniform: number, probabilities: Float64Array): number => {
  let left = uniform;
  for (let k = 0; k < probabilities.length - 1; k++) {
    left -= probabilities[k];
    if (left < 0) return k;
  }
  return probabilities.length - 1;
};

const sigmoid = (x: number): number => (x >= 0 ? 1 / (1 + exp(-x)) : exp(x) / (1 + exp(x)));
const softplus = (x: number): number => Math.max(x, 0) + log1p(exp(-Math.abs(x)));

/** Draws of the prior, and of the prior predictive. */
const DRAWS = 256;
const OUTCOME_DRAWS = 128;

/** The scales of a model's design variables; they depend on the model alone. */
export const designScales = (model: Model): readonly DesignScale[] => {
  const { mean, spread } = priorReach(model, seededStream("design scale"));
  const plain = ofOrderOne(mean, spread);
  const unit = plain ? 1 : powerOfTwo(spread);
  return model.design.map(({ low, high, values }): DesignScale => {
    if (values !== undefined) return { kind: "values", values };
    if (Number.isFinite(low) && Number.isFinite(high)) return { kind: "between", low, high };
    if (Number.isFinite(low)) return { kind: "above", low, unit };
    if (Number.isFinite(high)) return { kind: "below", high, unit };
    return { kind: "free", ...(plain ? PLAIN : { centre: mean, unit }) };
  });
};

/** Mean and standard deviation of all parameters of interest together in the prior. */
export const priorReach = (
  model: Model,
  stream: RandomStream,
): { readonly mean: number; readonly spread: number } => {
  const drawn = drawOuter(model, DRAWS, stream);
  const values = model.parameters
    .filter(({ role }) => role !== "nuisance")
    .flatMap(({ name }) => [...drawn[name]]);
  const { mean } = meanEstimate(values);
  const spread = Math.sqrt(values.reduce((sum, value) => sum + (value - mean) ** 2, 0) / values.length) || 1;
  return { mean, spread };
};

/** Quartiles of a standard normal are this far apart. */
const NORMAL_QUARTILES = 1.349;

/**
 * The units in which a network reads outcomes: as they are where the prior predictive is of the order of one, else by its
 * median and quartiles, at designs from all over where they are allowed.
 */
export const outcomeScales = (model: Model, scales = designScales(model)): readonly Scale[] => {
  const stream = seededStream("outcome scale");
  const seen: number[][] = model.outcomes.map(() => []);
  for (let i = 0; i < OUTCOME_DRAWS; i++) {
    const own = stream.split(i);
    const parameters = drawParameters(model.parameters, own.split("parameters"));
    const designs = Object.fromEntries(
      model.design.map(({ name }, d) => {
        const scale = scales[d];
        const at = own.split(name);
        return [
          name,
          scale.kind === "values"
            ? scale.values[at.integer(scale.values.length)]
            : designFrom(scale, at.normal()),
        ];
      }),
    );
    const by = model.distributions(parameters, designs);
    model.outcomes.forEach((name, k) => {
      // A place where the model is none says nothing about units; training says so if it gets there.
      if (by[name].problem !== undefined) return;
      const value = draw(by[name], own.split(`outcome ${name}`));
      if (Number.isFinite(value)) seen[k].push(value);
    });
  }
  return seen.map((values) => {
    if (values.length === 0) return PLAIN;
    const [low, centre, high] = quantiles(values, [0.25, 0.5, 0.75]);
    const spread = (high - low) / NORMAL_QUARTILES || 1;
    return ofOrderOne(centre, spread) ? PLAIN : { centre, unit: powerOfTwo(spread) };
  });
};
