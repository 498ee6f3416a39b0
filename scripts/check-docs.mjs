// @ts-check
/**
 * Runs every code block of the README and of `docs/`, and compares what it prints with what the page says.
 *
 *     node scripts/check-docs.mjs [--update] [--verbose] [PAGE…]
 *
 * What is not run is counted and listed with its reason; a block that neither runs nor says why fails. `--update` writes
 * what was printed into the pages (look at the difference before it is committed). How a page marks its blocks:
 * `scripts/docs/blocks.mjs`.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { ROOT, writtenPages } from "./docs/pages.mjs";
import { processorTime, runPage } from "./docs/run-page.mjs";

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { update: { type: "boolean" }, verbose: { type: "boolean" } },
});

const pages = positionals.length > 0 ? positionals : writtenPages();

/** What differs from run to run is left open in what `--update` writes. @param {string} line */
const lastingPart = (line) =>
  line
    .replace(/\b([Ii]n) [\d.]+ s(?=\.$|;)/, "$1 … s")
    .replace(/\d{4}-\d\d-\d\d \d\d:\d\d UTC/g, "… UTC")
    .replace(/\bis \d+ s old/, "is … s old")
    .trimEnd();

/** @type {Map<string, string[]>} */
const reasons = new Map();
let [ran, compared, failed] = [0, 0, 0];
for (const page of pages) {
  const text = readFileSync(join(ROOT, page), "utf8");
  const before = processorTime();
  const result = await runPage(text);
  const lines = text.split("\n");
  // From the end, so that lines above stay where they are.
  for (const { block, printed, problem } of [...result.ran].reverse()) {
    ran++;
    if (block.output !== undefined) compared++;
    if (problem === undefined) continue;
    if (values.update && block.output !== undefined && problem.startsWith("prints\n")) {
      const { from, to } = block.output;
      const indent = /^\s*/.exec(lines[from - 1])?.[0] ?? "";
      const fresh = printed
        .trimEnd()
        .split("\n")
        .map((line) => indent + lastingPart(line));
      lines.splice(from, to - from, ...fresh);
      continue;
    }
    failed++;
    console.log(`${page}:${block.line}: ${problem}\n`);
  }
  if (values.update) writeFileSync(join(ROOT, page), lines.join("\n"));
  for (const { line, language } of result.unmarked) {
    failed++;
    console.log(
      `${page}:${line}: a block ${language || "without a language"} neither runs nor says why it does not\n`,
    );
  }
  for (const { block, reason } of result.notRun) {
    reasons.set(reason, [...(reasons.get(reason) ?? []), `${page}:${block.line}`]);
  }
  if (values.verbose) {
    console.log(
      `${page}: ${result.ran.length} blocks, ${(processorTime() - before).toFixed(1)} s of processor time`,
    );
    for (const { block, seconds } of result.ran) {
      if (seconds > 1) console.log(`  line ${block.line}: ${seconds.toFixed(1)} s`);
    }
  }
}
const notRun = [...reasons.values()].reduce((sum, places) => sum + places.length, 0);
console.log(
  `${ran} blocks ran in ${processorTime().toFixed(0)} s of processor time, ${compared} of them beside what they print; ${failed} wrong; ${notRun} not run`,
);
for (const [reason, places] of reasons) console.log(`  not run, ${reason}: ${places.join(", ")}`);
process.exit(failed === 0 ? 0 : 1);
