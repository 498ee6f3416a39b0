// A million standard normals, float32. PyTorch makes them on one thread, however many it has.
import { rawMoments } from "./reference.mjs";

export default {
  peer: "torch",
  threads: 2,
  settings: { count: 1e6 },
  inputs: () => ({}),
  reference: () => ({ moments: [0, 1, 0, 3] }),
  setup({ library, settings, threads }) {
    const workspace = new library.Workspace({ threads });
    const kernels = library.compileRandom(workspace);
    const address = workspace.allocate(4 * settings.count);
    const stream = library.randomStream("random-normal");
    return {
      run: () => kernels.fillNormal(stream, address, settings.count),
      values: () => ({ moments: rawMoments(workspace.floats(address, settings.count)) }),
      dispose: () => workspace.dispose(),
      note: "the float64 numbers of core/random, rounded",
    };
  },
  agreement({ moments }, reference) {
    // Var x^k = E x^2k - (E x^k)^2: 1, 2, 15 and 96.
    const errors = [1, 2, 15, 96].map((variance) => Math.sqrt(variance / 1e6));
    const worst = Math.max(...errors.map((error, k) => Math.abs(moments[k] - reference.moments[k]) / error));
    return { ok: worst < 5, text: `${worst.toFixed(1)} standard errors from the first four moments` };
  },
};
