/** Every mistake in the definition of a model is one sentence, with the line where it is. */
import { describe, expect, test } from "vitest";
import { add, less, mul, select } from "../../src/compute/index.js";
import { InputError, type TraceError } from "../../src/core/errors.js";
import { designVariableTexts } from "../../src/design/design-variable.js";
import {
  bernoulli,
  binomial,
  categorical,
  type Distribution,
  logNormal,
  normal,
  poisson,
  studentT,
  uniform,
} from "../../src/design/distribution.js";
import { argumentTexts } from "../../src/design/distribution-arguments.js";
import {
  defineModel,
  type ModelDefinition,
  modelTexts,
  nuisance,
  oneOf,
  priorPredictive,
  real,
  sensitive,
  target,
} from "../../src/design/model.js";

type Definition = ModelDefinition<string, string>;

const right: Definition = {
  name: "line",
  parameters: { theta: target(normal(0, 1)), phi: sensitive(normal(0, 1)) },
  design: { x: real() },
  outcome: ({ theta, phi }, { x }) => normal(add(theta, mul(phi, x)), 1),
};

/** As a program without types, or one that was told to be quiet, may have it. */
const define = (change: Readonly<Record<string, unknown>>) =>
  defineModel({ ...right, ...change } as unknown as Definition);
const outcome = (of: (...args: never[]) => unknown) => define({ outcome: of });
const any = <T>(value: unknown): T => value as T;

type Case = readonly [what: string, run: () => unknown, text: string];

const caught = (run: () => unknown): unknown => {
  try {
    run();
  } catch (error) {
    return error;
  }
  return undefined;
};

const LOGIT = [["logit", "probability"]];
const TRIALS = [["trials"], ["logit", "probability"]];

const CASES: readonly Case[] = [
  // The whole.
  ["nothing at all", () => defineModel(any<Definition>(undefined)), modelTexts.notDefinition(undefined)],
  [
    "a distribution as the model",
    () => defineModel(any<Definition>(normal(0, 1))),
    modelTexts.notDefinition(normal(0, 1)),
  ],
  ["a part of another name", () => define({ designs: {} }), modelTexts.part("designs", "design")],
  ["a part that is none", () => define({ likelihood: 1 }), modelTexts.part("likelihood", undefined)],
  ["a number as the name", () => define({ name: 3 }), modelTexts.name(3)],
  ["no parameters", () => define({ parameters: undefined }), modelTexts.notRecord("parameters", undefined)],
  ["a list of parameters", () => define({ parameters: [] }), modelTexts.notRecord("parameters", [])],
  ["no design", () => define({ design: undefined }), modelTexts.notRecord("design", undefined)],
  ["no outcome", () => define({ outcome: undefined }), modelTexts.notFunction(undefined)],
  [
    "a distribution as the outcome",
    () => define({ outcome: normal(0, 1) }),
    modelTexts.notFunction(normal(0, 1)),
  ],

  // Parameters.
  [
    "a bare distribution as a parameter",
    () => define({ parameters: { ...right.parameters, theta: normal(0, 1) } }),
    modelTexts.noRole("theta", normal(0, 1)),
  ],
  [
    "a number as a parameter",
    () => define({ parameters: { ...right.parameters, theta: 1 } }),
    modelTexts.noRole("theta", 1),
  ],
  ["a number as a prior", () => target(any(0)), modelTexts.notPrior("target", 0)],
  ["nothing as a prior", () => nuisance(any(undefined)), modelTexts.notPrior("nuisance", undefined)],
  ["a text as a prior", () => sensitive(any("normal")), modelTexts.notPrior("sensitive", "normal")],
  [
    "a prior that returns a number",
    () => define({ parameters: { ...right.parameters, phi: sensitive(any(() => 3)) } }),
    modelTexts.priorReturned("phi", 3),
  ],
  [
    "a prior that uses what comes later",
    () =>
      define({ parameters: { theta: target(({ phi }) => normal(phi, 1)), phi: sensitive(normal(0, 1)) } }),
    modelTexts.priorUses("theta", "phi", []),
  ],
  [
    "a prior that uses what is nowhere",
    () => define({ parameters: { ...right.parameters, u: nuisance(({ tau }) => normal(mul(2, tau), 1)) } }),
    modelTexts.priorUses("u", "tau", ["theta", "phi"]),
  ],
  [
    "a prior that calculates with what is nowhere",
    () =>
      define({ parameters: { ...right.parameters, u: nuisance(({ tau }) => normal(Number(tau) * 2, 1)) } }),
    modelTexts.priorUses("u", "tau", ["theta", "phi"]),
  ],
  [
    "a prior that fails by itself",
    () =>
      define({
        parameters: {
          ...right.parameters,
          u: nuisance(() => {
            throw new Error("no such thing");
          }),
        },
      }),
    modelTexts.priorFailed("u", "no such thing"),
  ],
  [
    "a prior recorded by its logarithm",
    () => define({ parameters: { ...right.parameters, theta: target(logNormal(0, 1)) } }),
    modelTexts.loggedPrior("theta"),
  ],
  [
    "a prior of standard deviation 0",
    () => define({ parameters: { ...right.parameters, theta: target(normal(0, 0)) } }),
    argumentTexts.positive("normal", "the standard deviation", 0),
  ],
  [
    "a prior whose mean is no number",
    () => define({ parameters: { ...right.parameters, theta: target(normal(Number.NaN, 1)) } }),
    argumentTexts.finite("normal", "the mean", Number.NaN),
  ],
  ["no target", () => define({ parameters: { phi: sensitive(normal(0, 1)) } }), modelTexts.noTarget("line")],
  [
    "no target in a model without a name",
    () => define({ name: undefined, parameters: { phi: sensitive(normal(0, 1)) } }),
    modelTexts.noTarget("unnamed"),
  ],
  [
    "nothing sensitive",
    () => define({ parameters: { theta: target(normal(0, 1)), u: nuisance(normal(0, 1)) } }),
    modelTexts.noSensitive("line"),
  ],

  // Names.
  ...["each", "zero", "adjoint", "logWeight", "", "7", "noise of x"].map(
    (name): Case => [
      `"${name}" as a name`,
      () => define({ parameters: { ...right.parameters, [name]: nuisance(normal(0, 1)) } }),
      modelTexts.reserved(name),
    ],
  ),
  ["a reserved outcome", () => outcome(() => ({ each: normal(0, 1) })), modelTexts.reserved("each")],
  [
    "a design variable named as a parameter",
    () => define({ design: { theta: real() }, outcome: () => normal(0, 1) }),
    modelTexts.sameName("theta"),
  ],
  [
    "an outcome named as a parameter",
    () => outcome(() => ({ phi: normal(0, 1) })),
    modelTexts.sameName("phi"),
  ],
  [
    "a parameter named as the outcome",
    () => define({ parameters: { ...right.parameters, outcome: nuisance(normal(0, 1)) } }),
    modelTexts.sameName("outcome"),
  ],

  // Design variables.
  ["no design variable", () => define({ design: {} }), modelTexts.noDesign("line")],
  ["a number as a design variable", () => define({ design: { x: 3 } }), modelTexts.notVariable("x", 3)],
  [
    "a list as a design variable",
    () => define({ design: { x: [0, 1] } }),
    modelTexts.notVariable("x", [0, 1]),
  ],
  [
    "a function as a design variable",
    () => define({ design: { x: real } }),
    modelTexts.notVariable("x", real),
  ],
  ["bounds that are equal", () => real({ low: 1, high: 1 }), designVariableTexts.bounds(1, 1)],
  ["bounds the wrong way around", () => real({ low: 2, high: 1 }), designVariableTexts.bounds(2, 1)],
  [
    "a bound that is no number",
    () => real({ low: Number.NaN }),
    designVariableTexts.bounds(Number.NaN, Infinity),
  ],
  ["a text as a bound", () => real({ high: any("9") }), designVariableTexts.bounds(-Infinity, "9")],
  ["bounds in a row", () => real(any(0)), designVariableTexts.bare(0)],
  ["bounds in a list", () => real(any([0, 1])), designVariableTexts.bare([0, 1])],
  ["bounds of other names", () => real(any({ min: 0 })), designVariableTexts.unknown("min", "low")],
  ["values in a row", () => oneOf(any(1)), designVariableTexts.list(1)],
  ["no values", () => oneOf([]), designVariableTexts.few(0)],
  ["one value", () => oneOf([3]), designVariableTexts.few(1)],
  ["a value that is not finite", () => oneOf([0, Infinity]), designVariableTexts.value(Infinity)],
  ["a value that is no number", () => oneOf([0, any("1")]), designVariableTexts.value("1")],
  ["a value twice", () => oneOf([0, 1, 0]), designVariableTexts.twice(0)],

  // Outcomes.
  ["an outcome that returns nothing", () => outcome(() => undefined), modelTexts.outcomeReturned(undefined)],
  ["an outcome that is a number", () => outcome(() => 3), modelTexts.outcomeReturned(3)],
  ["an outcome that is a list", () => outcome(() => [normal(0, 1)]), modelTexts.outcomeReturned([])],
  ["an outcome that is a promise", () => outcome(async () => normal(0, 1)), modelTexts.promise],
  ["an outcome without any", () => outcome(() => ({})), modelTexts.noOutcomes],
  ["a number among the outcomes", () => outcome(() => ({ y: 3 })), modelTexts.noDistribution("y", 3)],
  [
    "an outcome that uses what is no parameter",
    () => define({ outcome: (({ thetta }, { x }) => normal(mul(thetta, x), 1)) as Definition["outcome"] }),
    modelTexts.outcomeUses("thetta", "parameters", ["theta", "phi"]),
  ],
  [
    "an outcome that uses what is no design",
    () =>
      define({ outcome: (({ theta }, { dose }) => normal(mul(theta, dose), 1)) as Definition["outcome"] }),
    modelTexts.outcomeUses("dose", "design", ["x"]),
  ],
  [
    "an outcome that calculates with what is nowhere",
    () => define({ outcome: ((_, { dose }) => normal(Number(dose), 1)) as Definition["outcome"] }),
    modelTexts.outcomeUses("dose", "design", ["x"]),
  ],
  [
    "an outcome that fails by itself",
    () =>
      outcome(() => {
        throw new TypeError("x is not a function");
      }),
    modelTexts.outcomeFailed("x is not a function"),
  ],
  [
    "a negative standard deviation of the outcome",
    () => define({ outcome: (({ theta }) => normal(theta, -1)) as Definition["outcome"] }),
    argumentTexts.positive("normal", "the standard deviation", -1),
  ],
  [
    "a probability above 1 in the outcome",
    () => outcome(() => bernoulli({ probability: 1.5 })),
    argumentTexts.probability("bernoulli", 1.5),
  ],

  // Distributions.
  [
    "a mean that is left out",
    () => normal(any(undefined), 1),
    argumentTexts.value("normal", "the mean", undefined),
  ],
  [
    "a spread that is left out",
    () => any<(x: number) => unknown>(normal)(0),
    argumentTexts.value("normal", "the standard deviation", undefined),
  ],
  [
    "a list as a mean",
    () => logNormal(any([1]), 1),
    argumentTexts.value("logNormal", "the mean of the logarithm", [1]),
  ],
  ["a bare number for bernoulli", () => bernoulli(any(0.3)), argumentTexts.bare("bernoulli", 0.3, LOGIT)],
  [
    "nothing for bernoulli",
    () => bernoulli(any(undefined)),
    argumentTexts.bare("bernoulli", undefined, LOGIT),
  ],
  [
    "another name for a probability",
    () => bernoulli(any({ p: 0.3 })),
    argumentTexts.unknown("bernoulli", "p", LOGIT, "probability"),
  ],
  [
    "a misspelt probability",
    () => bernoulli(any({ probabilty: 0.3 })),
    argumentTexts.unknown("bernoulli", "probabilty", LOGIT, "probability"),
  ],
  ["neither logit nor probability", () => bernoulli(any({})), argumentTexts.choose("bernoulli", [], LOGIT)],
  [
    "both logit and probability",
    () => bernoulli(any({ logit: 0, probability: 0.5 })),
    argumentTexts.choose("bernoulli", ["logit", "probability"], LOGIT),
  ],
  [
    "a text as a logit",
    () => bernoulli({ logit: any("1") }),
    argumentTexts.value("bernoulli", "the logit", "1"),
  ],
  ["trials left out", () => binomial(any({ logit: 0 })), argumentTexts.missing("binomial", "trials", TRIALS)],
  ["half a trial", () => binomial({ trials: 1.5, logit: 0 }), argumentTexts.trials(1.5)],
  [
    "a list without a name",
    () => categorical(any([0, 1])),
    argumentTexts.bare("categorical", [0, 1], [["logits", "probabilities"]]),
  ],
  [
    "a number as logits",
    () => categorical({ logits: any(1) }),
    argumentTexts.list("categorical", "logits", 1),
  ],
  ["one logit", () => categorical({ logits: [0] }), argumentTexts.few("categorical", 1)],
  [
    "a hole among logits",
    () => categorical({ logits: [0, any(undefined)] }),
    argumentTexts.value("categorical", "one of its logits", undefined),
  ],
  [
    "another name for a rate",
    () => poisson(any({ lambda: 2 })),
    argumentTexts.unknown("poisson", "lambda", [["rate", "logRate"]], "rate"),
  ],
  [
    "another name for a scale",
    () => studentT(any({ freedom: 3, location: 0, sd: 1 })),
    argumentTexts.unknown("studentT", "sd", [["freedom"], ["location"], ["scale"]], "scale"),
  ],
  [
    "degrees of freedom below 0",
    () => studentT({ freedom: -1, location: 0, scale: 1 }),
    argumentTexts.positive("studentT", "the degrees of freedom", -1),
  ],
  ["bounds of a uniform the wrong way around", () => uniform(2, 1), argumentTexts.bounds(2, 1)],
  ["an endless uniform", () => uniform(0, Infinity), argumentTexts.bounds(0, Infinity)],
];

describe("a mistake", () => {
  test.each(CASES)("%s", (_, run, text) => {
    const error = caught(run);
    expect(error).toBeInstanceOf(InputError);
    expect((error as Error).message).toContain(text);
    // One sentence, in which no line was broken and nothing unsaid slipped in.
    expect(text).not.toMatch(/\n|\[object|\. /);
    expect(text).toMatch(/[:;] |^"/);
    // In this file, not in the library.
    expect((error as TraceError).location).toMatch(/definition-mistakes\.test\.ts:\d+:\d+$/);
  });

  test("in a distribution within the outcome has the line of the distribution", () => {
    let line = 0;
    const here = (): number => Number(/:(\d+):\d+\)?$/.exec(new Error().stack?.split("\n")[2] ?? "")?.[1]);
    const error = caught(() =>
      outcome(() => {
        line = here() + 1;
        return bernoulli(any({ p: 0.3 }));
      }),
    );
    expect((error as TraceError).location).toMatch(new RegExp(`:${line}:\\d+$`));
  });

  // One value of theta in about 700 is below 0, which defining the model does not meet.
  const rare = { theta: target(normal(3, 1)), phi: sensitive(normal(0, 1)) };

  test("of a few draws has the model, the values and the line", () => {
    const spread: Definition["outcome"] = ({ theta, phi }, { x }) => normal(phi, mul(theta, x));
    const model = define({ parameters: rare, outcome: spread });
    const error = caught(() => priorPredictive(model, { x: 2 }, { draws: 10_000 })) as TraceError;
    const [, sd, theta] =
      /standard deviation (-[\d.]+): .+ the model "line" .+ theta = (-[\d.]+), phi = -?[\d.]+, x = 2: take exp/.exec(
        error.message,
      ) ?? [];
    expect(Number(sd)).toBeCloseTo(2 * Number(theta), 3);
    expect(error.location).toMatch(/definition-mistakes\.test\.ts:\d+:\d+$/);
  });

  test("of a few draws in a prior has the parameter, the values and the line", () => {
    const phi = sensitive(({ theta }) => normal(0, mul(1, theta)));
    const model = define({ parameters: { ...rare, phi } });
    const error = caught(() => priorPredictive(model, { x: 2 }, { draws: 10_000 })) as TraceError;
    expect(error.message).toMatch(
      /standard deviation -.+; the prior of "phi" .+ where theta = -[\d.]+: take exp/,
    );
    expect(error.location).toMatch(/definition-mistakes\.test\.ts:\d+:\d+$/);
  });

  test("in a jump of the outcome is told by the gradient", () => {
    const jumps: Definition["outcome"] = ({ theta }, { x }): Distribution =>
      normal(select(less(x, 1), 0, theta), 1);
    expect(() => define({ outcome: jumps })).toThrow(/the gradient in "x" is .*: the outcome must be smooth/);
  });
});
