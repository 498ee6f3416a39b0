// @ts-check
/**
 * Installs the programs that tests need beyond npm from the system's packages, where it may.
 *
 * Where it may not, it says what will be skipped and why, and succeeds: the other tests do not need them.
 */
import { spawnSync } from "node:child_process";
import { findOnPath, findProgram, programs } from "./system-programs.mjs";

const MINUTE = 60_000;

/** @param {string} sentence */
const say = (sentence) => process.stderr.write(`${sentence}\n`);

/** The command that runs another as root, empty when this is root already; or why there is none.
 * @returns {{ prefix: string[] } | { reason: string }} */
const rightToInstall = () => {
  if (process.env.FAIRBED_NO_INSTALL) return { reason: "FAIRBED_NO_INSTALL is set" };
  if (findOnPath(["apt-get"]) === undefined) return { reason: "there is no apt-get here" };
  if (process.getuid?.() === 0) return { prefix: [] };
  const sudo = findOnPath(["sudo"]);
  const allowed = sudo !== undefined && spawnSync(sudo, ["-n", "true"], { stdio: "ignore" }).status === 0;
  return allowed ? { prefix: [sudo, "-n"] } : { reason: "only root may install packages" };
};

/** @param {readonly string[]} prefix @param {readonly string[]} words */
const aptGet = (prefix, words) => {
  const [command = "apt-get", ...rest] = [...prefix, "env", "DEBIAN_FRONTEND=noninteractive", "apt-get"];
  const patience = ["-o", "Acquire::Retries=2", "-o", "Acquire::http::Timeout=30"];
  // What apt-get reports is progress, so it goes to stderr with the rest of it.
  const { status } = spawnSync(command, [...rest, ...patience, ...words], {
    stdio: ["ignore", 2, 2],
    timeout: 5 * MINUTE,
  });
  return status === 0;
};

const missing = Object.values(programs).filter((program) => findProgram(program) === undefined);
const right = missing.length > 0 ? rightToInstall() : { prefix: [] };
if (missing.length > 0 && "prefix" in right) {
  say(`Installing ${missing.map(({ title }) => title).join(" and ")} from the system's packages ...`);
  // Out-of-date package lists may still do: only the installation itself has to succeed.
  aptGet(right.prefix, ["-qq", "update"]);
  aptGet(right.prefix, [
    "-qq",
    "install",
    "-y",
    "--no-install-recommends",
    ...missing.flatMap((each) => each.packages),
  ]);
}
for (const program of missing) {
  if (findProgram(program) !== undefined) continue;
  const reason = "reason" in right ? right.reason : `apt-get could not install ${program.packages.join(" ")}`;
  say(`skipped: no ${program.title}: ${program.usedBy} (${reason}; install it or set ${program.variable})`);
}
