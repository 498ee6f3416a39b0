/** A campaign: questions with their reasons, answers that are late, repeated or corrected, a withdrawal, and a replay. */
import { tableOf } from "fairbed";
import { Campaign, memoryStore, replayCampaign } from "fairbed/campaign";

const people = Array.from({ length: 120 }, (_, i) => ({
  id: `p${i}`,
  skill: i % 7,
  district: i % 5,
  sex: i % 5 < 3 ? "female" : "male",
  hired: i < 8 ? (i % 7 > 3 ? "yes" : "no") : null, // the others have not been asked
}));
const answer = (id) => (Number(id.slice(1)) % 7 > 3 ? "yes" : "no");

// In Node a file keeps it: openStore("sqlite:campaigns.db") of fairbed/stores; in a page indexedDbStore().
const store = memoryStore();
const campaign = await Campaign.create(store, "hiring", {
  table: tableOf(people),
  acquisition: { id: "id", target: "hired=yes", sensitive: ["sex"] },
  budget: 30,
});
for (let day = 0; day < 4; day++) {
  await campaign.settle(); // the ranking knows all answers; without it ask serves the last one
  const { questions } = await campaign.ask(4, { annotator: "ann" });
  await campaign.tell(
    questions.map(({ id }) => ({ id, label: answer(id), annotator: "ann", event: `ann-${id}` })),
  );
  if (day === 0) for (const { id, why } of questions) console.log(`${id}: ${why}`);
  // Told again, it is the same answer; told otherwise, it is a correction.
  await campaign.tell({
    id: questions[0].id,
    label: answer(questions[0].id),
    annotator: "ann",
    event: `ann-${questions[0].id}`,
  });
}
await campaign.tell({ id: "p50", label: "yes" }); // nobody had asked
const { decisions, agreeing } = await replayCampaign(store, "hiring");
console.log(`${decisions} decisions, ${agreeing} of them the same when computed again`);
await campaign.withdraw("p50"); // gone from the store too
const { labelled, unasked, withdrawn, open } = campaign.status().counts;
console.log(`${labelled} labels, ${unasked} unasked, ${withdrawn} withdrawn, ${open} left to ask`);
