/** A process that computes for its parent, one job at a time, until the parent lets go. */
import { decodePolicy, policyOf } from "../../../design/policy-file.js";
import { answerJobs } from "../../../jobs/subprocess.js";
import { reportOn } from "./evaluate.js";
import { loadModel } from "./load-model.js";
import type { HelperOrder, HelperResult } from "./policy-processes.js";
import { runCell } from "./sweep-cell.js";

answerJobs<HelperOrder, HelperResult>(async (order, progress) => {
  if (order.task === "cell") return runCell(order);
  const loaded = await loadModel(order.source);
  const policy = policyOf(decodePolicy(order.policy), loaded.model);
  return reportOn(loaded, policy, order.settings, progress);
});
