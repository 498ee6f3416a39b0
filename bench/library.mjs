// What the benchmarks measure, from the modules that hold it: some of it is not on the public surface. It also loads
// in a page.

export { epig } from "../dist/active/epig.js";
export { compileLogMeanExp, createDense, Workspace } from "../dist/compute/index.js";
export { fillNormal, seededStream } from "../dist/core/random.js";
export { trainDad } from "../dist/design/dad.js";
export { designScales, outcomeScales } from "../dist/design/design-scale.js";
export { locationFinding } from "../dist/design/models/location.js";
export { Nested } from "../dist/design/nested.js";
export { Outcomes } from "../dist/design/outcomes.js";
export { objectiveQuantity } from "../dist/design/quantity.js";
export { groupMetrics } from "../dist/fairness/group-metrics.js";
export { boosting } from "../dist/learners/boosting.js";
export { forest } from "../dist/learners/forest.js";
export { logistic } from "../dist/learners/logistic.js";
export { createRowSession } from "../dist/workflows/row-session.js";
export { acquireFromTable } from "../dist/workflows/simulation.js";
