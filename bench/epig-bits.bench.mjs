// EPIG of members that vote 0 or 1, packed into bits, against the product of their matrices in chunks.
import { epigInputs, epigReference, epigSetup } from "./epig.mjs";

function votes({ shape: [rows, members], data }) {
  const width = Math.ceil(members / 32);
  const words = new Uint32Array(rows * width);
  for (let i = 0; i < data.length; i++) {
    const k = i % members;
    if (data[i] === 1) words[Math.floor(i / members) * width + (k >> 5)] |= 1 << (k & 31);
  }
  return { kind: "votes", rows, members, classes: 2, words };
}

export default {
  peer: "numpy",
  peerBench: "epig",
  threads: 2,
  settings: {},
  inputs: () => epigInputs(11, (odds) => (odds > 0 ? 1 : 0)),
  reference: epigReference,
  setup: epigSetup(votes),
};
