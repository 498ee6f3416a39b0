// @ts-check
/**
 * Runs some of the committed results again and says which come out differently.
 *
 *     npm run -s build && node scripts/verify-results.mjs 20 [table or figure ...]
 *
 * The fastest cell of every kind, method and policy, then the second of each, until there are so many. The data are
 * those of `fairbed data get`, or in the folder that FAIRBED_DATA names; cells whose data is not there are left out.
 */
import { fileURLToPath } from "node:url";
import { reproductionsNamed } from "../dist/reproduce/catalogue.js";
import { acquisitionOf, seedOf } from "../dist/reproduce/cell.js";
import { cellJob } from "../dist/reproduce/cell-jobs.js";
import { describeCell } from "../dist/reproduce/describe-cell.js";
import { ResultStore } from "../dist/reproduce/store.js";
import { isSameResult, sampleCells } from "../dist/reproduce/verify-cells.js";

/** @typedef {import("../src/reproduce/cell.js").Cell} Cell */

const [count = "20", ...names] = process.argv.slice(2);
const store = ResultStore.read(fileURLToPath(new URL("../results", import.meta.url)));
const cells = reproductionsNamed(names.length === 0 ? ["all"] : names).flatMap((each) =>
  // A GPU gives the same bits only on the same GPU.
  each
    .cells({ quick: false })
    .filter((/** @type {Cell} */ cell) => cell.kind !== "design" || cell.device === undefined),
);
const stored = [...new Map(cells.map((cell) => [JSON.stringify(cell), store.find(cell)])).values()].filter(
  (each) => each !== undefined,
);
let differ = 0;
for (const each of sampleCells(stored, Number(count))) {
  const { cell } = each;
  const { input, ...job } = cellJob(cell);
  const kind = /** @type {ReturnType<typeof import("../src/reproduce/cell-jobs.js").cellJob>["kind"]} */ (
    job.kind
  );
  const before = acquisitionOf(cell);
  const started = performance.now();
  const said = `${cell.kind}: ${describeCell(cell)}, seed ${seedOf(cell)}`;
  try {
    const result = await kind.run(input, { before: before === undefined ? undefined : store.get(before) });
    const same = isSameResult(each, result);
    if (!same) differ += 1;
    const seconds = ((performance.now() - started) / 1000).toFixed(1);
    process.stdout.write(`${same ? "the same" : "DIFFERS "} ${said} (${seconds} s)\n`);
  } catch (error) {
    const { code, message } = /** @type {Error & { code?: string }} */ (error);
    if (code !== "no-dataset") throw error;
    process.stdout.write(`left out ${said}: ${message}\n`);
  }
}
process.exitCode = differ === 0 ? 0 : 1;
