/** `fairbed queue status`: how far a queue is. */
import { fixed } from "../../../core/number-text.js";
import type { QueueCounts, QueueStatus } from "../../../jobs/queue-status.js";
import { defineCommand } from "../../command.js";
import { queueOption } from "../../job-place.js";
import { rightAligned } from "../../text-table.js";

export const queueStatusCommand = defineCommand({
  name: "queue status",
  group: "Reproduction and many machines",
  summary: "show done, running, waiting and failed jobs",
  examples: [{ line: "queue status", description: "how far the queue in FAIRBED_QUEUE is, and who works" }],
  arguments: {},
  options: { queue: queueOption },
  async run({ options }): Promise<QueueStatus> {
    const { requireQueueAddress } = await import("../../../jobs/queue-connection.js");
    const { queueStatus } = await import("../../../jobs/queue-status.js");
    return queueStatus(requireQueueAddress(options.queue));
  },
  print: ({ queue, counts, groups, workers, failures, retries, secondsLeft }) =>
    [
      `${queue}: ${countsInWords(counts)}`,
      leftInWords(counts, secondsLeft),
      ...(groups.length === 0 ? [] : ["", ...groupLines(groups)]),
      ...(workers.length === 0 ? [] : ["", ...workers.flatMap(workerLines)]),
      ...(retries.length === 0 ? [] : ["", "To be tried again:", ...retries.map(troubleLine)]),
      ...(failures.length === 0 ? [] : ["", "Failed:", ...failures.map(troubleLine)]),
    ].join("\n"),
});

const KINDS = ["done", "running", "waiting", "blocked", "failed"] as const;

const countsInWords = (counts: QueueCounts): string => {
  const said = KINDS.filter((kind) => counts[kind] > 0).map((kind) => `${counts[kind]} ${kind}`);
  return said.length === 0 ? "nothing was asked for yet" : said.join(", ");
};

const leftInWords = ({ running, waiting, blocked }: QueueCounts, seconds: number | null): string => {
  if (running + waiting + blocked === 0) return "Nothing is left to do.";
  if (seconds === null) return "No worker is there: start one with fairbed worker.";
  return `About ${durationInWords(seconds)} left with the workers that are there.`;
};

const durationInWords = (seconds: number): string => {
  if (seconds < 100) return `${Math.ceil(seconds)} s`;
  return seconds < 6000 ? `${Math.ceil(seconds / 60)} min` : `${fixed(seconds / 3600, 1)} h`;
};

const groupLines = (groups: QueueStatus["groups"]): readonly string[] =>
  rightAligned([
    ["", ...KINDS],
    ...groups.map((group) => [group.group, ...KINDS.map((kind) => String(group[kind]))]),
  ]);

const workerLines = ({
  name,
  places,
  seen,
  alive,
  runs,
  lacks,
}: QueueStatus["workers"][number]): readonly string[] => [
  `${name}: ${alive ? `${places} at once` : "silent"}, seen ${durationInWords(seen)} ago`,
  ...runs.map(
    ({ name: job, share, seconds }) =>
      `  runs ${job}: ${Math.floor(100 * share)} % in ${durationInWords(seconds)}`,
  ),
  ...lacks.map((why) => `  leaves work to others: ${why}`),
];

const troubleLine = ({ name, message }: QueueStatus["failures"][number]): string => `  ${name}: ${message}`;
