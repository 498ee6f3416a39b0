/**
 * As much of an ONNX file as it takes to find the layer before a classification head and to make any inner value an
 * output: the nodes of the graph and its outputs (protobuf, onnx.proto3).
 */

export interface GraphNode {
  readonly operator: string;
  readonly inputs: readonly string[];
  readonly outputs: readonly string[];
}

export interface OnnxGraph {
  readonly nodes: readonly GraphNode[];
  readonly outputs: readonly string[];
}

/** Numbers of the fields that are read. */
const MODEL_GRAPH = 7;
const GRAPH_NODE = 1;
const GRAPH_OUTPUT = 12;
const NODE_INPUT = 1;
const NODE_OUTPUT = 2;
const NODE_OPERATOR = 4;
const VALUE_NAME = 1;

/** The wire type of a field that has a length: a message, a text or bytes. */
const WITH_LENGTH = 2;

/** A field's number and its bytes; fields without a length (numbers) are passed over. */
function* fieldsOf(bytes: Uint8Array): Generator<readonly [number, Uint8Array]> {
  let at = 0;
  const varint = (): number => {
    let value = 0;
    for (let scale = 1; ; scale *= 128) {
      // Beyond the end bytes are undefined, which ends the loop; the caller then sees a field that is too long.
      const byte = bytes[at++] ?? 0;
      value += (byte & 127) * scale;
      if (byte < 128) return value;
    }
  };
  while (at < bytes.length) {
    const key = varint();
    const type = key % 8;
    if (type === 0) varint();
    else if (type === 1) at += 8;
    else if (type === 5) at += 4;
    else if (type === WITH_LENGTH) {
      const length = varint();
      if (at + length > bytes.length) throw new RangeError("a field goes beyond the end");
      yield [Math.floor(key / 8), bytes.subarray(at, at + length)];
      at += length;
    } else throw new RangeError(`there is no wire type ${type}`);
  }
}

const textOf = (bytes: Uint8Array): string => new TextDecoder().decode(bytes);

const nodeOf = (bytes: Uint8Array): GraphNode => {
  const inputs: string[] = [];
  const outputs: string[] = [];
  let operator = "";
  for (const [field, value] of fieldsOf(bytes)) {
    if (field === NODE_INPUT) inputs.push(textOf(value));
    else if (field === NODE_OUTPUT) outputs.push(textOf(value));
    else if (field === NODE_OPERATOR) operator = textOf(value);
  }
  return { operator, inputs, outputs };
};

/** Throws a RangeError where the bytes are not a protobuf message. */
export const readGraph = (model: Uint8Array): OnnxGraph => {
  const nodes: GraphNode[] = [];
  const outputs: string[] = [];
  for (const [field, graph] of fieldsOf(model)) {
    if (field !== MODEL_GRAPH) continue;
    for (const [part, value] of fieldsOf(graph)) {
      if (part === GRAPH_NODE) nodes.push(nodeOf(value));
      if (part === GRAPH_OUTPUT) {
        for (const [of, name] of fieldsOf(value)) if (of === VALUE_NAME) outputs.push(textOf(name));
      }
    }
  }
  return { nodes, outputs };
};

/**
 * The value that the linear layer behind this output reads: the penultimate layer of a classifier. Undefined where no
 * linear layer (Gemm, or MatMul with or without Add) makes the output, directly or through a softmax.
 */
export const beforeHead = ({ nodes }: OnnxGraph, output: string): string | undefined => {
  const makerOf = (value: string | undefined) =>
    nodes.find(({ outputs }) => outputs.some((x) => x === value));
  let node = makerOf(output);
  while (node !== undefined && ["Softmax", "LogSoftmax", "Identity"].includes(node.operator)) {
    node = makerOf(node.inputs[0]);
  }
  if (node?.operator === "Add") {
    node = node.inputs.map(makerOf).find((maker) => maker?.operator === "MatMul");
  }
  return node?.operator === "Gemm" || node?.operator === "MatMul" ? node.inputs[0] : undefined;
};

const field = (number: number, value: Uint8Array): Uint8Array => {
  const head: number[] = [number * 8 + WITH_LENGTH];
  let length = value.length;
  for (; length >= 128; length = Math.floor(length / 128)) head.push((length % 128) + 128);
  head.push(length);
  const bytes = new Uint8Array(head.length + value.length);
  bytes.set(head);
  bytes.set(value, head.length);
  return bytes;
};

/**
 * The model with one more output, any value of its graph. Messages that occur twice are merged by every protobuf
 * reader, so a graph with nothing but that output is put behind the model.
 */
export const withOutput = (model: Uint8Array, name: string): Uint8Array => {
  const addition = field(MODEL_GRAPH, field(GRAPH_OUTPUT, field(VALUE_NAME, new TextEncoder().encode(name))));
  const bytes = new Uint8Array(model.length + addition.length);
  bytes.set(model);
  bytes.set(addition, model.length);
  return bytes;
};
