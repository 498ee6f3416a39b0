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
};
