// Evaluation, forward only: log mean_s prod_t p(y[b, t] | psi_s, xi_t) with B = 100 outer samples, S = 20,000
// inner samples shared by the batch and T = 10 static designs. NumPy has one thread, so both have.
import { evaluationInputs, settings } from "./location.mjs";
import { logMeanLikelihood } from "./reference.mjs";

export default {
  peer: "numpy",
  threads: 1,
  settings,
  inputs: () => evaluationInputs(),
  reference: logMeanLikelihood,
  setup({ library, inputs, settings, threads }) {
    const [B, T] = inputs.logY.shape;
    const { noise, background, offset } = settings;
    const model = library.locationFinding({ noise, background, offset });
    const program = library.compileLogMeanExp((at) => model.logLikelihood(at, at, at), {
      inputs: {
        outcome: ["outer", "observation"],
        theta: ["inner"],
        phi: ["inner"],
        x: ["observation"],
        y: ["observation"],
      },
      threads,
    });
    program.resize({ outer: B, inner: inputs.theta.shape[0], observation: T });
    program.input("outcome").set(inputs.logY.data);
    program.input("theta").set(inputs.theta.data);
    program.input("phi").set(inputs.phi.data);
    for (let t = 0; t < T; t++) {
      program.input("x")[t] = inputs.xi.data[2 * t];
      program.input("y")[t] = inputs.xi.data[2 * t + 1];
    }
    return {
      run: () => program.run(),
      values: () => ({ logMarginal: program.value }),
      dispose: () => program.dispose(),
    };
  },
};
