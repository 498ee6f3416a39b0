/** Designs that are looked for on a GPU: what is left where it fails, and what becomes of that. */
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { checkpointFile, checkpointTexts } from "../../src/cli/commands/design/checkpoint.js";
import { TrainingError } from "../../src/design/training.js";
import { policyCheckpoint } from "../../src/workflows/policy-checkpoint.js";
import { needsDist } from "../setup/dist.js";
import { describeOnGpu, lostAfter, openAsHardware } from "../setup/gpu.js";
import { openInDist, runInProcess, shareInDist } from "./in-process.js";

needsDist();
const folder = mkdtempSync(join(tmpdir(), "fairbed-optimize-gpu-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const at = (name: string): string => join(folder, name);
const checkpointOf = (name: string): string => at(`${name}.checkpoint`);
const optimize = (out: string, ...more: string[]) =>
  runInProcess([
    ...[
      "design",
      "optimize",
      "--model",
      "linear-gaussian",
      "--horizon",
      "1",
      "--steps",
      "12",
      "--starts",
      "1",
    ],
    ...["--outer", "8", "--inner", "40", "--batches", "2", "--out", at(out), ...more],
  ]);
const settingsIn = (path: string): unknown => JSON.parse(readFileSync(path, "utf8")).settings;
const share = async (as?: Parameters<typeof openAsHardware>[0]): Promise<void> =>
  shareInDist(await openAsHardware({ ...as, open: await openInDist() }));

describeOnGpu("a GPU that fails within two seconds", () => {
  test("leaves a checkpoint, and the error says how to go on from it", async () => {
    await share();
    expect((await optimize("whole", "--device", "gpu")).failure).toBeUndefined();
    await share({ as: lostAfter(1) });
    const { failure, code } = await optimize("lost", "--device", "gpu");
    expect(code).toBe("gpu-lost");
    expect(failure).toMatch(/^the GPU was lost/);
    expect(failure).toContain(checkpointTexts.goOn(checkpointOf("lost")));
    expect(failure).not.toContain("error's checkpoint");
    expect(settingsIn(checkpointOf("lost"))).toMatchObject({ device: "gpu" });
    await share();
    const { result, printed } = await optimize("lost", "--device", "gpu", "--resume");
    expect(result).toMatchObject({ resumed: true, trainedOn: { used: "gpu" } });
    expect(printed).toContain("Resumed and found");
    expect(readFileSync(at("lost"), "utf8")).toBe(readFileSync(at("whole"), "utf8"));
    expect(existsSync(checkpointOf("lost"))).toBe(false);
  }, 120_000);

  test("and where evaluating has to fail, the policy, which is then evaluated otherwise", async () => {
    await share();
    const { code } = await optimize("large", "--device", "gpu", "--outer", "70000");
    expect(code).toBe("gpu-outer");
    const { result } = await optimize("large", "--device", "gpu", "--resume");
    expect(result).toMatchObject({ resumed: true });
  }, 120_000);
});

describeOnGpu("auto, without the GPU that made the checkpoint", () => {
  test("begins again, says so, and keeps the checkpoint", async () => {
    await share({ as: lostAfter(1) });
    await optimize("moved", "--device", "gpu");
    const before = readFileSync(checkpointOf("moved"), "utf8");
    await share({
      info: { vendor: "test", architecture: "swiftshader", device: "", description: "software" },
    });
    const { result, printed, said } = await optimize("moved", "--device", "auto", "--resume");
    expect(result).toMatchObject({ resumed: false, trainedOn: { used: "cpu" } });
    expect(printed).not.toContain("Resumed");
    expect(said).toContain(checkpointTexts.notUsed("gpu", checkpointOf("moved")));
    expect(readFileSync(checkpointOf("moved"), "utf8")).toBe(before);
  }, 120_000);

  test("evaluates on the processor what it has trained there", async () => {
    await share();
    const words = ["--model", "psychometric", "--steps", "3"];
    expect((await optimize("auto", ...words, "--device", "auto")).result).toMatchObject({
      trainedOn: { asked: "auto", used: "cpu" },
    });
    expect((await optimize("cpu", ...words)).failure).toBeUndefined();
    const boundsIn = (path: string) => JSON.parse(readFileSync(path, "utf8")).bounds;
    expect(boundsIn(at("auto"))).toEqual(boundsIn(at("cpu")));
  }, 120_000);
});

test("a checkpoint of the processor does not take the place of one that a GPU has made", async () => {
  const path = checkpointOf("two");
  const [gpu, cpu] = [policyCheckpoint({ device: "gpu" }, 1), policyCheckpoint({}, 2)];
  writeFileSync(path, JSON.stringify(gpu));
  const said: string[] = [];
  const file = checkpointFile(
    path,
    {
      writeFile: async (name, data) => writeFileSync(name, String(data)),
      saysHowToGoOn: () => {},
      say: (line) => said.push(line),
    },
    gpu,
  );
  const kept = `${path}.gpu`;
  await expect(file.rescue(new TrainingError("stopped", cpu))).rejects.toThrow("stopped");
  expect(said).toEqual([checkpointTexts.notUsed("gpu", kept)]);
  expect([kept, path].map((name) => JSON.parse(readFileSync(name, "utf8")))).toEqual([gpu, cpu]);
  await file.remove("cpu");
  expect([kept, path].map((name) => existsSync(name))).toEqual([true, false]);
});
