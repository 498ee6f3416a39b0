import { mkdtempSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { failureText } from "../../src/cli/failure.js";
import { findGpu, requireGpu } from "../../src/cli/find-gpu.js";
import { allCommands, commandsFor } from "../../src/cli/main.js";
import { buildProgram } from "../../src/cli/program.js";
import { gpuTexts } from "../../src/compute/webgpu/texts.js";
import { needsDist, ROOT } from "../setup/dist.js";
import { invoke } from "./invoke.js";

needsDist();

const commands = await allCommands();

test("of the commands those that a command line may mean are loaded", async () => {
  for (const command of commands) {
    const meant = await commandsFor([...command.name.split(" "), "--help"]);
    expect(meant).toContain(command);
    expect(meant.length).toBeLessThan(commands.length);
  }
  for (const argv of [[], ["help", "info"], ["--help"], ["xyzzy"], ["--json", "info"]]) {
    expect(await commandsFor(argv)).toEqual(commands);
  }
  expect(await commandsFor(["--version"])).toEqual([]);
});

describe("fairbed", () => {
  test("--version is the package's", async () => {
    const { version } = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8"));
    expect(await invoke(["--version"])).toEqual({ code: 0, stdout: `${version}\n`, stderr: "" });
  });

  test("--help has every command on one line, under its group, and examples at the end", async () => {
    const { code, stdout, stderr } = await invoke(["--help"]);
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    for (const { name, group, summary } of commands) {
      expect(stdout).toContain(`\n${group}:\n`);
      expect(stdout).toMatch(new RegExp(`^ {2}${name}\\b.* ${summary}$`, "m"));
    }
    expect(stdout.slice(stdout.indexOf("\nExamples:"))).toMatch(
      /^\nExamples:\n(?: {2}fairbed .+\n(?: {10,}.+\n)?)+$/,
    );
    for (const line of stdout.split("\n")) expect(line.length).toBeLessThanOrEqual(100);
  });

  test("help of one command", async () => {
    const asked = await invoke(["help", "info"]);
    expect(asked.code).toBe(0);
    expect(asked.stdout).toContain("Usage: fairbed info [options]");
    expect(await invoke(["info", "--help"])).toEqual(asked);
    const ofTwoWords = await invoke(["design", "evaluate", "--help"]);
    expect(await invoke(["help", "design", "evaluate"])).toEqual(ofTwoWords);
    expect(await invoke(["design", "help", "evaluate"])).toEqual(ofTwoWords);
  });

  test("without a command it shows the help and calls it wrong use", async () => {
    const { code, stdout, stderr } = await invoke([]);
    expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
    expect(stderr).toContain("Usage: fairbed <command>");
    expect(stderr.endsWith(`\nfairbed: ${failureText.noCommand}\n`)).toBe(true);
  });

  test.each([
    [["inof"], "fairbed: unknown command 'inof'; did you mean info?\n"],
    [["xyzzy"], "fairbed: unknown command 'xyzzy'; see fairbed --help.\n"],
    [["help", "inof"], "fairbed: unknown command 'inof'; did you mean info?\n"],
    [["help", "xyzzy"], "fairbed: unknown command 'xyzzy'; see fairbed --help.\n"],
    [["design", "help", "xyzzy"], "fairbed: unknown command 'xyzzy'; see fairbed design --help.\n"],
    [
      ["audit", "a.csv", "--target", "--sensitive", "sex"],
      "fairbed: --target needs a value; see fairbed audit --help.\n",
    ],
    [
      ["audit", "a.csv", "--target", "--sensitive=sex"],
      "fairbed: --target needs a value; see fairbed audit --help.\n",
    ],
    [
      ["audit", "a.csv", "--sensitive", "sex", "--target"],
      "fairbed: --target needs a value; see fairbed audit --help.\n",
    ],
    [
      // What is no option of the command, and what stands behind a sign, are values.
      ["audit", "a.csv", "--target=--sensitive", "--sensitive", "--x"],
      "fairbed: there is no file a.csv: check the path.\n",
    ],
    [["info", "--jsn"], "fairbed: unknown option '--jsn'; did you mean --json?\n"],
    [
      ["info", "twice"],
      "fairbed: too many arguments for 'info': expected 0 arguments but got 1; see fairbed info --help.\n",
    ],
  ])("wrong use %j is one sentence and exit code 2", async (words, stderr) => {
    expect(await invoke(words)).toEqual({ code: 2, stdout: "", stderr });
  });
});

describe("every command", () => {
  const program = buildProgram({
    commands,
    version: "0",
    stdout: process.stdout,
    stderr: process.stderr,
    run: async () => {},
  });

  test.each(commands.map((command) => [command.name, command] as const))("%s", (name, command) => {
    const parser = name
      .split(" ")
      .reduce<typeof program | undefined>(
        (parent, word) => parent?.commands.find((each) => each.name() === word),
        program,
      );
    const flags = parser?.options.map(({ long }) => long) ?? [];
    if (command.print !== undefined) expect(flags).toContain("--json");
    if (command.reportsProgress) expect(flags).toContain("--quiet");
    expect(command.summary).toMatch(/^[a-z].{10,68}[^.]$/);
    expect(command.examples.length).toBeGreaterThan(0);
    for (const { line } of command.examples) expect(`${line} `.startsWith(`${name} `)).toBe(true);
    for (const [key, { flags: text }] of Object.entries(command.options)) {
      const long = /--([a-z-]+)/.exec(text)?.[1] ?? "";
      expect(long.replace(/-(.)/g, (_, letter: string) => letter.toUpperCase())).toBe(key);
    }
  });

  test("has a name of its own", () => {
    expect(new Set(commands.map(({ name }) => name)).size).toBe(commands.length);
  });
});

describe("fairbed info", () => {
  test("says the same to people and machines", async () => {
    const [people, machines] = await Promise.all([invoke(["info"]), invoke(["info", "--json"])]);
    expect([people.code, machines.code]).toEqual([0, 0]);
    const info = JSON.parse(machines.stdout);
    expect(info).toMatchObject({ node: process.versions.node, simd: true, threads: true });
    expect(info.cores).toBeGreaterThanOrEqual(1);
    expect(people.stdout).toContain(`Node          ${info.node}`);
    expect(people.stdout).toContain(`cores         ${info.cores}`);
  });

  test("says what it found of a GPU, and no driver's warnings", async () => {
    const { code, stdout, stderr } = await invoke(["info"], { env: { VK_ICD_FILENAMES: "/nowhere.json" } });
    expect(code).toBe(0);
    expect(stdout).toMatch(/^GPU {11}no \(.+choose the device "cpu"\)$/m);
    expect(stderr).toBe("");
  });

  test("survives a driver that does not", async () => {
    const broken = new URL("./killed-process.mjs", import.meta.url);
    expect(await findGpu(broken)).toMatchObject({ gpu: null, gpuNote: gpuTexts.driver });
    await expect(requireGpu(broken)).rejects.toMatchObject({ code: "gpu-driver", message: gpuTexts.driver });
  });
});

describe("--device, where there is no GPU", () => {
  const optimize = (device: string) =>
    invoke(
      [
        ...["design", "optimize", "--model", "linear-gaussian", "--horizon", "1", "--steps", "1"],
        ...["--starts", "1", "--outer", "10", "--inner", "10", "--batches", "2", "--quiet"],
        ...["--device", device, "--out", join(mkdtempSync(join(tmpdir(), "fairbed-no-gpu-")), "policy.json")],
      ],
      { env: { VK_ICD_FILENAMES: "/nowhere.json" } },
    );

  test("gpu fails in one sentence that says what to install, and no driver's warnings", async () => {
    const { code, stdout, stderr } = await optimize("gpu");
    expect([code, stdout]).toEqual([1, ""]);
    expect(stderr).toMatch(/^fairbed: .+libvulkan1.+VK_ICD_FILENAMES.+choose the device "cpu"\n$/);
  });

  test("auto goes on on the processor and says why, without them too", async () => {
    const { code, stdout, stderr } = await optimize("auto");
    expect([code, stderr]).toEqual([0, ""]);
    expect(stdout).toMatch(/^On the CPU, because .+ GPU .+\.$/m);
  });
});
