/**
 * One of several processes that ask and tell at once: `node collector.mjs STORE NAME CAMPAIGN`. Writes a line for whatever
 * was acknowledged, as soon as it was: who kills it then knows what must be there.
 */
import { writeSync } from "node:fs";
import { Campaign } from "../../dist/campaign/index.js";
import { modelThread } from "../../dist/jobs/model-thread.js";
import { openStore } from "../../dist/stores/open-store.js";

const [address, own, name] = process.argv.slice(2);
const say = (line) => writeSync(1, `${JSON.stringify(line)}\n`);
const labelOf = (id) => ((Number(id.slice(1)) * 7) % 17 > 5 ? "yes" : "no");

const store = await openStore(address);
const campaign = await Campaign.open(store, name, { models: modelThread() });
say({ ready: true });
for (let round = 0; ; round++) {
  const request = `${own}-${process.pid}-${round}`;
  // Several at once, as a server has them.
  await Promise.all(
    [0, 1, 2].map(async (lane) => {
      const { questions } = await campaign.ask(2, {
        annotator: `${own}-${lane}`,
        request: `${request}-${lane}`,
      });
      say({ asked: questions.map(({ id }) => id) });
      for (const [i, { id, annotator }] of questions.entries()) {
        // A little thinking, or the pool would be used up before the last kill.
        await new Promise((resolve) => setTimeout(resolve, 60 * Math.random()));
        const event = `${request}-${lane}-${i}`;
        const [{ status }] = await campaign.tell({ id, label: labelOf(id), annotator, event });
        say({ told: event, id, status });
        // Some tell again what they are not sure of.
        if (i === 0) {
          const [again] = await campaign.tell({ id, label: labelOf(id), annotator, event });
          if (again.status !== "duplicate") say({ fault: `${event} told again was ${again.status}` });
        }
      }
      if (questions.length === 0) say({ dry: true });
    }),
  );
}
