// EPIG of members with probabilities, against the product of their matrices in chunks.
import { epigInputs, epigReference, epigSetup } from "./epig.mjs";

function dense({ shape: [rows, members], data }) {
  const values = new Float32Array(2 * data.length);
  for (let i = 0; i < data.length; i++) {
    values[2 * i] = 1 - data[i];
    values[2 * i + 1] = data[i];
  }
  return { kind: "dense", rows, members, classes: 2, values };
}

export default {
  peer: "numpy",
  peerBench: "epig",
  threads: 2,
  settings: {},
  inputs: () => epigInputs(12, (odds) => 1 / (1 + Math.exp(-2 * odds))),
  reference: epigReference,
  setup: epigSetup(dense),
};
