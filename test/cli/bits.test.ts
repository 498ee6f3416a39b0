/** Information is shown in bits on every command that shows any, and JSON is in nats, which it says. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { needsDist } from "../setup/dist.js";
import { runInProcess, shippedCommands } from "./in-process.js";

needsDist();

const folder = mkdtempSync(join(tmpdir(), "fairbed-bits-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Commands whose tables and reports have information in them. */
const SHOWN = [
  "audit",
  "demo",
  "acquire",
  "campaign ask",
  "campaign estimate",
  "campaign forecast",
  "plan",
  "rank",
  "design demo",
  "design optimize",
  "design evaluate",
  "design sweep",
];

test("every such command has the option, and no other", async () => {
  const commands = await shippedCommands();
  const having = commands.filter(({ options }) => "bits" in options).map(({ name }) => name);
  expect(having.toSorted()).toEqual(SHOWN.toSorted());
});

const numbersIn = (line: string): number[] =>
  [...line.matchAll(/-?\d+\.\d{4}/g)].map(([text]) => Number(text));

test("a bit is log 2 nats, and the result itself stays", async () => {
  const policy = join(folder, "policy.json");
  const optimize = ["design", "optimize", "--model", "linear-gaussian", "--steps", "2", "--horizon", "1"];
  await runInProcess([...optimize, "--starts", "1", "--out", policy]);
  const evaluate = ["design", "evaluate", policy, "--exact"];
  const [nats, bits] = [await runInProcess(evaluate), await runInProcess([...evaluate, "--bits"])];
  expect(bits.result).toEqual(nats.result);
  expect(nats.result).toMatchObject({ unit: "nats" });
  const row = (text: string | undefined) =>
    numbersIn((text ?? "").split("\n").find((line) => line.startsWith("information about both")) ?? "");
  const [inNats, inBits] = [row(nats.printed), row(bits.printed)];
  expect(inNats[0]).toBeGreaterThan(0);
  expect(inBits[0]).toBeCloseTo(inNats[0] / Math.LN2, 3);
  expect(bits.printed).toMatch(/^bits +at least/m);
  expect(nats.printed).toMatch(/^nats +at least/m);
});
