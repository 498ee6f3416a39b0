/** Where settings of an acquisition depart from the paper's, in words: for tables, and for what is said of them. */
import { PAPER, type SimulationSettings } from "../workflows/simulation.js";

/** Said elsewhere: the method with its beta, and when it is evaluated. */
const SAID_ELSEWHERE = new Set(["method", "goal.beta", "checkpoints"]);

const WORDS: Readonly<Record<string, (value: unknown) => string>> = {
  budget: (value) => `${value} labels`,
  batch: (value) => `${value} at a time`,
  pool: (value) => `a pool of ${value}`,
  testFraction: (value) => `${100 * Number(value)} % tested on`,
  initial: (value) => `${value} initial labels`,
  targets: (value) => `${value} target inputs`,
  targetsPerStep: (value) => `${value} target inputs a step`,
  categories: (value) => `${value} categories`,
  correction: (value) => `${value} correction`,
  sensitiveCorrection: (value) => `${value} correction of the sensitive model`,
  sensitiveModel: (value) => `${value} sensitive model`,
  shares: (value) => (value === "population" ? "at the population's shares" : `at ${value} shares`),
  randomPart: (value) => `${100 * Number(value)} % drawn at random`,
  reweigh: () => "reweighed",
  poolAttributes: (value) => `attributes of the pool ${value}`,
  "forest.trees": (value) => `${value} trees`,
  "forest.minLeaf": (value) => `leaves of ${value}`,
  "forest.maxDepth": (value) => `depth ${value}`,
  "sensitiveForest.trees": (value) => `${value} sensitive trees`,
  "sensitiveForest.minLeaf": (value) => `sensitive leaves of ${value}`,
  "sensitiveForest.maxDepth": (value) => `sensitive depth ${value}`,
};

/** Every value by its path, as in "forest.trees". */
const flat = (value: object, before = ""): readonly (readonly [string, unknown])[] =>
  Object.entries(value).flatMap(([name, each]) =>
    typeof each === "object" && each !== null && !Array.isArray(each)
      ? flat(each, `${before}${name}.`)
      : [[`${before}${name}`, each] as const],
  );

/** Nothing where they are the paper's. */
export const departuresInWords = (settings: SimulationSettings): readonly string[] => {
  const paper = new Map(flat(PAPER));
  return flat(settings)
    .filter(([path, value]) => !SAID_ELSEWHERE.has(path) && value !== undefined && value !== paper.get(path))
    .map(([path, value]) => WORDS[path]?.(value) ?? `${path} ${JSON.stringify(value)}`);
};
