/**
 * Back through the experiments that a policy designed, from the bound's gradient in designs and outcomes to the gradients in
 * the sums of every layer: the rule of design/dad-rollout.ts, with a tile of experiments to a workgroup.
 */
import { experimentWords, hasScore } from "../nested/bound-kernel.js";
import { f32 } from "../wgsl/literal.js";
import { forEach, range } from "../wgsl/loop.js";
import { WgslStatements } from "../wgsl/lower.js";
import { kernelText } from "../wgsl/module.js";
import { denseText, partialWords } from "./dense.js";
import type { DenseLayer, PolicyLayout } from "./layout.js";
import { designGraph, forPresent, type PolicyShape, widest } from "./network-text.js";

/** Words of shared memory. */
export const pullbackWords = (layout: PolicyLayout, shape: PolicyShape): number => {
  const { tile } = shape;
  const { encoder, emitter, description, outputs } = layout;
  const { design, outcomes } = description.nested;
  const layers = [...encoder, ...emitter];
  return (
    tile.size *
    (2 * widest(layers) +
      emitter[0].inputs +
      Math.max(
        1,
        ...layers.map((each) => partialWords({ inputs: each.outputs, outputs: each.inputs }, shape)),
      ) +
      design.length +
      outcomes.length +
      encoder[0].inputs +
      outputs +
      1)
  );
};

/** The layers of a network from the last to the first; `last` takes the gradients in its inputs. */
const layersText = (
  layers: readonly DenseLayer[],
  layout: PolicyLayout,
  { tile, workgroup, together, ahead }: PolicyShape,
  input: (k: string, part: number) => string,
  last: (sums: readonly string[]) => readonly string[],
): string =>
  [...layers]
    .reverse()
    .map((layer, l) => {
      const { inputs, outputs, weights, before } = layer;
      const [from, to] = l % 2 === 0 ? ["even", "odd"] : ["odd", "even"];
      const above = layers[layers.length - 2 - l];
      return denseText({
        inputs: outputs,
        outputs: inputs,
        workgroup,
        tile,
        together,
        ahead,
        weight: (k, o) => `weights[network + ${weights}u + ${k} * ${inputs}u + ${o}]`,
        input: l === 0 ? input : (k, part) => tile.at(from, k, part),
        take: (sums) => {
          if (above === undefined) return last(sums);
          // Where the ReLU let nothing through, nothing comes back.
          return [
            ...tile.each.map((b) => `var active${b} = 0.0f;`),
            ...forPresent(layout, tile, (b) => [
              `active${b} = select(0.0f, 1.0f, acts[record + ${b * layout.record + before}u + o] > 0.0f);`,
            ]),
            ...sums.map((sum, part) => `${sum} *= ${tile.from((b) => `active${b}`, part)};`),
            ...sums.map((sum, part) => `${tile.at(to, "o", part)} = ${sum};`),
            ...forPresent(layout, tile, (b) => [
              `deltas[delta + ${b * layout.deltas + above.delta}u + o] = ${tile.of(sums, b)};`,
            ]),
          ];
        },
      });
    })
    .join("\n");

/** From the gradients in designs and outcomes to those in what the emitter put out: one experiment `b` to a thread. */
const throughDesigns = (layout: PolicyLayout, { tile }: PolicyShape): string => {
  const { description, firstOutput, emitter, emitted, chosen, slopes, listed } = layout;
  const { designs, outcomes: readings, nested } = description;
  const { design, outcomes, horizon, outer } = nested;
  const variables = design.length;
  // Nothing goes through outcomes that do not follow from noise by a formula.
  const results = nested.reparameterised ? outcomes.length : 0;
  const width = variables + results;
  const words = experimentWords(layout.nested, true);
  const delta = emitter[emitter.length - 1].delta;
  const pulled = (k: number, unit: number) =>
    `select(0.0f, pairs[${k * tile.size}u + b], t < ${horizon - 1}u) * ${f32(1 / unit)}`;
  const put = (j: string, value: string) =>
    `{ let back = ${value}; emits[(${j}) * ${tile.size}u + b] = back; deltas[delta + b * ${layout.deltas}u + ${delta}u + ${j}] = back; }`;
  const lines = designs.flatMap((each, d) => {
    const first = firstOutput[d];
    if (!("values" in each)) {
      const statements = new WgslStatements(`d${d}_`, ({ op }) => (op === "input" ? `r${d}` : undefined));
      const slope = statements.value(designGraph(each).slope);
      return [
        `let r${d} = acts[own + ${emitted + first}u];`,
        ...statements.lines,
        put(`${first}u`, `gx${d} * ${slope}`),
      ];
    }
    const count = each.values.length;
    const logit = `acts[own + ${emitted + first}u + k]`;
    // The score function: the advantage times d log p(chosen) / d output.
    return [
      `var most${d} = -3.0e38f;`,
      `for (var k = 0u; k < ${count}u; k++) { most${d} = max(most${d}, ${logit}); }`,
      `var total${d} = 0.0f;`,
      `for (var k = 0u; k < ${count}u; k++) { total${d} += fb_exp(${logit} - most${d}); }`,
      `let chosen${d} = u32(acts[own + ${chosen + listed.indexOf(d)}u]);`,
      `for (var k = 0u; k < ${count}u; k++) {`,
      put(
        `${first}u + k`,
        `advantages[b] * (select(0.0f, 1.0f, k == chosen${d}) - fb_exp(${logit} - most${d}) / total${d})`,
      ),
      "}",
    ];
  });
  return [
    `if (lane < ${tile.size}u) {`,
    "let b = lane;",
    `if (first + b < ${outer}u) {`,
    `let own = record + b * ${layout.record}u;`,
    `let whole = (row * ${outer}u + first + b) * ${words}u;`,
    `let given = whole + 1u + t * ${width}u;`,
    `let score = whole + ${1 + horizon * width}u + t * ${variables}u;`,
    ...range(results).map(
      (o) => `let gy${o} = results[given + ${variables + o}u] + ${pulled(variables + o, readings[o].unit)};`,
    ),
    ...range(variables)
      .map((v) =>
        [
          `let gx${v} = results[given + ${v}u] + ${pulled(v, designs[v].reading.unit)}`,
          ...range(results).map((o) => `gy${o} * acts[own + ${slopes + o * variables + v}u]`),
          ...(hasScore(layout.nested) ? [`advantages[b] * results[score + ${v}u]`] : []),
        ].join(" + "),
      )
      .map((line) => `${line};`),
    ...lines,
    "} else {",
    `for (var j = 0u; j < ${layout.outputs}u; j++) { emits[j * ${tile.size}u + b] = 0.0f; }`,
    "}",
    "}",
    "workgroupBarrier();",
  ].join("\n");
};

/** Workgroups (tiles of experiments, rows). */
export const pullbackKernel = (layout: PolicyLayout, shape: PolicyShape): string => {
  const { tile, workgroup } = shape;
  const { description, encoder, emitter, outputs } = layout;
  const { horizon, outer } = description.nested;
  const { size } = tile;
  const encoding = emitter[0].inputs;
  const layers = [...encoder, ...emitter];
  const words = experimentWords(layout.nested, true);
  const partial = Math.max(
    1,
    ...layers.map((each) => partialWords({ inputs: each.outputs, outputs: each.inputs }, shape)),
  );
  return kernelText({
    buffers: [
      { name: "weights", type: "array<f32>" },
      { name: "results", type: "array<f32>" },
      { name: "acts", type: "array<f32>" },
      { name: "deltas", type: "array<f32>", write: true },
    ],
    workgroup,
    declarations: [
      tile.shared("even", widest(layers)),
      tile.shared("odd", widest(layers)),
      tile.shared("later", encoding),
      tile.shared("partial", partial),
      `var<workgroup> pairs: array<f32, ${size * encoder[0].inputs}>;`,
      `var<workgroup> emits: array<f32, ${size * outputs}>;`,
      `var<workgroup> advantages: array<f32, ${size}>;`,
    ].join("\n"),
    body: [
      "let row = group.y;",
      `let first = group.x * ${size}u;`,
      `let network = row * ${layout.parameters}u;`,
      ...(layout.listed.length === 0 && !hasScore(layout.nested)
        ? []
        : [
            // How much better than the mean of the others.
            `if (lane < ${size}u && first + lane < ${outer}u) {`,
            "var total = 0.0f;",
            `for (var b = 0u; b < ${outer}u; b++) { total += results[(row * ${outer}u + b) * ${words}u]; }`,
            `let own = results[(row * ${outer}u + first + lane) * ${words}u];`,
            `advantages[lane] = ${
              outer === 1 ? "own" : `(own - (total - own) * ${f32(1 / (outer - 1))}) * ${f32(1 / outer)}`
            };`,
            "}",
          ]),
      forEach(
        encoding,
        workgroup,
        tile.eachPart.map((part) => `${tile.at("later", "i", part)} = ${tile.same("0.0f")};`),
      ),
      "workgroupBarrier();",
      `for (var back = 0u; back < ${horizon}u; back++) {`,
      `let t = ${horizon - 1}u - back;`,
      `let place = (row * ${horizon}u + t) * ${outer}u + first;`,
      `let record = place * ${layout.record}u;`,
      `let delta = place * ${layout.deltas}u;`,
      `if (back > 0u) {`,
      forEach(
        encoding,
        workgroup,
        forPresent(layout, tile, (b) => [
          `deltas[delta + ${b * layout.deltas + encoder[encoder.length - 1].delta}u + i] = ${tile.of(
            tile.eachPart.map((part) => tile.at("later", "i", part)),
            b,
          )};`,
        ]),
      ),
      layersText(
        encoder,
        layout,
        shape,
        (k, part) => tile.at("later", k, part),
        (sums) => range(size).map((b) => `pairs[o * ${size}u + ${b}u] = ${tile.of(sums, b)};`),
      ),
      "}",
      throughDesigns(layout, shape),
      layersText(
        emitter,
        layout,
        shape,
        (k, part) => tile.from((b) => `emits[${k} * ${size}u + ${b}u]`, part),
        (sums) => sums.map((sum, part) => `${tile.at("later", "o", part)} += ${sum};`),
      ),
      "}",
    ].join("\n"),
  });
};
