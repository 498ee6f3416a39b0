/**
 * One process at a time writes results to a folder: two would do all the work twice. Each who wants the folder puts a file
 * of its own into it and then looks for those of others, so that of two who come at once at least one sees the other.
 * The name says who it is of, so there is nothing to read half of; one whose process is gone counts for nothing and is
 * taken away by whoever finds it.
 */
import { createHash } from "node:crypto";
import { closeSync, openSync, readdirSync, rmSync, statSync, utimesSync } from "node:fs";
import { hostname } from "node:os";
import { basename, join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { EnvironmentError } from "../core/errors.js";
import { isRunning, startOf } from "./running-process.js";

export const folderClaimTexts = {
  inUse: (folder: string, who: string) =>
    `${folder} is in use by ${who}: wait until that is done, which the same command then goes on from, or give another --out`,
  process: (pid: number) => `process ${pid} of this machine`,
  elsewhere: "a process of another machine",
};

const NAME = /^\.fairbed-in-use-([0-9a-f]{12})-(\d+)-(\d+)$/;
const THIS_HOST = createHash("sha256").update(hostname()).digest("hex").slice(0, 12);

/** Another machine's processes cannot be looked up: they touch their files, and are gone when they cease to. */
const TOUCH_MS = 20_000;
const SILENT_MS = 120_000;
/** Two who come at once both step back, and try again after pauses that differ. */
const TRIES = 4;
const PAUSE_MS = 150;

interface Claim {
  readonly path: string;
  readonly host: string;
  readonly pid: number;
  readonly start: string;
}

const claimsIn = (folder: string): readonly Claim[] =>
  readdirSync(folder).flatMap((name) => {
    const found = NAME.exec(name);
    if (found === null) return [];
    const [, host, pid, start] = found;
    return { path: join(folder, name), host, pid: Number(pid), start };
  });

const isHeld = ({ path, host, pid, start }: Claim): boolean => {
  if (host === THIS_HOST) return isRunning(pid) && startOf(pid) === start;
  const touched = statSync(path, { throwIfNoEntry: false })?.mtimeMs;
  return touched !== undefined && Date.now() - touched < SILENT_MS;
};

/** The claim of someone else who is there; those of the dead are taken away. */
const otherIn = (folder: string, own: string): Claim | undefined => {
  for (const claim of claimsIn(folder)) {
    if (basename(claim.path) === own) continue;
    if (isHeld(claim)) return claim;
    rmSync(claim.path, { force: true });
  }
  return undefined;
};

/** Resolves to what gives the folder back, or throws where someone else has it. */
export const claimFolder = async (folder: string): Promise<() => void> => {
  const own = `.fairbed-in-use-${THIS_HOST}-${process.pid}-${startOf(process.pid)}`;
  const path = join(folder, own);
  for (let left = TRIES; ; left--) {
    closeSync(openSync(path, "w"));
    const other = otherIn(folder, own);
    if (other === undefined) break;
    rmSync(path, { force: true });
    if (left === 1) {
      const who = other.host === THIS_HOST ? folderClaimTexts.process(other.pid) : folderClaimTexts.elsewhere;
      throw new EnvironmentError("in-use", folderClaimTexts.inUse(folder, who));
    }
    await wait(PAUSE_MS * (1 + (process.pid % 7) / 7));
  }
  const release = () => {
    clearInterval(timer);
    process.off("exit", release);
    rmSync(path, { force: true });
  };
  const touch = () => {
    const now = new Date();
    try {
      utimesSync(path, now, now);
    } catch {
      // The folder was taken away meanwhile; who writes to it says so.
    }
  };
  const timer = setInterval(touch, TOUCH_MS);
  timer.unref();
  process.on("exit", release);
  return release;
};
