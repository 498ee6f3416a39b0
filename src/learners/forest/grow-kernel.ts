/**
 * Growing trees on all threads, as scikit-learn's BestSplitter and DepthFirstTreeBuilder do.
 *
 * Every column's values are ranked once. A node then adds up the classes by rank, with a bit for each rank that
 * occurs, reads the ranks off the bits in order and tries the threshold after each: nothing is sorted in a node.
 *
 * Rows, ranks ("codes") and classes are kept as what they are multiplied by wherever they are used: rows and codes
 * as 4 times their number, classes as 8 times.
 */
import { ModuleWriter } from "../../compute/wasm/encoder.js";
import { writeGrowParts } from "./grow-parts.js";
import { writeGrow } from "./grow-tree-kernel.js";
import { writeRank } from "./rank-kernel.js";

/** `rank`: task f ranks column f. `grow`: task t grows tree t. */
export const growModule = (): ModuleWriter => {
  const module = new ModuleWriter();
  writeRank(module);
  writeGrow(module, writeGrowParts(module));
  return module;
};
