/**
 * The mistakes that can be made in the definition of a model, each in one sentence that says what was given and what
 * to write, with the line where the platform tells it.
 */
import { callerOfLibrary, isOutsideLibrary, thrownAt } from "../compute/graph/location.js";
import { recordCalls } from "../compute/graph/operations.js";
import { InputError, TraceError } from "../core/errors.js";
import { nearestName } from "../core/nearest-name.js";
import { shortest } from "../core/number-text.js";
import { describeValue, isDistribution } from "./describe-value.js";
import { isDesignVariable } from "./design-variable.js";
import type { Distribution } from "./distribution.js";
import type { ModelDefinition, Parameter, Prior } from "./model.js";

type Numbers = Readonly<Record<string, number>>;

const PARTS = ["name", "parameters", "design", "outcome"];

const listed = (names: readonly string[]): string => (names.length === 0 ? "none" : names.join(", "));
const suggested = (meant: string | undefined): string =>
  meant === undefined ? "" : `did you mean ${meant}? `;

/** Enough digits to see a sign and a size by. */
const where = (values: Numbers): string => {
  const each = Object.entries(values).map(([name, value]) => `${name} = ${shortest(value, 4)}`);
  return each.length === 0 ? "" : ` where ${each.join(", ")}`;
};

/** For numbers that have to be finite or above 0; of probabilities the problem says what else to give. */
const DRAWN_ADVICE =
  ": take exp(...) of what must be above 0, or give priors and bounds for which it always is (log(...) and sqrt(...) have no value below 0)";

export const modelTexts = {
  notDefinition: (given: unknown) =>
    `defineModel(...) was given ${describeValue(given)}: give { parameters, design, outcome }`,
  part: (given: string, meant: string | undefined) =>
    `a model has no "${given}": ${suggested(meant)}it has ${PARTS.join(", ")}`,
  name: (given: unknown) => `the name of the model was ${describeValue(given)}: give a text, or leave it out`,
  notRecord: (part: "parameters" | "design", given: unknown) =>
    part === "parameters"
      ? `the parameters of the model were ${describeValue(given)}: give { theta: target(...), phi: sensitive(...) }`
      : `the design of the model was ${describeValue(given)}: give { x: real() }, or { x: oneOf([0, 1, 2]) }`,
  notFunction: (given: unknown) =>
    `the outcome of the model was ${describeValue(given)}: give a function (parameters, design) => normal(...)`,
  noRole: (name: string, given: unknown) =>
    `the parameter "${name}" is ${describeValue(given)} without a role: write target(...), sensitive(...) or nuisance(...) around its prior`,
  notPrior: (role: string, given: unknown) =>
    `${role}(...) was given ${describeValue(given)} as a prior: give normal(...) or another distribution, or a function of the parameters before that returns one`,
  priorReturned: (name: string, given: unknown) =>
    `the prior of "${name}" returned ${describeValue(given)}: return normal(...) or another distribution`,
  priorUses: (name: string, used: string, before: readonly string[]) =>
    `the prior of "${name}" uses "${used}", which is not among the parameters before it (${listed(before)}): a prior may use only those`,
  priorFailed: (name: string, message: string) =>
    `the prior of "${name}" failed: ${message.replace(/\.$/, "")}; use the operations of fairbed (add, mul, exp, ...)`,
  notVariable: (name: string, given: unknown) =>
    `the design variable "${name}" is ${describeValue(given)}: write real(), real({ low, high }) or oneOf([...])`,
  noTarget: (name: string) =>
    `the model "${name}" has no target: give at least one parameter the role target(...)`,
  noSensitive: (name: string) =>
    `the model "${name}" has no sensitive parameter: give at least one the role sensitive(...)`,
  noDesign: (name: string) => `the model "${name}" has no design variable: name at least one in design`,
  sameName: (name: string) =>
    `"${name}" names two things in the model: give every parameter, design variable and outcome its own name`,
  reserved: (name: string) =>
    `"${name}" cannot be a name in a model: give every parameter, design variable and outcome a word of its own, and none of ${[...RESERVED].join(", ")}`,
  outcomeReturned: (given: unknown) =>
    `the outcome is ${describeValue(given)} and not a distribution: return normal(...), bernoulli(...) or another one, or several by name`,
  noDistribution: (name: string, given: unknown) =>
    `the outcome "${name}" is ${describeValue(given)} and not a distribution: return normal(...), bernoulli(...) or another one`,
  noOutcomes: "the outcome is an object without any distribution: return normal(...), or several by name",
  promise:
    "the outcome is a promise: a model is a formula and cannot wait for anything, so leave out async and await",
  outcomeUses: (used: string, where: "parameters" | "design", known: readonly string[]) =>
    `the outcome uses "${used}", which is not in the ${where} (${listed(known)}): ${suggested(nearestName(used, known))}name it there, or leave it out`,
  outcomeFailed: (message: string) =>
    `the outcome failed: ${message.replace(/\.$/, "")}; use the operations of fairbed (add, mul, log, ...)`,
  loggedPrior: (name: string) =>
    `the prior of "${name}" is log-normal, whose values are recorded by their logarithm: give it normal(...) and take exp(...) of it in the outcome`,
  priorDraw: (name: string, drawn: number) =>
    `the prior of "${name}" drew ${drawn}: its numbers must be finite for every value of the parameters before it`,
  drawn: (problem: string, whose: string, values: Numbers) =>
    `${problem}; ${whose} comes to this${where(values)}${problem.includes("logit") ? "" : DRAWN_ADVICE}`,
  gradient: (name: string, analytic: number, numeric: number) =>
    `the gradient in "${name}" is ${analytic} where differences say ${numeric}: the outcome must be smooth in its design`,
};

/** Names of arrays that stand beside those of the model in compiled programs. */
const RESERVED: ReadonlySet<string> = new Set(["adjoint", "each", "logWeight", "zero"]);
/** Not keys like others: the prototype, numbers (which objects put first), and what is made of other names. */
const UNUSABLE = /^$|^__proto__$|^\d+$|^log weight$|^(noise|adjoint) of /;

export const isReserved = (name: string): boolean => RESERVED.has(name) || UNUSABLE.test(name);

/** A mistake in a definition, with the line that called the library unless a nearer one is known. */
export const mistake = (text: string, location = callerOfLibrary()): TraceError =>
  new TraceError("model", text, location);

const isRecord = (given: unknown): given is Readonly<Record<string, unknown>> =>
  typeof given === "object" && given !== null && !Array.isArray(given) && !isDistribution(given);

/** Throws unless a prior can be what it is given as. */
export const requirePrior = (role: string, given: unknown): void => {
  if (!isDistribution(given) && typeof given !== "function") throw mistake(modelTexts.notPrior(role, given));
};

/** The parts of the definition, each of the kind that it must be. */
export const checkDefinition = (given: unknown): void => {
  if (!isRecord(given)) throw mistake(modelTexts.notDefinition(given));
  const other = Object.keys(given).find((key) => !PARTS.includes(key));
  if (other !== undefined) throw mistake(modelTexts.part(other, nearestName(other, PARTS)));
  const { name, parameters, design, outcome } = given;
  if (name !== undefined && (typeof name !== "string" || name === "")) throw mistake(modelTexts.name(name));
  if (!isRecord(parameters)) throw mistake(modelTexts.notRecord("parameters", parameters));
  for (const [key, value] of Object.entries(parameters)) {
    if (!isRecord(value) || !("role" in value && "prior" in value)) {
      throw mistake(modelTexts.noRole(key, value));
    }
  }
  if (!isRecord(design)) throw mistake(modelTexts.notRecord("design", design));
  for (const [key, value] of Object.entries(design)) {
    if (!isDesignVariable(value)) throw mistake(modelTexts.notVariable(key, value));
  }
  if (typeof outcome !== "function") throw mistake(modelTexts.notFunction(outcome));
};

/** Every name once, and none that cannot be one. */
export const checkNames = (names: readonly string[]): void => {
  const reserved = names.find(isReserved);
  if (reserved !== undefined) throw mistake(modelTexts.reserved(reserved));
  const twice = names.find((each, i) => names.indexOf(each) !== i);
  if (twice !== undefined) throw mistake(modelTexts.sameName(twice));
};

/** The same numbers, and the names that were asked of them and are not there. */
const watched = (values: Numbers): { readonly values: Numbers; readonly missing: readonly string[] } => {
  const missing: string[] = [];
  const proxy = new Proxy(values, {
    get: (of, key) => {
      if (typeof key === "string" && !Object.hasOwn(of, key)) missing.push(key);
      return Object.hasOwn(of, key) ? Reflect.get(of, key) : undefined;
    },
  });
  return { values: proxy, missing };
};

/** An error of the library keeps its sentence and its line; one of the user's own code gets a sentence. */
const located = (error: unknown, text: (message: string) => string): Error => {
  if (error instanceof InputError) return error;
  const message = error instanceof Error ? error.message : String(error);
  const location = error instanceof Error ? thrownAt(error) : callerOfLibrary();
  return new TraceError("model", text(message), location, { cause: error });
};

const locationOf = (error: unknown): string | undefined =>
  error instanceof TraceError ? error.location : error instanceof Error ? thrownAt(error) : undefined;

/** The distribution that a prior gives after these parameters, or the error that names its mistake. */
export const triedPrior = (name: string, prior: Prior, before: Numbers): Distribution => {
  if (typeof prior !== "function") return prior;
  const { values, missing } = watched(before);
  const uses = (location?: string | undefined) =>
    mistake(modelTexts.priorUses(name, missing[0], Object.keys(before)), location);
  let returned: unknown;
  try {
    returned = prior(values);
  } catch (error) {
    throw missing.length > 0
      ? uses(locationOf(error))
      : located(error, (message) => modelTexts.priorFailed(name, message));
  }
  const location = () => recordCalls(() => prior(values)).at(-1)?.location;
  if (!isDistribution(returned)) throw mistake(modelTexts.priorReturned(name, returned), location());
  if (returned.problem !== undefined && missing.length > 0) throw uses(location());
  return returned;
};

/** What the outcome gives for these numbers, by name, or the error that names its mistake. */
export const triedOutcome = <P extends string, D extends string>(
  outcome: ModelDefinition<P, D>["outcome"],
  parameters: Numbers,
  design: Numbers,
  single: string,
): Readonly<Record<string, Distribution>> => {
  const [given, at] = [watched(parameters), watched(design)];
  const run = () =>
    outcome(given.values as Readonly<Record<P, number>>, at.values as Readonly<Record<D, number>>);
  /** A name that the outcome asked for and that is nowhere is the cause of whatever failed. */
  const uses = (location?: string | undefined): Error | undefined => {
    if (given.missing.length > 0) {
      const text = modelTexts.outcomeUses(given.missing[0], "parameters", Object.keys(parameters));
      return mistake(text, location);
    }
    if (at.missing.length === 0) return undefined;
    return mistake(modelTexts.outcomeUses(at.missing[0], "design", Object.keys(design)), location);
  };
  let returned: unknown;
  try {
    returned = run();
  } catch (error) {
    throw uses(locationOf(error)) ?? located(error, modelTexts.outcomeFailed);
  }
  /** Where the function returns is not to be had; its last operation is near. */
  const near = () => recordCalls(run).at(-1)?.location;
  if (isPromise(returned)) {
    returned.catch(() => undefined);
    throw mistake(modelTexts.promise, near());
  }
  if (!isDistribution(returned) && !isRecord(returned))
    throw mistake(modelTexts.outcomeReturned(returned), near());
  const byName = isDistribution(returned) ? { [single]: returned } : returned;
  const distributions: Record<string, Distribution> = {};
  for (const [name, value] of Object.entries(byName)) {
    if (!isDistribution(value)) throw mistake(modelTexts.noDistribution(name, value), near());
    if (value.problem !== undefined) throw uses(near()) ?? mistake(value.problem, near());
    distributions[name] = value;
  }
  if (Object.keys(distributions).length === 0) throw mistake(modelTexts.noOutcomes, near());
  return distributions;
};

/**
 * Throws unless a distribution is one for these drawn values. `make` makes it once more, to find the line: that of the
 * last operation in the user's code, as where a distribution is returned is not to be had.
 */
export const requireDrawable = (
  { problem }: Distribution,
  whose: string,
  values: Numbers,
  make: () => unknown,
): void => {
  if (problem === undefined) return;
  const lines = recordCalls(make).map(({ location }) => location);
  const location = lines.filter((line) => line !== undefined && isOutsideLibrary(line)).at(-1);
  throw new TraceError(
    "distribution",
    modelTexts.drawn(problem, whose, values),
    location ?? callerOfLibrary(),
  );
};

const isPromise = (given: unknown): given is Promise<unknown> => given instanceof Promise;

/** What is needed of the roles. */
export const checkRoles = (
  name: string,
  parameters: readonly Pick<Parameter, "role">[],
  variables: number,
): void => {
  if (!parameters.some(({ role }) => role === "target")) throw mistake(modelTexts.noTarget(name));
  if (!parameters.some(({ role }) => role === "sensitive")) throw mistake(modelTexts.noSensitive(name));
  if (variables === 0) throw mistake(modelTexts.noDesign(name));
};
