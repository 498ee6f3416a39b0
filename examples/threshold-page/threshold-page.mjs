/**
 * How well a policy finds somebody's threshold, and how little it learns about their anxiety: a rehearsal with made-up
 * participants, before anybody opens the page.
 *
 * For: a psychologist who measures the intensity at which people begin to notice a faint spot, in a web page, with ten
 * spots. Alarming surroundings make answers more consistent, and shift the threshold of those who are anxious by nature;
 * nobody has agreed to an anxiety test.
 *
 * Run: node threshold-page.mjs (about 10 seconds, no network). The page itself: see README.md in this folder.
 *
 * What is printed: for three ways of choosing the ten spots, how far the estimated threshold is from the true one (the
 * root of the mean squared error; without any spot it would be 1), and how much of the variance of anxiety the answers
 * explain (0 %: nothing is learnt of it), over 200 made-up participants, with standard errors.
 */
import { readFileSync } from "node:fs";
import { runPolicy, seededStream } from "fairbed";
import { decodePolicy } from "fairbed/design";
import model from "./model.mjs";

const PARTICIPANTS = 200;
const SPOTS = 10;
const policy = decodePolicy(readFileSync(new URL("./policy.fairbed", import.meta.url)));

/** Fainter after a spot that was noticed, stronger after one that was not, by ever smaller steps. */
const staircase = (alarm) => (history) => {
  const step = (at, { outcome }, i) => at + (outcome.outcome === 1 ? -1 : 1) / (1 + i / 3);
  return { intensity: Math.max(-3, Math.min(3, history.reduce(step, 0))), alarm };
};
const WAYS = {
  "staircase in an alarming ring": staircase(1),
  "staircase in a calm ring": staircase(0),
  "the trained policy": undefined,
};

const meanOf = (values) => values.reduce((a, b) => a + b) / values.length;
const standardError = (values) => {
  const mean = meanOf(values);
  return Math.sqrt(meanOf(values.map((value) => (value - mean) ** 2)) / (values.length - 1));
};

console.log(`${PARTICIPANTS} made-up participants, ${SPOTS} spots each`);
for (const [name, choose] of Object.entries(WAYS)) {
  const squared = [];
  const explained = [];
  for (let i = 0; i < PARTICIPANTS; i++) {
    const person = seededStream(1).split(i); // the same people for every way
    const [threshold, anxiety] = [person.normal(), person.normal()];
    const session = runPolicy(model, policy, { seed: i });
    while (!session.done) {
      const design = choose?.(session.history) ?? (await session.next());
      const { intensity, alarm } = design;
      const notices = 1 / (1 + Math.exp(-(1 + 2 * alarm) * (intensity - threshold - alarm * anxiety)));
      session.tell(person.uniform() < notices ? 1 : 0, { design });
    }
    const { parameters } = await session.posterior({ particles: 1024 });
    squared.push((parameters.threshold.mean - threshold) ** 2);
    explained.push(1 - parameters.anxiety.sd ** 2);
  }
  const error = Math.sqrt(meanOf(squared));
  console.log(`  ${name}`);
  console.log(
    `    threshold missed by ${error.toFixed(2)} ± ${(standardError(squared) / (2 * error)).toFixed(2)}`,
  );
  console.log(
    `    ${Math.abs(100 * meanOf(explained)).toFixed(0)} ± ${(100 * standardError(explained)).toFixed(0)} % of the variance of anxiety explained`,
  );
}
