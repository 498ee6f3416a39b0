/**
 * The kernel that everything is about: for every row (a set of designs with a random stream of its own) and every outer
 * sample, the log evidences by nested samples, and, for training, the bound with its gradient in the designs.
 *
 * A workgroup takes `tile` outer samples of a row. It goes through the inner samples twice: once for the
 * log-likelihoods, whose weights stay in shared memory, and once for the derivatives, with one observation to a thread, so
 * that a thread keeps few sums however many observations there are.
 */
import { log } from "../../../core/math.js";
import type { Traced } from "../../graph/expression.js";
import { f32 } from "../wgsl/literal.js";
import { WgslStatements } from "../wgsl/lower.js";
import { kernelText } from "../wgsl/module.js";
import { RANDOM } from "../wgsl/random.js";
import { type Reducing, reduceText, scratchWords } from "../wgsl/reduce.js";
import type { EvidenceLayout, NestedLayout } from "./layout.js";
import { isShared, noiseOf, varies } from "./plan.js";
import { parameterFrom } from "./samples-kernel.js";

export interface BoundShape extends Reducing {
  /** Whether the bound's gradient is wanted. */
  readonly gradients: boolean;
  /** Whether the bound is wanted, or every experiment's evidences. */
  readonly wanted: "bound" | "evidences";
  /** Outer samples of a workgroup. */
  readonly tile: number;
  /** Inner samples that a thread takes at a time. */
  readonly unroll: number;
}

/** Words of shared memory. */
export const sharedWords = (layout: NestedLayout, shape: BoundShape): number => {
  const { parameters, design, outcomes, horizon } = layout.description;
  const { tile, gradients, workgroup } = shape;
  const points = tile * horizon;
  const slopes = design.length + outcomes.length;
  const inner = Math.max(1, ...layout.evidences.map((each) => each.inner));
  return (
    tile * parameters.length +
    horizon * design.length +
    points * outcomes.length +
    points +
    points * mostOwn(layout) +
    4 * tile +
    scratchWords(shape, 3 * tile) +
    (gradients
      ? points * slopes * 2 +
        points * outcomes.length * design.length +
        Math.max(tile * inner, tile * slopes * workgroup)
      : 0)
  );
};

const mostOwn = ({ evidences }: NestedLayout): number =>
  Math.max(1, ...evidences.map(({ plan }) => plan.own.length));

const range = (count: number): number[] => Array.from({ length: count }, (_, i) => i);
const forEach = (count: number, workgroup: number, lines: readonly string[]): string =>
  [`for (var i = lane; i < ${count}u; i += ${workgroup}u) {`, ...lines, "}"].join("\n");

/** Reads what is the same for a thread's whole loop, or computes it, in the scope that it belongs to. */
class Scopes {
  readonly #layout: EvidenceLayout;
  readonly #horizon: number;
  readonly #tile: number;
  readonly loads: string[] = [];
  readonly #loaded = new Set<string>();
  readonly shared: WgslStatements[];
  readonly joint: WgslStatements[][];

  /** Names of thread-held inner samples end in their number. */
  constructor(layout: EvidenceLayout, horizon: number, tile: number, unroll: number) {
    this.#layout = layout;
    this.#horizon = horizon;
    this.#tile = tile;
    this.shared = range(unroll).map((k) => new WgslStatements(`s${k}_`, (node) => this.#sharedLeaf(node, k)));
    this.joint = range(tile).map((b) =>
      range(unroll).map((k) => new WgslStatements(`j${b}_${k}_`, (node) => this.#jointLeaf(node, b, k))),
    );
  }

  /** The value of a node for outer sample b of the tile and inner sample k of the thread. */
  value(node: Traced, b: number, k: number): string {
    return this.#jointLeaf(node, b, k) ?? this.joint[b][k].value(node);
  }

  get lines(): string[] {
    return [
      ...this.loads,
      ...this.shared.flatMap(({ lines }) => lines),
      ...this.joint.flat().flatMap(({ lines }) => lines),
    ];
  }

  #load(name: string, text: string): string {
    if (!this.#loaded.has(name)) {
      this.#loaded.add(name);
      this.loads.push(`let ${name} = ${text};`);
    }
    return name;
  }

  #ownLeaf(node: Traced, b: number): string | undefined {
    const index = this.#layout.plan.own.indexOf(node);
    if (index < 0) return undefined;
    const outer = varies(node, "outer") ? b : 0;
    const at = (index * this.#tile + outer) * this.#horizon;
    return this.#load(`o${index}_${outer}`, `own[${at}u + t]`);
  }

  #sharedLeaf(node: Traced, k: number): string | undefined {
    const { plan, inner, samples, tables } = this.#layout;
    const table = plan.tables.findIndex(({ stand }) => stand === node);
    if (table >= 0) {
      return this.#load(`t${table}_${k}`, `samples[start + ${tables[table]}u + t * ${inner}u + at${k}]`);
    }
    const own = this.#ownLeaf(node, 0);
    if (own !== undefined) return own;
    if (node.op !== "input") return undefined;
    return this.#load(
      `p${plan.free.indexOf(node.name)}_${k}`,
      `samples[start + ${samples[node.name]}u + at${k}]`,
    );
  }

  #jointLeaf(node: Traced, b: number, k: number): string | undefined {
    const own = this.#ownLeaf(node, b);
    if (own !== undefined) return own;
    if (node.op === "constant") return undefined;
    return isShared(node) ? this.shared[k].value(node) : undefined;
  }
}

/** Everything of one evidence up to `m` (the largest log-likelihood) and `s` (the sum of e^(ll - m)) of each outer sample. */
const evidenceValue = (layout: NestedLayout, evidence: EvidenceLayout, shape: BoundShape): string => {
  const { horizon } = layout.description;
  const { inner, plan } = evidence;
  const { tile, unroll, workgroup, gradients } = shape;
  const scopes = new Scopes(evidence, horizon, tile, unroll);
  const each = range(tile).flatMap((b) => range(unroll).map((k) => [b, k] as const));
  const sums = each.map(([b, k]) => `ll${b}_${k} += ${scopes.value(plan.value, b, k)};`);
  // Loads of parameters do not vary with the observation.
  const [before, inside] = [
    scopes.loads.filter((line) => /^let p\d/.test(line)),
    scopes.lines.filter((line) => !/^let p\d/.test(line)),
  ];
  const take = each.map(([b, k]) =>
    gradients
      ? `if (base + ${k * workgroup}u < ${inner}u) { pool[${b * inner}u + at${k}] = ll${b}_${k}; m${b} = max(m${b}, ll${b}_${k}); }`
      : // Scaled again only where something is larger by far than all before, which is seldom.
        `if (base + ${k * workgroup}u < ${inner}u) {
if (ll${b}_${k} > m${b} + 30.0f) { let f = fb_exp(m${b} - ll${b}_${k}); s${b} *= f; q${b} *= f * f; m${b} = ll${b}_${k}; }
let w = fb_exp(ll${b}_${k} - m${b}); s${b} += w; q${b} += w * w; }`,
  );
  return [
    ...range(tile).map((b) => `var m${b} = -3.0e38f; var s${b} = 0.0f; var q${b} = 0.0f;`),
    `for (var base = lane; base < ${inner}u; base += ${workgroup * unroll}u) {`,
    ...range(unroll).map((k) => `let at${k} = min(base + ${k * workgroup}u, ${inner - 1}u);`),
    ...before,
    ...each.map(([b, k]) => `var ll${b}_${k} = 0.0f;`),
    `for (var t = 0u; t < ${horizon}u; t++) {`,
    ...(gradients ? [] : ["if (t == skip) { continue; }"]),
    ...inside,
    ...sums,
    "}",
    ...take,
    "}",
    ...(gradients ? [] : range(tile).map((b) => `let own_m${b} = m${b};`)),
    reduceText(
      "max",
      range(tile).map((b) => `m${b}`),
      shape,
    ),
    ...(gradients
      ? [
          `for (var l = lane; l < ${inner}u; l += ${workgroup}u) {`,
          ...range(tile).map(
            (b) =>
              `{ let w = fb_exp(pool[${b * inner}u + l] - m${b}); pool[${b * inner}u + l] = w; s${b} += w; }`,
          ),
          "}",
        ]
      : range(tile).map((b) => `{ let f = fb_exp(own_m${b} - m${b}); s${b} *= f; q${b} *= f * f; }`)),
    reduceText(
      "sum",
      range(tile).flatMap((b) => (gradients ? [`s${b}`] : [`s${b}`, `q${b}`])),
      shape,
    ),
  ].join("\n");
};

/** Fills `own` with what of an evidence varies with the outer sample and the observation only. */
const fillOwn = (layout: NestedLayout, { plan }: EvidenceLayout, { tile, workgroup }: BoundShape): string => {
  const { horizon } = layout.description;
  const statements = new WgslStatements("h", pointLeaf(layout));
  const stores = plan.own.map((node, k) => `own[${k * tile * horizon}u + i] = ${statements.value(node)};`);
  return stores.length === 0
    ? ""
    : forEach(tile * horizon, workgroup, [
        `let b = i / ${horizon}u; let t = i % ${horizon}u;`,
        ...statements.lines,
        ...stores,
      ]);
};

/** Parameters, designs and outcomes of outer sample b of the tile at observation t, in shared memory. */
const pointLeaf =
  ({ description: { parameters, design, outcomes } }: NestedLayout) =>
  ({ op, name }: Traced): string | undefined => {
    if (op !== "input") return undefined;
    const parameter = parameters.findIndex((each) => each.name === name);
    if (parameter >= 0) return `theta[b * ${parameters.length}u + ${parameter}u]`;
    const variable = design.indexOf(name);
    if (variable >= 0) return `xs[t * ${design.length}u + ${variable}u]`;
    const outcome = outcomes.findIndex((each) => each.name === name);
    if (outcome >= 0) return `ys[i * ${outcomes.length}u + ${outcome}u]`;
    const noise = outcomes.findIndex((each) => noiseOf(each.name) === name);
    return `z${noise}`;
  };

/** Draws the experiments: parameters, designs, outcomes, and the generating sample's own log-likelihood. */
const experiments = (layout: NestedLayout, { tile, workgroup, gradients }: BoundShape): string => {
  const { parameters, design, outcomes, horizon, outer } = layout.description;
  const slopes = design.length + outcomes.length;
  const cases = parameters.map(({ name }, p) => {
    const { lines, value } = parameterFrom(layout, name, "z", `p${p}_`);
    return `case ${p}u: {\n${lines.join("\n")}\ntheta[i] = ${value};\n}`;
  });
  const { own } = layout;
  const simulation = new WgslStatements("y", pointLeaf(layout));
  const simulated = own.outcomes.map(
    (node, o) => `ys[i * ${outcomes.length}u + ${o}u] = ${simulation.value(node)};`,
  );
  const moved = gradients
    ? own.outcomeGradients.flatMap((row, o) =>
        row.map(
          (node, v) =>
            `yslopes[(i * ${outcomes.length}u + ${o}u) * ${design.length}u + ${v}u] = ${simulation.value(node)};`,
        ),
      )
    : [];
  const likelihood = new WgslStatements("l", pointLeaf(layout));
  const liked = [
    `loglik[i] = ${likelihood.value(own.value)};`,
    ...(gradients
      ? own.gradients.map((node, g) => `ownslopes[i * ${slopes}u + ${g}u] = ${likelihood.value(node)};`)
      : []),
  ];
  return [
    forEach(tile * parameters.length, workgroup, [
      `let index = min(first + i / ${parameters.length}u, ${outer - 1}u);`,
      `let parameter = i % ${parameters.length}u;`,
      `let z = fb_normal(keys[key + ${layout.parameterStreams[0]}u + parameter], index);`,
      "switch (parameter) {",
      ...cases,
      "default: {}",
      "}",
    ]),
    forEach(horizon * design.length, workgroup, [`xs[i] = designs[row * ${horizon * design.length}u + i];`]),
    "workgroupBarrier();",
    forEach(tile * horizon, workgroup, [
      `let b = i / ${horizon}u; let t = i % ${horizon}u;`,
      `let experiment = min(first + b, ${outer - 1}u);`,
      ...(layout.noisePerObservation
        ? [`let stream = key + ${layout.noiseStream}u + t * ${outcomes.length}u;`, "let index = experiment;"]
        : [`let stream = key + ${layout.noiseStream}u;`, `let index = experiment * ${horizon}u + t;`]),
      ...outcomes.map((_, o) => `let z${o} = fb_normal(keys[stream + ${o}u], index);`),
      ...simulation.lines,
      ...simulated,
      ...moved,
      ...likelihood.lines,
      ...liked,
    ]),
    "workgroupBarrier();",
    `if (lane < ${tile}u) {
var sum = 0.0f;
for (var t = 0u; t < ${horizon}u; t++) { ${gradients ? "" : "if (t == skip) { continue; } "}sum += loglik[lane * ${horizon}u + t]; }
per[lane] = sum;
}`,
    "workgroupBarrier();",
  ].join("\n");
};

/** Arrays of `per`: the own log-likelihood, the bound, its derivative in the own log-likelihood, the scale of weights. */
const per = (what: "own" | "bound" | "adjoint" | "scale", b: number | string, tile: number): string =>
  `per[${["own", "bound", "adjoint", "scale"].indexOf(what) * tile}u + ${typeof b === "number" ? `${b}u` : b}]`;

/** After the value of an evidence: its part of the bound, and the weight with which its derivatives count. */
const addToBound = (layout: NestedLayout, e: number, { tile }: BoundShape): string => {
  const { inner } = layout.evidences[e];
  const { outer } = layout.description;
  return [
    "if (lane == 0u) {",
    `let c = coefficients[row * ${layout.evidences.length + 1}u + ${e}u];`,
    ...range(tile).map(
      (b) => `{
let others = m${b} + fb_log(s${b});
var value = others - ${f32(log(inner))};
var share = 1.0f;
if (c < 0.0f) {
  let most = max(others, ${per("own", b, tile)});
  value = most + fb_log(fb_exp(others - most) + fb_exp(${per("own", b, tile)} - most)) - ${f32(log(inner + 1))};
  share = fb_sigmoid(others - ${per("own", b, tile)});
}
if (c != 0.0f) { ${per("bound", b, tile)} += c * value; }
${per("adjoint", b, tile)} += c * (1.0f - share) * ${f32(1 / outer)};
${per("scale", b, tile)} = c * share * ${f32(1 / outer)} / s${b};
}`,
    ),
    "}",
    "workgroupBarrier();",
  ].join("\n");
};

/** The derivatives of one evidence, added to `slopes`. */
const evidenceGradient = (layout: NestedLayout, e: number, shape: BoundShape): string => {
  const { horizon } = layout.description;
  const evidence = layout.evidences[e];
  const { inner, plan } = evidence;
  const { tile, workgroup } = shape;
  const count = plan.gradients.length;
  const lanes = Math.floor(workgroup / horizon);
  const scopes = new Scopes(evidence, horizon, tile, 1);
  const values = range(tile).map((b) => plan.gradients.map((node) => scopes.value(node, b, 0)));
  const loads = scopes.lines;
  // What belongs to the observation is the same for the thread's whole loop.
  const [before, inside] = [
    loads.filter((line) => /^let o\d/.test(line)),
    loads.filter((line) => !/^let o\d/.test(line)),
  ];
  const sums = range(tile).flatMap((b) => range(count).map((g) => `a${b}_${g}`));
  return [
    ...sums.map((name) => `var ${name} = 0.0f;`),
    `if (lane < ${lanes * horizon}u) {`,
    `let t = lane / ${lanes}u;`,
    ...before,
    `for (var at0 = lane % ${lanes}u; at0 < ${inner}u; at0 += ${lanes}u) {`,
    ...inside,
    ...range(tile).flatMap((b) => [
      `let w${b} = pool[${b * inner}u + at0];`,
      ...values[b].map((value, g) => `a${b}_${g} = fma(w${b}, ${value}, a${b}_${g});`),
    ]),
    "}",
    "}",
    "workgroupBarrier();",
    ...sums.map((name, k) => `pool[${k * workgroup}u + lane] = ${name};`),
    "workgroupBarrier();",
    forEach(tile * horizon * count, workgroup, [
      `let b = i / ${horizon * count}u; let t = (i / ${count}u) % ${horizon}u; let g = i % ${count}u;`,
      "var sum = 0.0f;",
      `let place = (b * ${count}u + g) * ${workgroup}u + t * ${lanes}u;`,
      `for (var j = 0u; j < ${lanes}u; j++) { sum += pool[place + j]; }`,
      `slopes[i] += ${per("scale", "b", tile)} * sum;`,
    ]),
    "workgroupBarrier();",
  ].join("\n");
};

/** The gradient [horizon, variables] and the bound of the tile's outer samples, summed. */
const finish = (layout: NestedLayout, { tile, workgroup, gradients }: BoundShape): string => {
  const { design, outcomes, horizon, outer } = layout.description;
  const [variables, results] = [design.length, outcomes.length];
  const slopes = variables + results;
  const words = (gradients ? horizon * variables : 0) + 1;
  const through = range(results).map(
    (o) =>
      `sum += fma(adjoint, ownslopes[point * ${slopes}u + ${variables + o}u], slopes[point * ${slopes}u + ${variables + o}u]) * yslopes[(point * ${results}u + ${o}u) * ${variables}u + v];`,
  );
  return [
    `let tileCount = min(${tile}u, ${outer}u - first);`,
    `let to = (row * ${Math.ceil(outer / tile)}u + group.x) * ${words}u;`,
    forEach(words, workgroup, [
      "var sum = 0.0f;",
      `if (i == ${words - 1}u) {`,
      `for (var b = 0u; b < tileCount; b++) { sum += ${per("bound", "b", tile)}; }`,
      `sum *= ${f32(1 / outer)};`,
      "}",
      ...(gradients
        ? [
            "else {",
            `let t = i / ${variables}u; let v = i % ${variables}u;`,
            "for (var b = 0u; b < tileCount; b++) {",
            `let point = b * ${horizon}u + t;`,
            `let adjoint = ${per("adjoint", "b", tile)};`,
            `sum += fma(adjoint, ownslopes[point * ${slopes}u + v], slopes[point * ${slopes}u + v]);`,
            ...through,
            "}",
            "}",
          ]
        : []),
      "results[to + i] = sum;",
    ]),
  ].join("\n");
};

/** Words of a row in `results`: of a bound [tiles, gradient and bound], of evidences [outer, 1 + 2 evidences]. */
export const resultWords = (layout: NestedLayout, { gradients, wanted, tile }: BoundShape): number => {
  const { outer, horizon, design } = layout.description;
  return wanted === "bound"
    ? Math.ceil(outer / tile) * ((gradients ? horizon * design.length : 0) + 1)
    : outer * (1 + 2 * layout.evidences.length);
};

/** Workgroups (tiles, rows). */
export const boundKernel = (layout: NestedLayout, shape: BoundShape): string => {
  const { parameters, design, outcomes, horizon, outer } = layout.description;
  const { tile, workgroup, gradients, wanted } = shape;
  const points = tile * horizon;
  const slopes = design.length + outcomes.length;
  const inner = Math.max(1, ...layout.evidences.map((each) => each.inner));
  const shared = (name: string, words: number) =>
    `var<workgroup> ${name}: array<f32, ${Math.max(1, words)}>;`;
  const evidenceWords = 1 + 2 * layout.evidences.length;
  const body =
    wanted === "bound"
      ? [
          ...range(tile).map(
            (
              b,
            ) => `if (lane == 0u) { ${per("bound", b, tile)} = coefficients[row * ${layout.evidences.length + 1}u + ${layout.evidences.length}u] * ${per("own", b, tile)};
${per("adjoint", b, tile)} = coefficients[row * ${layout.evidences.length + 1}u + ${layout.evidences.length}u] * ${f32(1 / outer)}; }`,
          ),
          ...(gradients ? [forEach(points * slopes, workgroup, ["slopes[i] = 0.0f;"])] : []),
          ...layout.evidences.map((evidence, e) =>
            [
              "{",
              fillOwn(layout, evidence, shape),
              "workgroupBarrier();",
              evidenceValue(layout, evidence, shape),
              addToBound(layout, e, shape),
              ...(gradients ? [evidenceGradient(layout, e, shape)] : []),
              "}",
            ].join("\n"),
          ),
          finish(layout, shape),
        ]
      : layout.evidences.map((evidence, e) =>
          [
            "{",
            fillOwn(layout, evidence, shape),
            "workgroupBarrier();",
            evidenceValue(layout, evidence, shape),
            "if (lane == 0u) {",
            ...range(tile).map(
              (b) => `if (first + ${b}u < ${outer}u) {
let to = (row * ${outer}u + first + ${b}u) * ${evidenceWords}u;
results[to] = ${per("own", b, tile)};
results[to + ${1 + 2 * e}u] = m${b} + fb_log(s${b}) - ${f32(log(evidence.inner))};
results[to + ${2 + 2 * e}u] = 2.0f * m${b} + fb_log(q${b}) - ${f32(log(evidence.inner))};
}`,
            ),
            "}",
            "workgroupBarrier();",
            "}",
          ].join("\n"),
        );
  return kernelText({
    buffers: [
      { name: "keys", type: "array<vec2u>" },
      { name: "designs", type: "array<f32>" },
      { name: "ticks", type: "array<vec4u>" },
      { name: "sizes", type: "array<u32>" },
      { name: "samples", type: "array<f32>" },
      { name: "coefficients", type: "array<f32>" },
      { name: "rows", type: "array<vec4u>" },
      { name: "results", type: "array<f32>", write: true },
    ],
    workgroup,
    subgroups: shape.leastSubgroup !== undefined,
    declarations: [
      shared("theta", tile * parameters.length),
      shared("xs", horizon * design.length),
      shared("ys", points * outcomes.length),
      shared("loglik", points),
      shared("own", points * mostOwn(layout)),
      shared("per", 4 * tile),
      shared("scratch", scratchWords(shape, 2 * tile)),
      ...(gradients
        ? [
            shared("slopes", points * slopes),
            shared("ownslopes", points * slopes),
            shared("yslopes", points * outcomes.length * design.length),
            shared("pool", Math.max(tile * inner, tile * slopes * workgroup)),
          ]
        : []),
      RANDOM,
    ].join("\n"),
    body: [
      "let row = group.y;",
      `let first = group.x * ${tile}u;`,
      `let key = (ticks[row].x * sizes[0] + row) * ${layout.streams.length}u;`,
      `let start = row * ${layout.samples}u;`,
      ...(gradients ? [] : ["let skip = rows[row].w;"]),
      experiments(layout, shape),
      ...body,
    ].join("\n"),
  });
};
