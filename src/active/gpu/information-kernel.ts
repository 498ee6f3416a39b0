/**
 * What candidates' labels say of targets' labels, as a matrix product in WGSL whose elements are used as they are made.
 *
 * With s = J_cd - p_c q_d, the covariance of two labels over the members, the mutual information of a pair is
 *
 *     sum_cd (p_c q_d + s_cd) log(1 + s_cd / (p_c q_d))
 *
 * so that what is small is computed from what is small: the error is that of s, not of differences of entropies. Of two
 * classes on both sides one product serves all four cells, since the rows and the columns of s have the sum 0.
 */
import { f32 } from "../../compute/webgpu/wgsl/literal.js";
import { kernelText } from "../../compute/webgpu/wgsl/module.js";

/** Rows and columns of a workgroup's tile, members that it reads at a time, and rows and columns of a thread. */
const TILE = 64;
const DEPTH = 16;
const OWN = 4;
const SIDE = TILE / OWN;
const THREADS = SIDE * SIDE;

/** Columns that a workgroup goes through: more of them are shared out, always in the same way. */
const COLUMNS = 4 * TILE;

/**
 * How a pair's labels meet: two classes on both sides need one product for a pair, that of their second classes; of other
 * classes every one of either side needs one with every one of the other.
 */
export type Cells = "binary" | "any";

export const cellsOf = (pool: number, targets: number): Cells =>
  pool === 2 && targets === 2 ? "binary" : "any";

/** Rows or columns of the product for each row of members. */
export const keptOf = (cells: Cells, classes: number): number => (cells === "binary" ? 1 : classes);

/** In WGSL, for a side with so many classes: rows or columns for each row of members, and the class of the first. */
const sideText = (
  cells: Cells,
  classes: string,
): { readonly kept: string; readonly classes: string; readonly first: string } =>
  cells === "binary" ? { kept: "1u", classes: "2u", first: "1u" } : { kept: classes, classes, first: "0u" };

export const MEANS_WORKGROUP = 64;

/** means[row kept + c] = mean_k P[row, k, c], in two levels of sums. `sizes`: rows, members, classes. */
export const meansKernel = (cells: Cells): string => {
  const { kept, classes, first } = sideText(cells, "sizes[2]");
  return kernelText({
    buffers: [
      { name: "values", type: "array<f32>" },
      { name: "sizes", type: "array<u32>" },
      { name: "means", type: "array<f32>", write: true },
    ],
    workgroup: MEANS_WORKGROUP,
    declarations: "",
    body: `
let i = group.x * ${MEANS_WORKGROUP}u + lane;
let members = sizes[1];
if (i >= sizes[0] * ${kept}) { return; }
let start = (i / ${kept}) * members * ${classes} + i % ${kept} + ${first};
var total = 0.0f;
for (var k = 0u; k < members; k += ${DEPTH}u) {
  var part = 0.0f;
  let end = min(k + ${DEPTH}u, members);
  for (var m = k; m < end; m++) { part += values[start + m * ${classes}]; }
  total += part;
}
means[i] = total / f32(members);`,
  });
};

export const meansWorkgroups = (rows: number, kept: number): number =>
  Math.ceil((rows * kept) / MEANS_WORKGROUP);

const own = Array.from({ length: OWN }, (_, i) => i);

/** A tile of rows or columns and members, what is left of each value once its mean is taken away; 0 outside. */
const load = (name: "pool" | "target", cells: Cells, first: string, count: string): string => {
  const side = sideText(cells, `${name}_classes`);
  return `for (var i = lane; i < ${TILE * DEPTH}u; i += ${THREADS}u) {
  let at = ${first} + i / ${DEPTH}u;
  let k = depth + i % ${DEPTH}u;
  var value = 0.0f;
  if (at < ${count} && k < members) {
    let place = ((at / ${side.kept}) * members + k) * ${side.classes} + at % ${side.kept} + ${side.first};
    value = ${name}_values[place] - ${name}_means[at];
  }
  ${name}_tile[(i % ${DEPTH}u) * ${TILE}u + i / ${DEPTH}u] = value;
}`;
};

/** (a + s) log(1 + s / a), a being the probability of the cell if the labels were independent; 0 where a is. */
const CELL = `fn fb_cell(a: f32, inverse: f32, s: f32) -> f32 {
  return max(a + s, 0.0f) * fb_log1p(max(s * inverse, ${f32(-1 + 2 ** -24)}));
}
fn inverse_of(p: f32) -> f32 { return select(0.0f, 1.0f / p, p > 1e-18f); }`;

/**
 * sums[split rows + row] = sum over the split's columns of weight times information, in nats per row of the product.
 * `sizes`: rows, members, columns, classes of either side. Workgroups: `informationWorkgroups`.
 */
export const informationKernel = (sort: Cells): string => {
  const cell = (r: number, [x, y]: readonly [string, string], s: string): string =>
    `fb_cell(${x}${r} * ${y}, i${x}${r} * i${y}, ${s})`;
  const cells = (r: number, s: string): string =>
    sort === "binary"
      ? [
          cell(r, ["p", "q"], s),
          cell(r, ["p", "other_q"], `-${s}`),
          cell(r, ["other_p", "q"], `-${s}`),
          cell(r, ["other_p", "other_q"], s),
        ].join(" + ")
      : cell(r, ["p", "q"], s);
  const row = (r: number): string => `let row${r} = first_row + row_lane * ${OWN}u + ${r}u;
let p${r} = select(0.0f, pool_means[min(row${r}, rows - 1u)], row${r} < rows);
let other_p${r} = 1.0f - p${r};
let ip${r} = inverse_of(p${r});
let iother_p${r} = inverse_of(other_p${r});
var information${r} = 0.0f;`;
  // Of the thread's columns one after the other, not written out: a fourth of the text, which takes seconds to compile.
  const chosen = (r: number): string =>
    own.slice(0, -1).reduceRight((rest, c) => `select(${rest}, s${r}_${c}, c == ${c}u)`, `s${r}_${OWN - 1}`);
  const products = own.flatMap((r) => own.map((c) => `s${r}_${c}`));
  return kernelText({
    buffers: [
      { name: "pool_values", type: "array<f32>" },
      { name: "pool_means", type: "array<f32>" },
      { name: "target_values", type: "array<f32>" },
      { name: "target_means", type: "array<f32>" },
      { name: "weights", type: "array<f32>" },
      { name: "sizes", type: "array<u32>" },
      { name: "sums", type: "array<f32>", write: true },
    ],
    workgroup: THREADS,
    declarations: `var<workgroup> pool_tile: array<f32, ${TILE * DEPTH}>;
var<workgroup> target_tile: array<f32, ${TILE * DEPTH}>;
${CELL}`,
    body: `
let rows = sizes[0];
let members = sizes[1];
let columns = sizes[2];
let pool_classes = sizes[3];
let target_classes = sizes[4];
let first_row = group.x * ${TILE}u;
let row_lane = lane / ${SIDE}u;
let column_lane = lane % ${SIDE}u;
${own.map(row).join("\n")}
let end_column = min((group.y + 1u) * ${COLUMNS}u, columns);
for (var first_column = group.y * ${COLUMNS}u; first_column < end_column; first_column += ${TILE}u) {
${products.map((s) => `var ${s} = 0.0f;`).join(" ")}
for (var depth = 0u; depth < members; depth += ${DEPTH}u) {
${load("pool", sort, "first_row", "rows")}
${load("target", sort, "first_column", "columns")}
workgroupBarrier();
for (var m = 0u; m < ${DEPTH}u; m++) {
${own.map((r) => `let a${r} = pool_tile[m * ${TILE}u + row_lane * ${OWN}u + ${r}u];`).join("\n")}
${own.map((c) => `let b${c} = target_tile[m * ${TILE}u + column_lane * ${OWN}u + ${c}u];`).join("\n")}
${own.flatMap((r) => own.map((c) => `s${r}_${c} = fma(a${r}, b${c}, s${r}_${c});`)).join("\n")}
}
workgroupBarrier();
}
let share = 1.0f / f32(members);
${products.map((s) => `${s} *= share;`).join(" ")}
for (var c = 0u; c < ${OWN}u; c++) {
let column = first_column + column_lane * ${OWN}u + c;
if (column >= columns) { break; }
let weight = weights[column / ${sideText(sort, "target_classes").kept}];
let q = target_means[column];
let other_q = 1.0f - q;
let iq = inverse_of(q);
let iother_q = inverse_of(other_q);
${own.map((r) => `let s${r} = ${chosen(r)};\ninformation${r} = fma(weight, ${cells(r, `s${r}`)}, information${r});`).join("\n")}
}
}
${own.map((r) => `pool_tile[(row_lane * ${OWN}u + ${r}u) * ${SIDE}u + column_lane] = information${r};`).join("\n")}
workgroupBarrier();
if (lane < ${TILE}u && first_row + lane < rows) {
  var total = 0.0f;
  for (var c = 0u; c < ${SIDE}u; c++) { total += pool_tile[lane * ${SIDE}u + c]; }
  sums[group.y * rows + first_row + lane] = total;
}`,
  });
};

/** Parts that the columns are shared out in, whatever the rows: a row has the same bits in any pool. */
export const splitsOf = (columns: number): number => Math.ceil(columns / COLUMNS);

/**
 * Rows of targets at a time, of which `most` fit: as many as are shared out in the same parts as all of them together, so
 * that the sums have the same bits.
 */
export const targetsAtATime = (most: number): number =>
  most < COLUMNS ? Math.max(1, most) : most - (most % COLUMNS);

/** Rows and columns of the product, not of the members. */
export const informationWorkgroups = (rows: number, columns: number): [number, number] => [
  Math.ceil(rows / TILE),
  splitsOf(columns),
];
