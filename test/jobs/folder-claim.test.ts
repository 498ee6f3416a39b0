import { fork, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readdirSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { claimFolder, folderClaimTexts } from "../../src/jobs/folder-claim.js";
import { startOf } from "../../src/jobs/running-process.js";
import { needsDist, ROOT } from "../setup/dist.js";

needsDist();
let folder = "";
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "fairbed-claim-"));
});
afterEach(() => rmSync(folder, { recursive: true }));

/** A process that claims the folder, says whether it has it, and waits. */
const claimer = () => {
  const path = join(folder, "claimer.mjs");
  writeFileSync(
    path,
    `import { claimFolder } from ${JSON.stringify(join(ROOT, "dist", "jobs", "folder-claim.js"))};
     claimFolder(process.argv[2]).then(() => process.send("has it"), (error) => process.send(error.message));
     setInterval(() => {}, 1000);`,
  );
  return fork(path, [folder], { stdio: "ignore" });
};
const claims = () => readdirSync(folder).filter((name) => name.startsWith(".fairbed-in-use-"));

describe("a folder that results are written to", () => {
  test("is one process's until that gives it back", async () => {
    const release = await claimFolder(folder);
    const child = claimer();
    const [answer] = await once(child, "message");
    expect(answer).toBe(folderClaimTexts.inUse(folder, folderClaimTexts.process(process.pid)));
    child.kill("SIGKILL");
    release();
    expect(claims()).toEqual([]);
  });

  test("is free when the process that had it was killed", async () => {
    const child = claimer();
    expect(await once(child, "message")).toEqual(["has it", undefined]);
    await expect(claimFolder(folder)).rejects.toThrow(
      folderClaimTexts.inUse(folder, folderClaimTexts.process(Number(child.pid))),
    );
    child.kill("SIGKILL");
    await once(child, "exit");
    (await claimFolder(folder))();
    expect(claims()).toEqual([]);
  });

  test("is free when another process has the number of the one that had it", async () => {
    const other = spawn(process.execPath, ["-e", "setInterval(() => {}, 1000)"], { stdio: "ignore" });
    const pid = Number(other.pid);
    const release = await claimFolder(folder);
    const name = claims()[0].replace(`-${process.pid}-`, `-${pid}-`);
    release();
    if (startOf(pid) !== "0") {
      writeFileSync(join(folder, name.replace(/\d+$/, "1")), "");
      (await claimFolder(folder))();
    }
    other.kill("SIGKILL");
  });

  test("is another machine's while that touches its file", async () => {
    const file = join(folder, ".fairbed-in-use-0123456789ab-1-1");
    writeFileSync(file, "");
    await expect(claimFolder(folder)).rejects.toThrow(
      folderClaimTexts.inUse(folder, folderClaimTexts.elsewhere),
    );
    const longAgo = new Date(Date.now() - 1e6);
    utimesSync(file, longAgo, longAgo);
    (await claimFolder(folder))();
    expect(claims()).toEqual([]);
  });

  test("is had by one of many who come at once", async () => {
    const children = Array.from({ length: 5 }, claimer);
    const answers = await Promise.all(children.map(async (child) => (await once(child, "message"))[0]));
    for (const child of children) child.kill("SIGKILL");
    expect(answers.filter((answer) => answer === "has it").length).toBeLessThanOrEqual(1);
  }, 60_000);
});
