/**
 * A study in four hospitals whose records must not say which hospital they come from.
 *
 * For: the data manager of a study. Experts will read 120 of 800 stays and say who could have gone home a day earlier.
 * What they labelled is published, so nobody should be able to tell the hospital from a record. There are two places to
 * do something about it: the columns that are published, and the choice of the 120 stays.
 *
 * Run: node hospital-sites.mjs (about 10 seconds, no network). All records are made up.
 *
 * What is printed: what a record gives away about its hospital, in nats, and which columns carry it, at first and after
 * each remedy. Four hospitals of equal size have 1.39 nats to give away (the logarithm of four); at 0 a record says
 * nothing. Beside it stands the least that so many records would have shown, since "nothing found" means nothing without
 * it. Then whether choosing the stays with FairBED hides the hospital better than drawing them at random. Here it does not:
 * what is published decides, and the ranks in tenths still give something away, since the whole numbers of sodium fall
 * on other tenths in each hospital.
 */
import { auditTable, seededStream, simulate, tableOf } from "fairbed";

const STAYS = 800;
const LABELS = 120;
const WARDS = ["surgery", "medicine", "heart"];
const HOSPITALS = [
  { name: "north", wards: ["N1", "N2", "N3"], lactateUnit: 1, sodiumShift: 0 },
  { name: "south", wards: WARDS, lactateUnit: 9, sodiumShift: 0.5 }, // lactate in mg/dl, elsewhere in mmol/l
  { name: "east", wards: ["N1", "N2", "N3"], lactateUnit: 1, sodiumShift: 3.5 }, // a device that reads high
  { name: "west", wards: ["A", "B", "C"], lactateUnit: 1, sodiumShift: -2.5 },
];

const stream = seededStream(7);
const chance = (probability) => (stream.uniform() < probability ? "yes" : "no");
const collected = Array.from({ length: STAYS }, (_, i) => {
  const { name, wards, lactateUnit, sodiumShift } = HOSPITALS[i % HOSPITALS.length];
  const ward = Math.floor(WARDS.length * stream.uniform());
  const age = Math.round(62 + 14 * stream.normal());
  const lactate = Math.exp(0.4 + 0.4 * stream.normal());
  const mobile = chance(0.6);
  const ready = 1.2 * (mobile === "yes") - 0.05 * (age - 62) - 1.2 * (lactate - 1.6) - 0.4 * (ward === 2);
  return {
    hospital: name,
    ward: wards[ward],
    age,
    lactate: Number((lactate * lactateUnit).toFixed(1)),
    sodium: Math.round(139 + 3 * stream.normal() + sodiumShift),
    mobile,
    earlier: chance(1 / (1 + Math.exp(-ready))),
  };
});

/** Wards by what they do, whatever a hospital calls them. */
const renamed = collected.map((stay) => {
  const { wards } = HOSPITALS.find(({ name }) => name === stay.hospital);
  return { ...stay, ward: WARDS[wards.indexOf(stay.ward)] };
});

/** Laboratory values by their place among those of the same hospital, in so many classes. */
const placed = (classes) =>
  renamed.map((stay) => {
    const own = renamed.filter(({ hospital }) => hospital === stay.hospital);
    const place = (column) =>
      Math.floor((classes * own.filter((other) => other[column] < stay[column]).length) / own.length);
    return { ...stay, lactate: place("lactate"), sodium: place("sodium") };
  });

const versions = {
  "As collected": collected,
  "Wards by what they do": renamed,
  "And laboratory values as tenths of their own hospital": placed(10),
  "As thirds instead of tenths": placed(3),
};
const ROLES = { target: "earlier=yes", sensitive: ["hospital"] };
const signed = (value) =>
  `${value < -0.0005 ? "" : "+"}${Math.abs(value) < 0.0005 ? "0.000" : value.toFixed(3)}`;
const nats = (value) => value.toFixed(2);

console.log("What a record gives away about its hospital, of 1.39 nats");
for (const [name, records] of Object.entries(versions)) {
  const { attributes } = await auditTable(tableOf(records), {
    ...ROLES,
    adversaries: ["logistic", "boosting", "lookup"], // leave out for all six
    permutations: 199,
    plants: 3,
  });
  const { leakage, columns } = attributes[0].audit;
  const { nats: found, interval, detectable } = leakage.unconditional;
  console.log(`  ${name}: ${nats(found)} (${interval.map(nats).join(" to ")})`);
  const carriers = columns.filter(({ proxy }) => proxy);
  if (carriers.length > 0) {
    console.log(
      `    carried by ${carriers.map(({ name, alone }) => `${name} (${nats(alone.nats)} by itself)`).join(", ")}`,
    );
  } else {
    console.log(`    no column stands in for it; a leak of ${nats(detectable)} would have been found`);
  }
}

// Does it matter which stays the experts read? All labels are known here, so it can be tried out.
console.log(
  `\nWhat ${LABELS} labelled stays give away, drawn at random and chosen with FairBED (12 trials each)`,
);
for (const name of ["Wards by what they do", "As thirds instead of tenths"]) {
  const { methods, againstRandom } = await simulate(tableOf(versions[name]), {
    ...ROLES,
    methods: ["random", "fairbed"],
    budget: LABELS,
    batch: 20,
    checkpoints: [LABELS],
    trees: 50,
    seeds: 12,
  });
  const [lot, chosen] = methods.map(({ final }) => final);
  const of = (measure) => `${measure.mean.toFixed(3)} ± ${measure.standardError.toFixed(3)}`;
  console.log(`  ${name}`);
  console.log(`    nats: ${of(lot.leakage)} at random, ${of(chosen.leakage)} chosen`);
  console.log(`    right about going home: ${of(lot.accuracy)} at random, ${of(chosen.accuracy)} chosen`);
  const leakage = againstRandom.methods[0].measures.find(({ measure }) => measure === "leakage");
  const verdict = {
    better: "choosing hides the hospital better than drawing at random",
    worse: "choosing gives away more than drawing at random",
    open: "these trials show no difference in what is given away",
  };
  console.log(`    ${verdict[leakage.verdict]} (difference ${leakage.interval.map(signed).join(" to ")})`);
}
