// The same computation for Node and for a page: everything that a seed determines, as plain data.

/** @param {typeof import("../../src/browser.js")} library @param {{ threads: number, relaxed: boolean }} options */
export const scenario = (library, { threads, relaxed }) => {
  const stream = library.randomStream("scenario");
  const step = library.conditionalStep({
    beta: 0.8,
    outer: 23,
    horizon: 5,
    contrastive: 301,
    marginal: 203,
    designs: "shared",
    threads,
    relaxed,
  });
  for (const [name, array] of Object.entries(step.arrays)) {
    const own = stream.split(name);
    for (let i = 0; i < array.length; i++) array[i] = own.normal(name === "noise" ? 0 : 2, 1);
  }
  // Often enough that every worker has had its share and every tier of the engine its turn.
  let estimate = step.run();
  for (let i = 0; i < 200; i++) estimate = step.run();
  const gradient = [...step.gradientX, ...step.gradientY];
  step.dispose();
  const draws = library.randomStream(7n);
  return {
    estimate,
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
