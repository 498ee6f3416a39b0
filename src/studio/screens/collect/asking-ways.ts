/** Whom to ask, in words: ways that people choose between. */
import type { StrategyName } from "../../../active/strategy-names.js";

export interface AskingWay {
  readonly method: StrategyName;
  readonly label: string;
  readonly meaning: string;
}

export const ASKING_WAYS: readonly AskingWay[] = [
  {
    method: "fairbed",
    label: "Tells much, gives away little",
    meaning:
      "Asks where a label tells most about the target and gives away least; groups keep their shares, a quarter is drawn at random.",
  },
  {
    method: "epig",
    label: "Most informative",
    meaning: "Asks where a label tells most about the target, whatever it gives away.",
  },
  {
    method: "random",
    label: "At random",
    meaning: "Draws everybody at random: slower, and nothing to explain.",
  },
];
