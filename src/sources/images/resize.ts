/**
 * Linear resizing with antialiasing, as PIL and torchvision do it for the networks this is for. libvips, which reads
 * the files, shifts pictures by a part of a pixel where it enlarges them.
 */

/** 8-bit pixels, row by row, `channels` numbers a pixel. */
export interface Pixels {
  readonly data: Uint8Array;
  readonly width: number;
  readonly height: number;
  readonly channels: number;
}

/** The source positions that make one target position, with weights that sum to 1. */
interface Taps {
  readonly first: number;
  readonly weights: Float64Array;
}

/** Triangles as wide as a target pixel, at least as a source pixel, around the centre of each target pixel. */
const tapsOf = (source: number, target: number, from: number, count: number): Taps[] =>
  Array.from({ length: count }, (_, i) => {
    const scale = source / target;
    const support = Math.max(1, scale);
    const centre = (from + i + 0.5) * scale;
    const first = Math.max(0, Math.floor(centre - support + 0.5));
    const end = Math.min(source, Math.floor(centre + support + 0.5));
    const weights = Float64Array.from({ length: end - first }, (_, k) =>
      Math.max(0, 1 - Math.abs(first + k + 0.5 - centre) / support),
    );
    const sum = weights.reduce((total, weight) => total + weight, 0);
    return { first, weights: weights.map((weight) => weight / sum) };
  });

/** Half of it, halves to the even number: where torchvision's centre crop begins. */
const halfToEven = (n: number): number => {
  const half = Math.floor(n / 2);
  return half + (n % 2 === 1 && half % 2 === 1 ? 1 : 0);
};

/**
 * The picture with its shorter side resized to `side` and its centre cropped to `side` x `side`, 8-bit
 * [side, side, channels]; the longer side is rounded down. What the crop takes away is not computed.
 */
export const resizeAndCrop = ({ data, width, height, channels }: Pixels, side: number): Uint8Array => {
  const shorter = Math.min(width, height);
  const [newWidth, newHeight] = [width, height].map((length) => Math.floor((side * length) / shorter));
  const columns = tapsOf(width, newWidth, halfToEven(newWidth - side), side);
  const rows = tapsOf(height, newHeight, halfToEven(newHeight - side), side);
  const firstRow = rows[0].first;
  const last = rows[side - 1];
  const endRow = last.first + last.weights.length;

  const line = side * channels;
  const narrowed = new Float32Array((endRow - firstRow) * line);
  for (let y = firstRow; y < endRow; y++) {
    for (let x = 0; x < side; x++) {
      const { first, weights } = columns[x];
      for (let c = 0; c < channels; c++) {
        let at = (y * width + first) * channels + c;
        let sum = 0;
        for (let k = 0; k < weights.length; k++) {
          sum += weights[k] * data[at];
          at += channels;
        }
        narrowed[(y - firstRow) * line + x * channels + c] = sum;
      }
    }
  }
  const out = new Uint8Array(side * line);
  for (let y = 0; y < side; y++) {
    const { first, weights } = rows[y];
    for (let i = 0; i < line; i++) {
      let at = (first - firstRow) * line + i;
      let sum = 0;
      for (let k = 0; k < weights.length; k++) {
        sum += weights[k] * narrowed[at];
        at += line;
      }
      out[y * line + i] = Math.floor(sum + 0.5);
    }
  }
  return out;
};
