import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { failureText } from "../../src/cli/failure.js";
import { needsDist } from "../setup/dist.js";
import { invoke, PROBE } from "./invoke.js";

needsDist();
const probe = (words: readonly string[], env = {}) => invoke(words, { program: PROBE, env });

describe("failures", () => {
  const unexpected =
    "something unexpected happened: TypeError: x is not a function (FAIRBED_DEBUG=1 shows where).";

  test.each([
    ["input", 2, "shape", "3 rows were given and 4 expected."],
    ["environment", 1, "no-simd", "this machine has no SIMD."],
    ["other", 1, "unexpected", unexpected],
  ])("%s", async (how, code, name, message) => {
    const stderr = `fairbed: ${message}\n`;
    expect(await probe(["fail", how])).toEqual({ code, stdout: "", stderr });
    const json = await probe(["fail", how, "--json"]);
    expect({ ...json, stdout: JSON.parse(json.stdout) }).toEqual({
      code,
      stdout: { error: { code: name, message } },
      stderr,
    });
  });

  test("a stack only on request", async () => {
    const { code, stderr } = await probe(["fail", "other"], { FAIRBED_DEBUG: "1" });
    expect(code).toBe(1);
    expect(stderr).toMatch(/\n {4}at .*probe\.mjs:\d+/);
  });

  test("wrong use with --json is JSON too", async () => {
    const { code, stdout } = await probe(["fial", "--json"]);
    expect(code).toBe(2);
    expect(JSON.parse(stdout)).toEqual({
      error: { code: "unknown-command", message: "unknown command 'fial'; did you mean fail?" },
    });
  });

  test("a missing argument", async () => {
    expect(await probe(["fail"])).toEqual({
      code: 2,
      stdout: "",
      stderr: "fairbed: missing required argument 'how'; see fairbed fail --help.\n",
    });
  });
});

describe("options", () => {
  test("have their fallbacks", async () => {
    const { stdout } = await probe(["echo", "--json"]);
    expect(JSON.parse(stdout)).toEqual({
      loud: false,
      sampleCount: 7,
      beta: 0.5,
      objective: "mean",
      numbers: [1, 2],
    });
  });

  test("are parsed", async () => {
    const words = "--loud --name x --sample-count 3 --beta 1e-3 --objective worst".split(" ");
    const { stdout } = await probe(["echo", "--json", ...words]);
    expect(JSON.parse(stdout)).toEqual({
      loud: true,
      name: "x",
      sampleCount: 3,
      beta: 0.001,
      objective: "worst",
      numbers: [1, 2],
    });
  });

  test.each([
    [["--sample-count", "2.5"], '--sample-count <number> takes a whole number of at least 1, not "2.5".'],
    [["--sample-count", "0"], '--sample-count <number> takes a whole number of at least 1, not "0".'],
    [["--beta", "-1"], '--beta <number> takes a number from 0 to 1, not "-1".'],
    [["--beta", ""], '--beta <number> takes a number from 0 to 1, not "".'],
    [["--objective", "best"], '--objective <name> takes one of mean, worst, not "best".'],
  ])("say what they expected: %j", async (words, message) => {
    expect(await probe(["echo", ...words])).toEqual({ code: 2, stdout: "", stderr: `fairbed: ${message}\n` });
  });
});

describe("output", () => {
  test("is whole in a pipe, however big", async () => {
    const { code, stdout } = await probe(["big"]);
    expect(code).toBe(0);
    expect(stdout.endsWith("\n199999\n")).toBe(true);
  });

  test("progress in a pipe is no bar, and the result is alone on stdout", async () => {
    expect(await probe(["steps"])).toEqual({ code: 0, stdout: "50 steps done\n", stderr: "" });
    const json = await probe(["steps", "--json"]);
    expect({ ...json, stdout: JSON.parse(json.stdout) }).toEqual({
      code: 0,
      stdout: { steps: 50 },
      stderr: "",
    });
  });

  test("a reader that goes away is no error", async () => {
    const line = `set -o pipefail; "$0" "$1" big | head -c 1`;
    const child = spawn("bash", ["-c", line, process.execPath, PROBE]);
    let stderr = "";
    child.stderr.on("data", (text) => {
      stderr += text;
    });
    const [code] = await once(child, "close");
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  });

  const full = (words: string) =>
    new Promise<{ code: number | null; stderr: string }>((resolve) => {
      const child = spawn("bash", ["-c", `"$0" "$1" ${words}`, process.execPath, PROBE]);
      let stderr = "";
      child.stderr.on("data", (text) => {
        stderr += text;
      });
      child.on("close", (code) => resolve({ code, stderr }));
    });

  test.runIf(existsSync("/dev/full"))("a disk that is full is an error", async () => {
    const reason = "ENOSPC: no space left on device, write";
    const stderr = `fairbed: ${failureText.unwritten(reason)}\n`;
    for (const words of ["big", "echo", "steps --json", "--help"]) {
      expect(await full(`${words} > /dev/full`)).toEqual({ code: 1, stderr });
    }
    const { code, stderr: said } = await full("fail input --json > /dev/full");
    expect(code).toBe(2);
    expect(said).toBe(`fairbed: 3 rows were given and 4 expected.\n${stderr}`);
    expect((await full("fail input 2> /dev/full")).code).toBe(2);
  });

  test("an error outside the command's own promise is a failure like any other", async () => {
    const { code, stdout, stderr } = await probe(["stray", "--json"]);
    expect(code).toBe(1);
    expect(stderr).toMatch(/^fairbed: something unexpected happened: Error: lost \(.*\)\.\n$/);
    expect(JSON.parse(stdout).error.code).toBe("unexpected");
  });
});
