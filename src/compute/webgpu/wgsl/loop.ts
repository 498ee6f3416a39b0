/** Loops, unrolled while a kernel is written and shared by the threads of a workgroup. */

export const range = (count: number): number[] => Array.from({ length: count }, (_, i) => i);

/** Statements for every `i` below a count, which the threads share. */
export const forEach = (count: number, workgroup: number, lines: readonly string[]): string =>
  [`for (var i = lane; i < ${count}u; i += ${workgroup}u) {`, ...lines, "}"].join("\n");
