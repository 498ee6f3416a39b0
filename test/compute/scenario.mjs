// The same computation for Node and for a page: everything that a seed determines, as plain data.

/** @param {typeof import("../../src/design/index.js")} library @param {{ threads: number, relaxed: boolean }} options */
export const scenario = (library, { threads, relaxed }) => {
  const workspace = new library.Workspace({ threads, relaxed });
  const quantity = library.objectiveQuantity("conditional", 0.8);
  const sizes = { outer: 23, contrastive: 301, marginal: 203 };
  const objective = new library.SampledObjective(library.locationFinding(), quantity, 5, sizes, workspace);
  const stream = library.seededStream("scenario");
  const designs = Float64Array.from({ length: 10 }, (_, i) => stream.split("design").split(i).normal(2, 1));
  // Often enough that every worker has had its share and every tier of the engine its turn.
  let value = 0;
  for (let i = 0; i < 200; i++) value = objective.evaluate(designs, stream.split("samples"));
  const gradient = [...objective.gradient];
  objective.dispose();
  workspace.dispose();
  const draws = library.seededStream(7n);
  return {
    value,
    gradient,
    draws: [
      draws.uniform(),
      draws.normal(1, 2),
      draws.gamma(0.3, 2),
      draws.beta(2, 5),
      draws.poisson(3),
      draws.poisson(300),
      draws.categorical([1, 2, 3]),
      ...draws.permutation(9),
      ...draws.choice(100, 5),
    ],
  };
};
