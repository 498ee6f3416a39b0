// node bench/students-accuracy.mjs [--seeds N] [--peer-seeds N]: the accuracies after the checked labels of `students-run`
// over many seeds, of ours and of scikit-learn. REFERENCE in students-run.bench.mjs is scikit-learn's line.
import { parseArgs } from "node:util";
import { spread } from "./agreement.mjs";
import * as library from "./library.mjs";
import { plainInputs, startPeer } from "./peer.mjs";
import bench from "./students-run.bench.mjs";

const { values: options } = parseArgs({
  options: { seeds: { type: "string", default: "48" }, "peer-seeds": { type: "string", default: "24" } },
});
const seeds = Number(options.seeds);
const peerSeeds = Number(options["peer-seeds"]);
const inputs = bench.inputs();
const settings = { ...bench.settings, checked: { ...bench.settings.checked, seeds, peerSeeds } };
const say = (name, { accuracy }) =>
  process.stdout.write(`${JSON.stringify({ name, ...spread(accuracy) })}\n`);

if (seeds > 0) say("ours", await bench.setup({ library, inputs, settings, threads: bench.threads }).values());
const peer = peerSeeds > 0 ? await startPeer(bench.peer) : null;
if (peer !== null) {
  await peer.request({
    op: "load",
    bench: "students-run",
    threads: bench.threads,
    settings,
    inputs: plainInputs(inputs),
  });
  say(peer.about, (await peer.request({ op: "values" })).values);
  peer.stop();
}
