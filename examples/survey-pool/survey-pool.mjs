/**
 * Whom to ask in a survey, and what the answers of those who were asked say about everybody.
 *
 * For: somebody who runs a survey from a register and can pay for 180 answers. A town wants to know who would use an
 * evening bus. The answers will be passed on, so they should say much about the bus and little about where people were
 * born. Birthplaces are not in the register: people say where they were born when they answer, and some refuse.
 *
 * Run: node survey-pool.mjs (a few seconds, no network). All people are made up, so the truth is known.
 *
 * What is printed: who is asked first and why; who answered, by birthplace, beside the town; estimates for the whole
 * town, which rest on the answers of those drawn at random, beside the truth; and, on a town whose answers are all known,
 * whether choosing people gained anything over drawing all of them at random.
 */
import { acquisition, seededStream, simulate, tableOf } from "fairbed";
import { poolMean } from "fairbed/active";

/** People born abroad live nearer to the centre and work more shifts: that is what gives them away. */
const makeTown = (residents, seed) => {
  const stream = seededStream(seed);
  const chance = (probability) => stream.uniform() < probability;
  return Array.from({ length: residents }, (_, i) => {
    const abroad = chance(0.3);
    const kilometres = Math.round(10 + (abroad ? 40 : 90) * stream.uniform()) / 10;
    const shifts = chance(abroad ? 0.55 : 0.2) ? "yes" : "no";
    const car = chance(0.6) ? "yes" : "no";
    const age = 18 + Math.floor(60 * stream.uniform());
    const wish =
      1.6 * (shifts === "yes") - 1.8 * (car === "yes") + 0.25 * (kilometres - 4) - 0.03 * (age - 45);
    const bus = chance(1 / (1 + Math.exp(-wish))) ? "yes" : "no";
    return { id: `resident ${i}`, age, kilometres, shifts, car, born: abroad ? "abroad" : "here", bus };
  });
};

const RESIDENTS = 800;
const BUDGET = 180;
const PILOT = 20; // answered before, drawn at random
const town = makeTown(RESIDENTS, 1);
const answers = []; // in the order in which they came
let refusals = 0;

/** What the interviewer brings home: the answer and the birthplace, or, from one in eight, nothing. */
const interview = ({ row, probability }) => {
  if (row % 8 === 5) {
    refusals += 1;
    return "refused";
  }
  answers.push({ ...town[row], probability: probability ?? undefined });
  return { label: town[row].bus, sensitive: town[row].born };
};

const register = town.map((person, i) => (i < PILOT ? person : { ...person, bus: null, born: null }));
const survey = acquisition(tableOf(register), {
  id: "id",
  target: "bus=yes",
  sensitive: ["born"],
  shares: "population", // birthplaces at their shares of the town, as far as answers tell what those are
  randomPart: 0.4, // two in five are drawn at random, whatever their score
  batchKind: "rank", // high scores are likelier, so that not all of a batch are alike
});

console.log("The first ten to ask");
for (const { id, values, reason, target, leakage } of await survey.ask(10)) {
  const why =
    reason === "random"
      ? "drawn at random"
      : `to tell ${target.toFixed(3)} nats about the bus, ${leakage.toFixed(3)} about birthplaces`;
  console.log(`  ${id}, ${values.age} years, ${values.kilometres} km from the centre: ${why}`);
}
await survey.run({ oracle: interview, budget: BUDGET - PILOT, batch: 10 });

const percent = (share) => `${(100 * share).toFixed(0)} %`;
const between = ([low, high]) => `${percent(low)} to ${percent(high)}`;
const share = (people, column, value) =>
  people.filter((person) => person[column] === value).length / people.length;
console.log(`\n${PILOT} answers of the pilot, ${answers.length} more, and ${refusals} refusals`);
console.log(
  `  born abroad: ${percent(share(answers, "born", "abroad"))} of those who answered, ${percent(share(town, "born", "abroad"))} of the town`,
);

const drawn = answers.filter(({ probability }) => probability !== undefined).length;
const wishes = poolMean(
  answers,
  answers.map(({ bus }) => Number(bus === "yes")),
);
console.log(`\nThe whole town, from the ${drawn} who were drawn at random (95 % intervals)`);
console.log(
  `  would use the bus: ${percent(wishes.mean)} (${between(wishes.interval)}); in truth ${percent(share(town, "bus", "yes"))}`,
);
const { accuracy, leakageAuc } = await survey.estimate();
console.log(
  `  a model of the answers predicts what somebody wants: right for ${percent(accuracy.value)} (${between(accuracy.interval)})`,
);
const [low, high] = leakageAuc.interval.map((end) => end.toFixed(2));
console.log(
  `  a model of birthplaces tells the two groups apart with an AUC of ${leakageAuc.value.toFixed(2)} (${low} to ${high}); 0.50 is guessing`,
);

// Was it worth it? On another town, all of whose answers are known, against drawing everybody at random.
const REHEARSALS = 12;
const { againstRandom } = await simulate(tableOf(makeTown(RESIDENTS, 2)), {
  target: "bus=yes",
  sensitive: ["born"],
  exclude: ["id"],
  methods: ["random", "fairbed"],
  budget: BUDGET,
  batch: 10,
  batchKind: "rank",
  randomPart: 0.4,
  poolAttributes: "revealed", // a birthplace is known only once somebody has answered
  trees: 40,
  checkpoints: [BUDGET],
  seeds: REHEARSALS,
});
console.log(`\nA rehearsal on another town, ${REHEARSALS} times, against drawing everybody at random`);
const [{ sentence, verdict }] = againstRandom.methods;
console.log(`  ${sentence}`);
const ADVICE = {
  better: "choose people as above",
  open: "drawing everybody at random is as good, and simpler",
  worse: "draw everybody at random",
  mixed: "weigh what is gained against what is lost",
};
console.log(`In short: ${ADVICE[verdict]}.`);
