/** A traced function of numbers, on a GPU: every element of its inputs by itself. */
import { type InputAxes, type TracedFunction, trace } from "../graph/trace.js";
import type { Gpu } from "./device.js";
import { groupsFor, MOST_GROUPS } from "./nested/groups.js";
import { WgslStatements } from "./wgsl/lower.js";
import { kernelText } from "./wgsl/module.js";

const WORKGROUP = 64;

/**
 * The outputs by name, element by element of `inputs`, which all have the same length, in float32.
 *
 * @example
 * ```ts
 * import { exp, mapOnGpu, openGpu } from "fairbed/compute";
 *
 * const gpu = await openGpu().catch(() => undefined);
 * const of = gpu && (await mapOnGpu(gpu, ({ x }) => exp(x), { x: Float32Array.of(0) }));
 * console.log(of === undefined || of.value[0] === 1); // true
 * gpu?.dispose();
 * ```
 */
export const mapOnGpu = async <const Names extends string>(
  gpu: Gpu,
  fn: TracedFunction<Record<Names, readonly ["element"]>>,
  inputs: Readonly<Record<Names, Float32Array>>,
): Promise<Record<string, Float32Array>> => {
  const names = Object.keys(inputs) as Names[];
  const axes = Object.fromEntries(names.map((name) => [name, ["element"]])) as InputAxes;
  const { outputs } = trace(fn as TracedFunction<InputAxes>, axes);
  const wanted = Object.entries(outputs);
  const length = names.reduce((most, name) => Math.max(most, inputs[name].length), 0);
  const statements = new WgslStatements("v", (node) =>
    node.op === "input" ? `given[${names.indexOf(node.name as Names)}u * length + i]` : undefined,
  );
  const stores = wanted.map(([, node], k) => `result[${k}u * length + i] = ${statements.value(node)};`);
  const code = kernelText({
    buffers: [
      { name: "given", type: "array<f32>" },
      { name: "result", type: "array<f32>", write: true },
      { name: "sizes", type: "array<u32>" },
    ],
    workgroup: WORKGROUP,
    declarations: "",
    body: `let length = sizes[0];
for (var i = group.x * ${WORKGROUP}u + lane; i < length; i += ${MOST_GROUPS * WORKGROUP}u) {
${[...statements.lines, ...stores].join("\n")}
}`,
  });
  const buffers = await gpu.allocate({
    given: names.length * length,
    result: wanted.length * length,
    sizes: 1,
  });
  try {
    for (const [k, name] of names.entries()) gpu.write(buffers.given, inputs[name], k * length);
    gpu.write(buffers.sizes, Uint32Array.of(length));
    const kernel = await gpu.kernel(code, [buffers.given, buffers.result, buffers.sizes]);
    await gpu.submit([{ kernel, workgroups: [groupsFor(length, WORKGROUP)] }]);
    const all = await gpu.readFloats(buffers.result, wanted.length * length);
    return Object.fromEntries(
      wanted.map(([name], k) => [name, all.slice(k * length, (k + 1) * length)] as const),
    );
  } finally {
    for (const buffer of Object.values(buffers)) buffer.destroy();
  }
};
