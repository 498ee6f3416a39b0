/** Whom to ask next: the candidates whose label says the most about the target and gives away the least. */
import { rankPool, tableOf } from "fairbed";

const person = (i) => {
  const sex = (3 * i) % 7 < 3 ? "f" : "m";
  const club = i % 4 > 0 ? "none" : sex === "f" ? "choir" : "football"; // where it is known, it gives the sex away
  return { id: i, skill: (7 * i) % 11, years: (5 * i) % 9, club, sex };
};
const hired = ({ id, skill, years }) => (skill + years + (id % 3) > 9 ? "yes" : "no");
const labelled = tableOf(Array.from({ length: 60 }, (_, i) => ({ ...person(i), hired: hired(person(i)) })));
const pool = tableOf(Array.from({ length: 200 }, (_, i) => person(i + 50))); // ten of them are labelled already

const ranking = await rankPool(pool, { labelled, target: "hired=yes", sensitive: ["sex"], id: "id", top: 5 });
console.log(`${ranking.rows} candidates; ${ranking.notes.join("; ")}`);
for (const { rank, id, reason, target, leakage } of ranking.candidates) {
  // A part is drawn at random, so that something can be said of everybody.
  const why =
    reason === "random"
      ? "drawn at random"
      : `${target.toFixed(3)} nats about hiring, ${leakage.toFixed(3)} about sex`;
  console.log(`${rank}. person ${id}: ${why}`);
}
