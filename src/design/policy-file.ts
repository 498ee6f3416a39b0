/**
 * Policies as files: bytes in, bytes out, the same in Node and in a browser.
 *
 * A policy without weights is plain JSON; a static one has its `designs` in it, and `{"designs": [[x, y], ...]}` alone
 * is one too. A network is one file as well: eight letters that say what it is, the length of a JSON header, the
 * header, the weights as little-endian float32, and a CRC-32 of all of that.
 */
import { InputError } from "../core/errors.js";
import { type DadNetwork, type DadWidths, dadPolicy, layerWidths } from "./dad-network.js";
import type { DesignScale, Scale } from "./design-scale.js";
import { type AdaptivePolicy, greedyPolicy } from "./greedy.js";
import type { Model } from "./model.js";
import { identityOf, type ModelIdentity } from "./model-catalogue.js";
import { type Policy, randomPolicy, staticPolicy } from "./policy.js";

/** What the policy was found to reach, in nats. */
export interface ReachedBounds {
  readonly lower: number;
  readonly upper: number;
  readonly standardError: number;
}

/** What every policy's file says. */
export interface PolicyRecord {
  readonly horizon: number;
  /** The model it was made for; a plain list of designs does not say. */
  readonly model?: ModelIdentity | undefined;
  readonly seed?: number | undefined;
  /** How it was made, as plain data. */
  readonly settings?: Readonly<Record<string, unknown>> | undefined;
  readonly bounds?: Readonly<Record<string, ReachedBounds>> | undefined;
  /** What training found that a user should know; each is a sentence. */
  readonly warnings?: readonly string[] | undefined;
}

export interface StaticPolicyFile extends PolicyRecord {
  readonly kind: "static";
  /** [horizon][variables] */
  readonly designs: readonly (readonly number[])[];
}

export interface RandomPolicyFile extends PolicyRecord {
  readonly kind: "random";
  /**
   * Every variable without values is normal with this mean and standard deviation, inside its bounds; left out, it is
   * uniform between its bounds, or standard normal where it has none.
   */
  readonly distribution?: { readonly mean: number; readonly sd: number } | undefined;
}

export interface GreedyPolicyFile extends PolicyRecord {
  readonly kind: "greedy";
  /** What it looks ahead with. */
  readonly search: Omit<AdaptivePolicy["settings"], "horizon">;
}

export interface DadPolicyFile extends PolicyRecord {
  readonly kind: "dad";
  readonly network: DadNetwork;
}

export type PolicyFile = StaticPolicyFile | RandomPolicyFile | GreedyPolicyFile | DadPolicyFile;

export const policyFileTexts = {
  empty: (name: string) => `${name} is empty: give a policy or a list of designs`,
  /** Without the parser's reason, which quotes the file: it may be a table of people. */
  notJson: (name: string) =>
    `${name} is neither JSON nor a network: give a policy file, or {"designs": [[...], ...]}`,
  cutJson: (name: string) =>
    `${name} ends before its JSON does, as if it was cut short: copy or write it again`,
  horizon: (name: string, given: unknown, designs: number) =>
    `${name} has the horizon ${JSON.stringify(given)} and ${designs} ${designs === 1 ? "design" : "designs"}: make them the same, or leave out horizon`,
  notANumber: (name: string) =>
    `${name} has NaN or Infinity in it, which is no number in JSON: give finite numbers`,
  notPolicy: (name: string) =>
    `${name} is JSON but no policy: give a file that fairbed design optimize wrote, or {"designs": [[...], ...]}`,
  version: (name: string, given: unknown) =>
    `${name} was written by a newer fairbed (format ${String(given)}): install a newer version to read it`,
  kind: (name: string, given: unknown) =>
    `${name} has a policy of kind ${JSON.stringify(given)}: the kinds are static, random, greedy and dad`,
  field: (name: string, field: string, expected: string) =>
    `${name} is damaged: ${field} must be ${expected}; write it again with fairbed design optimize`,
  cutShort: (name: string, given: number, expected: number) =>
    `${name} is cut short: it has ${given} bytes of ${expected}; copy or write it again`,
  corrupt: (name: string) => `${name} is damaged: its checksum does not match; copy or write it again`,
  noDesigns: (name: string) => `${name} has no designs: give at least one, as {"designs": [[...], ...]}`,
  notADesign: (name: string, index: number) =>
    `design ${index} of ${name} is no list of numbers: give every design as [...]`,
  width: (name: string, index: number, given: number, variables: readonly string[]) =>
    `design ${index} of ${name} has ${given} ${given === 1 ? "number" : "numbers"} and the model ${variables.length}: give [${variables.join(", ")}]`,
  notFinite: (name: string, index: number, given: unknown) =>
    `design ${index} of ${name} has ${JSON.stringify(given)} in it: give finite numbers`,
  outside: (name: string, index: number, variable: string, given: number, allowed: string) =>
    `design ${index} of ${name} has ${variable} = ${given}: the model allows ${allowed}`,
  otherModel: (name: string, made: string, given: string) =>
    `${name} was made for the model ${made} and not for ${given}: give the model it was made for`,
};

const MAGIC = "FAIRBED\n";
/** Of a network with a base, which an earlier fairbed would leave out without a word; all others are of format 1. */
const BASE_VERSION = 2;
const VERSION = 1;
const FORMAT = "fairbed policy";
/** Magic, header length. */
const PREFIX = MAGIC.length + 4;
const CHECKSUM = 4;

/**
 * The bytes of a policy's file: JSON for a person, except for the weights of a network.
 *
 * @example
 * ```ts
 * import { decodePolicy, encodePolicy } from "fairbed/design";
 *
 * const bytes = encodePolicy({ kind: "static", horizon: 1, designs: [[1, 2]] });
 * console.log(decodePolicy(bytes).horizon); // 1
 * ```
 */
export const encodePolicy = (file: PolicyFile): Uint8Array => {
  if (file.kind !== "dad") {
    const text = JSON.stringify({ format: FORMAT, version: VERSION, ...file }, null, 2);
    // One line for each design, as a person would write them.
    const flat = text.replace(/\[[\s\d.,e+-]+\]/g, (list) =>
      list.replace(/\s+/g, " ").replace(/\[ | \]/g, trim),
    );
    return new TextEncoder().encode(`${flat}\n`);
  }
  const { parameters, ...shape } = file.network;
  const header = new TextEncoder().encode(
    JSON.stringify({
      format: FORMAT,
      version: shape.base === undefined ? VERSION : BASE_VERSION,
      ...file,
      network: { ...shape, weights: parameters.length },
    }),
  );
  const bytes = new Uint8Array(PREFIX + header.length + 4 * parameters.length + CHECKSUM);
  const view = new DataView(bytes.buffer);
  bytes.set(new TextEncoder().encode(MAGIC));
  view.setUint32(MAGIC.length, header.length, true);
  bytes.set(header, PREFIX);
  const start = PREFIX + header.length;
  for (let i = 0; i < parameters.length; i++) view.setFloat32(start + 4 * i, parameters[i], true);
  view.setUint32(bytes.length - CHECKSUM, crc32(bytes.subarray(0, -CHECKSUM)), true);
  return bytes;
};

const trim = (bracket: string): string => bracket.trim();

/**
 * The policy in the bytes of a file: one that `encodePolicy` made, or a plain list of designs. `name` is what messages
 * call the file.
 *
 * @example
 * ```ts
 * import { decodePolicy } from "fairbed/design";
 *
 * const policy = decodePolicy(new TextEncoder().encode('{"designs": [[1, 2], [3, 1]]}'));
 * console.log(policy.kind, policy.horizon); // static 2
 * ```
 */
export const decodePolicy = (bytes: Uint8Array, name = "the policy file"): PolicyFile => {
  if (bytes.length === 0) throw new InputError("policy-file", policyFileTexts.empty(name));
  return startsWithMagic(bytes) ? decodeNetwork(bytes, name) : decodeJson(bytes, name);
};

const startsWithMagic = (bytes: Uint8Array): boolean => {
  // A network that was cut inside its first letters is still recognised as one.
  const length = Math.min(MAGIC.length, bytes.length);
  return new TextDecoder().decode(bytes.subarray(0, length)) === MAGIC.slice(0, length);
};

const decodeNetwork = (bytes: Uint8Array, name: string): PolicyFile => {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const shortest = PREFIX + CHECKSUM;
  if (bytes.length < shortest) throw cutShort(name, bytes.length, shortest);
  const headerLength = view.getUint32(MAGIC.length, true);
  const withHeader = shortest + headerLength;
  if (bytes.length < withHeader) throw cutShort(name, bytes.length, withHeader);
  // The header is read before the checksum can be, so that a file cut short is called that and not damaged.
  const header = record(parse(bytes.subarray(PREFIX, PREFIX + headerLength), () => corrupt(name)));
  if (header === undefined) throw corrupt(name);
  const network = record(header.network) ?? {};
  const weights = Number(network.weights);
  const total = withHeader + 4 * weights;
  if (Number.isSafeInteger(weights) && weights >= 0 && bytes.length < total) {
    throw cutShort(name, bytes.length, total);
  }
  const end = bytes.length - CHECKSUM;
  if (bytes.length !== total || view.getUint32(end, true) !== crc32(bytes.subarray(0, end))) {
    throw corrupt(name);
  }
  const start = PREFIX + headerLength;
  const parameters = Float32Array.from({ length: weights }, (_, i) => view.getFloat32(start + 4 * i, true));
  return checked({ ...header, network: { ...network, parameters } }, name);
};

const decodeJson = (bytes: Uint8Array, name: string): PolicyFile => {
  const value = record(
    parse(bytes, (text) => {
      const { notANumber, cutJson, notJson } = policyFileTexts;
      const literal = /[[,:]\s*-?(NaN|Infinity)\b/.test(text);
      const says = literal ? notANumber : isCutShort(text) ? cutJson : notJson;
      return new InputError("policy-file", says(name));
    }),
  );
  if (value === undefined || (value.format !== FORMAT && value.designs === undefined)) {
    throw new InputError("policy-file", policyFileTexts.notPolicy(name));
  }
  return checked(value, name);
};

/** Whether it begins as the JSON of a policy does, and more is opened than is closed. */
const isCutShort = (text: string): boolean => {
  const outside = text.replace(/"(?:[^"\\]|\\.)*"/gs, "");
  const count = (brackets: RegExp): number => outside.match(brackets)?.length ?? 0;
  return /^\s*\{\s*("|$)/.test(text) && count(/[[{]/g) > count(/[\]}]/g);
};

const parse = (bytes: Uint8Array, wrong: (text: string) => InputError): unknown => {
  const text = new TextDecoder().decode(bytes);
  try {
    return JSON.parse(text);
  } catch {
    throw wrong(text);
  }
};

type Fields = Readonly<Record<string, unknown>>;

const record = (value: unknown): Fields | undefined =>
  typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Fields) : undefined;

const cutShort = (name: string, given: number, expected: number) =>
  new InputError("policy-file", policyFileTexts.cutShort(name, given, expected));
const corrupt = (name: string) => new InputError("policy-file", policyFileTexts.corrupt(name));

/** The fields of a policy, each looked at before it is believed. */
const checked = (value: Fields, name: string): PolicyFile => {
  const damaged = (field: string, expected: string) =>
    new InputError("policy-file", policyFileTexts.field(name, field, expected));
  if (typeof value.version === "number" && value.version > BASE_VERSION) {
    throw new InputError("policy-file", policyFileTexts.version(name, value.version));
  }
  const common: Omit<PolicyRecord, "horizon"> = {
    ...(value.model === undefined ? {} : { model: identity(value.model, damaged) }),
    ...(value.seed === undefined ? {} : { seed: finite(value.seed, "seed", damaged) }),
    ...(value.settings === undefined ? {} : { settings: fields(value.settings, "settings", damaged) }),
    ...(value.bounds === undefined ? {} : { bounds: bounds(value.bounds, damaged) }),
    ...(value.warnings === undefined ? {} : { warnings: words(value.warnings, "warnings", damaged) }),
  };
  const kind = value.kind ?? "static";
  if (kind === "static") {
    const designs = designRows(value.designs, name);
    if (value.horizon !== undefined && value.horizon !== designs.length) {
      throw new InputError("policy-file", policyFileTexts.horizon(name, value.horizon, designs.length));
    }
    return { kind, horizon: designs.length, ...common, designs };
  }
  const horizon = whole(value.horizon, "horizon", damaged);
  if (kind === "random" && value.distribution === undefined) return { kind, horizon, ...common };
  if (kind === "random") {
    const { mean, sd } = fields(value.distribution, "distribution", damaged);
    const distribution = {
      mean: finite(mean, "distribution.mean", damaged),
      sd: finite(sd, "distribution.sd", damaged),
    };
    if (!(distribution.sd > 0)) throw damaged("distribution.sd", "above 0");
    return { kind, horizon, ...common, distribution };
  }
  if (kind === "greedy") return { kind, horizon, ...common, search: greedySearch(value.search, damaged) };
  if (kind === "dad") return { kind, horizon, ...common, network: network(value.network, horizon, damaged) };
  throw new InputError("policy-file", policyFileTexts.kind(name, kind));
};

type Damaged = (field: string, expected: string) => InputError;

const fields = (value: unknown, field: string, damaged: Damaged): Fields => {
  const found = record(value);
  if (found === undefined) throw damaged(field, "an object");
  return found;
};

const finite = (value: unknown, field: string, damaged: Damaged): number => {
  if (typeof value !== "number" || !Number.isFinite(value)) throw damaged(field, "a finite number");
  return value;
};

const words = (value: unknown, field: string, damaged: Damaged): readonly string[] => {
  if (!Array.isArray(value) || !value.every((each) => typeof each === "string")) {
    throw damaged(field, "a list of names");
  }
  return value;
};

const identity = (value: unknown, damaged: Damaged): ModelIdentity => {
  const { name, options, parameters, design, outcomes, fingerprint, file } = fields(value, "model", damaged);
  if (typeof name !== "string") throw damaged("model.name", "a name");
  if (typeof fingerprint !== "string") throw damaged("model.fingerprint", "a text");
  if (file !== undefined && typeof file !== "string") throw damaged("model.file", "a path");
  return {
    name,
    options: fields(options, "model.options", damaged),
    parameters: words(parameters, "model.parameters", damaged),
    design: words(design, "model.design", damaged),
    outcomes: words(outcomes, "model.outcomes", damaged),
    fingerprint,
    ...(file === undefined ? {} : { file }),
  };
};

const whole = (value: unknown, field: string, damaged: Damaged): number => {
  if (!Number.isSafeInteger(value) || Number(value) < 1) throw damaged(field, "a whole number of at least 1");
  return Number(value);
};

const wholes = (value: unknown, field: string, damaged: Damaged): readonly number[] => {
  if (!Array.isArray(value)) throw damaged(field, "a list of whole numbers");
  return value.map((each: unknown) => whole(each, field, damaged));
};

/** The shape of a network and its weights, as many as the shape has. */
const network = (value: unknown, horizon: number, damaged: Damaged): DadNetwork => {
  const { widths: given, designs, outcomes, base, parameters } = fields(value, "network", damaged);
  if (!(parameters instanceof Float32Array)) throw damaged("a network", "in a file with weights");
  if (!parameters.every(Number.isFinite)) throw damaged("every weight", "a finite number");
  const { encoder, encoding, emitter } = fields(given, "network.widths", damaged);
  const widths: DadWidths = {
    encoder: wholes(encoder, "network.widths.encoder", damaged),
    encoding: whole(encoding, "network.widths.encoding", damaged),
    emitter: wholes(emitter, "network.widths.emitter", damaged),
  };
  const shape = {
    widths,
    designs: list(designs, "network.designs", damaged).map((each) => designScale(each, damaged)),
    outcomes: list(outcomes, "network.outcomes", damaged).map((each) =>
      unitsOf(each, "network.outcomes", damaged),
    ),
  };
  const layers = layerWidths(shape);
  const expected = weightsIn(layers.encoder) + weightsIn(layers.emitter);
  if (parameters.length !== expected) throw damaged("the number of weights", String(expected));
  if (base === undefined) return { ...shape, parameters };
  const outputs = layers.emitter[layers.emitter.length - 1];
  return { ...shape, base: baseRows(base, horizon, outputs, damaged), parameters };
};

/** [horizon][outputs] */
const baseRows = (
  value: unknown,
  horizon: number,
  outputs: number,
  damaged: Damaged,
): readonly (readonly number[])[] => {
  const rows = list(value, "network.base", damaged).map((row) =>
    list(row, "network.base", damaged).map((each) => finite(each, "network.base", damaged)),
  );
  if (rows.length !== horizon || rows.some(({ length }) => length !== outputs)) {
    throw damaged("network.base", `${horizon} lists of ${outputs} numbers`);
  }
  return rows;
};

const list = (value: unknown, field: string, damaged: Damaged): readonly unknown[] => {
  if (!Array.isArray(value) || value.length === 0) throw damaged(field, "a list");
  return value;
};

const unitsOf = (value: unknown, field: string, damaged: Damaged): Scale => {
  const { centre, unit } = fields(value, field, damaged);
  return { centre: finite(centre, `${field}.centre`, damaged), unit: above0(unit, `${field}.unit`, damaged) };
};

const above0 = (value: unknown, field: string, damaged: Damaged): number => {
  const number = finite(value, field, damaged);
  if (!(number > 0)) throw damaged(field, "above 0");
  return number;
};

/** How outputs become a design. */
const designScale = (value: unknown, damaged: Damaged): DesignScale => {
  const field = "network.designs";
  const given = fields(value, field, damaged);
  const { kind } = given;
  const number = (name: string) => finite(given[name], `${field}.${name}`, damaged);
  if (kind === "free") return { kind, ...unitsOf(value, field, damaged) };
  if (kind === "between") {
    const [low, high] = [number("low"), number("high")];
    if (!(low < high)) throw damaged(`${field}.high`, "above low");
    return { kind, low, high };
  }
  if (kind === "above")
    return { kind, low: number("low"), unit: above0(given.unit, `${field}.unit`, damaged) };
  if (kind === "below")
    return { kind, high: number("high"), unit: above0(given.unit, `${field}.unit`, damaged) };
  if (kind === "values") {
    const values = list(given.values, `${field}.values`, damaged).map((each) =>
      finite(each, `${field}.values`, damaged),
    );
    return { kind, values };
  }
  throw damaged(`${field}.kind`, "free, between, above, below or values");
};

/** Weights and biases of dense layers. */
const weightsIn = (widths: readonly number[]): number =>
  widths.slice(1).reduce((sum, width, i) => sum + (widths[i] + 1) * width, 0);

const MOST_PARTICLES = 10_000_000;
const MOST_SWEEPS = 10_000;

const greedySearch = (value: unknown, damaged: Damaged): GreedyPolicyFile["search"] => {
  const given = fields(value, "search", damaged);
  const number = (name: string) => finite(given[name], `search.${name}`, damaged);
  /** So many are held in memory at once: more than anyone needs would be asked of the machine before it is noticed. */
  const count = (name: string, least: number, most: number): number => {
    const value = number(name);
    if (Number.isInteger(value) && value >= least && value <= most) return value;
    throw damaged(`search.${name}`, `a whole number from ${least} to ${most}`);
  };
  const { objective, search: ranges } = given;
  if (objective !== "conditional" && objective !== "unconditional") {
    throw damaged("search.objective", "conditional or unconditional");
  }
  if (!Array.isArray(ranges)) throw damaged("search.search", "a list of ranges");
  return {
    objective,
    beta: number("beta"),
    particles: count("particles", 1, MOST_PARTICLES),
    resampleBelow: number("resampleBelow"),
    sweeps: count("sweeps", 0, MOST_SWEEPS),
    candidates: count("candidates", 1, MOST_PARTICLES),
    search: ranges.map((range: unknown, i) => {
      const [low, high]: unknown[] = Array.isArray(range) ? range : [];
      return [finite(low, `search.search[${i}]`, damaged), finite(high, `search.search[${i}]`, damaged)];
    }),
  };
};

const bounds = (value: unknown, damaged: Damaged): Readonly<Record<string, ReachedBounds>> =>
  Object.fromEntries(
    Object.entries(fields(value, "bounds", damaged)).map(([key, each]) => {
      const { lower, upper, standardError } = fields(each, `bounds.${key}`, damaged);
      const number = (given: unknown, of: string) => finite(given, `bounds.${key}.${of}`, damaged);
      return [
        key,
        {
          lower: number(lower, "lower"),
          upper: number(upper, "upper"),
          standardError: number(standardError, "standardError"),
        },
      ];
    }),
  );

const designRows = (value: unknown, name: string): readonly (readonly number[])[] => {
  if (!Array.isArray(value) || value.length === 0) {
    throw new InputError("designs", policyFileTexts.noDesigns(name));
  }
  return value.map((row: unknown, index) => {
    if (!Array.isArray(row)) throw new InputError("designs", policyFileTexts.notADesign(name, index + 1));
    return row.map((each: unknown) => {
      if (typeof each === "number" && Number.isFinite(each)) return each;
      throw new InputError("designs", policyFileTexts.notFinite(name, index + 1, each));
    });
  });
};

/** Checks designs [rows][variables] against a model: their width, and the bounds of every variable. */
export const checkDesigns = (rows: readonly (readonly number[])[], model: Model, name: string): void => {
  for (const [index, row] of rows.entries()) {
    if (row.length !== model.design.length) {
      const variables = model.design.map((each) => each.name);
      throw new InputError("designs", policyFileTexts.width(name, index + 1, row.length, variables));
    }
    for (const [d, { name: variable, low, high, values }] of model.design.entries()) {
      const inside = values === undefined ? row[d] >= low && row[d] <= high : values.includes(row[d]);
      if (inside) continue;
      const allowed = values === undefined ? `${low} to ${high}` : values.join(", ");
      throw new InputError("designs", policyFileTexts.outside(name, index + 1, variable, row[d], allowed));
    }
  }
};

/**
 * Whether a policy can be used with a model: `"same"` as it was made for, one that `"differs"` only in its numbers (a
 * prior mean, say), or `"unknown"` where the file does not say. One with other names is refused.
 *
 * @example
 * ```ts
 * import { identityOf, locationFinding, matchModel } from "fairbed/design";
 *
 * const made = { kind: "static", horizon: 1, designs: [[1, 2]], model: identityOf(locationFinding()) } as const;
 * console.log(matchModel(made, locationFinding())); // same
 * console.log(matchModel(made, locationFinding({ priorMean: [0, 0] }))); // differs
 * ```
 */
export const matchModel = (
  file: PolicyFile,
  model: Model,
  name = "the policy file",
): "same" | "differs" | "unknown" => {
  const { model: made } = file;
  if (made === undefined) return "unknown";
  const given = identityOf(model);
  const names = ({ name, parameters, design, outcomes }: ModelIdentity) =>
    JSON.stringify([name, parameters, design, outcomes]);
  if (names(made) !== names(given)) {
    const say = (each: ModelIdentity, other: ModelIdentity) =>
      each.name === other.name ? `${each.name} (${each.parameters.join(", ")})` : each.name;
    throw new InputError("other-model", policyFileTexts.otherModel(name, say(made, given), say(given, made)));
  }
  return made.fingerprint === given.fingerprint ? "same" : "differs";
};

/**
 * The policy in a file, ready to be asked under a model that `matchModel` accepts.
 *
 * @example
 * ```ts
 * import { locationFinding, policyOf, seededStream, readHistory } from "fairbed/design";
 *
 * const model = locationFinding();
 * const policy = policyOf({ kind: "static", horizon: 1, designs: [[1, 2]] }, model);
 * const [x, y] = await policy.next(readHistory([], model), seededStream(0));
 * console.log(x, y); // 1 2
 * ```
 */
export const policyOf = (file: PolicyFile, model: Model, name = "the policy file"): Policy => {
  matchModel(file, model, name);
  if (file.kind === "random") return randomPolicy(model, file.horizon, file.distribution);
  if (file.kind === "dad") return dadPolicy(model, file.horizon, file.network);
  if (file.kind === "greedy") return greedyPolicy(model, { horizon: file.horizon, ...file.search });
  checkDesigns(file.designs, model, name);
  return staticPolicy(Float64Array.from(file.designs.flat()), model.design.length);
};

const CRC_TABLE = Uint32Array.from({ length: 256 }, (_, n) => {
  let c = n;
  for (let k = 0; k < 8; k++) c = c & 1 ? 0xedb88320 ^ (c >>> 1) : c >>> 1;
  return c;
});

/** CRC-32 as in zip and PNG. */
export const crc32 = (bytes: Uint8Array): number => {
  let crc = 0xffffffff;
  for (const byte of bytes) crc = CRC_TABLE[(crc ^ byte) & 0xff] ^ (crc >>> 8);
  return (crc ^ 0xffffffff) >>> 0;
};
