/** Scores whose costly parts are computed where an answer takes a while, by the same functions as here. */
import { type PlainEpig, plainEpig } from "../epig.js";
import type { Prediction, ScoreParts } from "../fairbed.js";
import type { AcquisitionInput, Strategy } from "../strategies.js";

/** One part, or undefined where it is to be computed here. */
export type PartElsewhere = (...part: Parameters<PlainEpig>) => Promise<Float64Array | undefined>;

/**
 * Runs `score` once to learn which parts it needs, computes those with `elsewhere`, and runs it again with them: which
 * parts it needs must not depend on what they are.
 */
export const scoresElsewhere = async <Scores>(
  score: (plain: PlainEpig) => Scores,
  elsewhere: PartElsewhere,
): Promise<Scores> => {
  const parts: Parameters<PlainEpig>[] = [];
  const first = score((...part) => {
    parts.push(part);
    return new Float64Array(part[0].rows);
  });
  if (parts.length === 0) return first;
  const found: Float64Array[] = [];
  for (const part of parts) found.push((await elsewhere(...part)) ?? plainEpig(...part));
  let at = 0;
  return score(() => found[at++]);
};

/** What a strategy makes of its input, with its EPIG computed by `elsewhere`, where that is given. */
export const scoreElsewhere = async (
  strategy: Strategy,
  input: AcquisitionInput,
  elsewhere: PartElsewhere | undefined,
): Promise<ScoreParts> => {
  if (elsewhere === undefined) return strategy.score(input);
  const { target, sensitive, joint, ...rest } = input;
  return scoresElsewhere((plain) => {
    const by = <Given extends Prediction>(given: Given): Given => ({
      ...given,
      plain,
      ...(given.alternatives === undefined ? {} : { alternatives: given.alternatives.map(by) }),
    });
    return strategy.score({
      ...rest,
      target: by(target),
      sensitive: sensitive?.map(by),
      joint: joint === undefined ? undefined : by(joint),
    });
  }, elsewhere);
};
