// Three public tables as features and labels, for comparing learners: students (UCI 697), adult (UCI 2) and
// census (UCI 117) with as many rows of one income class as of the other.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { gunzipSync } from "node:zlib";

const folder = process.env.FAIRBED_DATA ?? fileURLToPath(new URL("../../shared/data", import.meta.url));

const lines = (file) => {
  const bytes = readFileSync(join(folder, file));
  const text = (file.endsWith(".gz") ? gunzipSync(bytes) : bytes).toString("utf8").replace(/^\uFEFF/, "");
  return text.split(/\r?\n/).filter((line) => line.trim() !== "");
};

const cells = (line, separator) => line.split(separator).map((cell) => cell.trim());

/** One-hot for every column that is not in `numbers`, numbers as they are: { values, rows, columns }. */
function encode(table, numbers, leaveOut) {
  const encoders = [];
  for (let j = 0; j < table[0].length; j++) {
    if (leaveOut.includes(j)) continue;
    if (numbers.includes(j)) encoders.push((row) => Number(row[j]));
    else
      for (const category of [...new Set(table.map((row) => row[j]))].sort())
        encoders.push((row) => (row[j] === category ? 1 : 0));
  }
  const columns = encoders.length;
  const values = new Float32Array(table.length * columns);
  table.forEach((row, i) => {
    encoders.forEach((encoder, j) => {
      values[i * columns + j] = encoder(row);
    });
  });
  return { values, rows: table.length, columns };
}

/** The sensitive column is no feature, and neither are the weights of the surveys. */
export const tables = {
  students() {
    const [head, ...rest] = lines("students-dropout/data.csv");
    const names = cells(head, ";").map((name) => name.replaceAll('"', "").trim());
    const table = rest.map((line) => cells(line, ";"));
    const target = names.indexOf("Target");
    const all = names.map((_, j) => j);
    return {
      features: encode(table, all, [target, names.indexOf("Gender")]),
      labels: Int32Array.from(table, (row) => (row[target] === "Graduate" ? 1 : 0)),
      sensitive: Int32Array.from(table, (row) => Number(row[names.indexOf("Gender")])),
    };
  },
  adult() {
    const table = lines("adult/adult.data.gz").map((line) => cells(line, ","));
    return {
      features: encode(table, [0, 4, 10, 11, 12], [2, 9, 14]),
      labels: Int32Array.from(table, (row) => (row[14] === ">50K" ? 1 : 0)),
      sensitive: Int32Array.from(table, (row) => (row[9] === "Female" ? 1 : 0)),
    };
  },
  census() {
    const all = lines("census-income-kdd/census-income.data.gz").map((line) => cells(line, ","));
    const rich = all.filter((row) => row[41] === "50000+.");
    const others = all.filter((row) => row[41] !== "50000+.");
    // Evenly spaced over the file, so that no generator is needed.
    const poor = rich.map((_, i) => others[Math.floor((i * others.length) / rich.length)]);
    const table = [...rich, ...poor];
    return {
      features: encode(table, [0, 5, 16, 17, 18, 30, 39], [12, 24, 41]),
      labels: Int32Array.from(table, (row) => (row[41] === "50000+." ? 1 : 0)),
    };
  },
};
