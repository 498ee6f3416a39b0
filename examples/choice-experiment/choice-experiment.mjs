/**
 * A discrete-choice experiment: which pairs of connections to put before commuters.
 *
 * For: a transport researcher who wants to know what a minute is worth to each respondent, from five choices. Option B is
 * faster than option A, and costs more, or is a longer walk away, or both. How somebody weighs a fare tells how much money
 * they have, which nobody needs to know here.
 *
 * Run: node choice-experiment.mjs (about 10 seconds, no network).
 *
 * The model is the usual one: B is chosen with probability 1 / (1 + exp(-(utility of B - utility of A))), with a weight for
 * minutes (wanted), one for euros (sensitive), and a known one for metres of walking, as an earlier study found it.
 *
 * What is printed: the pairs of three designs, and what the five choices are expected to tell about the weight of minutes
 * and give away about that of euros, in nats, exact by enumerating all 2^5 answers; and one respondent. The search finds
 * what an experienced researcher may guess: let people pay for minutes with a walk, and not with money.
 */
import { evaluatePolicy, runPolicy, trainPolicy } from "fairbed";
import { add, bernoulli, defineModel, mul, normal, real, sensitive, sub, target } from "fairbed/design";

const WALK = 0.4; // utility lost by 100 metres
const commute = defineModel({
  name: "commuters",
  parameters: {
    minute: target(normal(0.15, 0.1)), // utility of a minute saved
    euro: sensitive(normal(0.8, 0.4)), // utility of a euro not spent
  },
  design: {
    saved: real({ low: 5, high: 30 }),
    fare: real({ low: 0, high: 4 }),
    walk: real({ low: 0, high: 10 }),
  },
  outcome: ({ minute, euro }, { saved, fare, walk }) =>
    bernoulli({ logit: sub(mul(minute, saved), add(mul(euro, fare), mul(WALK, walk))) }),
});

const HORIZON = 5;
const trained = (beta) =>
  trainPolicy(commute, { horizon: HORIZON, beta, steps: 500, starts: 2, evaluation: false });
const fair = await trained(1);
const designs = {
  // Minutes against money, with a walk now and then.
  "The usual design": [
    [10, 1, 0],
    [10, 2, 2],
    [20, 2, 0],
    [20, 3, 2],
    [30, 4, 0],
  ],
  "The most informative design that was found (beta 0)": (await trained(0)).designs,
  "The fair design that was found (beta 1)": fair.designs,
};

/** To what can be put into a questionnaire: whole minutes, ten cents, 50 metres. */
const rounded = ([saved, fare, walk]) => [
  Math.round(saved),
  Math.round(10 * fare) / 10,
  Math.round(2 * walk) / 2,
];
for (const [name, found] of Object.entries(designs)) {
  const pairs = found.map(rounded).toSorted((a, b) => a[0] - b[0] || a[1] - b[1] || a[2] - b[2]);
  const policy = { kind: "static", horizon: HORIZON, designs: pairs };
  const { target: told, sensitive: leaked } = await evaluatePolicy(commute, policy, { exact: true });
  console.log(name);
  for (const [saved, fare, walk] of pairs) {
    console.log(
      `  B saves ${saved} minutes, costs ${fare.toFixed(2)} euros more, is ${100 * walk} metres away`,
    );
  }
  console.log(
    `  ${told.lower.toFixed(3)} nats about minutes, ${Math.max(0, leaked.lower).toFixed(3)} about euros`,
  );
}

// Somebody to whom a minute is worth 0.2 and a euro 1: the likelier choice each time.
const session = runPolicy(commute, fair);
while (!session.done) {
  const { saved, fare, walk } = await session.next();
  session.tell(0.2 * saved - 1 * fare - WALK * walk > 0 ? 1 : 0);
}
const { minute, euro } = (await session.posterior()).parameters;
const known = ({ mean, sd }) => `${mean.toFixed(2)} ± ${sd.toFixed(2)}`;
console.log("One respondent of the fair design");
console.log(`  the weight of a minute is ${known(minute)} (before: 0.15 ± 0.10)`);
console.log(`  the weight of a euro is ${known(euro)} (before: 0.80 ± 0.40)`);
