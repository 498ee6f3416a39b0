/** Commands of `compute/`. */
import { detectFeatures, type Features } from "../../compute/features.js";
import { type Command, defineCommand } from "../command.js";
import { findGpu } from "../find-gpu.js";
import type { FoundGpu } from "../gpu-process.js";
import { ABOUT } from "../program.js";
import { version } from "../version.js";

type Info = Machine & FoundGpu;

interface Machine extends Features {
  readonly version: string;
  readonly node: string;
  readonly platform: string;
}

const info = defineCommand({
  name: "info",
  group: ABOUT,
  summary: "show the version and what this machine can run",
  examples: [{ line: "info", description: "which features, cores and GPU there are" }],
  arguments: {},
  options: {},
  async run(): Promise<Info> {
    return {
      version: version(),
      node: process.versions.node,
      platform: `${process.platform} ${process.arch}`,
      ...detectFeatures(),
      ...(await findGpu()),
    };
  },
  print: ({ version, node, platform, cores, simd, relaxedSimd, threads, ...found }) =>
    [
      `fairbed       ${version}`,
      `Node          ${node} on ${platform}`,
      `cores         ${cores}`,
      `SIMD          ${yesOrNo(simd)}`,
      `relaxed SIMD  ${yesOrNo(relaxedSimd)}`,
      `threads       ${yesOrNo(threads)}`,
      `GPU           ${gpuInWords(found)}`,
    ].join("\n"),
});

const gpuInWords = (found: FoundGpu): string => {
  if (found.gpu === null) return `no (${found.gpuNote})`;
  const { name, vendor, software, subgroups } = found.gpu;
  const lanes = subgroups === undefined ? "no subgroups" : `subgroups of ${subgroups.least}`;
  return `${name} (${[vendor, lanes, ...(software ? ["a program on the processor"] : [])].join(", ")})`;
};

const yesOrNo = (available: boolean): string => (available ? "yes" : "no");

export const commands: readonly Command[] = [info];
