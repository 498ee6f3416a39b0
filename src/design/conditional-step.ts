/**
 * One evaluation of the conditional objective R_c and its gradient in the designs, for location finding.
 *
 * R_c = E[(1 + beta) log p(D | theta_0) - beta log p(D | theta_0, phi_0) - log p(D)] (paper, appendix B). The estimate is
 * a lower bound: p(D | theta_0) is the mean over fresh draws of phi, and p(D) the mean over draws of (theta, phi) with
 * the pair that generated D among them. Readings are reparameterised, so the gradient is pathwise: it flows through
 * them, and log p(D | theta_0, phi_0), which is a function of the noise alone, has none.
 */
import { add, compile, compileLogMeanExp, mul, Workspace, type WorkspaceOptions } from "../compute/index.js";
import { LOCATION_DEFAULTS, type LocationSettings, locationLogLikelihood, logIntensity } from "./location.js";

export interface ConditionalStepOptions extends WorkspaceOptions {
  readonly settings?: LocationSettings;
  /** How much leakage costs. */
  readonly beta: number;
  /** Outer samples B, observations T, contrastive samples L and marginalisation samples M. */
  readonly outer: number;
  readonly horizon: number;
  readonly contrastive: number;
  readonly marginal: number;
  /** Designs [T], the same for every outer sample, or [B, T], as an adaptive policy chooses them. */
  readonly designs: "shared" | "perOuter";
}

export interface ConditionalStep {
  /** Arrays to fill before `run`: theta0, phi0 [B], noise [B, T], thetaL, phiL [L], phiM [M], x, y [T] or [B, T]. */
  readonly arrays: Readonly<Record<StepArray, Float32Array>>;
  /** The estimates; the gradient of the objective is in `gradientX` and `gradientY`, shaped as x and y. */
  run(): StepEstimate;
  readonly gradientX: Float64Array;
  readonly gradientY: Float64Array;
  dispose(): void;
}

/** In nats. */
export interface StepEstimate {
  /** R_c = target - beta leakage: a lower bound in expectation. */
  readonly objective: number;
  /** Information about the target, EIG_theta: a lower bound in expectation. */
  readonly target: number;
  /** Information about the sensitive part given the target, EIG_{phi|theta}: an upper bound in expectation. */
  readonly leakage: number;
}

export type StepArray = "theta0" | "phi0" | "noise" | "thetaL" | "phiL" | "phiM" | "x" | "y";

export const conditionalStep = (options: ConditionalStepOptions): ConditionalStep => {
  const { beta, outer, horizon, contrastive, marginal, designs, settings = LOCATION_DEFAULTS } = options;
  const workspace = new Workspace(options);
  const batch = ["outer", "observation"] as const;
  const design = designs === "shared" ? (["observation"] as const) : batch;
  const observed = { reading: batch, x: design, y: design };
  const likelihood = (point: Parameters<typeof locationLogLikelihood>[0]) =>
    locationLogLikelihood(point, settings);
  const gradients = ["reading", "x", "y"] as const;

  const outcomeInputs = { theta: ["outer"], phi: ["outer"], noise: batch, x: design, y: design } as const;
  const outcome = compile((at) => add(logIntensity(at, settings), mul(settings.noise, at.noise)), {
    workspace,
    inputs: outcomeInputs,
  });
  // The reading's derivative in the designs, weighted by the adjoint of the reading.
  const pullback = compile((at) => mul(at.adjoint, logIntensity(at, settings)), {
    workspace,
    inputs: { ...outcomeInputs, adjoint: batch },
    gradients: ["x", "y"],
  });
  const givenTarget = compileLogMeanExp(likelihood, {
    workspace,
    inputs: { theta: ["outer"], phi: ["inner"], ...observed },
    gradients,
  });
  const evidence = compileLogMeanExp(likelihood, {
    workspace,
    inputs: { theta: ["inner"], phi: ["inner"], ...observed },
    gradients,
  });
  outcome.resize({ outer, observation: horizon });
  pullback.resize({ outer, observation: horizon });
  givenTarget.resize({ outer, observation: horizon, inner: marginal });
  evidence.resize({ outer, observation: horizon, inner: contrastive });

  const floats = (length: number) => new Float32Array(length);
  const designLength = designs === "shared" ? horizon : outer * horizon;
  const arrays = {
    theta0: floats(outer),
    phi0: floats(outer),
    noise: floats(outer * horizon),
    thetaL: floats(contrastive),
    phiL: floats(contrastive),
    phiM: floats(marginal),
    x: floats(designLength),
    y: floats(designLength),
  };
  const gradientX = new Float64Array(designLength);
  const gradientY = new Float64Array(designLength);
  const own = new Float64Array(outer);
  const logTotals = new Float64Array(outer);
  const constant = -horizon * (Math.log(settings.noise) + 0.5 * Math.log(2 * Math.PI));

  const run = (): StepEstimate => {
    const { theta0, phi0, noise, thetaL, phiL, phiM, x, y } = arrays;
    for (const program of [outcome, pullback, givenTarget, evidence]) {
      program.input("x").set(x);
      program.input("y").set(y);
    }
    for (const program of [outcome, pullback]) {
      program.input("theta").set(theta0);
      program.input("phi").set(phi0);
      program.input("noise").set(noise);
    }
    outcome.run();
    const reading = outcome.output();
    givenTarget.input("reading").set(reading);
    givenTarget.input("theta").set(theta0);
    givenTarget.input("phi").set(phiM);
    evidence.input("reading").set(reading);
    evidence.input("theta").set(thetaL);
    evidence.input("phi").set(phiL);

    // log p(D | theta_0, phi_0) is that of the noise.
    for (let b = 0; b < outer; b++) {
      let sum = 0;
      for (let t = 0; t < horizon; t++) sum += noise[b * horizon + t] ** 2;
      own[b] = constant - 0.5 * sum;
    }
    givenTarget.run(new Float64Array(outer).fill((1 + beta) / outer));
    evidence.run((values) =>
      values.map((value, b) => {
        // p(D) is the mean of L contrastive likelihoods and the pair's own: the share of the former, and the total.
        const ofOthers = value + Math.log(contrastive);
        const most = Math.max(ofOthers, own[b]);
        logTotals[b] = most + Math.log(Math.exp(ofOthers - most) + Math.exp(own[b] - most));
        return -Math.exp(ofOthers - logTotals[b]) / outer;
      }),
    );
    let target = 0;
    let leakage = 0;
    for (let b = 0; b < outer; b++) {
      target += (givenTarget.value[b] - (logTotals[b] - Math.log(contrastive + 1))) / outer;
      leakage += (own[b] - givenTarget.value[b]) / outer;
    }
    const adjoint = pullback.input("adjoint");
    const [first, second] = [givenTarget.gradient("reading"), evidence.gradient("reading")];
    for (let i = 0; i < adjoint.length; i++) adjoint[i] = first[i] + second[i];
    pullback.run();
    for (const [name, total] of [
      ["x", gradientX],
      ["y", gradientY],
    ] as const) {
      const parts = [givenTarget.gradient(name), evidence.gradient(name), pullback.gradient(name)];
      for (let i = 0; i < total.length; i++) total[i] = parts[0][i] + parts[1][i] + parts[2][i];
    }
    return { objective: target - beta * leakage, target, leakage };
  };
  return {
    arrays,
    run,
    gradientX,
    gradientY,
    dispose() {
      for (const program of [outcome, pullback, givenTarget, evidence]) program.dispose();
      workspace.dispose();
    },
  };
};
