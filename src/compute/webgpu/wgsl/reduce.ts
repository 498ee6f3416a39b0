/** The sum or the largest of a number over all threads of a workgroup, in an order that is always the same. */

export interface Reducing {
  readonly workgroup: number;
  /** The fewest lanes that work in step, where the adapter has subgroups in the order of the threads. */
  readonly leastSubgroup: number | undefined;
}

/** Words of shared memory, called `scratch`, that `count` numbers at a time need. */
export const scratchWords = ({ workgroup, leastSubgroup }: Reducing, count: number): number =>
  count * Math.ceil(workgroup / (leastSubgroup ?? 1));

const SUBGROUP = { sum: "subgroupAdd", max: "subgroupMax" } as const;
const combine = (kind: "sum" | "max", a: string, b: string): string =>
  kind === "sum" ? `${a} + ${b}` : `max(${a}, ${b})`;

/** Statements that give every thread the reduced values of these variables. */
export const reduceText = (
  kind: "sum" | "max",
  names: readonly string[],
  { workgroup, leastSubgroup }: Reducing,
): string => {
  if (leastSubgroup === undefined) {
    const store = names.map((name, k) => `scratch[${k * workgroup}u + lane] = ${name};`);
    const half = names.map((_, k) => {
      const at = `scratch[${k * workgroup}u + lane]`;
      return `${at} = ${combine(kind, at, `scratch[${k * workgroup}u + lane + width]`)};`;
    });
    return [
      ...store,
      "workgroupBarrier();",
      `for (var width = ${workgroup / 2}u; width > 0u; width >>= 1u) {`,
      `if (lane < width) { ${half.join(" ")} }`,
      "workgroupBarrier();",
      "}",
      ...names.map((name, k) => `${name} = scratch[${k * workgroup}u];`),
      "workgroupBarrier();",
    ].join("\n");
  }
  const room = Math.ceil(workgroup / leastSubgroup);
  return [
    ...names.map((name) => `${name} = ${SUBGROUP[kind]}(${name});`),
    "if (subgroup_lane == 0u) {",
    ...names.map((name, k) => `scratch[${k * room}u + lane / subgroup_size] = ${name};`),
    "}",
    "workgroupBarrier();",
    ...names.map((name, k) => `${name} = scratch[${k * room}u];`),
    `for (var part = 1u; part < ${workgroup}u / subgroup_size; part++) {`,
    ...names.map((name, k) => `${name} = ${combine(kind, name, `scratch[${k * room}u + part]`)};`),
    "}",
    "workgroupBarrier();",
  ].join("\n");
};
