// What the location-finding benchmarks share: the paper's settings and the inputs they run on.
import { array, normals } from "./inputs.mjs";

export const settings = { beta: 0.8, noise: 0.5, background: 0.1, offset: 1e-4, priorMean: 3 };

/**
 * Inputs of one training step. Outer samples theta0[B], phi0[B] and noise eps[B, T]; contrastive samples
 * thetaL[L], phiL[L] and marginalisation samples phiM[M], shared by the batch; designs xi[T, 2], or
 * xi[B, T, 2] where they differ by outer sample.
 */
export function stepInputs({ adaptive, B = 100, L = 1000, M = 1000, T = 10 }) {
  const normal = normals(1);
  const prior = () => settings.priorMean + normal();
  return {
    theta0: array([B], prior),
    phi0: array([B], prior),
    eps: array([B, T], normal),
    thetaL: array([L], prior),
    phiL: array([L], prior),
    phiM: array([M], prior),
    // Half-way between the origin, where designs start, and the prior mean: gradients are far from zero.
    xi: array(adaptive ? [B, T, 2] : [T, 2], () => settings.priorMean / 2 + normal()),
  };
}

/** Inputs of an evaluation: logY[B, T], inner samples theta[S], phi[S] shared by the batch, designs xi[T, 2]. */
export function evaluationInputs({ B = 100, S = 20000, T = 10 } = {}) {
  const normal = normals(2);
  const prior = () => settings.priorMean + normal();
  const { noise, background, offset, priorMean } = settings;
  const xi = array([T, 2], () => priorMean / 2 + normal());
  const theta0 = array([B], prior);
  const phi0 = array([B], prior);
  const logY = array([B, T], (i) => {
    const [b, t] = [Math.floor(i / T), i % T];
    const distance2 = (theta0.data[b] - xi.data[2 * t]) ** 2 + (phi0.data[b] - xi.data[2 * t + 1]) ** 2;
    return Math.log(background + 1 / (offset + distance2)) + noise * normal();
  });
  return { logY, theta: array([S], prior), phi: array([S], prior), xi };
}

/** Our side of a training step: the library's own step on the inputs of the benchmark. */
export const stepOf =
  ({ adaptive, relaxed }) =>
  ({ library, inputs, settings, threads }) => {
    const [B, T] = inputs.eps.shape;
    const step = library.conditionalStep({
      settings,
      beta: settings.beta,
      outer: B,
      horizon: T,
      contrastive: inputs.thetaL.shape[0],
      marginal: inputs.phiM.shape[0],
      designs: adaptive ? "perOuter" : "shared",
      threads,
      relaxed,
    });
    const { arrays } = step;
    for (const name of ["theta0", "phi0", "thetaL", "phiL", "phiM"]) arrays[name].set(inputs[name].data);
    arrays.noise.set(inputs.eps.data);
    for (let i = 0; i < arrays.x.length; i++) {
      arrays.x[i] = inputs.xi.data[2 * i];
      arrays.y[i] = inputs.xi.data[2 * i + 1];
    }
    let objective = 0;
    return {
      run() {
        objective = step.run().objective;
      },
      values: () => ({
        objective: [objective],
        gradient: Float64Array.from(
          inputs.xi.data,
          (_, i) => (i % 2 === 0 ? step.gradientX : step.gradientY)[i >> 1],
        ),
      }),
      dispose: () => step.dispose(),
      note: relaxed ? "relaxed SIMD" : "without relaxed SIMD",
    };
  };
