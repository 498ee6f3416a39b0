/**
 * The kernels read arrays with the outer sample outside. An input whose own list says otherwise, as
 * `["observation", "outer"]` does, is kept as its list says and turned when the program runs; so is its gradient.
 */
import type { InputAxes } from "../graph/trace.js";
import type { LogMeanExp } from "./program.js";

type Floats = Float32Array | Float64Array;

/** `to[column, row] = from[row, column]`. */
const transpose = (from: Floats, to: Floats, rows: number, columns: number): void => {
  for (let row = 0; row < rows; row++) {
    for (let column = 0; column < columns; column++) to[column * rows + row] = from[row * columns + column];
  }
};

/** The program with every array laid out as its input's own list says. */
export const withOwnLayout = <Inputs extends InputAxes>(
  program: LogMeanExp<Inputs>,
  inputs: Inputs,
  gradients: readonly string[],
): LogMeanExp<Inputs> => {
  // No input has more than two axes, and of two one is "outer": see `checkInputs`.
  const turned = Object.keys(inputs).filter(
    (name) => inputs[name].length === 2 && inputs[name][1] === "outer",
  );
  if (turned.length === 0) return program;
  const wanted = turned.filter((name) => gradients.includes(name));
  const own = { inputs: new Map<string, Floats>(), gradients: new Map<string, Floats>() };
  const lengthInside = (name: string): number => program.sizes[inputs[name][0] as "observation" | "inner"];
  const turnInputs = (): void => {
    for (const [name, values] of own.inputs) {
      transpose(values, program.input(name), lengthInside(name), program.sizes.outer);
    }
  };
  return {
    get sizes() {
      return program.sizes;
    },
    get value() {
      return program.value;
    },
    resize(sizes) {
      program.resize(sizes);
      for (const name of turned) own.inputs.set(name, program.input(name).slice());
      for (const name of wanted) own.gradients.set(name, program.gradient(name).slice());
    },
    input: (name) => own.inputs.get(name) ?? program.input(name),
    gradient: (name) => own.gradients.get(name) ?? program.gradient(name),
    run(adjoint) {
      const { outer } = program.sizes;
      turnInputs();
      program.run(adjoint);
      for (const [name, values] of own.gradients) {
        transpose(program.gradient(name), values, outer, lengthInside(name));
      }
    },
    runInPieces(pause) {
      turnInputs();
      return program.runInPieces(pause);
    },
    dispose: () => program.dispose(),
  };
};
