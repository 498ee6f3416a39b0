/** A process that runs orders for its parent, one at a time, until the parent lets go. */
import type { OrderResult } from "./order.js";
import type { OrderMessage } from "./order-subprocess.js";
import { runOrder } from "./run-order.js";
import { answerOrders } from "./subprocess.js";

/** So often the parent is told how far an order is, and its end is heard. */
const REPORT_MS = 250;

const reporter = (tell: (done: number) => void): ((done: number) => Promise<void>) => {
  let last = performance.now();
  return async (done) => {
    if (performance.now() - last < REPORT_MS) return;
    tell(done);
    await new Promise((resolve) => setImmediate(resolve));
    last = performance.now();
  };
};

answerOrders<OrderMessage, OrderResult>(({ order, run }, progress) =>
  runOrder(order, { ...run, onProgress: reporter(progress) }),
);
