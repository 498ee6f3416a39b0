/**
 * Simulates experiments that a policy designs: a workgroup takes a tile of them through all observations, with the numbers of
 * a layer for all its experiments in shared memory, and keeps what the way back needs.
 */
import type { Traced } from "../../graph/expression.js";
import { drawnParameters } from "../nested/bound-kernel.js";
import { noiseOf } from "../nested/plan.js";
import { f32 } from "../wgsl/literal.js";
import { forEach, range } from "../wgsl/loop.js";
import { WgslStatements } from "../wgsl/lower.js";
import { kernelText } from "../wgsl/module.js";
import { drawnText, drawText, randomText } from "../wgsl/random.js";
import { denseText, partialWords } from "./dense.js";
import type { DenseLayer, PolicyLayout } from "./layout.js";
import { designGraph, forPresent, type PolicyShape, widest } from "./network-text.js";
import type { Tile } from "./tile.js";

/** How designs with finitely many values are chosen: as in training, or as when the policy is used. */
export type Choosing = "drawn" | "likeliest";

/** Words of shared memory. */
export const rolloutWords = (layout: PolicyLayout, shape: PolicyShape): number => {
  const { tile } = shape;
  const { encoder, emitter, description, outputs } = layout;
  const { parameters, outcomes, horizon } = description.nested;
  const layers = [...encoder, ...emitter];
  return (
    tile.size *
    (2 * widest(layers) +
      emitter[0].inputs +
      Math.max(1, ...layers.map((each) => partialWords(each, shape))) +
      parameters.length +
      horizon * outcomes.length +
      encoder[0].inputs +
      outputs)
  );
};

/** The layers of a network, one after the other: from `input` into what `last` does with the outputs. */
const layersText = (
  layers: readonly DenseLayer[],
  layout: PolicyLayout,
  { tile, workgroup, together, ahead }: PolicyShape,
  input: (k: string, part: number) => string,
  last: (sums: readonly string[]) => readonly string[],
): string =>
  layers
    .map((layer, l) => {
      const { inputs, outputs, weights, biases, hidden } = layer;
      const [from, to] = l % 2 === 0 ? ["even", "odd"] : ["odd", "even"];
      const after = layers[l + 1]?.before;
      return denseText({
        inputs,
        outputs,
        workgroup,
        tile,
        together,
        ahead,
        weight: (k, o) => `weights[network + ${weights}u + ${k} * ${outputs}u + ${o}]`,
        bias: (o) => `weights[network + ${biases}u + ${o}]`,
        input: l === 0 ? input : (k, part) => tile.at(from, k, part),
        take: (sums) =>
          hidden
            ? [
                ...sums.map((sum) => `${sum} = max(${sum}, ${tile.same("0.0f")});`),
                ...sums.map((sum, part) => `${tile.at(to, "o", part)} = ${sum};`),
                ...keep(layout, tile, after, "o", sums),
              ]
            : last(sums),
      });
    })
    .join("\n");

/** Writes one number of every experiment into the records. */
const keep = (
  layout: PolicyLayout,
  tile: Tile,
  field: number,
  index: string,
  parts: readonly string[],
): string[] =>
  forPresent(layout, tile, (b) => [
    `acts[record + ${b * layout.record + field}u + ${index}] = ${tile.of(parts, b)};`,
  ]);

/** From what was put out to designs, outcomes and what the encoder reads: one experiment `b` to a thread. */
const observe = (layout: PolicyLayout, { tile }: PolicyShape, choosing: Choosing): string => {
  const { description, nested, outputs, firstOutput, emitted, chosen, slopes, listed } = layout;
  const { designs, outcomes: readings } = description;
  const { parameters, design, outcomes, horizon, outer } = description.nested;
  const [variables, results] = [design.length, outcomes.length];
  const leaf = ({ op, name }: Traced): string | undefined => {
    if (op !== "input") return undefined;
    const parameter = parameters.findIndex((each) => each.name === name);
    if (parameter >= 0) return `theta[b * ${parameters.length}u + ${parameter}u]`;
    const variable = design.indexOf(name);
    if (variable >= 0) return `x${variable}`;
    const noise = outcomes.findIndex((each) => noiseOf(each.name) === name);
    return `zs[(b * ${horizon}u + t) * ${results}u + ${noise}u]`;
  };
  const output = (j: string) => `emits[(${j}) * ${tile.size}u + b]`;
  const chosenLines = designs.flatMap((each, d) => {
    const first = firstOutput[d];
    if (!("values" in each)) {
      const statements = new WgslStatements(`d${d}_`, ({ op }) => (op === "input" ? `r${d}` : undefined));
      const value = statements.value(designGraph(each).design);
      const above = Number.isFinite(each.low) ? `max(${value}, ${f32(each.low)})` : value;
      const inside = Number.isFinite(each.high) ? `min(${above}, ${f32(each.high)})` : above;
      return [`let r${d} = ${output(`${first}u`)};`, ...statements.lines, `let x${d} = ${inside};`];
    }
    const count = each.values.length;
    const place = listed.indexOf(d);
    const logit = output(`${first}u + k`);
    return [
      `var best${d} = 0u;`,
      `for (var k = 1u; k < ${count}u; k++) { if (${logit} > ${output(`${first}u + best${d}`)}) { best${d} = k; } }`,
      ...(choosing === "likeliest"
        ? [`let k${d} = best${d};`]
        : [
            `let most${d} = ${output(`${first}u + best${d}`)};`,
            `var left${d} = 0.0f;`,
            `for (var k = 0u; k < ${count}u; k++) { left${d} += fb_exp(${logit} - most${d}); }`,
            `left${d} *= fb_uniform(keys[key + ${layout.choiceStream}u + t * ${listed.length}u + ${place}u], first + b);`,
            `var k${d} = 0u;`,
            `for (; k${d} < ${count - 1}u; k${d}++) { left${d} -= fb_exp(${output(`${first}u + k${d}`)} - most${d}); if (left${d} < 0.0f) { break; } }`,
          ]),
      `var table${d} = array<f32, ${count}>(${each.values.map(f32).join(", ")});`,
      `let x${d} = table${d}[k${d}];`,
    ];
  });
  const simulation = new WgslStatements("n", leaf);
  const simulated = nested.own.outcomes.map((node, o) =>
    drawnText(outcomes[o], `zs[(b * ${horizon}u + t) * ${results}u + ${o}u]`, simulation.value(node)),
  );
  const moved = nested.own.outcomeGradients.map((row) => row.map((node) => simulation.value(node)));
  const reading = (value: string, { centre, unit }: { readonly centre: number; readonly unit: number }) =>
    centre === 0 && unit === 1 ? value : `(${value} - ${f32(centre)}) * ${f32(1 / unit)}`;
  const inputs = [
    ...designs.map((each, d) => reading(`x${d}`, each.reading)),
    ...simulated.map((_, o) => reading(`y${o}`, readings[o])),
  ];
  const point = `((row * ${outer}u + first + b) * ${horizon}u + t) * ${variables + results}u`;
  return [
    `if (lane < ${tile.size}u && first + lane < ${outer}u) {`,
    "let b = lane;",
    `let own = record + b * ${layout.record}u;`,
    ...chosenLines,
    ...simulation.lines,
    ...simulated.map((value, o) => `let y${o} = ${value};`),
    `let point = ${point};`,
    ...range(variables).map((d) => `points[point + ${d}u] = x${d};`),
    ...simulated.map((_, o) => `points[point + ${variables + o}u] = y${o};`),
    `for (var j = 0u; j < ${outputs}u; j++) { acts[own + ${emitted}u + j] = ${output("j")}; }`,
    ...listed.map((d, place) => `acts[own + ${chosen + place}u] = f32(k${d});`),
    ...moved.flatMap((row, o) =>
      row.map((value, v) => `acts[own + ${slopes + o * variables + v}u] = ${value};`),
    ),
    ...inputs.flatMap((value, k) => [
      `{ let read = ${value}; pairs[${k * tile.size}u + b] = read; acts[own + ${layout.encoder[0].before + k}u] = read; }`,
    ]),
    "}",
    "workgroupBarrier();",
  ].join("\n");
};

/** Workgroups (tiles of experiments, rows). */
export const rolloutKernel = (layout: PolicyLayout, shape: PolicyShape, choosing: Choosing): string => {
  const { tile, workgroup } = shape;
  const { description, nested, encoder, emitter, outputs } = layout;
  const { parameters, outcomes, horizon, outer } = description.nested;
  const { size } = tile;
  const encoding = emitter[0].inputs;
  const layers = [...encoder, ...emitter];
  const partial = Math.max(1, ...layers.map((each) => partialWords(each, shape)));
  return kernelText({
    buffers: [
      { name: "keys", type: "array<vec2u>" },
      { name: "ticks", type: "array<vec4u>" },
      { name: "sizes", type: "array<u32>" },
      { name: "weights", type: "array<f32>" },
      { name: "base", type: "array<f32>" },
      { name: "thetas", type: "array<f32>", write: true },
      { name: "points", type: "array<f32>", write: true },
      { name: "acts", type: "array<f32>", write: true },
    ],
    workgroup,
    declarations: [
      tile.shared("even", widest(layers)),
      tile.shared("odd", widest(layers)),
      tile.shared("sums", encoding),
      tile.shared("partial", partial),
      `var<workgroup> theta: array<f32, ${size * parameters.length}>;`,
      `var<workgroup> zs: array<f32, ${size * horizon * outcomes.length}>;`,
      `var<workgroup> pairs: array<f32, ${size * encoder[0].inputs}>;`,
      `var<workgroup> emits: array<f32, ${size * outputs}>;`,
      randomText([...parameters, ...outcomes]),
    ].join("\n"),
    body: [
      "let row = group.y;",
      `let first = group.x * ${size}u;`,
      `let key = (ticks[row].x * sizes[0] + row) * ${nested.streams.length}u;`,
      `let network = row * ${layout.parameters}u;`,
      drawnParameters(nested, size, workgroup),
      forEach(size * horizon, workgroup, [
        `let t = i % ${horizon}u; let index = min(first + i / ${horizon}u, ${outer - 1}u);`,
        `let stream = key + ${nested.noiseStream}u + t * ${outcomes.length}u;`,
        ...outcomes.map(
          (each, o) =>
            `zs[i * ${outcomes.length}u + ${o}u] = ${drawText(each, `keys[stream + ${o}u]`, "index")};`,
        ),
      ]),
      forEach(
        encoding,
        workgroup,
        tile.eachPart.map((part) => `${tile.at("sums", "i", part)} = ${tile.same("0.0f")};`),
      ),
      "workgroupBarrier();",
      forEach(size * parameters.length, workgroup, [
        `let experiment = first + i / ${parameters.length}u;`,
        `if (experiment < ${outer}u) { thetas[(row * ${outer}u + experiment) * ${parameters.length}u + i % ${parameters.length}u] = theta[i]; }`,
      ]),
      `for (var t = 0u; t < ${horizon}u; t++) {`,
      `let record = ((row * ${horizon}u + t) * ${outer}u + first) * ${layout.record}u;`,
      forEach(
        encoding,
        workgroup,
        keep(
          layout,
          tile,
          emitter[0].before,
          "i",
          tile.eachPart.map((part) => tile.at("sums", "i", part)),
        ),
      ),
      layersText(
        emitter,
        layout,
        shape,
        (k, part) => tile.at("sums", k, part),
        (sums) => [
          `let start = base[(row * ${horizon}u + t) * ${outputs}u + o];`,
          ...range(size).map((b) => `emits[o * ${size}u + ${b}u] = ${tile.of(sums, b)} + start;`),
        ],
      ),
      observe(layout, shape, choosing),
      // The last pair is read by nobody.
      `if (t == ${horizon - 1}u) { break; }`,
      layersText(
        encoder,
        layout,
        shape,
        (k, part) => tile.from((b) => `pairs[${k} * ${size}u + ${b}u]`, part),
        (sums) => sums.map((sum, part) => `${tile.at("sums", "o", part)} += ${sum};`),
      ),
      "}",
    ].join("\n"),
  });
};
