/** A network from an ONNX file, and the layer of it that features are read from. */
import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import type { InferenceSession } from "onnxruntime-node";
import { EnvironmentError, InputError } from "../../core/errors.js";
import { nearestName } from "../../core/nearest-name.js";
import { beforeHead, type OnnxGraph, readGraph, withOutput } from "./onnx-graph.js";
import { CHANNELS, PICTURE, SIDE } from "./preprocess.js";
import { imageTexts } from "./texts.js";

export interface Network {
  readonly sha256: string;
  readonly layer: string;
  /** Features of one picture. */
  readonly columns: number;
  /** The number of pictures that it takes at once, where that is fixed. */
  readonly batch: number | undefined;
  /** Features [rows, columns] of pictures [rows, 3, 224, 224]. */
  run(pictures: Float32Array, rows: number): Promise<Float32Array>;
  close(): Promise<void>;
}

/** Columns of the scores that ImageNet networks end in. */
const IMAGENET_CLASSES = 1000;

const load = async () => {
  try {
    const loaded = await import("onnxruntime-node");
    // The package is CommonJS: its names may be below `default` only.
    return "InferenceSession" in loaded ? loaded : (loaded as { default: typeof loaded }).default;
  } catch (cause) {
    throw new EnvironmentError("no-image-packages", imageTexts.missingPackage("onnxruntime-node"), { cause });
  }
};

const firstLine = (error: unknown): string =>
  (error instanceof Error ? error.message : String(error)).split("\n")[0].slice(0, 200);

const read = async (file: string): Promise<{ bytes: Uint8Array; graph: OnnxGraph }> => {
  const bytes = await readFile(file).catch((cause) => {
    throw new InputError("no-model", imageTexts.noModel(file), { cause });
  });
  try {
    const graph = readGraph(bytes);
    if (graph.outputs.length > 0) return { bytes, graph };
  } catch (cause) {
    throw new InputError("bad-model", imageTexts.badModel(file, firstLine(cause)), { cause });
  }
  throw new InputError("bad-model", imageTexts.badModel(file, "it has no outputs"));
};

const requireLayer = (layer: string, { nodes, outputs }: OnnxGraph): void => {
  const known = nodes.flatMap((node) => node.outputs);
  if (known.includes(layer) || outputs.includes(layer)) return;
  const near = nearestName(layer, [...outputs, ...known]);
  throw new InputError("no-layer", imageTexts.noLayer(layer, near, outputs));
};

/** [rows, columns] as it is, [rows, channels, height, width] averaged over the positions. */
const flatten = (values: Float32Array, dims: readonly number[], layer: string): Float32Array => {
  if (dims.length === 2) return values;
  if (dims.length !== 4) throw new InputError("layer-shape", imageTexts.badShape(layer, dims));
  const positions = dims[2] * dims[3];
  return Float32Array.from({ length: dims[0] * dims[1] }, (_, i) => {
    let sum = 0;
    for (let k = i * positions; k < (i + 1) * positions; k++) sum += values[k];
    return sum / positions;
  });
};

/**
 * Opens a network. Features are the value called `layer`: an output or anything inside the graph. Unless given it is
 * the last output, or where that is a classifier's scores the layer before them.
 */
export const openNetwork = async (file: string, layer?: string): Promise<Network> => {
  const { InferenceSession, Tensor } = await load();
  const { bytes, graph } = await read(file);
  if (layer !== undefined) requireLayer(layer, graph);

  const open = async (wanted: string): Promise<InferenceSession> => {
    try {
      return graph.outputs.includes(wanted)
        ? await InferenceSession.create(file, { logSeverityLevel: 3 })
        : await InferenceSession.create(withOutput(bytes, wanted), { logSeverityLevel: 3 });
    } catch (cause) {
      throw new InputError("bad-model", imageTexts.badModel(file, firstLine(cause)), { cause });
    }
  };
  const runWith =
    (session: InferenceSession, wanted: string) => async (pictures: Float32Array, rows: number) => {
      const input = new Tensor("float32", pictures.subarray(0, rows * PICTURE), [rows, CHANNELS, SIDE, SIDE]);
      const output = (await session.run({ [session.inputNames[0]]: input }, [wanted]))[wanted];
      if (!(output.data instanceof Float32Array) || output.dims[0] !== rows) {
        throw new InputError("layer-shape", imageTexts.badShape(wanted, output.dims));
      }
      return flatten(output.data, output.dims, wanted);
    };
  /** What one grey picture gives: how many columns there are, and whether the network takes pictures at all. */
  const openAndTry = async (wanted: string) => {
    const session = await open(wanted);
    try {
      const [input] = session.inputMetadata;
      const shape = input.isTensor ? input.shape : [];
      const fixed = typeof shape[0] === "number" && shape[0] > 0 ? shape[0] : undefined;
      const run = runWith(session, wanted);
      const rows = fixed ?? 1;
      const features = await run(new Float32Array(rows * PICTURE), rows).catch((cause) => {
        if (cause instanceof InputError) throw cause;
        const given = input.isTensor ? `${input.type} [${shape.join(", ")}]` : "what is no tensor";
        throw new InputError("model-input", imageTexts.badInput(file, given), { cause });
      });
      return { session, run, fixed, columns: features.length / rows };
    } catch (error) {
      await session.release();
      throw error;
    }
  };

  let name = layer ?? graph.outputs[graph.outputs.length - 1];
  let opened = await openAndTry(name);
  if (layer === undefined && opened.columns === IMAGENET_CLASSES) {
    await opened.session.release();
    const inner = beforeHead(graph, name);
    if (inner === undefined) {
      const last = graph.nodes.slice(-4, -1).flatMap((node) => node.outputs.slice(0, 1));
      throw new InputError("class-head", imageTexts.classHead(name, last.reverse()));
    }
    name = inner;
    opened = await openAndTry(name);
  }
  const { session, run, fixed, columns } = opened;
  return {
    sha256: createHash("sha256").update(bytes).digest("hex"),
    layer: name,
    columns,
    batch: fixed,
    run,
    close: () => session.release(),
  };
};
