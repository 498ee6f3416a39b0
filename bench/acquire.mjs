// An acquisition by rows: labels are asked for one at a time and read from what is known.

export async function acquire(library, { target, split, budget, onStep = () => undefined, ...settings }) {
  const { initial, pool, targets } = split;
  const labels = new Int32Array(target.labels.length).fill(-1);
  for (const row of initial) labels[row] = target.labels[row];
  const session = library.createRowSession({
    ...settings,
    target: { ...target, labels },
    initial,
    pool,
    targets,
  });
  await library.acquireFromTable(session, target, { budget, batch: 1, onStep: async (step) => onStep(step) });
  return { acquired: session.asked };
}
