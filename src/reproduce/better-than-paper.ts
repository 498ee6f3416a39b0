/**
 * Whether an acquisition of this project dominates the paper's: a higher ratio of selection rates and smaller
 * gaps between the groups' scores at the same accuracy and the same selection rate, each with an interval that excludes
 * zero. The comparison (see `dominance.ts`), the lines and their betas were fixed before they were run on Census and
 * Adult. The most promising ones of `better-than-paper` are run once more in `better-than-paper-again`, on seeds that
 * nothing was chosen on.
 */
import { between, fixed } from "../core/number-text.js";
import {
  acquireCell,
  acquisitionProtocol,
  betasOf,
  calibrated,
  EPIG,
  fairbed,
  type Line,
  labelOf,
  linesInWords,
  type MetricName,
  ownLines,
  RANDOM,
  sizeOf,
  wholeSet,
} from "./acquisition-lines.js";
import type { TaskName } from "./cell.js";
import { paired } from "./claim-verdict.js";
import { advantageOver, type SeedPoint } from "./dominance.js";
import { mergedProtocol, type Reproduction, type Scale, seedsOf } from "./reproduction.js";
import type { Results } from "./store.js";
import { meanOverSeeds, type SeedMean } from "./verdict.js";

/** What is compared with the paper's acquisition on one table. */
interface Contest {
  readonly task: TaskName;
  readonly name: string;
  readonly own: readonly Line[];
  readonly seeds: readonly number[];
}

/** With a sign that makes more better. */
const VALUES: readonly (readonly [MetricName, 1 | -1, string])[] = [
  ["matchedDpRatio", 1, "DP ratio at a matched selection rate"],
  ["gapArea", -1, "area between the groups' scores, smaller by"],
  ["gapLargest", -1, "largest distance between the groups' scores, smaller by"],
];

const paperLines = (scale: Scale): readonly Line[] => [EPIG, ...betasOf(scale).map(fairbed)];

/** Nothing unless every seed has both numbers. */
const pointsOf = (
  results: Results,
  { task, seeds }: Contest,
  line: Line,
  [metric, sign]: (typeof VALUES)[number],
  scale: Scale,
): readonly SeedPoint[] => {
  const { budget } = sizeOf(task, scale);
  const points = seeds.flatMap((seed) => {
    const result = results.get(acquireCell(task, line, seed, scale));
    const metrics = result?.checkpoints.find(({ labels }) => labels === budget)?.metrics;
    const [accuracy, value] = [metrics?.matchedAccuracy, metrics?.[metric]];
    return accuracy === undefined || value === undefined ? [] : [{ accuracy, value: sign * value }];
  });
  return points.length === seeds.length ? points : [];
};

interface Advantage {
  readonly task: string;
  readonly line: Line;
  readonly over: string;
  readonly column: string;
  readonly ours: SeedMean;
}

const advantagesOf = (results: Results, contests: readonly Contest[], scale: Scale): readonly Advantage[] =>
  contests.flatMap((contest) =>
    [
      { over: "the paper's FairBED", lines: paperLines(scale) },
      { over: "random acquisition", lines: [RANDOM] },
    ].flatMap(({ over, lines }) =>
      contest.own.flatMap((line) =>
        VALUES.flatMap((value) => {
          const others = lines.map((each) => pointsOf(results, contest, each, value, scale));
          // A line of which a part is missing would be easier to beat.
          if (others.some((points) => points.length === 0)) return [];
          const ours = advantageOver(others, pointsOf(results, contest, line, value, scale));
          return ours === undefined ? [] : [{ task: contest.name, line, over, column: value[2], ours }];
        }),
      ),
    ),
  );

/** How much more often than after random acquisition a model that learns from the set guesses the attribute. */
const guessesOf = (results: Results, contests: readonly Contest[], scale: Scale): readonly Advantage[] =>
  contests.flatMap(({ task, name, own, seeds }) => {
    const values = (line: Line) =>
      seeds.map((seed) => {
        const result = results.get(acquireCell(task, line, seed, scale));
        return result?.checkpoints.find(({ labels }) => labels === sizeOf(task, scale).budget)?.metrics
          .sensitiveAccuracy;
      });
    return own.flatMap((line) => {
      const ours = meanOverSeeds(paired(values(line), values(RANDOM)));
      const column = "sensitive accuracy, higher by";
      return ours === undefined ? [] : [{ task: name, line, over: "random acquisition", column, ours }];
    });
  });

/** Said where the interval excludes zero, in one or the other direction. */
const guessesInWords = (guesses: readonly Advantage[]): readonly string[] =>
  guesses.flatMap(({ task, line, ours: { mean, interval } }) => {
    if (interval === null || (interval[0] <= 0 && interval[1] >= 0)) return [];
    const ends = interval.map((end) => fixed(Math.abs(end), 3)).sort();
    return [
      `${task}: a model trained on what ${labelOf(line)} acquired guesses the attribute ${mean > 0 ? "more" : "less"} often than after random acquisition, by ${fixed(Math.abs(mean), 3)} (${ends.join(" to ")})`,
    ];
  });

const inWords = ({ column, ours: { mean, interval } }: Advantage): string =>
  `${column} ${fixed(mean, 3)}${interval === null ? "" : ` (${between(interval)})`}`;

/** For each table and what it is compared with: whether it is dominated, by what and by how much. */
const findingsOf = (advantages: readonly Advantage[]): readonly string[] =>
  [...new Set(advantages.map(({ task }) => task))].flatMap((task) =>
    [...new Set(advantages.map(({ over }) => over))].flatMap((over) => {
      const own = advantages.filter((each) => each.task === task && each.over === over);
      const byLine = [...new Set(own.map(({ line }) => labelOf(line)))].map((label) =>
        own.filter(({ line }) => labelOf(line) === label),
      );
      if (byLine.length === 0) return [];
      const dominating = byLine.filter((each) =>
        each.every(({ ours: { interval } }) => interval !== null && interval[0] > 0),
      );
      if (dominating.length === 0) {
        return [`${task}: nothing dominates ${over}: of each line an interval includes or is below zero`];
      }
      const names = dominating.map(([{ line }]) => labelOf(line)).join("; ");
      const sizes = dominating.map((each) => `${labelOf(each[0].line)}: ${each.map(inWords).join(", ")}`);
      return [`${task}: ${over} is dominated by ${names}: every interval excludes zero. ${sizes.join("; ")}`];
    }),
  );

const COMPARED = [
  "compared at the accuracy of each of these with the best that the paper's points and mixtures of two of them reach there, all where as many are selected as are truly positive; intervals of 95 % over seeds, drawn again in pairs",
  "an interval is that of one line by itself: nothing is taken off for comparing several lines on each table",
];

const SOURCE =
  "not in the paper: differences at the same accuracy and the same selection rate, more is better";

const comparison = (
  name: string,
  title: string,
  source: string,
  chosen: readonly string[],
  contestsOf: (scale: Scale) => readonly Contest[],
): Reproduction => ({
  name,
  title,
  source,
  beyond: true,
  protocol: (scale) => {
    const contests = contestsOf(scale);
    return mergedProtocol([
      ...contests.map(({ task, seeds }) =>
        acquisitionProtocol(
          task,
          seeds.length === sizeOf(task, scale).seeds ? scale : { ...scale, seeds: seeds.length },
        ),
      ),
      {
        chosen: [
          `the paper's line: EPIG and FairBED at beta ${betasOf(scale).join(", ")}`,
          ...linesInWords(contests.flatMap(({ own }) => own)),
          ...COMPARED,
          ...chosen,
        ],
      },
    ]);
  },
  cells: (scale) =>
    contestsOf(scale).flatMap(({ task, own, seeds }) =>
      seeds.flatMap((seed) =>
        [RANDOM, ...paperLines(scale), ...own].map((line) => acquireCell(task, line, seed, scale)),
      ),
    ),
  draw: (results, scale) => {
    const contests = contestsOf(scale);
    const advantages = advantagesOf(results, contests, scale);
    const guesses = guessesOf(results, contests, scale);
    return {
      comparisons: [],
      measured: [...advantages, ...guesses].map(({ task, line, over, column, ours }) => ({
        row: `${task}, ${labelOf(line)}, over ${over}`,
        column,
        ours,
      })),
      figures: [],
      ...(scale.quick ? {} : { findings: [...findingsOf(advantages), ...guessesInWords(guesses)] }),
    };
  },
});

const TASKS: readonly (readonly [TaskName, string])[] = [
  ["census", "Census"],
  ["adult", "Adult"],
  ["students", "Student Graduation"],
];

export const betterThanPaper: Reproduction = comparison(
  "better-than-paper",
  "What this project adds against the paper's acquisition",
  `${SOURCE}; better-than-paper-again says what of it holds on new seeds`,
  [
    "the calibrated model was chosen on seeds 0 to 11 of these tables and another, with at most 2000 candidates and batches of 8: the same splits are among them",
    "the acquisition by the whole set was found on other seeds (100 to 105) of Census and Adult with a smaller pool",
    "tried on those seeds and dropped: balancing outcome and attribute in the set by predicted labels (the accuracy falls and parity hardly moves), asking only about people who look like one group (fair on Adult, less accurate on Census, and hard to defend), asking where the attribute is most uncertain; on Adult also, with one to three seeds each, the whole set at beta 10 and with leaves of ten, and the default at beta 30: none looked better than the paper's points",
  ],
  (scale) =>
    TASKS.map(([task, name]) => ({
      task,
      name,
      own: ownLines(scale),
      seeds: seedsOf(sizeOf(task, scale).seeds),
    })),
);

const FIRST_NEW_SEED = 20;
const NEW_SEEDS = 10;

/** On Census and Adult those of which most was to be expected after `better-than-paper`; no others. */
const promising = ({ quick }: Scale): readonly (readonly [TaskName, string, readonly Line[]])[] => [
  ["census", "Census", [wholeSet(quick ? 1 : 3)]],
  ["adult", "Adult", [calibrated(10), wholeSet(quick ? 1 : 3)]],
];

export const betterThanPaperAgain: Reproduction = comparison(
  "better-than-paper-again",
  "The most promising of them on new seeds",
  SOURCE,
  [
    `seeds ${FIRST_NEW_SEED} to ${FIRST_NEW_SEED + NEW_SEEDS - 1}, on which nothing was chosen; written down after better-than-paper was seen and before any of these was run`,
    "on Census the whole set at beta 3, one of the two that dominated there; on Adult the calibrated model at beta 10, which dominated, and the whole set at beta 3, which was ahead in two of three numbers: by the results of then, before ties were broken at random",
  ],
  (scale) => {
    const seeds = seedsOf(scale.seeds ?? (scale.quick ? 2 : NEW_SEEDS)).map((seed) => FIRST_NEW_SEED + seed);
    return promising(scale).map(([task, name, own]) => ({ task, name, own, seeds }));
  },
);
