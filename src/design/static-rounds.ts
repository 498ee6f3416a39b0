/** The rounds in which starts of static designs compete: all climb for a while, and the better ones climb on. */

/** Batches that a score is the mean of. */
export const SCORING = 12;
export const FINAL_SCORING = 60;

export interface Round {
  readonly steps: number;
  readonly keep: number;
}

/** Steps and survivors of each round: a quarter of the climbs go on each time, for longer. */
export const planRounds = (starts: number, steps: number): readonly Round[] => {
  if (starts === 1) return [{ steps, keep: 1 }];
  const rounds: Round[] = [];
  let alive = starts;
  let left = steps;
  while (alive > 1) {
    const keep = Math.max(1, Math.ceil(alive / 4));
    const share = Math.max(1, Math.round(left * (keep === 1 ? 0.35 : 0.15)));
    rounds.push({ steps: share, keep });
    left -= share;
    alive = keep;
  }
  rounds.push({ steps: Math.max(1, left), keep: 1 });
  return rounds;
};

/** All steps of all climbs. */
export const stepsIn = (rounds: readonly Round[], starts: number): number =>
  rounds.reduce(({ alive, sum }, { steps, keep }) => ({ alive: keep, sum: sum + alive * steps }), {
    alive: starts,
    sum: 0,
  }).sum;
