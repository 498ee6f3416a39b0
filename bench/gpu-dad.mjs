// The part of gpu.mjs that trains networks: steps of deep adaptive design at the paper's settings, and whole trainings.
const dist = (path) => import(new URL(`../dist/${path}`, import.meta.url).href);

const STEPS = 200;
const WHOLE = 10_000;

/** Microseconds of a step for each of several policies at once, and the seconds of 10,000 steps of 32. */
export const measureDad = async (gpu, model, { seconds, progress }) => {
  const { trainDadOnGpu } = await dist("design/gpu/train-dad.js");
  const { trainDad } = await dist("design/dad.js");
  const runsOf = (count) => Array.from({ length: count }, (_, seed) => ({ beta: 0.8, seed }));
  const first = async (train) => {
    let found;
    await train((progress) => {
      found = progress.checkpoint();
    });
    return found;
  };
  const cpu = await first((onProgress) => trainDad(model, { steps: 1, seed: 3, onProgress }));
  const one = await first((onProgress) =>
    trainDadOnGpu(gpu, model, { steps: 1, runs: [{ beta: 0.8, seed: 3 }], onProgress }),
  );
  const largest = cpu.mean.reduce((most, each) => Math.max(most, Math.abs(each)), 0);
  const agreement = {
    value: Math.abs(cpu.values[0] - one.runs[0].values[0]),
    gradient:
      cpu.mean.reduce((most, each, i) => Math.max(most, Math.abs(each - one.runs[0].mean[i])), 0) / largest,
  };
  const microsecondsEach = {};
  for (const count of [1, 8, 32, 64]) {
    // The difference of a long and a short training is steps alone.
    const time = async (steps) =>
      (await seconds(() => trainDadOnGpu(gpu, model, { steps, runs: runsOf(count) }))).seconds;
    await time(STEPS);
    let best = Infinity;
    for (let round = 0; round < 3; round++) {
      const short = await time(STEPS);
      best = Math.min(best, (await time(6 * STEPS)) - short);
    }
    microsecondsEach[count] = (1e6 * best) / (5 * STEPS) / count;
    progress(`${count} networks at once: ${microsecondsEach[count].toFixed(1)} us each`);
  }
  const whole = await seconds(() => trainDadOnGpu(gpu, model, { steps: WHOLE, runs: runsOf(32) }));
  progress(`32 networks, ${WHOLE} steps: ${whole.seconds.toFixed(1)} s`);
  const again = await trainDadOnGpu(gpu, model, { steps: STEPS, runs: runsOf(2) });
  const twice = await trainDadOnGpu(gpu, model, { steps: STEPS, runs: runsOf(2) });
  const sameBits = again.every(({ network }, r) =>
    network.parameters.every((value, i) => value === twice[r].network.parameters[i]),
  );
  return {
    microsecondsEach,
    whole: { policies: 32, steps: WHOLE, seconds: whole.seconds },
    agreement,
    sameBits,
  };
};

const row = (cells) => `| ${cells.join(" | ")} |`;

/** Its section of gpu.md. */
export const dadText = ({ microsecondsEach, whole, agreement, sameBits }, peer) => {
  const ways = (count) => peer?.dad?.[count];
  return `## A step of deep adaptive design

The paper's networks and sizes: ten designs one after the other, bound, gradient in 25,000 parameters, Adam. Microseconds for each
policy, the best of three.

${[
  row(["policies at once", "here", "PyTorch, its best way", "times faster"]),
  row(["---", "---", "---", "---"]),
  ...Object.entries(microsecondsEach).map(([count, each]) => {
    const theirs = ways(count) && Math.min(...Object.values(ways(count))) / Number(count);
    return row([
      count,
      each.toFixed(1),
      theirs === undefined ? "" : theirs.toFixed(1),
      theirs === undefined ? "" : (theirs / each).toFixed(1),
    ]);
  }),
].join("\n")}

${whole.policies} policies of ${whole.steps.toLocaleString("en")} steps, from start to end: ${whole.seconds.toFixed(1)} s. The same bits twice: ${sameBits ? "yes" : "no"}. On the
same samples the bound differs from the processor's by ${agreement.value.toExponential(1)} nats, the gradient by ${agreement.gradient.toExponential(1)} of its largest entry.${
    peer?.dad === undefined
      ? ""
      : `\n\nPyTorch: ${Object.entries(peer.dad)
          .map(
            ([count, all]) =>
              `${count}: ${Object.entries(all)
                .map(([way, us]) => `${way} ${(us / Number(count)).toFixed(1)} us`)
                .join(", ")}`,
          )
          .join("; ")}.`
  }
`;
};
