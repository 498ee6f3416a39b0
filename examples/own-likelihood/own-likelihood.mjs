/**
 * A likelihood of your own: what the questions of a short test should be like.
 *
 * For: somebody who writes a screening test of five multiple-choice questions in mathematics. Word problems tell good
 * from weak pupils better than bare sums do, but pupils who read the language of the school less well lose points by
 * them, so the answers also say who those are. How hard should the questions be, and how wordy?
 *
 * Run: node own-likelihood.mjs (about 10 seconds, no network).
 *
 * The model is the three-parameter logistic model of item response theory, with a question's text as a second design
 * variable. FairBED does not ship it: it is the function `outcome` below, which is all that has to be written. FairBED
 * checks its gradient, goes through all 2^5 answer sheets, and needs no samples.
 *
 * What is printed: for the usual test, the most informative one and a fair one, how hard and wordy the questions are, and
 * what five answers tell about mathematics and give away about reading. Nats are turned into what a test's reliability
 * says: the share of the variance between pupils that the answers explain, as it would be if all were normal. Then one
 * pupil's answers, and what is known of this pupil. All pupils have the same prior, so that nothing is known beforehand.
 */
import { evaluatePolicy, runPolicy, trainPolicy } from "fairbed";
import {
  add,
  bernoulli,
  defineModel,
  div,
  exp,
  mul,
  normal,
  real,
  sensitive,
  sub,
  target,
} from "fairbed/design";

const GUESSED = 0.25; // one of four answers is right by chance
const logistic = (x) => div(1, add(1, exp(mul(-1, x))));

const screening = defineModel({
  name: "screening-test",
  parameters: { mathematics: target(normal(0, 1)), reading: sensitive(normal(0, 1)) },
  design: { difficulty: real({ low: -3, high: 3 }), text: real({ low: 0, high: 1 }) },
  outcome: ({ mathematics, reading }, { difficulty, text }) => {
    const slope = add(0.8, mul(1.2, text)); // word problems tell pupils apart better
    const ability = add(mathematics, mul(text, reading)); // and ask for reading too
    const solved = logistic(mul(slope, sub(ability, difficulty)));
    return bernoulli({ probability: add(GUESSED, mul(1 - GUESSED, solved)) });
  },
});

const HORIZON = 5;
const trained = (beta) =>
  trainPolicy(screening, { horizon: HORIZON, beta, steps: 500, starts: 3, evaluation: false });
const fair = await trained(1);
const tests = {
  "The usual test: word problems of several levels": [-1, -0.5, 0, 0.5, 1].map((difficulty) => [
    difficulty,
    0.8,
  ]),
  "The most informative test that was found (beta 0)": (await trained(0)).designs,
  "A fair test (beta 1)": fair.designs,
};

const two = (value) => (Math.round(100 * value) / 100 + 0).toFixed(2);
/** Of a normal quantity: 1 - exp(-2 I) of its variance is explained by I nats. */
const explained = (nats) => `${(100 * (1 - Math.exp(-2 * nats))).toFixed(0)} %`;
for (const [name, designs] of Object.entries(tests)) {
  const policy = { kind: "static", horizon: HORIZON, designs };
  const { target: told, sensitive: leaked } = await evaluatePolicy(screening, policy, { exact: true });
  console.log(name);
  const questions = designs.toSorted(([a], [b]) => a - b);
  console.log(`  difficulty: ${questions.map(([difficulty]) => two(difficulty)).join(", ")}`);
  console.log(`  text:       ${questions.map(([, text]) => two(text)).join(", ")}`);
  console.log(`  about mathematics: ${two(told.lower)} nats, ${explained(told.lower)} of the variance`);
  console.log(
    `  about reading:     ${leaked.lower.toFixed(3)} nats, ${explained(leaked.lower)} of the variance`,
  );
}

const session = runPolicy(screening, fair);
const answers = [1, 1, 0, 1, 1];
for (const right of answers) {
  await session.next();
  session.tell(right);
}
const { mathematics, reading } = (await session.posterior()).parameters;
console.log(
  `One pupil, ${answers.filter(Boolean).length} of ${HORIZON} right in the fair test (before: 0 ± 1 for both)`,
);
for (const [name, { mean, sd }] of Object.entries({ mathematics, reading })) {
  console.log(`  ${name}: ${two(mean)} ± ${two(sd)}`);
}
