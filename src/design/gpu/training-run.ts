/** What trainings on a GPU have in common: a GPU that fails ends them with their last good state. */
import { isGpuFailure } from "../../compute/webgpu/failure.js";
import { TrainingError } from "../training.js";

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
