/** Live acquisition: ask whose label says most and gives away least, wait for the answers, stop, and go on later. */
import { acquisition, predict, tableOf } from "fairbed";

const people = Array.from({ length: 120 }, (_, i) => ({
  id: `p${i}`,
  skill: i % 7,
  district: i % 5,
  sex: i % 5 < 3 ? "female" : "male",
  hired: i < 8 ? (i % 7 > 3 ? "yes" : "no") : null, // the others have not been asked
}));
const table = tableOf(people);
const clinic = async (id) => (id.endsWith("3") ? "refused" : Number(id.slice(1)) % 7 > 3 ? "yes" : "no");

const session = acquisition(table, { target: "hired=yes", sensitive: ["sex"], id: "id" });
for (const candidate of await session.ask(5)) session.tell(candidate, await clinic(candidate.id));
const saved = JSON.stringify(session); // a file, a database, local storage: all that is needed to go on

const later = acquisition.resume(table, JSON.parse(saved));
await later.run({ oracle: ({ id }) => clinic(id), budget: 20, batch: 5 });
const { predicted } = await predict(await later.model(), tableOf([{ skill: 6, district: 1 }]));
console.log(`${later.labelled} labels, ${later.pool} left to ask; the next one: ${predicted[0]}`);
