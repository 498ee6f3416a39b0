/** Commands of `compute/`. */
import { detectFeatures, type Features } from "../../compute/features.js";
import { type Command, defineCommand } from "../command.js";
import { ABOUT } from "../program.js";
import { version } from "../version.js";

interface Info extends Features {
  readonly version: string;
  readonly node: string;
  readonly platform: string;
}

const info = defineCommand({
  name: "info",
  group: ABOUT,
  summary: "show the version and what this machine can run",
  examples: [{ line: "info", description: "which WebAssembly features and how many cores there are" }],
  arguments: {},
  options: {},
  async run(): Promise<Info> {
    return {
      version: version(),
      node: process.versions.node,
      platform: `${process.platform} ${process.arch}`,
      ...detectFeatures(),
    };
  },
  print: ({ version, node, platform, cores, simd, relaxedSimd, threads }) =>
    [
      `fairbed       ${version}`,
      `Node          ${node} on ${platform}`,
      `cores         ${cores}`,
      `SIMD          ${yesOrNo(simd)}`,
      `relaxed SIMD  ${yesOrNo(relaxedSimd)}`,
      `threads       ${yesOrNo(threads)}`,
    ].join("\n"),
});

const yesOrNo = (available: boolean): string => (available ? "yes" : "no");

export const commands: readonly Command[] = [info];
