/**
 * The kernel that everything is about: for every row (a set of designs, or of experiments with designs of their own, with
 * a random stream) and every outer sample, the log evidences by nested samples, and, for training, the bound with its gradient.
 *
 * A workgroup takes `tile` outer samples of a row. It goes through the inner samples twice: once for the
 * log-likelihoods, whose weights stay in shared memory, and once for the derivatives, with one observation to a thread, so
 * that a thread keeps few sums however many observations there are.
 */
import { log } from "../../../core/math.js";
import type { Traced } from "../../graph/expression.js";
import { f32 } from "../wgsl/literal.js";
import { forEach, range } from "../wgsl/loop.js";
import { WgslStatements } from "../wgsl/lower.js";
import { kernelText } from "../wgsl/module.js";
import { drawnText, drawText, randomText } from "../wgsl/random.js";
import { type Reducing, reduceText, scratchWords } from "../wgsl/reduce.js";
import type { EvidenceLayout, NestedLayout } from "./layout.js";
import { isShared, noiseOf, planParameters, sloped, varies } from "./plan.js";
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

/** What is in shared memory, by its name, and words of each. */
const sharedArrays = (layout: NestedLayout, shape: BoundShape): readonly (readonly [string, number])[] => {
  const { parameters, design, outcomes, horizon } = layout.description;
  const { tile, gradients, workgroup } = shape;
  const points = tile * horizon;
  const slopes = sloped(layout.description).length;
  const inner = Math.max(1, ...layout.evidences.map((each) => each.inner));
  const values = [
    ["theta", tile * parameters.length],
    ["xs", designPoints(layout, shape) * design.length],
    ["ys", points * outcomes.length],
    ["loglik", points],
    ["own", points * mostOwn(layout)],
    ["per", PER.length * tile],
    ["scratch", scratchWords(shape, 2 * tile)],
  ] as const;
  if (!gradients) return values;
  return [
    ...values,
    ["slopes", points * slopes],
    ["ownslopes", points * slopes],
    ...(layout.designs === "shared"
      ? ([["yslopes", points * layout.own.outcomeGradients.length * design.length]] as const)
      : []),
    ["pool", Math.max(tile * inner, tile * slopes * workgroup)],
  ];
};

/** Words of shared memory. */
export const sharedWords = (layout: NestedLayout, shape: BoundShape): number =>
  sharedArrays(layout, shape).reduce((sum, [, words]) => sum + words, 0);

/** Observations of a workgroup that have designs of their own. */
const designPoints = (
  { designs, description: { horizon } }: NestedLayout,
  { tile }: Pick<BoundShape, "tile">,
): number => (designs === "shared" ? horizon : tile * horizon);

const mostOwn = ({ evidences }: NestedLayout): number =>
  Math.max(1, ...evidences.map(({ plan }) => plan.own.length));

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
  const weighted = evidenceWeight(evidence, horizon, shape);
  // The largest bits of all say whether one is no number, at the price of an integer's max. Gradients are none by themselves then.
  const [watched, seen, lost] = gradients
    ? [[], [], []]
    : [
        range(tile).map((b) => `var bits${b} = 0u;`),
        each.map(([b, k]) => `bits${b} = max(bits${b}, bitcast<u32>(ll${b}_${k}) & 0x7fffffffu);`),
        range(tile).map((b) => `if (bits${b} > 0x7f800000u) { s${b} = fb_nan(); q${b} = s${b}; }`),
      ];
  return [
    ...range(tile).map((b) => `var m${b} = -3.0e38f; var s${b} = 0.0f; var q${b} = 0.0f;`),
    ...watched,
    ...weighted.before,
    `for (var base = lane; base < ${inner}u; base += ${workgroup * unroll}u) {`,
    ...range(unroll).map((k) => `let at${k} = min(base + ${k * workgroup}u, ${inner - 1}u);`),
    ...before,
    ...each.map(([b, k]) => `var ll${b}_${k} = 0.0f;`),
    ...weighted.inside,
    `for (var t = 0u; t < ${horizon}u; t++) {`,
    ...(canSkip(layout, shape) ? ["if (t == skip) { continue; }"] : []),
    ...inside,
    ...sums,
    "}",
    ...take,
    ...seen,
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
    ...lost,
    reduceText(
      "sum",
      range(tile).flatMap((b) => (gradients ? [`s${b}`] : [`s${b}`, `q${b}`])),
      shape,
    ),
    ...weighted.after,
  ].join("\n");
};

/**
 * Where the prior of what is held depends on the others: every inner sample begins at its log p(held | others) instead
 * of 0, and `n` becomes the log mean of those, by which the evidence is divided.
 */
const evidenceWeight = (
  evidence: EvidenceLayout,
  horizon: number,
  shape: BoundShape,
): { readonly before: string[]; readonly inside: string[]; readonly after: string[] } => {
  const { weight } = evidence.plan;
  if (weight === undefined) return { before: [], inside: [], after: [] };
  const { tile, unroll, workgroup } = shape;
  const tiles = range(tile);
  const scopes = new Scopes(evidence, horizon, tile, unroll);
  const take = tiles.flatMap((b) =>
    range(unroll).map((k) => {
      const value = scopes.value(weight, b, k);
      return `ll${b}_${k} = ${value};
if (base + ${k * workgroup}u < ${evidence.inner}u) {
if (ll${b}_${k} > n${b} + 30.0f) { v${b} *= fb_exp(n${b} - ll${b}_${k}); n${b} = ll${b}_${k}; }
v${b} += fb_exp(ll${b}_${k} - n${b}); }`;
    }),
  );
  return {
    before: tiles.map((b) => `var n${b} = -3.0e38f; var v${b} = 0.0f;`),
    // It varies with no observation: what is kept for the first serves.
    inside: ["{ let t = 0u;", ...scopes.lines, ...take, "}"],
    after: [
      ...tiles.map((b) => `let own_n${b} = n${b};`),
      reduceText(
        "max",
        tiles.map((b) => `n${b}`),
        shape,
      ),
      ...tiles.map((b) => `v${b} *= fb_exp(own_n${b} - n${b});`),
      reduceText(
        "sum",
        tiles.map((b) => `v${b}`),
        shape,
      ),
      ...tiles.map((b) => `n${b} += fb_log(v${b});`),
    ],
  };
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
  ({ designs, description: { parameters, design, outcomes } }: NestedLayout) =>
  ({ op, name }: Traced): string | undefined => {
    if (op !== "input") return undefined;
    const parameter = parameters.findIndex((each) => each.name === name);
    if (parameter >= 0) return `theta[b * ${parameters.length}u + ${parameter}u]`;
    const variable = design.indexOf(name);
    if (variable >= 0) return `xs[${designs === "shared" ? "t" : "i"} * ${design.length}u + ${variable}u]`;
    const outcome = outcomes.findIndex((each) => each.name === name);
    if (outcome >= 0) return `ys[i * ${outcomes.length}u + ${outcome}u]`;
    const noise = outcomes.findIndex((each) => noiseOf(each.name) === name);
    return `z${noise}`;
  };

/** Statements that give every observation its own log-likelihood, for `points`, with its derivatives. */
const ownLikelihood = (layout: NestedLayout, { gradients }: BoundShape): string[] => {
  const { own, description } = layout;
  const slopes = sloped(description).length;
  const likelihood = new WgslStatements("l", pointLeaf(layout));
  const liked = [
    `loglik[i] = ${likelihood.value(own.value)};`,
    ...(gradients
      ? own.gradients.map((node, g) => `ownslopes[i * ${slopes}u + ${g}u] = ${likelihood.value(node)};`)
      : []),
  ];
  return [...likelihood.lines, ...liked];
};

/** Draws the generating parameters: each in its own thread, or one after the other where priors depend on each other. */
export const drawnParameters = (layout: NestedLayout, tile: number, workgroup: number): string => {
  const { parameters, dependent, outer } = layout.description;
  const stream = `key + ${layout.parameterStream}u`;
  const count = parameters.length;
  if (dependent) {
    const statements = new WgslStatements("p", ({ op, name }) =>
      op === "input" ? `z${parameters.findIndex((each) => noiseOf(each.name) === name)}` : undefined,
    );
    const values = planParameters(layout.description).map((node) => statements.value(node));
    return forEach(tile, workgroup, [
      `let index = min(first + i, ${outer - 1}u) * ${count}u;`,
      ...parameters.map((each, p) => `let z${p} = ${drawText(each, `keys[${stream}]`, `index + ${p}u`)};`),
      ...statements.lines,
      ...values.map((value, p) => `theta[i * ${count}u + ${p}u] = ${value};`),
    ]);
  }
  const cases = parameters.map((parameter, p) => {
    const { lines, value } = parameterFrom(parameter, "z", `p${p}_`);
    const z = drawText(parameter, `keys[${stream} + ${p}u]`, "index");
    return `case ${p}u: {\nlet z = ${z};\n${lines.join("\n")}\ntheta[i] = ${value};\n}`;
  });
  return forEach(tile * count, workgroup, [
    `let index = min(first + i / ${count}u, ${outer - 1}u);`,
    `switch (i % ${count}u) {`,
    ...cases,
    "default: {}",
    "}",
  ]);
};

/** Draws the experiments: parameters, designs, outcomes, and the generating sample's own log-likelihood. */
const drawExperiments = (layout: NestedLayout, shape: BoundShape): string[] => {
  const { tile, workgroup, gradients } = shape;
  const { design, outcomes, horizon, outer } = layout.description;
  const { own } = layout;
  const simulation = new WgslStatements("y", pointLeaf(layout));
  const simulated = own.outcomes.map(
    (node, o) =>
      `ys[i * ${outcomes.length}u + ${o}u] = ${drawnText(outcomes[o], `z${o}`, simulation.value(node))};`,
  );
  const moved = gradients
    ? own.outcomeGradients.flatMap((row, o) =>
        row.map(
          (node, v) =>
            `yslopes[(i * ${outcomes.length}u + ${o}u) * ${design.length}u + ${v}u] = ${simulation.value(node)};`,
        ),
      )
    : [];
  return [
    drawnParameters(layout, tile, workgroup),
    forEach(horizon * design.length, workgroup, [`xs[i] = designs[row * ${horizon * design.length}u + i];`]),
    "workgroupBarrier();",
    forEach(tile * horizon, workgroup, [
      `let b = i / ${horizon}u; let t = i % ${horizon}u;`,
      `let experiment = min(first + b, ${outer - 1}u);`,
      ...(layout.noisePerObservation
        ? [`let stream = key + ${layout.noiseStream}u + t * ${outcomes.length}u;`, "let index = experiment;"]
        : [`let stream = key + ${layout.noiseStream}u;`, `let index = experiment * ${horizon}u + t;`]),
      ...outcomes.map((each, o) => `let z${o} = ${drawText(each, `keys[stream + ${o}u]`, "index")};`),
      ...simulation.lines,
      ...simulated,
      ...moved,
      ...ownLikelihood(layout, shape),
    ]),
  ];
};

/** Reads experiments that were made elsewhere: parameters [rows, outer], designs and outcomes [rows, outer, horizon]. */
const readExperiments = (layout: NestedLayout, shape: BoundShape): string[] => {
  const { tile, workgroup } = shape;
  const { parameters, design, outcomes, horizon, outer } = layout.description;
  const [variables, results] = [design.length, outcomes.length];
  return [
    forEach(tile * parameters.length, workgroup, [
      `let experiment = min(first + i / ${parameters.length}u, ${outer - 1}u);`,
      `theta[i] = thetas[(row * ${outer}u + experiment) * ${parameters.length}u + i % ${parameters.length}u];`,
    ]),
    forEach(tile * horizon, workgroup, [
      `let experiment = min(first + i / ${horizon}u, ${outer - 1}u);`,
      `let point = ((row * ${outer}u + experiment) * ${horizon}u + i % ${horizon}u) * ${variables + results}u;`,
      ...range(variables).map((v) => `xs[i * ${variables}u + ${v}u] = points[point + ${v}u];`),
      ...range(results).map((o) => `ys[i * ${results}u + ${o}u] = points[point + ${variables + o}u];`),
    ]),
    "workgroupBarrier();",
    forEach(tile * horizon, workgroup, [
      `let b = i / ${horizon}u; let t = i % ${horizon}u;`,
      ...ownLikelihood(layout, shape),
    ]),
  ];
};

/** Everything about the experiments themselves, in shared memory; `per` has each one's own log-likelihood. */
const experiments = (layout: NestedLayout, shape: BoundShape): string => {
  const { tile } = shape;
  const { horizon } = layout.description;
  const skipping = canSkip(layout, shape) ? "if (t == skip) { continue; } " : "";
  return [
    ...(layout.designs === "shared" ? drawExperiments : readExperiments)(layout, shape),
    "workgroupBarrier();",
    `if (lane < ${tile}u) {
var sum = 0.0f;
for (var t = 0u; t < ${horizon}u; t++) { ${skipping}sum += loglik[lane * ${horizon}u + t]; }
per[lane] = sum;
}`,
    "workgroupBarrier();",
  ].join("\n");
};

/** Whether a row may leave an observation out. */
const canSkip = ({ designs }: NestedLayout, { gradients }: BoundShape): boolean =>
  designs === "shared" && !gradients;

/** Arrays of `per`: the own log-likelihood, the bound, its derivative in the own log-likelihood, the scale of weights. */
const PER = ["own", "bound", "adjoint", "scale"] as const;
const per = (what: (typeof PER)[number], b: number | string, tile: number): string =>
  `per[${PER.indexOf(what) * tile}u + ${typeof b === "number" ? `${b}u` : b}]`;

/** The statement that makes `prior` log p(held | others) of the generating sample b, where the evidence is weighted. */
const ownPrior = (layout: NestedLayout, e: number, b: number): string => {
  const prior = layout.own.priors[e];
  if (prior === undefined) return "let prior = 0.0f;";
  const statements = new WgslStatements("w", pointLeaf(layout));
  const value = statements.value(prior);
  return [`let b = ${b}u;`, ...statements.lines, `let prior = ${value};`].join("\n");
};

/** After the value of an evidence: its part of the bound, and the weight with which its derivatives count. */
const addToBound = (layout: NestedLayout, e: number, { tile, gradients }: BoundShape): string => {
  const { inner, plan } = layout.evidences[e];
  const { outer } = layout.description;
  // The mean of the weights counts against the evidence: it takes the other side.
  const divide = (b: number): string =>
    plan.weight === undefined
      ? ""
      : `if (c < 0.0f) { value -= n${b} - ${f32(log(inner))}; } else {
let most = max(n${b}, prior);
value -= most + fb_log(fb_exp(n${b} - most) + fb_exp(prior - most)) - ${f32(log(inner + 1))};
}`;
  return [
    "if (lane == 0u) {",
    `let c = coefficients[row * ${layout.evidences.length + 1}u + ${e}u];`,
    ...range(tile).map(
      (b) => `{
${ownPrior(layout, e, b)}
let own_log = ${per("own", b, tile)} + prior;
let others = m${b} + fb_log(s${b});
var value = others - ${f32(log(inner))};
var share = 1.0f;
if (c < 0.0f) {
  let most = max(others, own_log);
  value = most + fb_log(fb_exp(others - most) + fb_exp(own_log - most)) - ${f32(log(inner + 1))};
  share = fb_sigmoid(others - own_log);
}
${divide(b)}${gradients ? "" : "\nif (fb_is_nan(others) || fb_is_nan(own_log)) { value = fb_nan(); }"}
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

/** What `experimentWords` describes, for every experiment of the tile. */
const finishEach = (layout: NestedLayout, { tile, workgroup, gradients }: BoundShape): string => {
  const { description } = layout;
  const { design, horizon, outer } = description;
  const width = sloped(description).length;
  const slopes = horizon * width;
  const words = experimentWords(layout, gradients);
  return forEach(tile * words, workgroup, [
    `let b = i / ${words}u; let place = i % ${words}u;`,
    `if (first + b < ${outer}u) {`,
    `let to = (row * ${outer}u + first + b) * ${words}u + place;`,
    `if (place == 0u) { results[to] = ${per("bound", "b", tile)}; }`,
    ...(gradients
      ? [
          `else if (place <= ${slopes}u) { let at = b * ${slopes}u + place - 1u; results[to] = fma(${per("adjoint", "b", tile)}, ownslopes[at], slopes[at]); }`,
          `else { let at = place - ${1 + slopes}u; results[to] = ownslopes[b * ${slopes}u + (at / ${design.length}u) * ${width}u + at % ${design.length}u]; }`,
        ]
      : []),
    "}",
  ]);
};

/** The gradient [horizon, variables] and the bound of the tile's outer samples, summed. */
const finish = (layout: NestedLayout, { tile, workgroup, gradients }: BoundShape): string => {
  const { design, horizon, outer } = layout.description;
  const variables = design.length;
  const results = layout.own.outcomeGradients.length;
  const slopes = variables + results;
  const size = horizon * variables;
  const words = tileWords(layout, gradients);
  const scored = hasScore(layout);
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
            `let t = (i % ${size}u) / ${variables}u; let v = i % ${variables}u;`,
            "for (var b = 0u; b < tileCount; b++) {",
            `let point = b * ${horizon}u + t;`,
            ...(scored
              ? [
                  `let score = ownslopes[point * ${slopes}u + v] * ${f32(1 / (outer - 1))};`,
                  `if (i >= ${size}u) { sum += score; continue; }`,
                  `sum = fma(${per("bound", "b", tile)}, score, sum);`,
                ]
              : []),
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

/**
 * Whether the gradient has a score-function term, sum_b (A_b - mean of the others) g_b / outer with A_b the bound of outer
 * sample b and g_b = d log p(D_b | own) / d design. That is sum_b A_b g_b / (outer - 1) - mean A sum_b g_b / (outer - 1):
 * a workgroup knows the first, and half of the second, which is put together where all have met.
 */
export const hasScore = ({ description: { reparameterised, outer } }: NestedLayout): boolean =>
  !reparameterised && outer > 1;

/** Words of a tile: the gradient [horizon, variables], sum g_b / (outer - 1) where it has a score, and the bound. */
export const tileWords = (layout: NestedLayout, gradients: boolean): number => {
  const { horizon, design } = layout.description;
  return (gradients ? horizon * design.length * (hasScore(layout) ? 2 : 1) : 0) + 1;
};

/** Words of an evidence of an outer sample: fresh and squared; its own prior and the mean of those where it is weighted. */
export const evidenceWords = ({ plan: { weight } }: EvidenceLayout): number => (weight === undefined ? 2 : 4);

const estimateWords = ({ evidences }: NestedLayout): number =>
  evidences.reduce((sum, each) => sum + evidenceWords(each), 1);

/**
 * Words of an experiment with designs of its own: its bound, and its gradient in designs and outcomes, [horizon] each, with
 * d log p(D | own) / d design [horizon, variables] where it has a score.
 */
export const experimentWords = (layout: NestedLayout, gradients: boolean): number => {
  const { description } = layout;
  const scores = hasScore(layout) ? description.design.length : 0;
  return 1 + (gradients ? description.horizon * (sloped(description).length + scores) : 0);
};

/** Words of a row in `results`: of a bound [tiles, words] or [experiments, words], of evidences [outer, own and evidences]. */
export const resultWords = (layout: NestedLayout, { gradients, wanted, tile }: BoundShape): number => {
  const { outer } = layout.description;
  if (wanted === "evidences") return outer * estimateWords(layout);
  return layout.designs === "shared"
    ? Math.ceil(outer / tile) * tileWords(layout, gradients)
    : outer * experimentWords(layout, gradients);
};

/** Workgroups (tiles, rows). */
export const boundKernel = (layout: NestedLayout, shape: BoundShape): string => {
  const { parameters, outcomes, horizon, outer } = layout.description;
  const { tile, workgroup, gradients, wanted } = shape;
  const points = tile * horizon;
  const slopes = sloped(layout.description).length;
  let word = 1;
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
          (layout.designs === "shared" ? finish : finishEach)(layout, shape),
        ]
      : layout.evidences.map((evidence, e) => {
          const at = word;
          word += evidenceWords(evidence);
          const prior = (b: number): string =>
            evidence.plan.weight === undefined
              ? ""
              : `${ownPrior(layout, e, b)}
results[to + ${at + 2}u] = prior;
results[to + ${at + 3}u] = n${b} - ${f32(log(evidence.inner))};`;
          return [
            "{",
            fillOwn(layout, evidence, shape),
            "workgroupBarrier();",
            evidenceValue(layout, evidence, shape),
            "if (lane == 0u) {",
            ...range(tile).map(
              (b) => `if (first + ${b}u < ${outer}u) {
let to = (row * ${outer}u + first + ${b}u) * ${estimateWords(layout)}u;
results[to] = ${per("own", b, tile)};
results[to + ${at}u] = m${b} + fb_log(s${b}) - ${f32(log(evidence.inner))};
results[to + ${at + 1}u] = 2.0f * m${b} + fb_log(q${b}) - ${f32(log(evidence.inner))};
${prior(b)}
}`,
            ),
            "}",
            "workgroupBarrier();",
            "}",
          ].join("\n");
        });
  return kernelText({
    buffers: [
      ...(layout.designs === "shared"
        ? [
            { name: "keys", type: "array<vec2u>" },
            { name: "designs", type: "array<f32>" },
            { name: "ticks", type: "array<vec4u>" },
            { name: "sizes", type: "array<u32>" },
            { name: "rows", type: "array<vec4u>" },
          ]
        : [
            { name: "thetas", type: "array<f32>" },
            { name: "points", type: "array<f32>" },
          ]),
      { name: "samples", type: "array<f32>" },
      { name: "coefficients", type: "array<f32>" },
      { name: "results", type: "array<f32>", write: true },
    ],
    workgroup,
    subgroups: shape.leastSubgroup !== undefined,
    declarations: [
      ...sharedArrays(layout, shape).map(
        ([name, words]) => `var<workgroup> ${name}: array<f32, ${Math.max(1, words)}>;`,
      ),
      randomText([...parameters, ...outcomes]),
    ].join("\n"),
    body: [
      "let row = group.y;",
      `let first = group.x * ${tile}u;`,
      ...(layout.designs === "shared"
        ? [`let key = (ticks[row].x * sizes[0] + row) * ${layout.streams.length}u;`]
        : []),
      `let start = row * ${layout.samples}u;`,
      ...(canSkip(layout, shape) ? ["let skip = rows[row].w;"] : []),
      experiments(layout, shape),
      ...body,
    ].join("\n"),
  });
};
