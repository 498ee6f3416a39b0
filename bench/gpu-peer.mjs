// A program of bench/peers on the GPU of this machine: its last line is JSON. Null where Python or PyTorch is missing.
import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";

export const spawnPython = (name, words = []) => {
  const path = fileURLToPath(new URL(`peers/${name}`, import.meta.url));
  const { status, stdout } = spawnSync(process.env.FAIRBED_PYTHON ?? "python3", [path, ...words], {
    encoding: "utf8",
    stdio: ["ignore", "pipe", "inherit"],
    timeout: 400_000,
  });
  return status === 0 ? JSON.parse(stdout.trim().split("\n").at(-1)) : null;
};
