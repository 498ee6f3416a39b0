/** A process that computes for its parent, one order at a time, until the parent lets go. */
import { decodePolicy, policyOf } from "../../../design/policy-file.js";
import { answerOrders } from "../../../jobs/subprocess.js";
import { reportOn } from "./evaluate.js";
import { loadModel } from "./load-model.js";
import type { HelperOrder, HelperResult } from "./policy-processes.js";
import { runCell } from "./sweep-cell.js";

answerOrders<HelperOrder, HelperResult>(async (order, progress) => {
  if (order.task === "cell") return runCell(order);
  const loaded = await loadModel(order.source);
  const policy = policyOf(decodePolicy(order.policy), loaded.model);
  return reportOn(loaded, policy, order.settings, progress);
});
