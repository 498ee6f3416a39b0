/**
 * A detection experiment that runs in the participant's browser and nowhere else. A network that was trained beforehand
 * (`policy.fairbed`) reads the answers so far and gives the next stimulus in about a millisecond; every answer is kept, so
 * that a reload goes on where it was.
 */
import { runPolicy } from "fairbed";
import { decodePolicy } from "fairbed/design";
import model from "./model.mjs";

const SHOWN_MS = 500;
const [NOTICED, MISSED] = ["KeyJ", "KeyF"];
const element = (id) => document.getElementById(id);
const show = (name) => {
  for (const id of ["start", "trial", "result", "failure"]) element(id).hidden = id !== name;
};
/** With two digits, and 0 without a sign. */
const digits = (value) => (Math.round(100 * value) / 100 + 0).toFixed(2);

/** Where the answers are kept: under a short hash of the policy (FNV-1a), since another policy asks other things. */
let store;
const storeFor = (bytes) =>
  `fairbed-threshold-${bytes.reduce((hash, byte) => Math.imul(hash ^ byte, 0x01000193) >>> 0, 0x811c9dc5).toString(16)}`;
const beginAnew = () => {
  localStorage.removeItem(store);
  location.reload();
};

/** Each unit of intensity doubles the contrast; at 0 it is 6 %. A calm ring is blue and thin, an alarming one red and thick. */
const draw = ({ intensity, alarm }, visible) => {
  const contrast = Math.min(1, 0.06 * 2 ** intensity);
  const colour = `rgb(${60 + 195 * alarm}, ${120 - 80 * alarm}, ${220 - 180 * alarm})`;
  element("stimulus").innerHTML = visible
    ? `<circle r="90" fill="none" stroke="${colour}" stroke-width="${6 + 14 * alarm}" /><circle r="28" fill="#fff" fill-opacity="${contrast}" />`
    : "";
};

const answer = () =>
  new Promise((resolve) => {
    const given = (noticed) => {
      removeEventListener("keydown", onKey);
      element("noticed").onclick = element("missed").onclick = null;
      resolve(noticed ? 1 : 0);
    };
    const onKey = ({ code, repeat }) => {
      if (!repeat && (code === NOTICED || code === MISSED)) given(code === NOTICED);
    };
    addEventListener("keydown", onKey);
    element("noticed").onclick = () => given(true);
    element("missed").onclick = () => given(false);
  });

const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

const run = async () => {
  const response = await fetch(new URL("./policy.fairbed", import.meta.url));
  if (!response.ok)
    throw new Error(`policy.fairbed was not found (${response.status}): put it beside this page`);
  const bytes = new Uint8Array(await response.arrayBuffer());
  const policy = decodePolicy(bytes);
  store = storeFor(bytes);
  const saved = localStorage.getItem(store);
  const session = runPolicy(model, policy, saved === null ? {} : JSON.parse(saved));
  element("count").textContent = `There are ${session.horizon} of them; it takes a minute.`;

  if (!session.done) {
    element("begin").disabled = false;
    element("begin").textContent = session.history.length > 0 ? "Go on" : "Begin";
    await new Promise((resolve) => element("begin").addEventListener("click", resolve, { once: true }));
    show("trial");
  }
  while (!session.done) {
    const design = await session.next();
    element("progress").textContent = `${session.history.length + 1} of ${session.horizon}`;
    element("trial").dataset.design = JSON.stringify(design);
    draw(design, false);
    await pause(400);
    draw(design, true);
    const hiding = setTimeout(() => draw(design, false), SHOWN_MS);
    session.tell(await answer());
    clearTimeout(hiding);
    localStorage.setItem(store, JSON.stringify(session));
  }

  const { threshold } = (await session.posterior()).parameters;
  element("mean").textContent = digits(threshold.mean);
  element("interval").textContent = threshold.interval.map(digits).join(" and ");
  element("result").dataset.threshold = JSON.stringify(threshold);
  element("download").onclick = () => {
    const link = document.createElement("a");
    link.href = URL.createObjectURL(
      new Blob([JSON.stringify(session.history)], { type: "application/json" }),
    );
    link.download = "answers.json";
    link.click();
    URL.revokeObjectURL(link.href);
  };
  element("again").onclick = beginAnew;
  show("result");
};

run().catch((error) => {
  element("reason").textContent = `The experiment cannot go on: ${error.message}.`;
  // What was kept may be why.
  element("anew").hidden = store === undefined || localStorage.getItem(store) === null;
  element("anew").onclick = beginAnew;
  show("failure");
});
