/** A disk of a few kilobytes that can be filled or made read-only, where such a one can be mounted. */
import { spawnSync } from "node:child_process";
import { mkdirSync, rmSync } from "node:fs";

const mountWith = (folder: string, options: string): boolean =>
  spawnSync("mount", ["-t", "tmpfs", "-o", options, "tmpfs", folder], { stdio: "ignore" }).status === 0;

export interface SmallDisk {
  /** With other options, such as `size=4m` or `ro`. */
  remount(options: string): void;
}

/** Whether `withDisk` works here. */
export const canMount = (folder: string): boolean => {
  if (process.platform !== "linux") return false;
  mkdirSync(folder, { recursive: true });
  const mounts = mountWith(folder, "size=4k");
  if (mounts) spawnSync("umount", [folder], { stdio: "ignore" });
  rmSync(folder, { recursive: true });
  return mounts;
};

export const withDisk = async (
  folder: string,
  size: string,
  use: (disk: SmallDisk) => Promise<void>,
): Promise<void> => {
  mkdirSync(folder, { recursive: true });
  if (!mountWith(folder, `size=${size}`)) throw new Error(`${folder} could not be mounted`);
  try {
    await use({
      remount(options) {
        const { status } = spawnSync("mount", ["-o", `remount,${options}`, folder], { stdio: "ignore" });
        if (status !== 0) throw new Error(`${folder} could not be mounted with ${options}`);
      },
    });
  } finally {
    spawnSync("umount", ["-l", folder], { stdio: "ignore" });
    rmSync(folder, { recursive: true, force: true });
  }
};
