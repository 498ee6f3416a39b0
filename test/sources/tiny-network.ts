/** A small ONNX network written byte by byte: the mean of each channel, and scores that are linear in the means. */

const varint = (value: number): number[] =>
  value < 128 ? [value] : [(value % 128) + 128, ...varint(Math.floor(value / 128))];
const number = (field: number, value: number): number[] => [...varint(field * 8), ...varint(value)];
const bytes = (field: number, value: readonly number[]): number[] => [
  ...varint(field * 8 + 2),
  ...varint(value.length),
  ...value,
];
const text = (field: number, value: string): number[] => bytes(field, [...new TextEncoder().encode(value)]);

const node = (
  operator: string,
  inputs: readonly string[],
  output: string,
  attributes: readonly number[] = [],
): number[] =>
  bytes(1, [
    ...inputs.flatMap((name) => text(1, name)),
    ...text(2, output),
    ...text(4, operator),
    ...attributes,
  ]);

const float32 = (values: readonly number[]): number[] => [
  ...new Uint8Array(Float32Array.from(values).buffer),
];

const tensor = (name: string, dims: readonly number[], values: readonly number[]): number[] =>
  bytes(5, [
    ...dims.flatMap((size) => number(1, size)),
    ...number(2, 1),
    ...text(8, name),
    ...bytes(9, float32(values)),
  ]);

const value = (field: number, name: string, shape: readonly (number | string)[]): number[] => {
  const dims = shape.flatMap((size) => bytes(1, typeof size === "number" ? number(1, size) : text(2, size)));
  return bytes(field, [...text(1, name), ...bytes(2, bytes(1, [...number(1, 1), ...bytes(2, dims)]))]);
};

export interface TinyNetworkOptions {
  /** How many scores the head has. */
  readonly classes?: number;
  /** A number for a network that takes exactly so many pictures. */
  readonly batch?: number | string;
  /** Leaves the head out: the output is the means. */
  readonly headless?: boolean;
  /** Makes the scores by an operator that is no linear layer. */
  readonly oddHead?: boolean;
  /** Divides by this; 0 gives numbers that are not finite. */
  readonly divisor?: number;
}

/** input -> GlobalAveragePool "pool" -> Flatten "flat" -> Div "means" -> Gemm "scores" */
export const tinyNetwork = ({
  classes = 1000,
  batch = "N",
  headless = false,
  oddHead = false,
  divisor = 1,
}: TinyNetworkOptions = {}): Uint8Array => {
  const weights = Array.from({ length: 3 * classes }, (_, i) => (i % 7) - 3);
  // The largest mean [N, 1], tiled to [N, classes].
  const repeats = bytes(5, [
    ...number(1, 2),
    ...number(2, 7),
    ...text(8, "repeats"),
    ...bytes(9, [...new Uint8Array(BigInt64Array.of(1n, BigInt(classes)).buffer)]),
  ]);
  const head = oddHead
    ? [
        ...node(
          "ReduceMax",
          ["means"],
          "most",
          bytes(5, [...text(1, "axes"), ...number(8, 1), ...number(20, 7)]),
        ),
        ...node("Tile", ["most", "repeats"], "scores"),
        ...repeats,
      ]
    : [...node("Gemm", ["means", "w"], "scores"), ...tensor("w", [3, classes], weights)];
  const graph = [
    ...node("GlobalAveragePool", ["input"], "pool"),
    ...node("Flatten", ["pool"], "flat"),
    ...node("Div", ["flat", "divisor"], "means"),
    ...(headless ? [] : head),
    ...text(2, "tiny"),
    ...tensor("divisor", [1], [divisor]),
    ...value(11, "input", [batch, 3, "H", "W"]),
    ...value(12, headless ? "means" : "scores", [batch, headless ? 3 : classes]),
  ];
  return Uint8Array.from([
    ...number(1, 8),
    ...bytes(7, graph),
    ...bytes(8, [...text(1, ""), ...number(2, 13)]),
  ]);
};

/** input [N, columns] -> MatMul with weights [columns, members] -> Sigmoid: P(class 1) of every member. */
export const tinyEnsemble = (columns: number, weights: readonly (readonly number[])[]): Uint8Array => {
  const members = weights[0].length;
  const graph = [
    ...node("MatMul", ["input", "weights"], "scores"),
    ...node("Sigmoid", ["scores"], "members"),
    ...text(2, "ensemble"),
    ...tensor("weights", [columns, members], weights.flat()),
    ...value(11, "input", ["N", columns]),
    ...value(12, "members", ["N", members]),
  ];
  return Uint8Array.from([
    ...number(1, 8),
    ...bytes(7, graph),
    ...bytes(8, [...text(1, ""), ...number(2, 13)]),
  ]);
};
