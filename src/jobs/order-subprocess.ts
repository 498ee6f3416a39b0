/** The processes that orders run in. */
import type { Order, OrderResult } from "./order.js";
import type { OrderRun } from "./run-order.js";
import type { Subprocess, SubprocessProgram } from "./subprocess.js";

export interface OrderMessage {
  readonly order: Order;
  readonly run: Omit<OrderRun, "onProgress">;
}
export type OrderSubprocess = Subprocess<OrderMessage, OrderResult>;

export const orderSubprocessTexts = {
  died: (how: string) =>
    `a process that computes ended by itself (${how}): run the command again, which goes on from here, with fewer processes if memory was short`,
};

export const orderProgram = (): SubprocessProgram => ({
  url: new URL("./order-process.js", import.meta.url),
  serialization: "json",
  died: orderSubprocessTexts.died,
});
