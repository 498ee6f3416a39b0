/** What a table gives away about a sensitive attribute, and which columns carry it. The same in Node and in a page. */
import { auditTable, tableOf } from "fairbed";

const people = Array.from({ length: 160 }, (_, i) => ({
  sex: i % 2 === 0 ? "f" : "m",
  height: 165 + 9 * (i % 2) + ((i * 7) % 12), // overlaps, and says much
  skill: (Math.floor(i / 2) * 5) % 8, // the same for both
  hired: (Math.floor(i / 2) * 5) % 8 > 3 - (i % 2) ? "yes" : "no",
}));
const quick = { adversaries: ["logistic", "lookup"], plants: 2, permutations: 199 }; // leave out for all of them
const { attributes } = await auditTable(tableOf(people), {
  target: "hired=yes",
  sensitive: ["sex"],
  ...quick,
});
const { leakage, columns } = attributes[0].audit;
const { nats, interval, pValue } = leakage.unconditional;
const chance = pValue < 0.001 ? "p below 0.001" : `p = ${pValue.toFixed(3)}`;
console.log(
  `about sex: ${nats.toFixed(2)} nats per record (${interval.map((end) => end.toFixed(2)).join(" to ")}), ${chance}`,
);
console.log(`columns that stand in for it: ${columns.filter(({ proxy }) => proxy).map(({ name }) => name)}`);
