/**
 * A detection experiment that runs in the participant's browser and nowhere else: a policy of FairBED chooses the next
 * spot by what was noticed so far, jsPsych shows it, and a campaign in IndexedDB keeps every answer, so that a reload
 * loses nothing.
 */
import CallFunction from "@jspsych/plugin-call-function";
import HtmlKeyboardResponse from "@jspsych/plugin-html-keyboard-response";
import { runPolicy } from "fairbed";
import { backupLines, Campaign, indexedDbStore } from "fairbed/campaign";
import { decodePolicy, psychometric } from "fairbed/design";
import { initJsPsych } from "jspsych";
import "jspsych/css/jspsych.css";
import "./experiment.css";

const PARTICIPANT = "fairbed-participant";
const [NOTICED, NOT_NOTICED] = ["j", "f"];

const store = indexedDbStore("fairbed-jspsych");

/** A short hash (FNV-1a): another policy gives another name. */
const nameFor = (bytes) =>
  `threshold-${bytes.reduce((hash, byte) => Math.imul(hash ^ byte, 0x01000193) >>> 0, 0x811c9dc5).toString(16)}`;

/** The policy, and its campaign on this device, which begins with the first participant. */
const openCampaign = async () => {
  const response = await fetch(new URL("./policy.json", import.meta.url));
  if (!response.ok)
    throw new Error(`policy.json was not found (${response.status}): put it beside experiment.js`);
  const bytes = new Uint8Array(await response.arrayBuffer());
  const policy = decodePolicy(bytes);
  const name = nameFor(bytes);
  const known = await store.list();
  const campaign = known.some((each) => each.name === name)
    ? await Campaign.open(store, name)
    : await Campaign.create(store, name, { policy });
  return { policy, campaign };
};

/** Who takes part: the same after a reload. */
const participantHere = () => {
  const known = localStorage.getItem(PARTICIPANT) ?? crypto.randomUUID();
  localStorage.setItem(PARTICIPANT, known);
  return known;
};

/** Each unit of intensity doubles the contrast; at 0 it is 6 %. `context` is how strong the ring around the spot is. */
const contrastOf = (intensity) => Math.min(1, 0.06 * 2 ** intensity);

const spot = ({ step, design: { intensity, context } }) => `
  <div class="spot" data-step="${step}" data-intensity="${intensity}" data-context="${context}">
    <svg width="240" height="240" viewBox="-120 -120 240 240" role="img" aria-label="a spot, or nothing">
      <circle r="90" fill="none" stroke="#fff" stroke-width="10" stroke-opacity="${0.6 * context}" />
      <circle r="28" fill="#fff" fill-opacity="${contrastOf(intensity)}" />
    </svg>
  </div>`;

const KEYS = `<p><kbd>J</kbd> I noticed a spot &emsp; <kbd>F</kbd> I noticed none</p>`;

const greeting = (made, all) => `
  <h1>What do you notice?</h1>
  <p>A faint spot may appear in the middle of the screen, sometimes inside a ring.</p>
  ${KEYS}
  <p>${made === 0 ? `There are ${all} of them` : `You have seen ${made} of ${all}`}. Press the space bar to
  ${made === 0 ? "begin" : "go on"}. (You need a keyboard.)</p>`;

/** Spots in their order and where the threshold is, as shapes in a chart of 400 by 150. */
const chartOf = (history, [lower, upper]) => {
  const reach = Math.max(1, ...history.map(({ design }) => Math.abs(design.intensity)), -lower, upper);
  const y = (intensity) => 75 - (68 * intensity) / reach;
  const x = (index) => 20 + (360 * (index + 0.5)) / history.length;
  const dots = history.map(
    ({ design: { intensity }, outcome: { outcome } }, index) =>
      `<circle cx="${x(index)}" cy="${y(intensity)}" r="5" stroke="#111" fill="${outcome === 1 ? "#111" : "#f4f4f4"}" />`,
  );
  const band = `<rect x="0" width="400" y="${y(upper)}" height="${y(lower) - y(upper)}" fill="#9bc4e2" />`;
  return `<svg viewBox="0 0 400 150" role="img" aria-labelledby="caption">${band}<line x1="0" x2="400" y1="${y(0)}" y2="${y(0)}" stroke="#999" />${dots.join("")}</svg>`;
};

const download = async (name) => {
  const lines = [];
  for await (const line of backupLines(store, name)) lines.push(line);
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob(lines, { type: "application/x-ndjson" }));
  link.download = `${name}.jsonl`;
  link.click();
  URL.revokeObjectURL(link.href);
};

/** With two digits, and 0 without a sign. */
const digits = (value) => (Math.round(100 * value) / 100 + 0).toFixed(2);

const showResult = async (place, { policy, campaign, history }) => {
  const session = runPolicy(psychometric(), policy, { history });
  const { threshold } = (await session.posterior()).parameters;
  const content = document.querySelector("#result").content.cloneNode(true);
  content.querySelector("#mean").textContent = digits(threshold.mean);
  const [lower, upper] = threshold.interval;
  content.querySelector("#interval").textContent = `${digits(lower)} and ${digits(upper)}`;
  content.querySelector("#chart").innerHTML = chartOf(history, threshold.interval);
  content.querySelector("#download").addEventListener("click", () => download(campaign.name));
  content.querySelector("#again").addEventListener("click", () => {
    localStorage.removeItem(PARTICIPANT);
    location.reload();
  });
  place.className = "result";
  place.replaceChildren(content);
  place.dataset.threshold = JSON.stringify(threshold);
};

const run = async () => {
  const place = document.querySelector("#experiment");
  const { policy, campaign } = await openCampaign();
  const participant = participantHere();
  const history = () => campaign.now.content.state.participant(participant)?.history ?? [];
  const isLeft = () => history().length < policy.horizon;

  let question;
  let noticed;
  const oneSpot = {
    timeline: [
      {
        type: CallFunction,
        async: true,
        // Called after the observations so far: asked again under the same name, it is the same question.
        func: async (done) => {
          const request = `${participant}/${history().length}`;
          ({
            questions: [question],
          } = await campaign.ask(1, { participant, request }));
          done();
        },
      },
      { type: HtmlKeyboardResponse, stimulus: "<h1>+</h1>", choices: "NO_KEYS", trial_duration: 400 },
      {
        type: HtmlKeyboardResponse,
        stimulus: () => spot(question),
        prompt: KEYS,
        choices: [NOTICED, NOT_NOTICED],
        stimulus_duration: 500,
        on_finish: ({ response }) => {
          noticed = response === NOTICED;
        },
      },
      {
        type: CallFunction,
        async: true,
        // The next spot comes once this answer is stored.
        func: async (done) => {
          const { step } = question;
          const event = `${participant}/${step}/answer`;
          await campaign.tell([{ id: participant, step, outcome: noticed ? 1 : 0, event }]);
          done();
        },
      },
    ],
    loop_function: isLeft,
  };
  if (isLeft()) {
    const jsPsych = initJsPsych({ display_element: place });
    await jsPsych.run([
      {
        type: HtmlKeyboardResponse,
        stimulus: greeting(history().length, policy.horizon),
        choices: [" "],
      },
      oneSpot,
    ]);
  }
  await showResult(place, { policy, campaign, history: history() });
};

run().catch((error) => {
  const failure = document.createElement("p");
  failure.className = "failure";
  failure.textContent = `The experiment cannot go on: ${error.message}`;
  document.body.replaceChildren(failure);
});
