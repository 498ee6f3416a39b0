// How alike the candidates are that `rank` asks for: the mean distance between two of a batch over that between two rows
// of the pool, and the shares of groups, for every way of choosing a batch.
//
//     npm run -s build && node scripts/batch-spread.mjs [--seeds 4] [--tasks adult,census] [--top 25] [--kinds joint,top,paper]
//
// Distances are Euclidean, a number counting in its standard deviations and a category as 0 or 1 (the same or not). The
// "paper" is by the scores alone and without shares or a random part. The
// data are those of `fairbed data get`; 300 rows are labelled at random and all others are the pool.
import { parseArgs } from "node:util";

const { values: options } = parseArgs({
  options: {
    seeds: { type: "string", default: "4" },
    tasks: { type: "string", default: "adult,census" },
    top: { type: "string", default: "25" },
    kinds: { type: "string", default: "joint,top,paper" },
    labelled: { type: "string", default: "300" },
    method: { type: "string", default: "fairbed" },
    library: { type: "string", default: new URL("../dist/", import.meta.url).href },
  },
});
const from = (path) => import(new URL(path, options.library).href);
const { rankPool, seededStream } = await from("index.js");
const { loadPaperTask } = await from("sources/paper-tasks.js");
const { dropColumns, selectRows, columnNamed } = await from("tables/table.js");

const [seeds, top, count] = [Number(options.seeds), Number(options.top), Number(options.labelled)];
/** Two attributes of each table; the first is the sensitive one, and the shares of both are looked at. */
const ATTRIBUTES = {
  adult: [
    ["sex", "race"],
    ["race", "sex"],
  ],
  census: [
    ["sex", "race"],
    ["race", "sex"],
  ],
};

/** [rows][features] numbers in standard deviations, and codes of categories. */
const pointsOf = (table, features) => {
  const columns = features.map((name) => {
    const column = columnNamed(table, name);
    if (column.kind !== "numeric") return { codes: column.codes };
    const known = column.values.filter((value) => !Number.isNaN(value));
    const mean = known.reduce((sum, value) => sum + value, 0) / known.length;
    const variance = known.reduce((sum, value) => sum + (value - mean) ** 2, 0) / known.length;
    return {
      values: column.values.map((v) =>
        Number.isNaN(v) || variance === 0 ? 0 : (v - mean) / Math.sqrt(variance),
      ),
    };
  });
  return (a, b) =>
    Math.sqrt(
      columns.reduce(
        (sum, { codes, values }) =>
          sum + (codes === undefined ? (values[a] - values[b]) ** 2 : codes[a] === codes[b] ? 0 : 1),
        0,
      ),
    );
};

const meanDistance = (rows, distance) => {
  let [sum, pairs] = [0, 0];
  for (let i = 0; i < rows.length; i++)
    for (let j = 0; j < i; j++, pairs++) sum += distance(rows[i], rows[j]);
  return sum / pairs;
};

const most = (table, name, rows) => {
  const { levels, codes } = columnNamed(table, name);
  const counts = levels.map((_, level) => rows.filter((row) => codes[row] === level).length);
  const largest = counts.indexOf(Math.max(...counts));
  return `${counts[largest]} of ${rows.length} ${levels[largest]}`;
};

for (const name of options.tasks.split(",")) {
  const { table, settings } = await loadPaperTask(name);
  for (const [attribute, other] of ATTRIBUTES[name] ?? []) {
    for (let seed = 0; seed < seeds; seed++) {
      const order = Array.from(seededStream(seed).split("spread").choice(table.rows, table.rows));
      const [labelled, pool] = [order.slice(0, count), order.slice(count)].map((rows) =>
        selectRows(table, rows),
      );
      // Nobody in a pool has a label yet.
      const unlabelled = dropColumns(pool, [settings.target.split(/[=<>]/)[0]]);
      const all = [...Array(Math.min(1000, pool.rows)).keys()];
      for (const batchKind of options.kinds.split(",")) {
        const started = performance.now();
        const ranking = await rankPool(unlabelled, {
          ...settings,
          sensitive: [attribute],
          method: options.method,
          labelled,
          top,
          seed,
          ...(batchKind === "paper" ? { paper: true } : { batchKind }),
        });
        const seconds = (performance.now() - started) / 1000;
        const distance = pointsOf(pool, ranking.features);
        const population = meanDistance(all, distance);
        const rows = ranking.candidates.map(({ row }) => row);
        const chosen = ranking.candidates.filter(({ reason }) => reason === "score").map(({ row }) => row);
        console.log(
          JSON.stringify({
            task: name,
            pool: pool.rows,
            sensitive: attribute,
            batch: batchKind,
            seed,
            spread: Number((meanDistance(rows, distance) / population).toFixed(3)),
            chosen: Number((meanDistance(chosen, distance) / population).toFixed(3)),
            least: Number(
              (
                Math.min(...chosen.flatMap((a, i) => chosen.slice(0, i).map((b) => distance(a, b)))) /
                population
              ).toFixed(3),
            ),
            [attribute]: most(pool, attribute, rows),
            [other]: most(pool, other, rows),
            seconds: Number(seconds.toFixed(2)),
          }),
        );
      }
    }
  }
}
