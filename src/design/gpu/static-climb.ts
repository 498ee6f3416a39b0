/** Starts of static designs on a GPU, as plain data and as the GPU has them. */
import type { ClimbState } from "../../compute/webgpu/nested/climb.js";

/** One start on its way, as plain JSON data. */
export interface GpuClimb {
  /** [horizon, variables] */
  readonly designs: readonly number[];
  /** What Adam and the rule for settling remember. */
  readonly moments: readonly number[];
  /** Steps of Adam, and of them in this round. */
  readonly steps: number;
  readonly roundSteps: number;
  readonly stopped: number;
  readonly score?: number | undefined;
  /** Observations in a row whose values were already the best, where values are exchanged and nothing else moves. */
  readonly unchanged?: number | undefined;
}

export const climbState = ({ designs, moments, steps, roundSteps, stopped }: GpuClimb): ClimbState => ({
  designs: Float32Array.from(designs),
  moments: Float32Array.from(moments),
  steps,
  roundSteps,
  stopped,
});

export const plainClimb = (state: ClimbState): GpuClimb => ({
  designs: [...state.designs],
  moments: [...state.moments],
  steps: state.steps,
  roundSteps: state.roundSteps,
  stopped: state.stopped,
});

/** The same at the beginning of a round: nothing is known yet of whether it has settled there. */
export const atRoundStart = (climb: GpuClimb, size: number): GpuClimb => ({
  ...climb,
  moments: climb.moments.map((value, i) => (i < 2 * size ? value : 0)),
  roundSteps: 0,
  stopped: 0,
  unchanged: 0,
});

/** With other designs for some observations: what Adam remembers of those is about another place. */
export const withMoved = (
  climb: GpuClimb,
  designs: readonly number[],
  moved: readonly number[],
  variables: number,
): GpuClimb => ({
  ...climb,
  designs,
  moments: climb.moments.map((value, i) =>
    i < designs.length && moved.includes(Math.floor(i / variables)) ? 0 : value,
  ),
});
