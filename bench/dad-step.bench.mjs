// One training step of deep adaptive design at the paper's settings, from fresh samples to Adam: T = 10, B = 100,
// L = M = 1000, encoder 3-64-256-16 and emitter 16-128-16-2. Ours is a step of trainDad itself.
import { array, normals } from "./inputs.mjs";
import { settings as location } from "./location.mjs";
import { dadStep } from "./reference.mjs";

const [B, L, M, T] = [100, 1000, 1000, 10];
const NETWORKS = { encoder: [3, 64, 256, 16], emitter: [16, 128, 16, 2] };
const WIDTHS = { encoder: [64, 256], encoding: 16, emitter: [128, 16] };
const SEED = 0;

const settings = { ...location, rate: 5e-5 };

/** The arrays of both networks in the order in which they are saved. */
const parameterNames = Object.entries(NETWORKS).flatMap(([network, widths]) =>
  widths.slice(1).flatMap((_, k) => [`${network} w${k}`, `${network} b${k}`]),
);

/** The samples of trainDad's first step, as its streams give them; any will do where the library is not built. */
function sampler(library) {
  if (library === null) {
    const normal = normals(1);
    return (shape) => array(shape, normal);
  }
  const first = library.seededStream(SEED).split("dad").split("step").split(0);
  return (shape, ...path) => {
    const stream = path.reduce((parent, name) => parent.split(name), first);
    const filled = array(shape, () => 0);
    library.fillNormal(stream, filled.data);
    return filled;
  };
}

/** theta0[B], phi0[B], eps[B, T], thetaL[L], phiL[L], phiM[M], and the weights and biases of both networks. */
function inputs(library) {
  const standard = sampler(library);
  const prior = (count, ...path) => {
    const { shape, data } = standard([count], ...path);
    return { shape, data: data.map((z) => location.priorMean + z) };
  };
  const noise = Array.from({ length: T }, (_, t) => standard([B], "noise", t, "outcome").data);
  const samples = {
    theta0: prior(B, "parameters", "theta"),
    phi0: prior(B, "parameters", "phi"),
    eps: array([B, T], (i) => noise[i % T][Math.floor(i / T)]),
    thetaL: prior(L, "inner", "none", "theta"),
    phiL: prior(L, "inner", "none", "phi"),
    phiM: prior(M, "inner", "target", "phi"),
  };
  const normal = normals(4);
  for (const [network, widths] of Object.entries(NETWORKS)) {
    for (let k = 0; k + 1 < widths.length; k++) {
      const scale = Math.sqrt(1 / widths[k]);
      samples[`${network} w${k}`] = array([widths[k + 1], widths[k]], () => scale * normal());
      samples[`${network} b${k}`] = array([widths[k + 1]], () => 0.1 * normal());
    }
  }
  return samples;
}

function setup({ library, inputs, settings, threads }) {
  const { beta, noise, background, offset, priorMean, rate } = settings;
  const model = library.locationFinding({ priorMean, noise, background, offset });
  const designs = library.designScales(model);
  const from = {
    widths: WIDTHS,
    designs,
    outcomes: library.outcomeScales(model, designs),
    parameters: Float32Array.from(parameterNames.flatMap((name) => Array.from(inputs[name].data))),
  };
  const sizes = { outer: B, contrastive: L, marginal: M };
  /** Trains for so many steps, and calls back after each. */
  const train = (steps, onProgress) =>
    library.trainDad(model, { beta, horizon: T, rate, sizes, seed: SEED, from, steps, threads, onProgress });
  return {
    run: () => train(1),
    /** The best of `repeat` steps of one run, of which the first also compiles and does not count. */
    async time(repeat) {
      let best = Infinity;
      let last;
      await train(repeat + 1, () => {
        const now = performance.now();
        if (last !== undefined) best = Math.min(best, now - last);
        last = now;
      });
      return best;
    },
    async values() {
      let objective;
      let checkpoint;
      await train(1, (progress) => {
        objective = progress.value;
        checkpoint = progress.checkpoint();
      });
      // After one step Adam's running mean is (1 - beta1) times the gradient that it descends: ours, turned round.
      const gradient = checkpoint.mean.map((mean) => -mean / (1 - 0.9));
      return { objective: [objective], gradient };
    },
  };
}

export default {
  peer: "torch",
  threads: 2,
  settings,
  inputs,
  reference: dadStep,
  setup,
};
