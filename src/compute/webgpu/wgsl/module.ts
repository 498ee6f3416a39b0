/** A kernel's whole text: its buffers, the functions that it calls, and its code. */
import { mathUsedBy } from "./math.js";

export interface KernelText {
  /** The type of every buffer, in the order of their bindings; the kernel may write to those that say so. */
  readonly buffers: readonly { readonly name: string; readonly type: string; readonly write?: boolean }[];
  readonly workgroup: number;
  readonly subgroups?: boolean;
  /** Before the kernel: constants, shared arrays, functions. */
  readonly declarations: string;
  readonly body: string;
}

export const kernelText = ({
  buffers,
  workgroup,
  subgroups = false,
  declarations,
  body,
}: KernelText): string =>
  [
    ...(subgroups ? ["enable subgroups;"] : []),
    ...buffers.map(
      ({ name, type, write = false }, binding) =>
        `@group(0) @binding(${binding}) var<storage, ${write ? "read_write" : "read"}> ${name}: ${type};`,
    ),
    mathUsedBy(declarations + body),
    declarations,
    `@compute @workgroup_size(${workgroup})`,
    `fn main(@builtin(workgroup_id) group: vec3u, @builtin(local_invocation_index) lane: u32${
      subgroups
        ? ", @builtin(subgroup_size) subgroup_size: u32, @builtin(subgroup_invocation_id) subgroup_lane: u32"
        : ""
    }) {`,
    // Named, or those that this kernel has no use for would be left out of its layout.
    ...buffers.map(({ name }) => `_ = &${name};`),
    body,
    "}",
  ].join("\n");
