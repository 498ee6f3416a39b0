/** A model of the labelled rows, what it is worth in every group, its file, and what it says of others. */
import { fitModel, predict, readModel, tableOf } from "fairbed";

const people = Array.from({ length: 120 }, (_, i) => ({
  skill: (i * 5) % 8,
  town: ["north", "south", "east"][i % 3],
  sex: i % 2 === 0 ? "f" : "m",
  hired: i < 100 ? ((i * 5) % 8 > 3 ? "yes" : "no") : null, // the last twenty are not decided yet
}));
const model = await fitModel(tableOf(people), { target: "hired=yes", sensitive: ["sex"] });
for (const { name, rows, rates } of model.heldOut.groups[0].groups)
  console.log(`${name}: ${rows} rows held out, accuracy ${rates.accuracy.value.toFixed(2)}`);

const file = JSON.stringify(model); // to a disk, a server, another page: it answers with the same bits
const { predicted, probability } = await predict(readModel(file), tableOf([{ skill: 7, town: "west" }]));
console.log(`${predicted[0]}, with probability ${probability[0].toFixed(2)} of yes`);
