/**
 * The shipped models by name, and what identifies a model, shipped or a user's own, in a file that was made for it.
 * Everything here is plain data in and out, so that a file, a command line or a page can name a model.
 */
import { InputError } from "../core/errors.js";
import { nearestName } from "../core/nearest-name.js";
import { seededStream } from "../core/random.js";
import { draw } from "./distribution.js";
import { drawParameters, type Model } from "./model.js";
import { linearGaussian } from "./models/linear-gaussian.js";
import { locationFinding } from "./models/location.js";
import { pharmacokinetics } from "./models/pharmacokinetics.js";
import { psychometric } from "./models/psychometric.js";

export type ModelOptions = Readonly<Record<string, unknown>>;

/** What an option takes, and how it is said. */
interface OptionKind {
  readonly expected: string;
  accepts(value: unknown): boolean;
}

const isNumber = (value: unknown): value is number => typeof value === "number" && Number.isFinite(value);
const isNumbers = (value: unknown): boolean =>
  Array.isArray(value) && value.length > 0 && value.every(isNumber);

const number: OptionKind = { expected: "a number", accepts: isNumber };
const positive: OptionKind = {
  expected: "a number above 0",
  accepts: (value) => isNumber(value) && value > 0,
};
const count: OptionKind = {
  expected: "a whole number of at least 1",
  accepts: (value) => Number.isSafeInteger(value) && Number(value) >= 1,
};
const numbers: OptionKind = { expected: "a list of numbers", accepts: isNumbers };
const numberOrNumbers: OptionKind = {
  expected: "a number or a list of numbers",
  accepts: (value) => isNumber(value) || isNumbers(value),
};
const truth: OptionKind = { expected: "true or false", accepts: (value) => typeof value === "boolean" };
const word = (words: readonly string[]): OptionKind => ({
  expected: `one of ${words.join(", ")}`,
  accepts: (value) => words.some((each) => each === value),
});

interface CatalogueEntry {
  readonly summary: string;
  readonly options: Readonly<Record<string, OptionKind>>;
  build(options: ModelOptions): Model;
}

/** The options are checked against `options` before `build` sees them, which is what makes the casts true. */
const CATALOGUE: Readonly<Record<string, CatalogueEntry>> = {
  location: {
    summary: "a hidden source is heard at places of your choice (paper, section 6.1)",
    options: {
      priorMean: numberOrNumbers,
      priorSd: positive,
      sources: count,
      dimensions: count,
      targets: numbers,
      sensitives: numbers,
      noise: positive,
      background: positive,
      offset: positive,
      signal: word(["squared", "printed"]),
    },
    build: (options) => locationFinding(options as Parameters<typeof locationFinding>[0]),
  },
  "linear-gaussian": {
    summary: "a weighted sum of the parameters plus noise; everything has a closed form",
    options: { noise: positive, priorSd: positive, offset: truth },
    build: (options) => linearGaussian(options as Parameters<typeof linearGaussian>[0]),
  },
  psychometric: {
    summary: "a stimulus is noticed or not; a shift of the threshold is sensitive",
    options: { slope: positive, thresholdSd: positive, shiftSd: positive, low: number, high: number },
    build: (options) => psychometric(options as Parameters<typeof psychometric>[0]),
  },
  pharmacokinetics: {
    summary: "when to draw blood after a dose; a genotype's effect is sensitive",
    options: { dose: positive, noise: positive, latest: positive },
    build: (options) => pharmacokinetics(options as Parameters<typeof pharmacokinetics>[0]),
  },
};

/** The names of the models that come with FairBED. */
export const MODEL_NAMES: readonly string[] = Object.keys(CATALOGUE);

export const catalogueTexts = {
  unknownModel: (given: string, suggestion: string | undefined) =>
    suggestion === undefined
      ? `there is no model "${given}": the models are ${MODEL_NAMES.join(", ")}, or name a file such as ./my-model.ts`
      : `there is no model "${given}"; did you mean ${suggestion}?`,
  unknownOption: (model: string, given: string, known: readonly string[]) =>
    `the model ${model} has no option "${given}": its options are ${known.join(", ")}`,
  optionValue: (model: string, name: string, given: unknown, expected: string) =>
    `the option ${name} of the model ${model} was ${JSON.stringify(given)}: give ${expected}`,
};

/** One line for each shipped model. */
export const describeModels = (): readonly { readonly name: string; readonly summary: string }[] =>
  Object.entries(CATALOGUE).map(([name, { summary }]) => ({ name, summary }));

/**
 * A shipped model, from its name and plain options, each of which is checked.
 *
 * @example
 * ```ts
 * import { MODEL_NAMES, shippedModel } from "fairbed/design";
 *
 * console.log(MODEL_NAMES.includes("location")); // true
 * const { design } = shippedModel("location", { priorMean: [3, 3], noise: 0.3 });
 * console.log(design.map(({ name }) => name).join()); // x,y
 * ```
 */
export const shippedModel = (name: string, options: ModelOptions = {}): Model => {
  // Not CATALOGUE[name] at once: "constructor" is no model.
  const entry = Object.hasOwn(CATALOGUE, name) ? CATALOGUE[name] : undefined;
  if (entry === undefined) {
    throw new InputError("unknown-model", catalogueTexts.unknownModel(name, nearestName(name, MODEL_NAMES)));
  }
  for (const [key, value] of Object.entries(options)) {
    const kind = Object.hasOwn(entry.options, key) ? entry.options[key] : undefined;
    if (kind === undefined) {
      const known = Object.keys(entry.options);
      throw new InputError("model-option", catalogueTexts.unknownOption(name, key, known));
    }
    if (!kind.accepts(value)) {
      throw new InputError("model-option", catalogueTexts.optionValue(name, key, value, kind.expected));
    }
  }
  return entry.build(options);
};

/** What a file says about the model that it was made for. */
export interface ModelIdentity {
  readonly name: string;
  readonly options: ModelOptions;
  /** Names of everything, which say whether a policy fits a model at all. */
  readonly parameters: readonly string[];
  readonly design: readonly string[];
  readonly outcomes: readonly string[];
  /** What the model does, as a hash: it differs when a prior, a bound or the likelihood does. */
  readonly fingerprint: string;
  /** The file that defines it, where it is not a shipped one: relative to the policy's file, or as it was given. */
  readonly file?: string | undefined;
}

/**
 * What a file says about a model. Two models that do the same have the same fingerprint, however they are written.
 *
 * @example
 * ```ts
 * import { identityOf, locationFinding } from "fairbed/design";
 *
 * const [a, b] = [identityOf(locationFinding()), identityOf(locationFinding({ noise: 0.3 }))];
 * console.log(a.name, a.design.join(), a.fingerprint === b.fingerprint); // location x,y false
 * ```
 */
export const identityOf = (model: Model, options: ModelOptions = {}): ModelIdentity => ({
  name: model.name,
  options,
  parameters: model.parameters.map(({ name, role }) => `${name}: ${role}`),
  design: model.design.map(({ name }) => name),
  outcomes: model.outcomes,
  fingerprint: fingerprint(model),
});

const FINGERPRINT_DRAWS = 8;
/** So few digits that no two machines disagree on them. */
const FINGERPRINT_DIGITS = 6;

/**
 * Draws from the prior, outcomes and log-likelihoods at fixed streams, hashed. It is taken from what the model does
 * and not from its text: an edited comment or another way to write the same formula keeps a policy valid.
 */
const fingerprint = (model: Model): string => {
  const stream = seededStream("fingerprint");
  const parts: string[] = [
    ...model.parameters.map(({ name, role }) => `${name} ${role}`),
    ...model.design.map(({ name, low, high, values }) => `${name} ${low} ${high} ${values?.join() ?? ""}`),
    ...model.outcomes,
  ];
  for (let round = 0; round < FINGERPRINT_DRAWS; round++) {
    const parameters = drawParameters(model.parameters, stream.split("parameters").split(round));
    const at = Object.fromEntries(
      model.design.map(({ name, low, high, values }) => {
        const u = stream.split(name).split(round).uniform();
        if (values !== undefined) return [name, values[Math.floor(u * values.length)]];
        const from = Number.isFinite(low) ? low : Math.min(-4, high - 1);
        const to = Number.isFinite(high) ? high : Math.max(4, low + 1);
        return [name, from + u * (to - from)];
      }),
    );
    const by = model.distributions(parameters, at);
    // A design without bounds may be tried where the model is none: that identifies it too.
    const problem = model.outcomes.map((name) => by[name].problem).find((each) => each !== undefined);
    if (problem !== undefined) {
      parts.push(problem);
      continue;
    }
    const outcomes = Object.fromEntries(
      model.outcomes.map((name) => [name, draw(by[name], stream.split(`outcome ${name}`).split(round))]),
    );
    const logLikelihood = model.logLikelihood(parameters, at, outcomes) as number;
    for (const value of [...Object.values(parameters), ...Object.values(outcomes), logLikelihood]) {
      parts.push(value.toPrecision(FINGERPRINT_DIGITS));
    }
  }
  return fnv1a64(parts.join("\n"));
};

/** FNV-1a, 64 bits, of the text's UTF-8 bytes: enough to tell models apart, and the same everywhere. */
const fnv1a64 = (text: string): string => {
  let hash = 0xcbf29ce484222325n;
  for (const byte of new TextEncoder().encode(text)) {
    hash = BigInt.asUintN(64, (hash ^ BigInt(byte)) * 0x100000001b3n);
  }
  return hash.toString(16).padStart(16, "0");
};
