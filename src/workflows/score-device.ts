/**
 * Where the scores of candidates are computed. What a GPU needs is in `score-on-gpu.ts`, which is loaded where one is asked
 * for.
 */
import type { PartElsewhere } from "../active/gpu/scores-elsewhere.js";
import type { StrategyName } from "../active/strategy-names.js";
import { InputError } from "../core/errors.js";
import type { RunOptions } from "../core/options.js";
import { type ComputeDevice, DEVICES, deviceTexts, type UsedDevice } from "./device.js";

/** What a forest and a step have that are not told how many trees and targets. */
export { USUAL_TARGETS } from "../active/step.js";
export const USUAL_TREES = 100;

/** How much there is to score: candidates and targets at a time, members, and how many times. */
export interface ScoreWork {
  readonly method: StrategyName;
  readonly candidates: number;
  readonly targets: number;
  readonly members: number;
  readonly times: number;
}

export interface ScoreDevice {
  /** Computes parts of scores on the GPU; undefined where all are computed here. */
  readonly elsewhere: PartElsewhere | undefined;
  /** What was used up to now. */
  used(): UsedDevice;
}

/** The device that was asked for, open; `gpu` fails where there is none, and `auto` says why it is the processor. */
export const openScores = async (
  asked: ComputeDevice,
  work: ScoreWork,
  run: Pick<RunOptions, "signal"> = {},
): Promise<ScoreDevice> => {
  if (!DEVICES.includes(asked)) throw new InputError("device", deviceTexts.unknown(asked));
  if (asked !== "cpu") return (await import("./score-on-gpu.js")).openScoresOnGpu(asked, work, run);
  return { elsewhere: undefined, used: () => ({ asked, used: "cpu" }) };
};
