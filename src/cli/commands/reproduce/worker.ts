/** `fairbed worker`: runs what others have put into a queue. */
import { fixed } from "../../../core/number-text.js";
import { defineCommand } from "../../command.js";
import { allowTimeForQueue } from "../../interruption.js";
import { queueOption } from "../../job-place.js";
import { integer, optionalInteger, texts } from "../../options.js";

export const workerCommandTexts = {
  /** `queue` is its address without the password. */
  waiting: (queue: string) => `waiting for work from ${queue}; Ctrl-C ends it`,
};

export const worker = defineCommand({
  name: "worker",
  group: "Reproduction and many machines",
  summary: "run work from a queue, beside other machines",
  examples: [
    { line: "worker --queue postgres://host", description: "one of many, on any machine, until Ctrl-C" },
    {
      line: "worker --data /shared/pool",
      description: "may also score the shards of rank that lie there",
    },
    {
      line: "worker --concurrency 16 --idle-exit 120",
      description: "sixteen cells at once; ends when there is nothing to do",
    },
  ],
  arguments: {},
  options: {
    queue: queueOption,
    concurrency: integer("--concurrency <number>", "cells at once; 1 uses all cores for one", 1, {
      min: 1,
      max: 1024,
    }),
    data: texts("--data <folders>", "where tables may be read that jobs name; nowhere unless given"),
    models: texts("--models <folders>", "where model files may be run that jobs name; nowhere unless given"),
    idleExit: optionalInteger("--idle-exit <seconds>", "end after so long without work; never unless given", {
      min: 0,
    }),
  },
  reportsProgress: true,
  async run({ options: { queue: given, concurrency, data = [], models = [], idleExit }, context }) {
    const { requireFolders } = await import("../../../jobs/allowed-files.js");
    const { requireQueueAddress } = await import("../../../jobs/queue-connection.js");
    const { openQueue } = await import("../../../jobs/queue.js");
    const { JOB_KINDS, JOB_PROGRAM } = await import("../../job-kinds.js");
    const { threadsFor } = await import("../../../jobs/job-processes.js");
    const { startSubprocess } = await import("../../../jobs/subprocess.js");
    const { runWorker } = await import("../../../jobs/worker.js");
    await requireFolders("--data", data);
    await requireFolders("--models", models);
    allowTimeForQueue();
    const queue = await openQueue(requireQueueAddress(given));
    try {
      context.say(workerCommandTexts.waiting(queue.shown));
      return {
        queue: queue.shown,
        ...(await runWorker(queue, {
          kinds: JOB_KINDS,
          allowed: { tables: data, models },
          places: concurrency,
          threads: threadsFor(concurrency),
          idleExit,
          signal: context.signal,
          start: () => startSubprocess(JOB_PROGRAM),
          say: context.say,
        })),
      };
    } finally {
      await queue.close();
    }
  },
  print: ({ name, finished, failed, seconds }) =>
    `${name}: ${finished} done${failed === 0 ? "" : `, ${failed} failed`}, in ${fixed(seconds, 1)} s.`,
});
