/** What trainings on a GPU have in common: a GPU that fails ends them with their last good state. */
import { isGpuFailure } from "../../compute/webgpu/failure.js";
import { TrainingError } from "../training.js";

export const gpuTrainTexts = {
  run: ({ beta, seed }: GpuRun, sentence: string) => `with beta ${beta} and seed ${seed}, ${sentence}`,
};

/** What the trainings that run at the same time differ in. */
export interface GpuRun {
  readonly beta: number;
  readonly seed: number;
}

/** Some of the runs, by their places among all, met a number that is none; the others did not. */
export class BrokenRunsError<Checkpoint> extends TrainingError<Checkpoint> {
  readonly broken: readonly number[];

  /** `sentence` is about the first of the broken ones. */
  constructor(all: readonly GpuRun[], broken: readonly number[], sentence: string, checkpoint: Checkpoint) {
    super(gpuTrainTexts.run(all[broken[0]], sentence), checkpoint);
    this.broken = broken;
  }
}

/** Steps to submit after so many took so long: as many as take about `wanted` ms, and never more than four times as many. */
export const stepsNext = (taken: number, milliseconds: number, wanted: number, most: number): number =>
  Math.max(1, Math.min(most, Math.round((taken * wanted) / Math.max(1, milliseconds)), 4 * taken));

interface GpuTraining<Result> {
  run(): Promise<Result>;
  checkpoint(): unknown;
  dispose(): void;
}

export const runTraining = async <Result>(training: GpuTraining<Result>): Promise<Result> => {
  try {
    return await training.run();
  } catch (error) {
    if (!isGpuFailure(error)) throw error;
    throw new TrainingError(error.message, training.checkpoint(), { cause: error });
  } finally {
    training.dispose();
  }
};
