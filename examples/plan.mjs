/** How to reach parity at the least cost: recipes tried out on a pilot table, and the one that is recommended. */
import { acquisition, plan, syntheticPool, tableOf } from "fairbed";

const { table, settings } = syntheticPool({ rows: 400, seed: 2, bias: 0.6 });
const found = await plan(table, {
  ...settings,
  parity: 0.8,
  labels: 30,
  methods: ["epig"],
  learners: ["logistic"],
  trees: 10,
  batch: 5,
});
console.log(found.answer.recommendation);
console.log(found.answer.reached);
console.log(found.answer.random);

// Go on with it on people who are not labelled yet.
const people = Array.from({ length: 60 }, (_, i) => ({
  skill: i % 8,
  sex: i % 3 === 0 ? "f" : "m",
  hired: i < 8 ? (i % 2 === 0 ? "yes" : "no") : null,
}));
const session = acquisition(tableOf(people), {
  target: "hired=yes",
  sensitive: ["sex"],
  ...found.recipe.acquisition,
});
console.log(`${(await session.ask(3)).length} are asked next, by ${found.recipe.acquisition.method}`);
