// Forward and backward of DAD's encoder, 3-64-256-16 with ReLU hidden layers and a linear output, on 1000
// rows: gradients in weights, biases and input, given an upstream gradient.
import { array, normals } from "./inputs.mjs";
import { denseStep } from "./reference.mjs";

const widths = [3, 64, 256, 16];
const rows = 1000;

export default {
  peer: "torch",
  threads: 1,
  settings: {},
  inputs() {
    const normal = normals(3);
    const inputs = { x: array([rows, widths[0]], normal), dy: array([rows, widths.at(-1)], normal) };
    for (let k = 0; k + 1 < widths.length; k++) {
      const scale = Math.sqrt(2 / widths[k]);
      inputs[`w${k}`] = array([widths[k + 1], widths[k]], () => scale * normal());
      inputs[`b${k}`] = array([widths[k + 1]], () => 0.1 * normal());
    }
    return inputs;
  },
  reference: denseStep,
  setup({ library, inputs, threads }) {
    const workspace = new library.Workspace({ threads });
    const network = library.createDense(workspace, { widths, rows });
    const layers = widths.slice(1).map((_, k) => k);
    for (const k of layers) {
      network.weights(k).set(inputs[`w${k}`].data);
      network.biases(k).set(inputs[`b${k}`].data);
    }
    network.input.set(inputs.x.data);
    network.outputGradient.set(inputs.dy.data);
    const run = () => {
      network.forward();
      network.backward();
    };
    const values = () => {
      run();
      return Object.fromEntries([
        ["y", network.output.slice()],
        ["dx", network.inputGradient.slice()],
        ...layers.flatMap((k) => [
          [`dw${k}`, network.weightGradient(k).slice()],
          [`db${k}`, network.biasGradient(k).slice()],
        ]),
      ]);
    };
    return { run, values, dispose: () => workspace.dispose() };
  },
};
