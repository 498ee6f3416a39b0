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

/** Our side of a training step: simulated readings, the bound, and its gradient through them, for the traced model. */
export const stepOf =
  ({ adaptive, relaxed }) =>
  ({ library, inputs, settings, threads }) => {
    const [outer, horizon] = inputs.eps.shape;
    const { beta, background, offset, priorMean } = settings;
    const model = library.locationFinding({ priorMean, noise: settings.noise, background, offset });
    const workspace = new library.Workspace({ threads, relaxed });
    const common = { model, workspace, outer, horizon, designs: adaptive ? "perOuter" : "shared" };
    const quantity = library.objectiveQuantity("conditional", beta);
    const nested = new library.Nested({
      ...common,
      contrastive: inputs.thetaL.shape[0],
      marginal: inputs.phiM.shape[0],
      given: ["none", "target"],
      gradients: true,
    });
    const outcomes = new library.Outcomes(common);
    const half = inputs.xi.data.length / 2;
    const column = (k) => Float32Array.from({ length: half }, (_, i) => inputs.xi.data[2 * i + k]);
    const designs = { x: column(0), y: column(1) };
    const parameters = { theta: inputs.theta0.data, phi: inputs.phi0.data };
    const samples = {
      none: { theta: inputs.thetaL.data, phi: inputs.phiL.data },
      target: { phi: inputs.phiM.data },
    };
    const noise = { outcome: inputs.eps.data };
    let objective = 0;
    let gradient = {};
    return {
      run() {
        const readings = outcomes.simulate(parameters, designs, noise);
        nested.setData(parameters, designs, readings);
        nested.setInner(samples, parameters);
        objective = nested.bound(quantity, "lower");
        gradient = { x: new Float64Array(half), y: new Float64Array(half) };
        const adjoint = { outcome: new Float64Array(outer * horizon) };
        for (const name of ["x", "y"]) nested.addGradient(name, gradient[name]);
        nested.addGradient("outcome", adjoint.outcome);
        outcomes.addPullback(adjoint, { parameters, designs, noise }, gradient);
      },
      values: () => ({
        objective: [objective],
        gradient: Float64Array.from(
          inputs.xi.data,
          (_, i) => (i % 2 === 0 ? gradient.x : gradient.y)[i >> 1],
        ),
      }),
      dispose() {
        nested.dispose();
        outcomes.dispose();
        workspace.dispose();
      },
      note: relaxed ? "relaxed SIMD" : "without relaxed SIMD",
    };
  };
