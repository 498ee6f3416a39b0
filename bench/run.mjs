// npm run -s bench -- [--json] [--only NAME] [--rounds N]: times every bench/NAME.bench.mjs against its peer.
// See README.md beside this file for what a benchmark file exports.
import { existsSync, readdirSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { parseArgs } from "node:util";
import { agreesWithin } from "./agreement.mjs";
import { plainInputs, startPeer } from "./peer.mjs";

const USAGE = "usage: npm run -s bench -- [--json] [--only NAME] [--rounds N]";
const WARM_UP_MS = 400;
const ROUND_MS = 150;
const TOLERANCE = 1e-4;

const folder = new URL("./", import.meta.url);
const names = readdirSync(folder)
  .filter((file) => file.endsWith(".bench.mjs"))
  .map((file) => file.slice(0, -".bench.mjs".length))
  .sort();

const { json, only, rounds } = readOptions();
const progress = (text) => process.stderr.write(`${text}\n`);
const peers = new Map();
const rows = [];
let wrong = false;

try {
  const library = await importLibrary();
  for (const name of only === undefined ? names : [only]) rows.push(await measure(name, library));
} finally {
  for (const peer of peers.values()) peer?.stop();
}
process.stdout.write(`${json ? JSON.stringify(rows, null, 2) : table(rows)}\n`);
process.exitCode = wrong ? 1 : 0;

function readOptions() {
  const wrongUse = (sentence) => {
    process.stderr.write(`${sentence}\n`);
    process.exit(2);
  };
  let options;
  try {
    options = parseArgs({
      options: {
        json: { type: "boolean", default: false },
        only: { type: "string" },
        rounds: { type: "string", default: "7" },
      },
    }).values;
  } catch (error) {
    wrongUse(`${error.message}\n${USAGE}`);
  }
  if (options.only !== undefined && !names.includes(options.only))
    wrongUse(`There is no benchmark "${options.only}"; choose one of ${names.join(", ")}.`);
  if (!/^[1-9]\d*$/.test(options.rounds))
    wrongUse(`--rounds is a whole number of at least 1, not "${options.rounds}".`);
  return { ...options, rounds: Number(options.rounds) };
}

async function importLibrary() {
  if (existsSync(new URL("../dist/index.js", import.meta.url))) return import("./library.mjs");
  progress("dist/ is not built (npm run build): only the peers are timed");
  return null;
}

/** One row of the table: both sides warmed up, timed in alternating rounds, and compared with the reference. */
async function measure(name, library) {
  const { default: bench } = await import(new URL(`${name}.bench.mjs`, folder));
  progress(name);
  const { threads, settings } = bench;
  const inputs = bench.inputs(library);
  const reference = bench.reference(inputs, settings);
  const agreement = bench.agreement ?? agreesWithin(bench.tolerance ?? TOLERANCE);
  const notes = [];

  const context = { library, inputs, settings, threads };
  let ours = null;
  let theirs = null;
  try {
    if (!bench.setup) notes.push("our side is not written yet");
    else if (library === null) notes.push("dist/ is not built");
    else ours = await attempt("ours", notes, () => openLocal("ours", () => bench.setup(context), notes));
    theirs = await attempt(bench.peer, notes, () =>
      bench.setupPeer
        ? openLocal(bench.peer, () => bench.setupPeer(context), notes)
        : openPython(
            bench.peer,
            { op: "load", bench: bench.peerBench ?? name, threads, settings, inputs: plainInputs(inputs) },
            notes,
          ),
    );

    const sides = [];
    let disagreement = false;
    for (const side of [ours, theirs].filter(Boolean)) {
      const checked = await attempt(side.name, notes, async () => {
        const { ok, text } = agreement(await side.values(), reference);
        if (bench.once) side.repeat = 1;
        else await warmUp(side);
        return { ok, text };
      });
      if (checked === null) continue;
      notes.push(`${side.name} ${checked.ok ? "" : "WRONG: "}${checked.text}`);
      if (!checked.ok) {
        wrong = true;
        disagreement = true;
      }
      sides.push(side);
    }

    for (let k = 0; k < (bench.once ? 1 : rounds) && sides.length > 0; k++) {
      // Who goes first changes from round to round; the pause lets the other side's threads go to sleep.
      for (const side of (k % 2 === 0 ? sides : sides.toReversed()).filter((s) => !Number.isNaN(s.best))) {
        await sleep(30);
        const ms = await attempt(side.name, notes, () => side.time(side.repeat));
        side.best = ms === null ? NaN : Math.min(side.best, ms);
      }
      progress(
        `  round ${k + 1} of ${bench.once ? 1 : rounds}: ${sides.map((s) => `${s.name} ${s.best.toFixed(3)} ms`).join(", ")}`,
      );
    }
    if (ours?.note) notes.push(ours.note);
    if (theirs?.note) notes.push(theirs.note);

    const timed = (side) => (sides.includes(side) && Number.isFinite(side.best) ? side.best : null);
    const ms = timed(ours);
    const peerMs = timed(theirs);
    const ratio = ms === null || peerMs === null || disagreement ? null : peerMs / ms;
    return {
      name,
      ms: round(ms),
      peer: bench.peer,
      peerMs: round(peerMs),
      ratio: round(ratio),
      threads,
      note: notes.join("; "),
    };
  } finally {
    await ours?.dispose();
    await theirs?.dispose();
  }
}

/** The result of `action`, or null with its error's first line in the notes: one failure does not stop the rest. */
async function attempt(side, notes, action) {
  try {
    return await action();
  } catch (error) {
    wrong = true;
    progress(error.stack);
    notes.push(`${side} failed: ${String(error.message).split("\n")[0]}`);
    return null;
  }
}

/**
 * A side in this process: what a benchmark's setup returns, with the time from set-up to its first result; null
 * where it says that something is not installed.
 */
async function openLocal(name, setup, notes) {
  const start = performance.now();
  const { run, values, dispose = () => {}, note, time: ownTime, missing } = await setup();
  if (missing !== undefined) {
    notes.push(missing);
    return null;
  }
  await run();
  const first = `${name}: first result after ${(performance.now() - start).toFixed(0)} ms`;
  const time = async (repeat) => {
    let best = Infinity;
    for (let i = 0; i < repeat; i++) {
      const from = performance.now();
      await run();
      best = Math.min(best, performance.now() - from);
    }
    return best;
  };
  return {
    name,
    time: ownTime ?? time,
    values,
    dispose,
    note: note ? `${first}, ${note}` : first,
    best: Infinity,
  };
}

/** A side in a Python process, or null where it is not installed. */
async function openPython(name, load, notes) {
  if (!peers.has(name)) peers.set(name, await startPeer(name));
  const peer = peers.get(name);
  if (peer === null) {
    notes.push(`${name} is not installed`);
    return null;
  }
  await peer.request(load);
  return {
    name,
    time: async (repeat) => (await peer.request({ op: "time", repeat })).ms,
    values: async () => (await peer.request({ op: "values" })).values,
    dispose: () => {},
    note: peer.about,
    best: Infinity,
  };
}

/** Runs one side until its compilers and caches are warm, and settles how many runs make a round. */
async function warmUp(side) {
  const first = await side.time(3);
  const ms = await side.time(Math.max(3, Math.min(5000, Math.ceil(WARM_UP_MS / first))));
  side.repeat = Math.max(2, Math.min(2000, Math.ceil(ROUND_MS / ms)));
}

function round(value) {
  return value === null ? null : Number(value.toPrecision(4));
}

function table(rows) {
  const number = (value) => (value === null ? "-" : String(value));
  const cells = [
    ["name", "ms", "peer", "peer ms", "ratio", "threads", "note"],
    ...rows.map((r) => [
      r.name,
      number(r.ms),
      r.peer,
      number(r.peerMs),
      number(r.ratio),
      String(r.threads),
      r.note,
    ]),
  ];
  const widths = cells[0].map((_, column) => Math.max(...cells.map((row) => row[column].length)));
  const right = new Set([1, 3, 4, 5]);
  return cells
    .map((row) =>
      row
        .map((cell, i) => (right.has(i) ? cell.padStart(widths[i]) : cell.padEnd(widths[i])))
        .join("  ")
        .trimEnd(),
    )
    .join("\n");
}
