import { normalQuantile } from "../math.js";
import { type RandomStream, uniformFromWords } from "./stream.js";

/** Numbers made at a time, so that their words stay in the fastest cache. */
const CHUNK = 512;

/** out[i] = the next uniform of `stream`; `words` is room for two words each. */
const nextUniforms = (stream: RandomStream, out: Float64Array, words: Uint32Array): void => {
  stream.fillUint32(words);
  for (let i = 0; i < out.length; i++) out[i] = uniformFromWords(words[2 * i], words[2 * i + 1]);
};

/** Room for a chunk: a buffer of its own for every call would cost more than many a fill. */
const UNIFORMS = new Float64Array(CHUNK);
const WORDS = new Uint32Array(2 * CHUNK);

/** Calls `use(u, at)` with the next uniforms, at most {@link CHUNK} at a time, and the index of the first of them. */
const forEachChunk = (
  stream: RandomStream,
  length: number,
  use: (u: Float64Array, at: number) => void,
): void => {
  for (let at = 0; at < length; at += CHUNK) {
    const count = Math.min(CHUNK, length - at);
    const chunk = UNIFORMS.subarray(0, count);
    nextUniforms(stream, chunk, WORDS.subarray(0, 2 * count));
    use(chunk, at);
  }
};

/**
 * out[i] = the stream's next uniform on (0, 1), as {@link RandomStream.uniform} gives them one by one. In a
 * `Float32Array` each is rounded to nearest (`Math.fround`), which can give exactly 1.
 */
export const fillUniform = (stream: RandomStream, out: Float64Array | Float32Array): void =>
  forEachChunk(stream, out.length, (u, at) => out.set(u, at));

/** out[i] = the stream's next standard normal, as {@link RandomStream.normal}; rounded in a `Float32Array`. */
export const fillNormal = (stream: RandomStream, out: Float64Array | Float32Array): void =>
  forEachChunk(stream, out.length, (u, at) => {
    for (let i = 0; i < u.length; i++) u[i] = normalQuantile(u[i]);
    out.set(u, at);
  });
