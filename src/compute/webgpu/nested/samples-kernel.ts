/** Draws the inner samples of every row and evidence, and fills the tables that all outer samples of a row read. */
import { trace } from "../../graph/trace.js";
import { WgslStatements } from "../wgsl/lower.js";
import { kernelText } from "../wgsl/module.js";
import { drawnText, drawText, randomText } from "../wgsl/random.js";
import type { Drawn } from "./description.js";
import { groupsFor, MOST_GROUPS } from "./groups.js";
import type { EvidenceLayout, NestedLayout } from "./layout.js";

export const SAMPLES_WORKGROUP = 64;

export const parameterNamed = ({ description: { parameters } }: NestedLayout, name: string): Drawn => {
  const parameter = parameters.find((each) => each.name === name);
  if (parameter === undefined) throw new RangeError(`the model has no parameter "${name}"`);
  return parameter;
};

/** The value of a parameter that depends on no other, from the noise of this name. */
export const parameterFrom = (
  parameter: Drawn,
  noise: string,
  prefix: string,
): { readonly lines: readonly string[]; readonly value: string } => {
  const { outputs } = trace(({ z }) => parameter.fromNoise({}, z), { z: [] }, { checked: true });
  const statements = new WgslStatements(prefix, (node) => (node.op === "input" ? noise : undefined));
  const value = statements.value(outputs.value);
  return { lines: statements.lines, value: drawnText(parameter, noise, value) };
};

const evidenceCode = (layout: NestedLayout, evidence: EvidenceLayout, gradients: boolean): string => {
  const { description } = layout;
  const { inner, plan } = evidence;
  const draws = plan.free.flatMap((name, k) => {
    const parameter = parameterNamed(layout, name);
    const { lines, value } = description.dependent
      ? { lines: [], value: `z${k}` }
      : parameterFrom(parameter, `z${k}`, `p${k}_`);
    return [
      `let z${k} = ${drawText(parameter, `keys[key + ${evidence.streams[name]}u]`, "i")};`,
      ...lines,
      `let parameter${k} = ${value};`,
      `samples[start + ${evidence.samples[name]}u + i] = parameter${k};`,
    ];
  });
  const statements = new WgslStatements("n", (node) => {
    if (node.op !== "input") return undefined;
    const free = plan.free.indexOf(node.name);
    if (free >= 0) return `parameter${free}`;
    return `designs[design + ${description.design.indexOf(node.name)}u]`;
  });
  const tables = gradients ? plan.tables : plan.tables.slice(0, plan.valueTables);
  const stores = tables.map(
    ({ node }, k) =>
      `samples[start + ${evidence.tables[k]}u + t * ${inner}u + i] = ${statements.value(node)};`,
  );
  const loop =
    stores.length === 0
      ? []
      : [
          `for (var t = 0u; t < ${description.horizon}u; t++) {`,
          `let design = (row * ${description.horizon}u + t) * ${description.design.length}u;`,
          ...statements.lines,
          ...stores,
          "}",
        ];
  return `for (var i = begin; i < ${inner}u; i += ${MOST_GROUPS * SAMPLES_WORKGROUP}u) {\n${[...draws, ...loop].join("\n")}\n}`;
};

/** Workgroups (inner, evidences, rows). */
export const samplesKernel = (layout: NestedLayout, gradients: boolean): string =>
  kernelText({
    buffers: [
      { name: "keys", type: "array<vec2u>" },
      // With designs of their own for all experiments no table depends on them.
      ...(layout.designs === "shared" ? [{ name: "designs", type: "array<f32>" }] : []),
      { name: "ticks", type: "array<vec4u>" },
      { name: "sizes", type: "array<u32>" },
      { name: "samples", type: "array<f32>", write: true },
    ],
    workgroup: SAMPLES_WORKGROUP,
    declarations: randomText(layout.description.parameters),
    body: `
let begin = group.x * ${SAMPLES_WORKGROUP}u + lane;
let row = group.z;
let key = (ticks[row].x * sizes[0] + row) * ${layout.streams.length}u;
let start = row * ${layout.samples}u;
switch (group.y) {
${layout.evidences.map((each, e) => `case ${e}u: {\n${evidenceCode(layout, each, gradients)}\n}`).join("\n")}
default: {}
}`,
  });

/** How many workgroups along the inner samples. */
export const samplesWorkgroups = ({ evidences }: NestedLayout): number =>
  groupsFor(Math.max(1, ...evidences.map(({ inner }) => inner)), SAMPLES_WORKGROUP);
