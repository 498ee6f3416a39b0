/** Where kernels run, and the modules that were compiled there. */
import { detectFeatures } from "../../compute/features.js";
import { type FunctionWriter, I32, ModuleWriter } from "../../compute/wasm/encoder.js";
import { type Kernels, Workspace } from "../../compute/workspace.js";

let shared: Workspace | undefined;

/** One for all scores that were given none, on all cores; undefined where the platform has no SIMD. */
export const sharedWorkspace = (): Workspace | undefined => {
  if (shared === undefined && detectFeatures().simd) shared = new Workspace();
  return shared;
};

const compiled = new WeakMap<Workspace, Map<string, { kernels: Kernels; constants: readonly number[] }>>();

/**
 * The kernel of this name in a workspace, compiled once. `write` adds its code and returns the words, if any, that a
 * job description must end with.
 */
export const loadKernel = (
  workspace: Workspace,
  name: string,
  write: (writer: FunctionWriter) => readonly number[],
): { readonly kernels: Kernels; readonly constants: readonly number[] } => {
  let known = compiled.get(workspace);
  if (known === undefined) {
    known = new Map();
    compiled.set(workspace, known);
  }
  let entry = known.get(name);
  if (entry === undefined) {
    const module = new ModuleWriter();
    let constants: readonly number[] = [];
    module.function(name, [I32, I32, I32], [], (writer) => {
      constants = write(writer);
    });
    entry = { kernels: workspace.load(module, [name]), constants };
    known.set(name, entry);
  }
  return entry;
};
