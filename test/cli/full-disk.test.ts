/** A disk that is full: one sentence, exit code 1, and nothing half-written. */
import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { writeText } from "../../src/cli/atomic-write.js";
import { jobStoreTexts } from "../../src/jobs/job-store.js";
import { needsDist } from "../setup/dist.js";
import { invoke } from "./invoke.js";

needsDist();
const SLOW = 120_000;
const folder = mkdtempSync(join(tmpdir(), "fairbed-full-"));
const disk = join(folder, "disk");
mkdirSync(disk);
const mount = (size: string) =>
  spawnSync("mount", ["-t", "tmpfs", "-o", `size=${size}`, "tmpfs", disk], { stdio: "ignore" }).status === 0;
const unmount = () => spawnSync("umount", [disk], { stdio: "ignore" });
const mounts = process.platform === "linux" && mount("4k");
if (mounts) unmount();
afterAll(() => {
  unmount();
  rmSync(folder, { recursive: true });
});

const onDisk = async (size: string, use: () => Promise<void>): Promise<void> => {
  expect(mount(size)).toBe(true);
  try {
    await use();
  } finally {
    unmount();
  }
};

const people = join(folder, "people.csv");
const row = (i: number) => `${i},${i % 7},${i % 3},${i % 2 === 0 ? "a" : "b"},${i % 5 > 1 ? "yes" : "no"}`;
writeFileSync(
  people,
  ["id,skill,taste,group,hired", ...Array.from({ length: 400 }, (_, i) => row(i)), ""].join("\n"),
);

describe(`a full disk${mounts ? "" : " (skipped: no disk of a few kilobytes can be mounted here)"}`, () => {
  const sizes = ["--steps", "4", "--starts", "1", "--outer", "10", "--inner", "20", "--batches", "2"];
  test.runIf(mounts).each([
    [
      "predictions",
      "0k",
      (out: string) => [
        "mitigate",
        "reweigh",
        people,
        "--target",
        "hired=yes",
        "--sensitive",
        "group=a",
        "--out",
        out,
      ],
    ],
    [
      "a policy",
      "0k",
      (out: string) => [
        "design",
        "optimize",
        "--model",
        "location",
        "--horizon",
        "2",
        ...sizes,
        "--out",
        out,
      ],
    ],
    [
      "a report",
      "16k",
      (out: string) => ["audit", people, "--target", "hired=yes", "--sensitive", "group", "--out", out],
    ],
  ] as const)(
    "%s",
    async (_, size, words) => {
      // A size of nought would be none at all.
      await onDisk(size === "0k" ? "4k" : size, async () => {
        const filler = join(disk, "filler");
        if (size === "0k") writeFileSync(filler, Buffer.alloc(4096));
        const out = join(disk, "out.html");
        const { code, stderr, stdout } = await invoke([...words(out), "--quiet"]);
        expect({ code, stdout, stderr: stderr.split("\n").slice(-2).join("\n") }).toEqual({
          code: 1,
          stdout: "",
          stderr: `fairbed: ${writeText.refused(out, "ENOSPC")}\n`,
        });
        expect(readdirSync(disk).filter((name) => name !== "filler")).toEqual([]);
      });
    },
    SLOW,
  );

  test.runIf(mounts)(
    "a file that was there stays as it was",
    () =>
      onDisk("8k", async () => {
        const out = join(disk, "out.csv");
        writeFileSync(out, "old");
        writeFileSync(join(disk, "filler"), Buffer.alloc(4096));
        const words = ["mitigate", "reweigh", people, "--target", "hired=yes", "--sensitive", "group=a"];
        expect((await invoke([...words, "--out", out])).code).toBe(1);
        expect(readFileSync(out, "utf8")).toBe("old");
        expect(readdirSync(disk)).toEqual(["filler", "out.csv"]);
      }),
    SLOW,
  );

  test.runIf(mounts)(
    "results of a sweep: what was whole stays, and it goes on when there is room",
    () =>
      onDisk("24k", async () => {
        const out = join(disk, "sweep");
        const words = [
          ...[
            "design",
            "sweep",
            "--model",
            "location",
            "--betas",
            "0,0.5",
            "--horizons",
            "2",
            "--seeds",
            "4",
          ],
          ...["--figures", "none", "--jobs", "1", ...sizes, "--out", out, "--quiet"],
        ];
        const { code, stderr } = await invoke(words);
        expect(code).toBe(1);
        const results = join(out, "results.jsonl");
        expect([
          `fairbed: ${jobStoreTexts.unwritten(results, "ENOSPC")}\n`,
          ...readdirSync(out, { recursive: true })
            .map(String)
            .map((name) => `fairbed: ${writeText.refused(join(out, name), "ENOSPC")}\n`),
        ]).toContain(stderr);
        for (const line of readFileSync(results, "utf8").split("\n").slice(0, -1)) JSON.parse(line);
        expect(readFileSync(results, "utf8")).toMatch(/(^|\n)$/);
        expect(spawnSync("mount", ["-o", "remount,size=4m", disk]).status).toBe(0);
        expect((await invoke(words)).code).toBe(0);
      }),
    SLOW,
  );
});
